//go:build agents

package agents_test

import (
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
)

// An issue moves from Backlog to Accepted by the agents' last messages. Without a terminal the qa first forgets the
// marker, and is asked in the same conversation to report.
func TestAgentsSayHowItWent(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		s := newEnv(t, agent, sessions, spoken(sessions))
		s.orange("project", "update", "shop", "--workflow", "linear-sdlc")
		id := s.create()
		last := s.await(id, "it is accepted", func(t task.Task) bool { return t.Status == "Accepted" && len(t.Pending) == 0 && len(t.Attempts) == 0 })
		if n := s.happened(id, "agent.crashed"); n != 0 || last.CounterValue("crash_count") != 0 {
			t.Errorf("%d crashes: %s", n, s.orange("task", "history", string(id)))
		}
		if head := s.git(s.repo, "log", "-1", "--format=%s", "main"); head != "one" {
			t.Errorf("main is at %q", head)
		}
		silent, conversations := s.happened(id, "agent.no-answer"), map[string]bool{}
		for _, a := range s.attempts(id) {
			if a.Role == "qa" {
				conversations[a.Session] = true
			}
		}
		if want := sessions == "headless"; (silent == 1) != want || len(conversations) != 1 {
			t.Errorf("%d times no answer, conversations %v: %s", silent, conversations, s.orange("task", "history", string(id)))
		}
		for _, r := range s.model.Requests() {
			if r.Kind == scriptedmodel.Unscripted || r.Kind == scriptedmodel.Unreadable {
				t.Errorf("request %d is %s: %.200q", r.Number, r.Kind, r.Prompt)
			}
			if r.Script == "qa" && r.Turn == 1 && !strings.Contains(r.Prompt, "WORK_RESULT:passed nonce=") {
				t.Errorf("the qa was asked %q", r.Prompt)
			}
		}
	})
}

// spoken returns the messages of the agents of an issue.
func spoken(sessions string) []scriptedmodel.Script {
	const passed = "<!-- WORK_RESULT:passed nonce={nonce} -->"
	developed, tested := "It is there.", []scriptedmodel.Turn{{Text: "All of it holds."}, {Text: "To be exact:\n\n" + passed}}
	if sessions != "headless" { // an agent at a terminal lives on: its message is all there is
		developed, tested = "It is there.\n\n"+passed, tested[1:]
	}
	return []scriptedmodel.Script{
		{Name: "development", When: "# Develop:", Turns: []scriptedmodel.Turn{
			{Shell: `echo one >a.txt && git add a.txt && git commit -qm one`}, {Text: developed},
		}},
		{Name: "qa", When: "# QA:", Turns: tested},
		{Name: "acceptance", When: "# Acceptance:", Turns: []scriptedmodel.Turn{{Text: "It can go out.\n\n" + passed}}},
	}
}
