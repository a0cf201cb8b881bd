//go:build agents

package agents_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow/builtin"
)

func TestAUsedUpLimitIsNoCrash(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		s := newEnv(t, agent, sessions, usedUp(agent))
		var flags []string
		if sessions == "tmux" && (agent == "codex" || agent == "gemini") { // they have no hook for it: Orange checks a quiet screen
			flags = []string{"--workflow", s.shortIdleWorkflow()}
		}
		id := s.create(flags...)
		waits := sessions == "tmux" || agent == "opencode" // it lives on; opencode does so without a terminal too
		got := s.await(id, "it is limited", func(t task.Task) bool {
			if waits {
				return len(t.Attempts) == 1 && t.Attempts[0].Condition.Name == task.Limited
			}
			return len(t.Attempts) == 0 && !t.RespawnAt.IsZero()
		})
		until := got.RespawnAt
		if waits {
			until = got.Attempts[0].Condition.Until
		}
		if in := time.Until(until); in < 20*time.Minute || in > 2*time.Hour {
			t.Errorf("the limit ends in %v", in)
		}
		if got.Status != "planning" || got.Crashed != "" || got.CounterValue("crash_count") != 0 || s.happened(id, "agent.crashed") != 0 {
			t.Errorf("it counts as a crash: %+v", got)
		}
	})
}

func TestWorkContinuesWhenALimitEnds(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		switch agent {
		case "claude", "gemini", "pi":
			t.Skip("with a key it does not say when the limit ends: Orange waits for an hour")
		case "opencode":
			t.Skip("it waits for the end of a limit itself and goes on without being told")
		}
		s := newEnv(t, agent, sessions, usedUpForNow(agent))
		var flags []string
		if sessions == "tmux" {
			flags = []string{"--workflow", s.shortIdleWorkflow()}
		}
		id := s.create(flags...)
		got := s.await(id, "the work is reviewed", rests)
		if got.CounterValue("crash_count") != 0 || s.happened(id, "agent.crashed") != 0 {
			t.Errorf("a crash was counted: %s", s.orange("task", "history", string(id)))
		}
	})
}

// shortIdleWorkflow returns the built-in workflow with shorter idle times.
func (s *env) shortIdleWorkflow() string {
	s.t.Helper()
	text, ok := builtin.Text("orange")
	if !ok {
		s.t.Fatal("there is no workflow orange")
	}
	const usual = "planning: {kind: agent, role: worker, deadline: {wall: 30m, idle: 10m}"
	if strings.Count(string(text), usual) != 1 {
		s.t.Fatalf("%q is not in the workflow", usual)
	}
	changed := strings.Replace(string(text), usual, strings.Replace(usual, "10m", "30s", 1), 1)
	s.write("shop/.orange/workflows/shortIdleWorkflow.yaml", strings.Replace(changed, "\nname: orange\n", "\nname: shortIdleWorkflow\n", 1))
	return "shortIdleWorkflow"
}
