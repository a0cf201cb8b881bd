package cli

import (
	"testing"

	"orange/internal/core/transcript"
	"orange/internal/wire"
)

func TestLastOutputLine(t *testing.T) {
	for _, c := range []struct {
		name string
		log  wire.Log
		want string
	}{
		{"the agent's last words", wire.Log{Harness: "claude", Form: wire.FormTranscript, Turns: []transcript.Turn{
			{Who: transcript.Agent, Text: "I read the form.\nThen I change it.\n"}, {Who: transcript.User, Text: "Go on."},
		}}, "Then I change it."},
		{"the tool that it called", wire.Log{Harness: "codex", Form: wire.FormTranscript, Turns: []transcript.Turn{
			{Who: transcript.Agent, Text: "I test it."}, {Who: transcript.Agent, Tool: "Bash", Argument: "make test"},
		}}, "Bash make test"},
		{"the output of a command", wire.Log{Harness: "command:./agent", Form: wire.FormTerminal, Lines: []string{"Reading", "Writing", "  "}}, "Writing"},
		{"an agent without a terminal", wire.Log{Harness: "claude", Form: wire.FormOutput, Lines: []string{"no connection"}}, "no connection"},
		{"the screen of an agent that has said nothing yet", wire.Log{Harness: "claude", Form: wire.FormTerminal, Lines: []string{
			"> # Task: Fix the login bug", "⏵⏵ bypass permissions on (shift+tab to cycle) · esc to interrupt",
		}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := lastOutputLine(c.log); got != c.want {
				t.Errorf("it is %q, not %q", got, c.want)
			}
		})
	}
}
