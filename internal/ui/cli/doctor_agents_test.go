package cli

import (
	"strings"
	"testing"
)

func TestAnAgentThatShowsNothingIsNamedAboveItsFix(t *testing.T) {
	var out strings.Builder
	err := printAgents(&out, AgentsReport{Identity: "Shop <s@e.c>", Agents: []AgentCheck{
		{Name: "codex", Path: "/bin/codex", State: "login", Shows: "Sign in", Fix: "log in"},
		{Name: "opencode", Path: "/bin/opencode", State: "unclear", Fix: "run it"},
		{Name: "pi", Path: "/bin/pi", State: "ready", OK: true},
	}})
	if want := "\ncodex shows: Sign in\nfix: log in\n\nopencode shows nothing\nfix: run it\n"; err != nil || !strings.HasSuffix(out.String(), want) {
		t.Errorf("%v: %s", err, out.String())
	}
}
