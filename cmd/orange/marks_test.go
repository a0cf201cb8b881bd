package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/lock"
	"orange/internal/adapter/shim"
	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// environ is the environment that a process was started with, nothing if the kernel keeps it
// from this user.
func environ(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if errors.Is(err, os.ErrPermission) {
		return nil
	}
	check(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// pidsIn waits for files with numbers that a script writes.
func (s *env) pidsIn(names ...string) (pids []int) {
	s.t.Helper()
	for _, name := range names {
		s.eventually(name+" is written", func() bool { return strings.HasSuffix(s.text(name), "\n") })
		pids = append(pids, s.pid(name))
	}
	return pids
}

// What an agent detaches ends with its attempt, whatever it calls itself: a binary called
// tmux with the mark of a server, and this very program with a mark of its own.
func TestWhatCallsItselfAPartOfOrangeEndsWithItsAttempt(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.write("idle.yaml", "worker:\n  - run: \"echo $PPID >../../../player\"\n  - idle:\n")
	id := s.create("feature", fmt.Sprintf(`
worker:
  - run: "cp $(command -v sleep) ../../../tmux"
  - run: "(ORANGE_ATTEMPT_KEY=server setsid sh -c 'echo $$ >../../../tmux.pid; exec ../../../tmux 1000' </dev/null >/dev/null 2>&1 &)"
  - run: "(ORANGE_ATTEMPT_KEY=other ORANGE_ROLE=worker setsid %s play %s/idle.yaml </dev/null >/dev/null 2>&1 &)"
  - run: "while ! test -s ../../../tmux.pid || ! test -s ../../../player; do sleep 0.02; done"
  - run: "while ! test -e ../../../end; do sleep 0.02; done"
  - exit: 0
`, s.program, s.dir))
	pids := s.pidsIn("tmux.pid", "player")
	for _, pid := range pids {
		if gone(pid) {
			t.Fatalf("process %d does not run", pid)
		}
	}
	s.write("end", "")
	s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d outlived its attempt", pid)
			syscallKill(pid)
		}
	}
}

// An agent of one data folder is not touched by another data folder that knows its task from
// an export.
func TestAnImportLeavesTheAgentsOfTheExporterAlone(t *testing.T) {
	t.Parallel()
	for _, sessions := range []string{"headless", "tmux"} {
		t.Run(sessions, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, sessions)
			id := s.create("feature", `
worker:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - idle:
`)
			started := s.alive(id, 1)
			file := s.write("export.jsonl", s.orange("export"))

			other := openEnv(t, sessions)
			other.orange("project", "remove", "shop")
			other.orange("pause") // whatever follows from the end of the imported attempt waits
			other.orange("import", file)
			other.await(id, "its attempts are over", func(t task.Task) bool { return len(t.Attempts) == 0 })
			other.orange("stop")
			other.orange("task", "list")
			other.orange("task", "cancel", string(id), "--yes")
			other.orange("resume")
			other.reaches(id, "cancelled")
			other.orange("task", "delete", string(id), "--yes")
			other.orange("stop")
			other.orange("doctor")

			if gone(started.Child.PID) || gone(started.Shim.PID) {
				t.Fatal("the agent was ended")
			}
			s.write("go", "")
			if got := s.reaches(id, "working"); len(got.Attempts) != 1 || got.Attempts[0].Number != 1 {
				t.Errorf("%+v", got.Attempts)
			}
		})
	}
}

// A copy of a data folder leaves the agents of the original alone.
func TestACopyOfADataFolderLeavesTheAgentsOfTheOriginalAlone(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - idle:
`)
	started := s.alive(id, 1)
	s.orange("stop")
	other := openEnv(t, "headless")
	other.orange("stop")
	check(t, os.RemoveAll(other.home))
	if out, err := s.command("cp", "-a", s.home, other.home).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	other.orange("pause")
	other.await(id, "its attempts are over", func(t task.Task) bool { return len(t.Attempts) == 0 })
	if gone(started.Child.PID) || gone(started.Shim.PID) {
		t.Fatal("the agent was ended")
	}
	other.orange("stop")
	s.write("go", "")
	if got := s.reaches(id, "working"); len(got.Attempts) != 1 || got.Attempts[0].Number != 1 {
		t.Errorf("%+v", got.Attempts)
	}
}

// A tmux that an agent starts is its own and ends with its attempt. A process in it counts
// as that attempt while the attempt lives.
func TestTheTmuxOfAnAgentEndsWithItsAttempt(t *testing.T) {
	t.Parallel()
	for _, sessions := range []string{"headless", "tmux"} {
		t.Run(sessions, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, sessions)
			script := s.write("pane.sh", fmt.Sprintf(`
echo $$ >%[1]s/pane
env -u ORANGE_TOKEN %[2]s task cancel $ORANGE_TASK --yes >%[1]s/said.tmp 2>&1
mv %[1]s/said.tmp %[1]s/said
exec sleep 1000
`, s.dir, s.program))
			id := s.create("feature", fmt.Sprintf(`
worker:
  - run: "echo \"$TMUX-$TMUX_PANE-$TMUX_TMPDIR\" >../../../variables"
  - run: "tmux new-session -d 'sh %s'"
  - run: "tmux display-message -p '#{pid}' >../../../server.tmp; tmux new-window -d 'echo $$ >%s/second; exec sleep 1000'; mv ../../../server.tmp ../../../server"
  - run: "while ! test -e ../../../end; do sleep 0.02; done"
  - exit: 0
`, script, s.dir))
			pids := s.pidsIn("server", "pane", "second")
			s.eventually("it has asked", func() bool { return s.has("said") })
			if said := s.text("said"); !strings.Contains(said, "worker") || s.task(id).Status == "cancelled" {
				t.Errorf("%s: %s", s.task(id).Status, said)
			}
			variables := strings.Split(strings.TrimSpace(s.text("variables")), "-")
			if len(variables) < 3 || variables[0] != "" || variables[1] != "" {
				t.Errorf("the agent is told of another tmux: %q", variables)
			}
			dir := strings.Join(variables[2:], "-")
			if info, err := os.Stat(dir); dir == "" || dir == s.dir || err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("TMUX_TMPDIR=%s: %v", dir, err)
			}
			for _, pid := range pids {
				if gone(pid) {
					t.Errorf("process %d ended too early", pid)
				}
			}
			s.write("end", "")
			s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
			for _, pid := range pids {
				if !gone(pid) {
					t.Errorf("process %d outlived its attempt", pid)
					syscallKill(pid)
				}
			}
			if _, err := os.Stat(dir); dir != s.dir && !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", dir, err)
			}
		})
	}
}

// A server that an agent's command starts belongs to the data folder: it has nothing of the
// agent and continues when the attempt ends, with its tmux and the agents that it started.
func TestAServerThatAnAgentStartedOutlivesItsAttempt(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "3")
	first := s.create("first", `
worker:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - run: "PATH=$ORANGE_HOME/attempts/x/1/bin:$PATH orange task list; touch ../../../asked"
  - run: "while ! test -e ../../../end; do sleep 0.02; done"
  - exit: 1
`)
	shimPID := s.alive(first, 1).Shim.PID
	s.write("config/orange/config.json", `{"sessions":"tmux"}`) // of the next server: its tmux will be below it
	s.killServer()
	s.write("go", "")
	s.eventually("the agent's command started a server", func() bool { return s.has("asked") })
	server := lock.ReadHolder(s.home).PID
	if line, _ := shim.Ancestry(server); len(line) < 2 || line[1] != shimPID {
		t.Fatalf("the server %d is not below the shim %d: %v", server, shimPID, line)
	}
	for _, kv := range environ(t, server) {
		for _, name := range []string{"ORANGE_TOKEN", "ORANGE_TASK", "ORANGE_ATTEMPT", "ORANGE_ROLE", shim.KeyVariable, "TMUX"} {
			if strings.HasPrefix(kv, name) {
				t.Errorf("the server has %s", kv)
			}
		}
		if strings.Contains(kv, "attempts") {
			t.Errorf("the server has %s", kv)
		}
	}
	second := s.create("second", "worker:\n  - idle:\n")
	started := s.alive(second, 1)
	if line, _ := shim.Ancestry(started.Terminal.PID); !slices.Contains(line, shimPID) {
		t.Fatalf("the tmux %d is not below the shim %d: %v", started.Terminal.PID, shimPID, line)
	}
	s.write("end", "")
	s.await(first, "the first has ended", func(t task.Task) bool { return len(t.Attempts) == 0 })
	if now := lock.ReadHolder(s.home).PID; now != server || gone(server) {
		t.Errorf("the server was %d and is %d", server, now)
	}
	if gone(started.Child.PID) || gone(started.Shim.PID) || gone(started.Terminal.PID) || len(s.task(second).Attempts) != 1 {
		t.Errorf("the second ended with it: %q", s.history(second))
	}
}

// A server of another data folder that an agent started ends with the attempt, and so do its
// agents.
func TestAServerOfAnotherDataFolderEndsWithTheAttempt(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	inner := filepath.Join(s.dir, "inner")
	id := s.create("feature", fmt.Sprintf(`
worker:
  - run: "ORANGE_HOME=%s orange task list; touch ../../../asked"
  - run: "while ! test -e ../../../end; do sleep 0.02; done"
  - exit: 0
`, inner))
	s.eventually("the inner server runs", func() bool { return s.has("asked") })
	server := lock.ReadHolder(inner).PID
	if server == 0 || gone(server) {
		t.Fatalf("no server runs: %d", server)
	}
	s.write("end", "")
	s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
	if !gone(server) {
		t.Errorf("the server %d outlived the attempt", server)
		syscallKill(server)
	}
}

// What was started in the tmux of Orange and left it is nobody, also when the server that
// started that tmux is gone.
func TestWhatLeftTheTmuxOfOrangeIsNobody(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", "worker:\n  - idle:\n")
	tmux := s.alive(id, 1).Terminal.PID
	s.killServer()
	s.orange("task", "list")
	line, _ := shim.Ancestry(tmux) // who takes tmux over takes what leaves it over
	script := s.write("ask", fmt.Sprintf(`
while test $(ps -o ppid= -p $$) != %[4]d; do sleep 0.02; done
%[1]s task cancel %[2]s --yes >%[3]s/said.tmp 2>&1; mv %[3]s/said.tmp %[3]s/said
`, s.program, id, s.dir, line[1]))
	if text, err := s.tmux("run-shell", "-b", "setsid -f sh "+script); err != nil {
		t.Fatal(text, err)
	}
	s.eventually("it has asked", func() bool { return s.has("said") })
	if said := s.text("said"); !strings.Contains(said, "requests are refused") || s.task(id).Status == "cancelled" {
		t.Errorf("%s: %s", s.task(id).Status, said)
	}
}

// A shim that an agent starts itself continues, because its record is in the data folder,
// but what it runs is nobody.
func TestAProcessOfAShimWithoutAnAttemptIsNobody(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	script := s.write("ask", fmt.Sprintf(`
echo $$ >%[1]s/asker
while ! test -e %[1]s/armed; do sleep 0.02; done
%[2]s task cancel $(cat %[1]s/id) --yes >%[1]s/said.tmp 2>&1; mv %[1]s/said.tmp %[1]s/said
`, s.dir, s.program))
	orders, err := json.Marshal(shim.Orders{Orders: agent.Orders{Argv: []string{"sh", script}, Env: s.environ, Dir: s.dir}})
	check(t, err)
	s.write("orders", string(orders))
	fake := filepath.Join(s.home, "attempts", "fake", "1")
	check(t, shim.Folder(fake).PrepareStart())
	id := s.create("feature", fmt.Sprintf(`
worker:
  - run: "(ORANGE_ATTEMPT_KEY=other setsid orange attend %[1]s </dev/null >/dev/null 2>&1 &)"
  - run: "cat ../../../orders >%[1]s/orders"
  - run: "while ! test -s ../../../asker; do sleep 0.02; done"
  - exit: 0
`, fake))
	s.write("id", string(id))
	s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
	if pid := s.pid("asker"); gone(pid) {
		t.Fatal("the shim ended: there is nobody to ask")
	}
	s.write("armed", "")
	s.eventually("it has asked", func() bool { return s.has("said") })
	if said := s.text("said"); !strings.Contains(said, "requests are refused") || s.task(id).Status == "cancelled" {
		t.Errorf("%s: %s", s.task(id).Status, said)
	}
}

// An attempt that the version before started carries a mark without a data folder. It ends
// with everything that carries that mark, because its start record says so.
func TestAnAttemptOfTheVersionBeforeIsEnded(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.orange("pause")
	id := s.create("feature", "worker:\n  - idle:\n")
	mark := string(id) + "/1"
	supervisor := shim.New([]string{s.program, shimCommand}, shim.DataFolder{})
	defer supervisor.Close()
	started, err := supervisor.StartAttempt(t.Context(), s.folder(id, 1), shim.Orders{Orders: agent.Orders{
		Argv: []string{"sh", "-c", "(setsid sh -c 'echo $$ >" + s.dir + "/detached; exec sleep 1000' &); exec sleep 1000"},
		Env:  append(append([]string{}, s.environ...), shim.KeyVariable+"="+mark), Dir: s.dir,
	}, Grace: 5 * time.Second}, supervisor.PlainLaunch())
	check(t, err)
	detached := s.pidsIn("detached")[0]
	s.orange("resume")
	s.await(id, "it is adopted", func(t task.Task) bool {
		a, ok := t.AttemptByNumber(1)
		return ok && a.Running
	})
	kill(t, started.Shim.PID) // so that only the record and the mark lead to what is left
	s.orange("task", "cancel", string(id), "--yes")
	s.reaches(id, "cancelled")
	for _, pid := range []int{started.Child.PID, detached} {
		if !gone(pid) {
			t.Errorf("process %d is left", pid)
			syscallKill(pid)
		}
	}
}
