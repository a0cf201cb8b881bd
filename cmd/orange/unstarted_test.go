package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/task"
)

// openFake is a shop whose claude is a program of the test.
func openFake(t *testing.T, sessions, program string) *env {
	t.Helper()
	s := openEnv(t, sessions)
	s.orange("stop")
	check(t, os.Chmod(s.write("bin/claude", "#!/bin/sh\n"+program), 0o755))
	s.environ[0] = "PATH=" + filepath.Join(s.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	s.environ = append(s.environ, "ANTHROPIC_API_KEY=sk-ant-api03-0123456789abcdef")
	return s
}

// awaitWanted waits until a task wants a person for something of a kind.
func (s *env) awaitWanted(id task.ID, kind explain.ItemKind) explain.Item {
	s.t.Helper()
	var it explain.Item
	s.eventually("the inbox has an item of kind "+string(kind), func() bool {
		it = s.wanted(id)
		return it.Kind == kind
	})
	return it
}

func TestAnAgentThatStandsStillAtItsStartIsInTheInbox(t *testing.T) {
	t.Parallel()
	s := openFake(t, "tmux", `
printf '+-----------------+\n| Which moon?     |\n| 1. Luna  2. Io  |\n+-----------------+\nkey ...6789abcdef\n'
stty -echo
cat >../../../typed &
while ! test -e ../../../go; do sleep 0.1; done
echo '{"session_id":"one"}' | orange hook claude SessionStart
exec sleep 1000
`)
	id := s.createWith("feature", "--harness", "claude")
	it := s.awaitWanted(id, explain.ItemNotStarted)
	hasAll(t, "the inbox", it.Text, "Which moon?", "1. Luna 2. Io", "key ...[secret]")
	hasAll(t, "what helps", it.Do, "orange task attach")
	hasAll(t, "explain", s.orange("task", "explain", string(id)), "has not started", "Which moon?")
	if text := s.text("typed"); text != "" {
		t.Errorf("typed into it: %q", text)
	}
	s.killServer() // the next one knows it, and receives the hook
	s.task(id)     // starts a server: a hook without a server is lost
	s.write("go", "")
	s.await(id, "it runs", func(t task.Task) bool {
		return len(t.Attempts) == 1 && t.Attempts[0].Condition.Name == task.Running
	})
	if it := s.wanted(id); it.Kind != "" {
		t.Errorf("the inbox says %+v", it)
	}
}

func TestAnAgentThatCannotStartIsNoCrash(t *testing.T) {
	t.Parallel()
	for _, sessions := range []string{"tmux", "headless"} {
		t.Run(sessions, func(t *testing.T) {
			s := openFake(t, sessions, "echo 'missing FOO: set it to sk-ant-api03-0123456789abcdef' >&2\nexit 3\n")
			id := s.createWith("feature", "--harness", "claude")
			it := s.awaitWanted(id, explain.ItemNotStarted)
			if !strings.HasPrefix(it.Text, "the worker could not start: missing FOO: set it to [secret] (code 3)") {
				t.Errorf("the inbox says %q", it.Text)
			}
			got := s.task(id)
			if got.Status != "planning" || got.CounterValue("crash_count") != 0 || got.Unstarted.Count != 1 || got.RespawnAt.IsZero() {
				t.Errorf("%+v", got)
			}
			hasAll(t, "explain", s.orange("task", "explain", string(id)), "Last start (worker)", "missing FOO")
			hasAll(t, "the history", s.orange("task", "history", string(id)), "missing FOO")
			s.orange("task", "respawn", string(id))
			s.await(id, "it was tried again", func(t task.Task) bool {
				return t.AttemptCount() == 2 && t.Unstarted != nil && t.Unstarted.Count == 1
			})
		})
	}
}

// tmux still has output to hand over when the agent ends.
func TestTheLastLinesOfALongOutputAreShown(t *testing.T) {
	t.Parallel()
	s := openFake(t, "tmux", "seq 1 20000\necho 'missing FOO: set it' >&2\nexit 3\n")
	id := s.createWith("feature", "--harness", "claude")
	if it := s.awaitWanted(id, explain.ItemNotStarted); !strings.Contains(it.Text, "missing FOO: set it (code 3)") {
		t.Errorf("the inbox says %q", it.Text)
	}
}

func TestAFailedTurnIsInTheInbox(t *testing.T) {
	t.Parallel()
	s := openFake(t, "tmux", `
echo '{"session_id":"one"}' | orange hook claude UserPromptSubmit
echo '{"session_id":"one","error":"invalid_request","last_assistant_message":"API Error: 400 no such model"}' | orange hook claude StopFailure
exec sleep 1000
`)
	id := s.createWith("feature", "--harness", "claude")
	it := s.awaitWanted(id, explain.ItemTurnFailed)
	if it.Text != "the turn of the worker failed: API Error: 400 no such model" || !strings.Contains(it.Do, "attach") {
		t.Errorf("%+v", it)
	}
}
