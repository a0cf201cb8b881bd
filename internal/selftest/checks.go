package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"orange/internal/core/task"
)

// checkScript is the agent of a task with a check: the check fails its first work and passes its second.
const checkScript = `
worker:
  - run: "{ test -e bad.txt || echo bad >bad.txt; } && git add bad.txt && { git diff --cached --quiet || git commit -qm bad; }"
    must: true
  - run: orange task update --status reviewing
    must: true
  - exit: 0
worker#2:
  - run: "if test -e bad.txt; then git rm -q bad.txt && git commit -qm good; fi"
    must: true
  - run: orange task update --status reviewing
    must: true
  - exit: 0
`

// checkCommand is the check of the tasks whose workspaces suffer. It says in a file of its branch that it begins and which
// process runs it, waits for a file, and says that it ends.
const checkCommand = `file=%[1]s.$(git branch --show-current); echo "begin $PPID" >>"$file"; while ! test -e %[2]s; do sleep 0.05; done; echo end >>"$file"`

// breakCheck waits until the checks of all tasks run, kills the server and the process that runs one of the checks, and
// waits until that check runs again.
func (f *faults) breakCheck(ctx context.Context) error {
	begins := func(t *task.Task) []string {
		text, _ := os.ReadFile(f.checkFile(t)) // it may not be there yet
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	err := f.waitUntil(ctx, "every check runs", func(list []task.Task) bool {
		f.respawnCrashed(ctx, list)
		return !slices.ContainsFunc(list, func(t task.Task) bool { return !strings.HasPrefix(begins(&t)[0], "begin ") })
	})
	if err != nil {
		return err
	}
	if err := f.killServer(ctx); err != nil {
		return err
	}
	one := &f.tasks[0]
	runner, err := strconv.Atoi(strings.TrimPrefix(begins(one)[0], "begin "))
	if err == nil {
		err = syscall.Kill(runner, syscall.SIGKILL)
	}
	if err != nil {
		return fmt.Errorf("kill the check of %s: %w", one.Branch, err)
	}
	f.done = append(f.done, "kill the server during checks", "kill the check of "+one.Branch)
	return f.waitUntil(ctx, "the check that was killed runs again", func([]task.Task) bool { return len(begins(one)) == 2 })
}

// checkFile is where the check of a task says what it does.
func (f *faults) checkFile(t *task.Task) string { return filepath.Join(f.dir, "ran."+t.Branch) }

// CrashDuringChecks kills the server at every commit and effect boundary of a task whose check fails once and then
// passes, with agents and checks that really run. The check appends to a file outside the worktree, which says how often
// it ran. It returns how many boundaries were tried, and what differs from one failed and one passed run.
func CrashDuringChecks(ctx context.Context, o CrashOptions) (points int, wrong []string, err error) {
	var (
		mu   sync.Mutex
		next int
		over bool
		wait sync.WaitGroup
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next, !over && err == nil && ctx.Err() == nil && (o.Limit == 0 || next <= o.Limit)
	}
	for range max(o.Parallel, 1) {
		wait.Go(func() {
			for point, ok := take(); ok; point, ok = take() {
				died, found, failed := o.crashDuringCheck(ctx, point)
				mu.Lock()
				switch {
				case failed != nil:
					err = errors.Join(err, fmt.Errorf("crash point %d of checks: %w", point, failed))
				case !died:
					over = true
				default:
					points++
				}
				for _, w := range found {
					wrong = append(wrong, fmt.Sprintf("crash point %d of checks: %s", point, w))
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return points, wrong, err
}

// crashDuringCheck plays one task, and kills its first server at a boundary. died is false if there are fewer boundaries.
func (o CrashOptions) crashDuringCheck(ctx context.Context, point int) (died bool, wrong []string, err error) {
	dir, err := os.MkdirTemp(o.Dir, "c")
	if err != nil {
		return false, nil, err
	}
	f, err := newFaults(o.Program, dir, 0)
	if err != nil {
		return false, nil, err
	}
	defer f.endAll()
	ran := filepath.Join(dir, "ran")
	if err := f.prepareProject(ctx, checkScript, "--workflow", "solo", "--check", "tests=echo begin >>"+ran+"; test ! -e bad.txt; code=$?; echo end >>"+ran+"; exit $code"); err != nil {
		return false, nil, err
	}
	server, err := f.startCrashing(ctx, point)
	if err != nil {
		return false, nil, err
	}
	err = f.waitUntil(ctx, "the task is reviewed", func(list []task.Task) bool {
		if len(list) == 0 {
			f.runOrange(ctx, "task", "create", "checked", "check it", "--project", faultProject, "--harness", "script:"+filepath.Join(f.dir, "script.yaml")) //nolint:errcheck // the server may die before it answers
			return false
		}
		return list[0].Status == "reviewing" && len(list[0].Pending) == 0
	})
	if err != nil {
		return false, nil, err
	}
	list, err := f.listTasks(ctx)
	if err == nil {
		wrong, err = f.compareRuns(ctx, &list[0], ran, []string{task.CheckFailed, task.CheckPassed})
	}
	server.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may be dead
	return server.wasKilled(), wrong, err
}

// startCrashing replaces the server by one that kills itself at a boundary.
func (f *faults) startCrashing(ctx context.Context, point int) (*process, error) {
	if _, err := f.runOrange(ctx, "stop"); err != nil {
		return nil, err
	}
	p := &process{program: f.program, client: f.client, cmd: exec.Command(f.program, "serve", "--crash-at", strconv.Itoa(point))}
	p.cmd.Dir, p.cmd.Env = f.repo, f.env
	if err := p.launch(ctx); err != nil && !errors.Is(err, errDied) {
		return nil, err
	}
	return p, nil
}

// compareRuns compares what a check did with what the journal says: every run that ended has its result, in this order,
// and every other is recorded as broken off.
func (f *faults) compareRuns(ctx context.Context, t *task.Task, file string, want []string) (wrong []string, err error) {
	entries, err := f.client.ReadJournal(ctx, string(t.ID), 0)
	if err != nil {
		return nil, err
	}
	var ended []string
	broken := 0
	for i := range entries {
		switch c := entries[i].Check; {
		case c == nil, c.OnCandidate(): // a landing runs it elsewhere
		case c.Outcome == task.CheckBroken:
			broken++
		default:
			ended = append(ended, c.Outcome)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	begins, ends := strings.Count(string(text), "begin"), strings.Count(string(text), "end")
	if !slices.Equal(ended, want) {
		wrong = append(wrong, fmt.Sprintf("%s: the results of the check are %v, not %v", t.Branch, ended, want))
	}
	if ends != len(want) || begins-ends > broken {
		wrong = append(wrong, fmt.Sprintf("%s: the check began %d times and ended %d times; the journal has %d results and %d runs that broke off", t.Branch, begins, ends, len(ended), broken))
	}
	return wrong, nil
}
