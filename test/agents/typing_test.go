//go:build agents

package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
	"orange/internal/wait"
)

const (
	half = "please look at the colours"
	wish = "rounder corners, please"
)

// A message to an agent at whose prompt a person has typed half a line waits for the person. Both arrive, each as a
// separate message.
func TestAHalfTypedLineAndAMessageArriveSeparately(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			scripts := mainJob()
			scripts[0].Turns = slices.Insert(scripts[0].Turns, firstHalf, scriptedmodel.Turn{Text: "The colours are fine."})
			s := newEnv(t, agent, "tmux", scripts)
			id := s.create()
			first := s.await(id, "the work is reviewed", rests)
			s.awaitScreen("the worker's prompt", "It is handed over.")

			s.keys("-l", half)
			s.awaitScreen("what the person types", half)
			s.orange("task", "request-changes", string(id), "-m", wish)
			s.await(id, "the message is owed, and the reason is shown", func(t task.Task) bool {
				a, ok := t.LiveAttempt("worker")
				return ok && a.Condition.Name == task.WaitingInput && strings.Contains(a.Condition.Detail, "half typed") && len(t.Pending) == 1
			})
			if screen := s.screen(); strings.Contains(screen, wish) {
				t.Errorf("it was typed behind the person's words:\n%s", screen)
			}
			s.keys("Enter")
			s.await(id, "the change is reviewed", func(t task.Task) bool { return rests(t) && t.Visit > first.Visit })
			for _, r := range s.model.Requests() {
				if r.Script != workerScript {
					continue
				}
				mine, theirs := strings.Contains(r.Prompt, wish), strings.Contains(r.Prompt, half)
				if r.Turn == firstHalf && (mine || !theirs) || r.Turn == firstHalf+1 && (!mine || theirs) {
					t.Errorf("turn %d answers %q", r.Turn, r.Prompt)
				}
			}
		})
	}
}

// Only a person signs in: Orange does not answer the login menu of codex.
func TestTheLoginMenuGetsNothing(t *testing.T) {
	s := newEnv(t, "codex", "tmux", mainJob())
	s.write(".codex/config.toml", "check_for_update_on_startup = false\n")
	id := s.create("--workflow", s.shortIdleWorkflow())
	s.awaitScreen("the menu", "Sign in with ChatGPT")
	s.await(id, "the menu is shown, or the agent is given up", func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return !ok || a.Condition.IsBlocked()
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Second) { // repeated keys would arrive now
		s.task(id)
	}
	files, err := filepath.Glob(filepath.Join(s.data, "attempts", "*", "*", "output.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		for _, sign := range []string{"Finish signing in", "localhost:1455", "auth.openai.com"} {
			if strings.Contains(string(text), sign) {
				t.Errorf("a login was begun: %q is in %s", sign, file)
			}
		}
	}
}

const workerWindow = "=shop/feature:=worker"

// keys presses keys in the worker's window, as a person does.
func (s *env) keys(args ...string) {
	s.t.Helper()
	args = append([]string{"-S", s.tmux, "send-keys", "-t", workerWindow}, args...)
	if out, err := s.command("tmux", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
}

// screen returns what the worker's window shows, or nothing while there is none.
func (s *env) screen() string {
	s.t.Helper()
	out, _ := s.command("tmux", "-S", s.tmux, "capture-pane", "-p", "-t", workerWindow).Output()
	return string(out)
}

func (s *env) awaitScreen(what, words string) {
	s.t.Helper()
	wait.Until(s.t, what, func() bool { return strings.Contains(s.screen(), words) }, func() any { return s.screen() })
}
