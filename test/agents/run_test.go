//go:build agents

package agents_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
)

// toSolo is the beginning of the worker's prompt in the workflow solo.
const toSolo = "# Task: Make a button"

// runJob asks a question, and works after the answer.
func runJob() []scriptedmodel.Script {
	return []scriptedmodel.Script{{Name: workerScript, When: toSolo, Turns: []scriptedmodel.Turn{
		{Shell: `git log --oneline`},
		{Text: "Which colour should the button be?"},
		{Shell: `grep -q blue TASK.md && echo blue >a.txt && git add a.txt && git commit -qm blue`},
		{Shell: `orange task update --status reviewing`},
		{Text: "The button is blue."},
	}}}
}

// runEvents runs orange run --json in the repository and returns its events and its exit code.
func (s *env) runEvents(args ...string) (events []map[string]any, code int) {
	s.t.Helper()
	cmd := s.command(program, append([]string{"run", "--json"}, args...)...)
	cmd.Dir = s.repo
	out, err := cmd.Output()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		check(s.t, err)
	}
	for line := range strings.Lines(string(out)) {
		var e map[string]any
		check(s.t, json.Unmarshal([]byte(line), &e))
		events = append(events, e)
	}
	if len(events) == 0 {
		s.t.Fatalf("orange run %q printed nothing and ended with %d", args, code)
	}
	return events, code
}

// orange run starts a real agent, stops at its question, and after the answer follows it to the review.
func TestRunFollowsAnAgentToTheReview(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		for _, sessions := range []string{"headless", "tmux"} {
			t.Run(agent+"/"+sessions, func(t *testing.T) {
				s := newEnv(t, agent, sessions, runJob())
				events, code := s.runEvents("Make a button", "--harness", agent)
				last := events[len(events)-1]
				if code != 2 || last["result"] != "needs-person" || !strings.Contains(last["text"].(string), "Which colour should the button be?") {
					t.Fatalf("it ended with %d: %v", code, last)
				}
				id := task.ID(last["id"].(string))
				s.orange("task", "answer", string(id), "blue")
				events, code = s.runEvents("--follow", string(id))
				last = events[len(events)-1]
				if code != 0 || last["result"] != "reached" || last["state"] != "reviewing" {
					t.Fatalf("it ended with %d: %v", code, last)
				}
				said := ""
				for _, e := range events {
					if e["event"] == "output" {
						said += e["line"].(string) + "\n"
					}
				}
				t.Logf("the agent's last lines:\n%s", said)
				if got := s.task(id); got.Workflow != "solo" || s.git(s.worktree(got), "show", "HEAD:a.txt") != "blue" {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}
