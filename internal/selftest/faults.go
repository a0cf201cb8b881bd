package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/ui/client"
)

// faultTime limits how long the tasks may take after the last fault.
const faultTime = 5 * time.Minute

// faultProject is the project of the tasks.
const faultProject = "faults"

// RunFaults lets agents, which play a script, work on tasks of a real repository. While they
// work it removes, prunes and replaces their workspaces, kills the server and removes its
// socket, in an order that depends on the seed. It merges their work at the same time. It
// returns what was done, and what is wrong afterwards: an agent in its own worktree must have
// done every task, and every task must be merged.
func RunFaults(ctx context.Context, o CrashOptions, seed uint64) (done, wrong []string, err error) {
	dir, err := os.MkdirTemp(o.Dir, "f")
	if err != nil {
		return nil, nil, err
	}
	f, err := newFaults(o.Program, dir, seed)
	if err != nil {
		return nil, nil, err
	}
	defer f.endAll()
	for _, stage := range []func(context.Context) error{f.prepareFolder, f.startTasks, f.doDamage, f.finishWork, f.mergeAll} {
		if err := stage(ctx); err != nil {
			return f.done, nil, err
		}
	}
	err = f.checkResults(ctx)
	return f.done, f.wrong, err
}

// faults is one installation with tasks in progress.
type faults struct {
	program, dir, repo, home string
	env                      []string
	socket                   string
	client                   *client.Client
	random                   *rand.Rand

	tasks []task.Task // as they were when their agents had started
	done  []string
	wrong []string
}

func newFaults(program, dir string, seed uint64) (*faults, error) {
	f := &faults{program: program, dir: dir, repo: filepath.Join(dir, faultProject), home: filepath.Join(dir, "home"), random: rand.New(rand.NewPCG(seed, 0))}
	values := map[string]string{}
	for _, pair := range config.ServerEnv(config.Environ()) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	delete(values, "ORANGE_EFFECTS")
	values["ORANGE_HOME"], values["HOME"], values["XDG_RUNTIME_DIR"], values["XDG_CONFIG_HOME"] = f.home, dir, dir, filepath.Join(dir, "config")
	for name, value := range values {
		f.env = append(f.env, name+"="+value)
	}
	cfg, err := config.Load(func(key string) string { return values[key] }, func() (string, error) { return dir, nil })
	if err != nil {
		return nil, err
	}
	f.socket, f.client = cfg.Socket, client.New(cfg.Socket)
	return f, nil
}

// script is what the agents play. Workers wait for the file go. A replacement of a worker does
// the remaining work.
const script = `
worker:
  - section: {name: Plan, text: "APPROACH: whatever happens"}
  - run: orange task update --status working
  - run: "while ! test -e %[1]s; do sleep 0.05; done"
  - run: "echo done >{task}.txt && git add {task}.txt && { git diff --cached --quiet || git commit -qm done; }"
    must: true
  - section: {name: Handoff, text: "DONE: it, in attempt {attempt}"}
  - run: orange task update --status agent-review
    must: true
  - exit: 0
reviewer:
  - section: {name: Review, text: "Verdict: PASS\nRound: {attempt}"}
  - run: orange task update --status reviewing
    must: true
`

func (f *faults) prepareFolder(ctx context.Context) error {
	check := "tests=" + fmt.Sprintf(checkCommand, filepath.Join(f.dir, "ran"), filepath.Join(f.dir, "check"))
	return f.prepareProject(ctx, fmt.Sprintf(script, filepath.Join(f.dir, "go")), "--pool-size", fmt.Sprint(len(damages)), "--check", check)
}

// prepareProject writes the script of agents and the settings, and adds a repository with one commit.
func (f *faults) prepareProject(ctx context.Context, script string, flags ...string) error {
	files := map[string]string{
		"config/orange/config.json": `{"sessions":"headless"}`,
		"script.yaml":               script,
		faultProject + "/README":    "faults\n",
	}
	for name, text := range files {
		path := filepath.Join(f.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "orange"}, {"config", "user.email", "orange@localhost"},
		{"add", "."}, {"commit", "-q", "-m", "begin"},
	} {
		if _, err := f.runGit(ctx, args...); err != nil {
			return err
		}
	}
	_, err := f.runOrange(ctx, append([]string{"project", "add", f.repo}, flags...)...)
	return err
}

// startTasks creates a task for each kind of damage and waits until its worker works.
func (f *faults) startTasks(ctx context.Context) error {
	for i := range damages {
		harness := "script:" + filepath.Join(f.dir, "script.yaml")
		if _, err := f.runOrange(ctx, "task", "create", fmt.Sprintf("task-%d", i), "suffer", "--project", faultProject, "--harness", harness, "--review-harness", harness); err != nil {
			return err
		}
	}
	return f.waitUntil(ctx, "every worker works", func(list []task.Task) bool {
		f.tasks = list
		return !slices.ContainsFunc(list, func(t task.Task) bool {
			a, ok := t.LiveAttempt("worker")
			return !ok || !a.Running || t.Status != "working" || len(t.Pending) > 0
		})
	})
}

// A damage is something that happens to a workspace.
type damage struct {
	what string
	do   func(ctx context.Context, f *faults, dir string) error
}

var damages = [...]damage{
	{"remove", func(_ context.Context, _ *faults, dir string) error { return os.RemoveAll(dir) }},
	{"remove and prune", func(ctx context.Context, f *faults, dir string) error {
		return errors.Join(os.RemoveAll(dir), f.pruneWorktrees(ctx))
	}},
	{"replace by a folder", func(_ context.Context, _ *faults, dir string) error {
		return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "late"), []byte("late\n"), 0o600))
	}},
	{"prune while it is elsewhere", func(ctx context.Context, f *faults, dir string) error {
		return errors.Join(os.Rename(dir, dir+".elsewhere"), f.pruneWorktrees(ctx), os.Rename(dir+".elsewhere", dir))
	}},
}

func (f *faults) pruneWorktrees(ctx context.Context) error {
	_, err := f.runGit(ctx, "worktree", "prune")
	return err
}

// kills is how often the server is killed.
const kills = 3

// doDamage does everything once, in an order that depends on the seed.
func (f *faults) doDamage(ctx context.Context) error {
	type action struct {
		what string
		do   func() error
	}
	var actions []action
	for i, t := range f.tasks {
		d := damages[i%len(damages)]
		dir := filepath.Join(f.home, "workspaces", t.Workspace)
		actions = append(actions, action{d.what + " " + t.Workspace, func() error { return d.do(ctx, f, dir) }})
	}
	for range kills {
		actions = append(actions, action{"kill the server", func() error { return f.killServer(ctx) }})
	}
	actions = append(actions, action{"remove the socket", func() error { return f.removeSocket(ctx) }})
	f.random.Shuffle(len(actions), func(i, j int) { actions[i], actions[j] = actions[j], actions[i] })
	for _, a := range actions {
		if err := a.do(); err != nil {
			return fmt.Errorf("%s: %w", a.what, err)
		}
		f.done = append(f.done, a.what)
	}
	return nil
}

// killServer kills the server that answers now, or one that a command starts.
func (f *faults) killServer(ctx context.Context) error {
	if _, err := f.listTasks(ctx); err != nil {
		return err
	}
	hello, err := f.client.Hello(ctx)
	if err != nil {
		return err
	}
	if err := syscall.Kill(hello.PID, syscall.SIGKILL); err != nil {
		return err
	}
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if now, err := f.client.Hello(ctx); err != nil || now.PID != hello.PID {
			return nil
		}
	}
	return errors.New("it still runs after SIGKILL")
}

// removeSocket removes the socket of a server that answers, and waits until the server listens
// again.
func (f *faults) removeSocket(ctx context.Context) error {
	if _, err := f.listTasks(ctx); err != nil { // starts a server if there is none
		return err
	}
	hello, err := f.client.Hello(ctx)
	if err != nil {
		return err
	}
	f.client.Close() // an open connection would not need the socket
	if err := os.Remove(f.socket); err != nil {
		return err
	}
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if now, err := f.client.Hello(ctx); err == nil && now.PID == hello.PID {
			return nil
		}
	}
	return errors.New("the server does not listen again")
}

// finishWork lets the workers continue, starts those that crashed again, and waits for reviews.
func (f *faults) finishWork(ctx context.Context) error {
	if err := os.WriteFile(filepath.Join(f.dir, "go"), nil, 0o600); err != nil {
		return err
	}
	if err := f.breakCheck(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.dir, "check"), nil, 0o600); err != nil {
		return err
	}
	return f.waitUntil(ctx, "every task is reviewed", func(list []task.Task) bool {
		f.respawnCrashed(ctx, list)
		return !slices.ContainsFunc(list, func(t task.Task) bool { return t.Status != "reviewing" || len(t.Pending) > 0 })
	})
}

// respawnCrashed starts agents again that died because their workspace was damaged.
func (f *faults) respawnCrashed(ctx context.Context, list []task.Task) {
	for _, t := range list {
		if t.Crashed != "" {
			f.runOrange(ctx, "task", "respawn", string(t.ID)) //nolint:errcheck // it may have been started meanwhile
		}
	}
}

// mergeAll merges everything that was reviewed at the same time. It requests a refused merge
// again.
func (f *faults) mergeAll(ctx context.Context) error {
	f.done = append(f.done, fmt.Sprintf("merge %d tasks at the same time", len(f.tasks)))
	return f.waitUntil(ctx, "every task is done", func(list []task.Task) bool {
		var wait sync.WaitGroup
		for _, t := range list {
			if t.Status == "reviewing" {
				wait.Go(func() { f.runOrange(ctx, "task", "merge", string(t.ID), "--strategy", "merge") }) //nolint:errcheck // what is left is looked at
			}
		}
		wait.Wait()
		return !slices.ContainsFunc(list, func(t task.Task) bool { return t.Status != "done" || len(t.Pending) > 0 })
	})
}

// checkResults returns what is wrong.
func (f *faults) checkResults(ctx context.Context) error {
	complain := func(format string, args ...any) { f.wrong = append(f.wrong, fmt.Sprintf(format, args...)) }
	for i, t := range f.tasks {
		if text, err := f.runGit(ctx, "show", "main:"+string(t.ID)+".txt"); err != nil || text != "done" {
			complain("the work of %s, whose workspace suffered %q, is not in main", t.Branch, damages[i].what)
		}
		found, err := f.compareRuns(ctx, &t, f.checkFile(&t), []string{task.CheckPassed})
		if err != nil {
			return err
		}
		f.wrong = append(f.wrong, found...)
	}
	if late, _ := filepath.Glob(filepath.Join(f.home, "workspaces", ".aside", "*", "*", "folder", "late")); len(late) != 1 {
		complain("%d folders of agents were kept, not 1", len(late))
	}
	if text, err := f.runGit(ctx, "status", "--porcelain"); err != nil || text != "" {
		complain("the checkout of main is not clean: %s", text)
	}
	if text, err := f.runGit(ctx, "fsck", "--no-progress", "--no-dangling"); err != nil || text != "" {
		complain("the repository is damaged: %s", text)
	}
	if text, err := f.runGit(ctx, "worktree", "list"); err != nil || strings.Contains(text, "prunable") {
		complain("worktrees are registered that are not there: %s", text)
	}
	checks, err := f.client.RunChecks(ctx)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if !c.OK {
			complain("doctor: %s: %s", c.Name, c.Detail)
		}
	}
	return nil
}

// waitUntil waits until holds returns true for the tasks.
func (f *faults) waitUntil(ctx context.Context, what string, holds func(list []task.Task) bool) error {
	ctx, cancel := context.WithTimeout(ctx, faultTime)
	defer cancel()
	for {
		list, err := f.listTasks(ctx)
		if err == nil && holds(list) {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("this did not happen: %s: %v, %s", what, err, timelessJSON(list))
		}
	}
}

// listTasks returns the tasks in the order of their creation.
func (f *faults) listTasks(ctx context.Context) ([]task.Task, error) {
	text, err := f.runOrange(ctx, "task", "list", "--all", "--closed", "--json")
	if err != nil {
		return nil, err
	}
	var out struct {
		Tasks []task.Task `json:"tasks"`
	}
	err = json.Unmarshal([]byte(text), &out)
	slices.SortFunc(out.Tasks, func(a, b task.Task) int { return strings.Compare(a.Branch, b.Branch) })
	return out.Tasks, err
}

func (f *faults) runOrange(ctx context.Context, args ...string) (string, error) {
	return f.runProgram(ctx, f.program, args...)
}

func (f *faults) runGit(ctx context.Context, args ...string) (string, error) {
	return f.runProgram(ctx, "git", args...)
}

func (f *faults) runProgram(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = f.repo, f.env
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		said := ""
		if errors.As(err, &exit) {
			said = strings.TrimSpace(string(exit.Stderr))
		}
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, said)
	}
	return strings.TrimSpace(string(out)), nil
}

// endAll ends what is still running.
func (f *faults) endAll() {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	list, _ := f.listTasks(ctx)
	over := func(t task.Task) bool { return len(t.Attempts) == 0 && len(t.Pending) == 0 }
	for _, t := range list {
		if !over(t) {
			f.runOrange(ctx, "task", "cancel", string(t.ID), "--yes") //nolint:errcheck // it may be over by now
		}
	}
	ended := func(list []task.Task) bool {
		return !slices.ContainsFunc(list, func(t task.Task) bool { return !over(t) })
	}
	f.waitUntil(ctx, "everything has ended", ended) //nolint:errcheck // the folder goes anyway
	f.runOrange(ctx, "stop")                        //nolint:errcheck // there may be none
	f.client.Close()
	os.RemoveAll(f.dir) //nolint:errcheck // a folder of ours in a folder of the caller's
}
