//go:build agents

package agents_test

import (
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
)

// asks is a worker that uses its shell twice, and ends its turn with a question.
func asks() []scriptedmodel.Script {
	return []scriptedmodel.Script{{Name: workerScript, When: toWorker, Turns: []scriptedmodel.Turn{
		{Shell: `printf 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'`},
		{Shell: `ls /no/such/folder`},
		{Text: question},
	}}}
}

const question = "There are seven.\n\n- Which **colour** shall the button have?"

// A person can read what an agent said and did, and its last message.
func TestTheLogIsReadable(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		s := newEnv(t, agent, sessions, asks())
		id := s.create()
		s.await(id, "it has asked", func(now task.Task) bool {
			if sessions == "tmux" {
				a, ok := now.LiveAttempt("worker")
				return ok && a.Condition.Name == task.Idle
			}
			list := s.attempts(id)
			return len(list) > 0 && list[0].Code != nil
		})
		args := []string{"task", "log", string(id), "--attempt", "1"}
		log := s.orange(args...)
		for _, want := range []string{
			" user\n# Task: make a button\n", ": printf 'one\\ntwo\\nthree\\nfour\\nfive\\nsix\\nseven\\n'\n", "\n  one\n  two\n  three\n  four\n  five\n  ... 2 more lines\n",
			": ls /no/such/folder\n", "ls: cannot access '/no/such/folder': No such file or directory\n", " agent\n" + question + "\n",
		} {
			if strings.Count(log, want) != 1 {
				t.Errorf("%q is in the log %d times", want, strings.Count(log, want))
			}
		}
		if strings.Contains(log, "\x1b") || strings.Contains(log, `{"`) {
			t.Error("the log shows what controls a terminal, or JSON")
		}
		if raw := s.orange(append(args, "--raw")...); raw == log || raw == "" {
			t.Error("--raw shows something else than the bytes")
		}
		if got := s.orange("task", "output", string(id), "--attempt", "1"); got != question+"\n" {
			t.Errorf("it said %q", got)
		}
		if t.Failed() {
			t.Logf("the log:\n%s", log)
		}
	})
}
