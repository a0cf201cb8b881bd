package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/internal/adapter/shim"
	"orange/internal/adapter/sqlite"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/ui/cli"
)

// copyStore stops the server and copies the store, as a person would.
func (s *env) copyStore(name string) string {
	s.t.Helper()
	s.orange("stop")
	text, err := os.ReadFile(storePath(s.home))
	check(s.t, err)
	to := filepath.Join(s.dir, name)
	check(s.t, os.WriteFile(to, text, 0o600))
	return to
}

// putBack puts a copy of the store in its place, as a person would, and removes the backups if they
// are not to be used.
func (s *env) putBack(from string, backups bool) {
	s.t.Helper()
	text, err := os.ReadFile(from)
	check(s.t, err)
	check(s.t, os.WriteFile(storePath(s.home), text, 0o600))
	if !backups {
		check(s.t, os.RemoveAll(backupFolder(s.home)))
	}
}

func (s *env) restore() cli.Restored {
	s.t.Helper()
	var out cli.Restored
	check(s.t, json.Unmarshal([]byte(s.orange("doctor", "--restore", "--json")), &out))
	return out
}

// isOver says whether an attempt has an end and no process.
func (s *env) isOver(id task.ID, attempt int) bool {
	s.t.Helper()
	state, err := s.folder(id, attempt).ReadState(shim.BootID())
	check(s.t, err)
	return state.Phase == shim.Over
}

func TestAnOlderStoreIsPutBackWhileAgentsLive(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		calm := s.create("calm", planner) // is the same before and after the copy
		s.reaches(calm, "working")
		calmAgent := s.alive(calm, 1)
		stale := s.create("stale", strings.Replace(planner, "worker:\n", "worker:\n  - run: \"while ! test -e ../../../go; do sleep 0.02; done\"\n", 1))
		s.reaches(stale, "planning")
		staleAgent := s.alive(stale, 1)
		old := s.copyStore("old.db")
		s.write("go", "")
		s.reaches(stale, "working")
		s.orange("project", "update", "shop", "--pool-size", "4")
		young := s.create("young", planner)
		s.reaches(young, "working")
		youngAgent, place := s.alive(young, 1), s.task(young).Workspace
		s.write("home/workspaces/"+place+"/unsaved.txt", "not committed\n")
		s.orange("stop")
		s.putBack(old, false)

		s.refused("it is older than the task folders (tasks that show more: 2", "task", "list")
		for _, pid := range []int{calmAgent.Child.PID, staleAgent.Child.PID, youngAgent.Child.PID} {
			if gone(pid) {
				t.Errorf("process %d is gone before anybody asked for that", pid)
			}
		}
		got := s.restore()
		if got.Backup != "" || len(got.Imported) != 1 || len(got.Held) != 1 || len(got.Ended) != 2 || len(got.Alive) != 1 || len(got.Problems) != 0 {
			t.Errorf("%+v", got)
		}
		if got.Held[0].ID != stale || got.Held[0].Status != "planning" || got.Held[0].Shown != "working" || got.Imported[0].ID != young || got.Alive[0].Task != calm {
			t.Errorf("%+v", got)
		}
		if gone(calmAgent.Child.PID) || !gone(staleAgent.Child.PID) || !gone(youngAgent.Child.PID) || !s.isOver(stale, 1) || !s.isOver(young, 1) {
			t.Error("the wrong agents live")
		}

		// The agent that the store knows is watched again, and its task continues.
		kill(t, calmAgent.Child.PID)
		s.await(calm, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })

		// The task that was imported has its branch, its text and its workspace, and continues.
		tk := s.task(young)
		if tk.Status != "stuck" || tk.Branch != "young" || tk.Workspace != place || tk.AttemptCount() != 1 {
			t.Errorf("%+v", tk)
		}
		if text, err := os.ReadFile(filepath.Join(s.home, "tasks", "shop", string(young), "TASK.md")); err != nil || !strings.Contains(string(text), "APPROACH: slowly") {
			t.Errorf("%s, %v", text, err)
		}
		s.orange("task", "update", string(young), "--status", "working")
		s.await(young, "a second agent works", func(t task.Task) bool { return t.AttemptCount() >= 2 })
		if text, err := os.ReadFile(filepath.Join(s.home, "workspaces", place, "unsaved.txt")); err != nil || string(text) != "not committed\n" {
			t.Errorf("%q, %v", text, err)
		}
		s.orange("task", "cancel", string(young), "--yes")
		s.await(young, "the workspace is free", func(t task.Task) bool { return t.Workspace == "" })

		// The task that is held does nothing until a person says so.
		held := s.task(stale)
		if held.Status != "planning" || !held.Paused || !strings.Contains(held.Attention, "history.jsonl says working") || len(held.Attempts)+len(held.Pending) > 0 {
			t.Errorf("%+v", held)
		}
		s.orange("task", "update", string(stale), "--status", "working")
		s.orange("resume", string(stale))
		s.reaches(stale, "reviewing")
		for _, id := range []task.ID{stale, young, calm} {
			if out := s.orange("task", "replay", string(id)); strings.Contains(out, "diverge") {
				t.Error(out)
			}
		}
		if out := s.orange("workspace", "list"); strings.Contains(out, "the record says") {
			t.Error(out)
		}
	})
}

// What a restore advises is true: a task that was resumed where it is asks for the agent that the restore ended.
func TestARestoredTaskIsResumedAndGetsAnAgent(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", planner)
	s.reaches(id, "working")
	old := s.copyStore("old.db")
	s.orange("pause", string(id))
	s.orange("resume", string(id))
	s.orange("stop")
	s.putBack(old, false)
	if out := s.orange("doctor", "--restore"); !strings.Contains(out, "Held task "+string(id)) || !strings.Contains(out, "orange task respawn ID starts the agent of a task that has none") {
		t.Errorf("restore says\n%s", out)
	}
	s.orange("resume", string(id))
	if out := s.orange("inbox"); !strings.Contains(out, "no worker is at work") || !strings.Contains(out, "orange task respawn ") {
		t.Errorf("the inbox has\n%s", out)
	}
	s.orange("task", "respawn", string(id))
	s.await(id, "another worker works", func(t task.Task) bool { return t.AttemptCount() == 2 })
	s.reaches(id, "reviewing")
}

// A server still has the store that somebody removed, and nothing of it is lost.
func TestAStoreThatIsRemovedUnderItsServerIsSaved(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	before := s.create("before", planner)
	s.reaches(before, "working")
	check(t, os.RemoveAll(backupFolder(s.home)))
	for _, end := range []string{"", "-wal", "-shm"} {
		check(t, os.Remove(storePath(s.home)+end))
	}
	s.eventually("a copy is made", func() bool {
		list, err := sqlite.ListBackups(backupFolder(s.home))
		return err == nil && len(list) > 0
	})
	out, _, err := s.run("doctor")
	if err == nil || !regexp.MustCompile(`(?m)^FAIL +store +.*/orange.db was removed while it is in use: run orange stop, then orange doctor --restore$`).MatchString(out) {
		t.Errorf("%v: doctor says\n%s", err, out)
	}
	after := s.create("after", planner) // commands go on
	s.reaches(after, "working")
	s.orange("stop")
	if _, err := os.Stat(storePath(s.home)); err == nil {
		t.Error("another store was made")
	}
	s.refused("it is missing, though there are task folders (2)", "task", "list")
	if got := s.restore(); got.Backup == "" || len(got.Imported)+len(got.Held)+len(got.Ended)+len(got.Problems) > 0 || len(got.Alive) != 2 {
		t.Errorf("%+v", got)
	}
	for _, id := range []task.ID{before, after} {
		if tk := s.task(id); tk.Status != "working" || tk.Paused || tk.Attention != "" {
			t.Errorf("%+v", tk)
		}
	}
	if out := s.orange("doctor"); strings.Contains(out, "FAIL") {
		t.Error(out)
	}
}

// No effect is done twice: the merge that came after the copy is not made again, and neither are
// starts, though the copy owes them.
func TestARestoreRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", diligent)
	s.reaches(id, "reviewing")
	old := s.copyStore("old.db")
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")
	head := s.git(s.repo, "rev-parse", "main")
	used := map[string]bool{}
	for _, e := range s.journal(id) {
		if e.Receipt != nil {
			used[e.Receipt.Effect] = true
		}
	}
	s.orange("stop")
	s.putBack(old, false)
	got := s.restore()
	if len(got.Held) != 1 || got.Held[0].Status != "reviewing" || got.Held[0].Shown != "done" {
		t.Fatalf("%+v", got)
	}
	tk := s.task(id)
	if !tk.Paused || tk.Workspace != "" || len(tk.Pending) > 0 {
		t.Errorf("%+v", tk)
	}
	var after []journal.Entry
	for i, e := range s.journal(id) {
		if e.Type == journal.TaskRestored {
			after = s.journal(id)[i:]
		}
	}
	s.orange("task", "complete", string(id))
	s.await(id, "it is over", func(t task.Task) bool { return t.Status == "done" && len(t.Pending) == 0 })
	for _, e := range append(after, s.journal(id)[tk.Seq:]...) {
		for _, f := range e.Effects {
			if used[f.ID] {
				t.Errorf("effect %s has the name of one that was done", f.ID)
			}
		}
	}
	if now := s.git(s.repo, "rev-parse", "main"); now != head {
		t.Errorf("main moved from %s to %s", head, now)
	}
}

// A restore that is killed at each of its steps is done again, and ends as one that was not.
func TestARestoreIsKilledAtEachStep(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	old := s.create("old", planner)
	s.reaches(old, "working")
	s.orange("stop")
	s.orange("task", "list") // the server that starts makes a backup
	s.eventually("there is a backup", func() bool {
		list, err := sqlite.ListBackups(backupFolder(s.home))
		return err == nil && len(list) > 1
	})
	s.orange("task", "update", string(old), "--summary", "later")
	young := s.create("young", planner)
	s.reaches(young, "working")
	s.killServer()
	folders := []string{"tasks", "backups", "orange.db", "orange.db-wal", "orange.db-shm"}
	check(t, os.Truncate(storePath(s.home), 30000))
	saved := filepath.Join(s.dir, "saved")
	check(t, os.Mkdir(saved, 0o700))
	for _, name := range folders {
		if _, err := os.Stat(filepath.Join(s.home, name)); err == nil {
			s.must("cp", "-a", filepath.Join(s.home, name), saved)
		}
	}
	var steps int
	for n := 1; ; n++ {
		for _, name := range folders {
			check(t, os.RemoveAll(filepath.Join(s.home, name)))
		}
		s.must("sh", "-c", "cp -a "+saved+"/* "+s.home)
		if n == 1 { // both agents live only now
			s.killed("--crash-at", "1", "--crash-point", "restore.end")
			s.killed("--crash-at", "2", "--crash-point", "restore.end")
		}
		if !s.killed("--crash-at", strconv.Itoa(n)) {
			steps = n - 1
			break
		}
		if _, _, err := s.run("task", "list"); err == nil { // all that was left to do was to say so
			s.orange("stop")
		}
		s.restore()
		s.sameEnd(fmt.Sprintf("killed at step %d", n), old, young)
		s.orange("stop")
	}
	s.sameEnd("not killed", old, young)
	if steps < 8 {
		t.Errorf("only %d steps", steps)
	}
	if found, _ := filepath.Glob(filepath.Join(s.home, "damaged-*", "orange.db")); len(found) < steps {
		t.Errorf("%d damaged stores are kept of %d", len(found), steps)
	}
}

// killed says whether a restore was killed.
func (s *env) killed(flags ...string) bool {
	s.t.Helper()
	var killed bool
	s.eventually("a restore that no server is in the way of", func() bool { // the shim of an agent that was ended starts one, which finds no store and leaves
		out, err := s.command(s.program, append([]string{"doctor", "--restore"}, flags...)...).CombinedOutput()
		var exit *exec.ExitError
		killed = errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		used := strings.Contains(string(out), "a server uses it")
		if err != nil && !killed && !used {
			s.t.Fatalf("restore %q: %v\n%s", flags, err, out)
		}
		return !used
	})
	return killed
}

func (s *env) must(name string, args ...string) {
	s.t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// sameEnd checks what every restore must lead to.
func (s *env) sameEnd(when string, old, young task.ID) {
	s.t.Helper()
	a, b := s.task(old), s.task(young)
	if a.Status != "working" || !a.Paused || len(a.Attempts)+len(a.Pending) > 0 || b.Status != "stuck" || b.Workspace == "" || len(s.list()) != 2 {
		s.t.Errorf("%s: %+v\n%+v", when, a, b)
	}
	restored := 0
	for _, id := range []task.ID{old, young} {
		for _, e := range s.journal(id) {
			if e.Type == journal.TaskRestored {
				restored++
			}
		}
	}
	if restored != 2 || !s.isOver(old, 1) || !s.isOver(young, 1) {
		s.t.Errorf("%s: %d tasks were restored, or an agent lives", when, restored)
	}
	if out := s.orange("doctor"); strings.Contains(out, "FAIL") {
		s.t.Errorf("%s: %s", when, out)
	}
}

// Without any backup the tasks are imported from their folders, with their project.
func TestARestoreWithoutBackups(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", planner)
	s.reaches(id, "working")
	s.killServer()
	check(t, os.RemoveAll(backupFolder(s.home)))
	check(t, os.Remove(storePath(s.home)))
	s.refused("it is missing, though there are task folders (1) and backups (0)", "task", "list")
	got := s.restore()
	if !got.Empty || len(got.Imported) != 1 || len(got.Projects) != 1 || len(got.Ended) != 1 {
		t.Errorf("%+v", got)
	}
	tk := s.task(id)
	if tk.Status != "stuck" || tk.Workspace != "shop--1" || tk.Branch != "feature" {
		t.Errorf("%+v", tk)
	}
	s.orange("task", "update", string(id), "--status", "working")
	s.reaches(id, "reviewing")
}

// A task whose repository is away at the restore is imported by another restore, as the report says.
func TestATaskOfARepositoryThatIsAwayIsImportedLater(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "1")
	id := s.create("feature", diligent)
	s.reaches(id, "reviewing")
	s.orange("stop")
	check(t, errors.Join(os.Remove(storePath(s.home)), os.RemoveAll(backupFolder(s.home)), os.Rename(s.repo, s.repo+"-away"), os.Mkdir(s.repo, 0o700)))
	r := s.restore()
	if len(r.Problems) != 1 || len(r.Imported) > 0 {
		t.Fatalf("%+v", r)
	}
	folders := regexp.MustCompile(`its folder is (\S+) now: once that is fixed, run orange stop, move the folder back to (\S+), and run orange doctor --restore again`).FindStringSubmatch(r.Problems[0])
	if folders == nil {
		t.Fatal(r.Problems[0])
	}
	check(t, errors.Join(os.Remove(s.repo), os.Rename(s.repo+"-away", s.repo)))
	s.orange("project", "add", s.repo, "--pool-size", "1")
	s.orange("stop")
	check(t, os.Rename(folders[1], folders[2]))
	if r := s.restore(); len(r.Problems) > 0 || len(r.Imported) != 1 || r.Imported[0].ID != id || r.Imported[0].Status != "stuck" {
		t.Errorf("%+v", r)
	}
}

// A person whose store is lost may move the data folder away and begin with an empty one. The workspaces of tasks that
// nobody knows any more are free, and what only git's entry of a worktree had is kept.
func TestAnEmptyDataFolderGetsTheWorkspacesOfALostOne(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "1")
	lost := s.create("feature", planner)
	dir := s.workspace(s.reaches(lost, "working"))
	s.orange("pause")
	check(t, endAttempts(s.program, s.home))
	s.orange("stop")
	check(t, os.WriteFile(filepath.Join(dir, "staged.txt"), []byte("x\n"), 0o600))
	s.git(dir, "add", "staged.txt")
	check(t, os.Remove(storePath(s.home)))
	s.refused("or move "+s.home+" away to begin with an empty one", "task", "list")
	check(t, os.Rename(s.home, s.home+".away"))
	s.orange("project", "add", s.repo, "--pool-size", "1")
	id := s.create("other", planner)
	s.reaches(id, "working")
	if told := s.orange("task", "history", string(id)); !strings.Contains(told, "that of task "+string(lost)+", which does not hold it") {
		t.Errorf("nobody is told:\n%s", told)
	}
	if text := s.git(s.repo, "show", "refs/orange/salvage/"+string(lost)+"/1:staged.txt"); text != "x" {
		t.Errorf("kept %q", text)
	}
	if text, err := os.ReadFile(filepath.Join(s.home+".away", "workspaces", "shop--1", "staged.txt")); err != nil || string(text) != "x\n" {
		t.Errorf("the files that were moved away: %q, %v", text, err)
	}
}
