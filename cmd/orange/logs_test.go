package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/wait"
)

// fakeClaude is a program that speaks like Claude Code without a terminal, says one thing
// to its session and then waits to be ended.
const fakeClaude = `#!/bin/sh
printf '%s\n' '{"type":"system","subtype":"init","session_id":"11111111-1111-1111-1111-111111111111"}'
printf '%s\n' '{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"go test ./..."}}]}}'
printf '%s\n' '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"1\n2\n3\n4\n5\n6\n7"}]}}'
printf '%s\n' '{"type":"assistant","message":{"id":"b","content":[{"type":"text","text":"Which **colour** shall it have?\u001b[2J"}]}}'
touch "$HOME/said"
exec sleep 600
`

const readable = `agent
› Bash: go test ./...
  1
  2
  3
  4
  5
  ... 2 more lines

agent
Which **colour** shall it have?
`

func TestALogWithoutATerminalIsReadable(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.write("bin/claude", fakeClaude)
	check(t, os.Chmod(filepath.Join(s.dir, "bin/claude"), 0o700))
	s.orange("stop")
	s.environ[0] = "PATH=" + filepath.Join(s.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	id := s.createWith("feature", "--harness", "claude")
	s.eventually("it has spoken", func() bool { return s.has("said") })
	wait.Until(t, "the log shows it", func() bool { return s.orange("task", "log", string(id)) == readable }, func() any { return s.orange("task", "log", string(id)) })
	want(t, s.orange("task", "output", string(id)), "Which **colour** shall it have?\n")
	if raw := s.orange("task", "log", string(id), "--raw"); !strings.HasPrefix(raw, `{"type":"system"`) {
		t.Errorf("raw: %s", raw)
	}
	c := client.New(s.cfg.Socket)
	defer c.Close()
	seen, err := c.ReadScreen(t.Context(), string(id), "")
	check(t, err)
	var lines []string
	for _, l := range seen.Lines {
		lines = append(lines, l.String())
	}
	want(t, strings.Join(lines, "\n")+"\n", readable)
	s.refused("has no attempt of role nobody", "task", "output", string(id), "--role", "nobody")
	s.orange("task", "cancel", string(id), "--yes")
	s.await(id, "its agent is gone", func(t task.Task) bool { return len(t.Attempts) == 0 })
	want(t, s.orange("task", "log", string(id)), readable)
	want(t, s.orange("task", "output", string(id)), "Which **colour** shall it have?\n")
}

func TestALogOfATerminalIsWhatItLookedLike(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	s.write("draw.sh", `printf 'two\033[1Cwords\n'; for c in 1 2 3 4 5 6 7 8 9; do printf '\r%s thinking' $c; done; printf '\r\033[2Kdone\n'; touch ../../../drawn; sleep 600`+"\n")
	id := s.createWith("feature", "--harness", "command:sh "+filepath.Join(s.dir, "draw.sh"))
	s.eventually("it has drawn", func() bool { return s.has("drawn") })
	s.eventually("the log shows it", func() bool { return s.orange("task", "log", string(id)) == "two words\ndone\n" })
	s.refused("has said nothing", "task", "output", string(id))
}

// known is what status, explain and doctor say of the agents.
func (s *env) known(id task.ID) (agents, idle int, x explain.Explanation, doctor string) {
	s.t.Helper()
	var status struct{ Agents, Idle int }
	check(s.t, json.Unmarshal([]byte(s.orange("status", "--json", "--timeout", "90s")), &status))
	check(s.t, json.Unmarshal([]byte(s.orange("task", "explain", string(id), "--json")), &x))
	for line := range strings.Lines(s.orange("doctor")) {
		if strings.Contains(line, " alive") {
			doctor = line
		}
	}
	return status.Agents, status.Idle, x, doctor
}

// hold stops a process, and waits until all its threads have stopped.
func (s *env) hold(pid int) {
	s.t.Helper()
	check(s.t, syscall.Kill(pid, syscall.SIGSTOP))
	s.eventually("the process is held", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		check(s.t, err)
		return !slices.ContainsFunc(threads, func(name string) bool {
			stat, err := os.ReadFile(name)
			_, state, _ := strings.Cut(string(stat), ") ")
			return err == nil && !strings.HasPrefix(state, "T")
		})
	})
}

// The shim is held, so that nobody can record the end of its agent.
func TestOnlyAgentsThatHaveAProcessCount(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", "worker:\n  - idle:\n")
	started := s.alive(id, 1)
	s.await(id, "it is idle", func(t task.Task) bool { a, ok := t.LiveAttempt("worker"); return ok && a.Condition.Name == task.Idle })
	agents, idle, x, doctor := s.known(id)
	if agents != 1 || idle != 1 || x.Why != "the worker ended its turn without moving the task, and waits" || x.Cost[0].Living != 1 || !strings.Contains(doctor, "1 alive") {
		t.Errorf("alive: %d agents, %d idle, %s, %+v, %s", agents, idle, x.Why, x.Cost, doctor)
	}
	s.hold(started.Shim.PID)
	check(t, syscall.Kill(started.Child.PID, syscall.SIGKILL))
	s.eventually("it is dead", func() bool { return !started.Child.Alive() })
	agents, idle, x, doctor = s.known(id)
	if agents != 0 || idle != 0 || x.Owner != "the engine" || x.Why != "attempt 1 of the worker has ended, and its end is being recorded" || x.Cost[0].Living != 0 || !strings.Contains(doctor, "0 alive") {
		t.Errorf("dead: %d agents, %d idle, %s: %s, %+v, %s", agents, idle, x.Owner, x.Why, x.Cost, doctor)
	}
	check(t, syscall.Kill(started.Shim.PID, syscall.SIGCONT))
	s.await(id, "its end is recorded", func(t task.Task) bool { _, ok := t.AttemptByNumber(1); return !ok })
}
