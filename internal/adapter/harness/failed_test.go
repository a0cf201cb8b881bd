package harness

import (
	"strings"
	"testing"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

func TestAScreenSaysThatATurnFailed(t *testing.T) {
	const failed = "› make a button\n\n■ unexpected status 400 Bad Request:\n  the model is gone\n\n"
	for name, c := range map[string]struct {
		agent, pane, says string
	}{
		"codex":            {"codex", failed + "› Find and fix a bug\n\n  ? for shortcuts\n", "■ unexpected status 400 Bad Request: the model is gone"},
		"a prompt later":   {"codex", failed + "› go on\n\n• Thinking\n\n› Find and fix a bug\n", ""},
		"at work later":    {"codex", failed + "• Working (3s • esc to interrupt)\n\n› Find and fix a bug\n", ""},
		"a word of a text": {"codex", "› what is this?\n\n• It says ■ unexpected\n\n› Find\n", ""},
		"gemini":           {"gemini", "> hi\n\n✕ [API Error: no such model]\n\n> Type your message\n", "✕ [API Error: no such model]"},
		"claude has hooks": {"claude", "■ unexpected status 400\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, ok := find(t, c.agent).ReadScreen(c.pane, noon)
			if ok != (c.says != "") || ok && (n.Condition.Name != task.TurnFailed || n.Condition.Detail != c.says) {
				t.Errorf("%v, %+v", ok, n)
			}
		})
	}
}

// A limit that is over stays on the screen. Screens are read seconds after a prompt, before the
// answer arrives.
func TestALimitBeforeTheLastPromptIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		agent, pane string
		limited     bool
	}{
		"codex":                 {"codex", "■ You've hit your usage limit. Try again at 8:06 AM.\n\n› Ask Codex to do anything\n\n  gpt default\n", true},
		"codex, a prompt later": {"codex", "■ You've hit your usage limit. Try again at 8:06 AM.\n\n› go on\n\n• Working (2s • esc to interrupt)\n\n› Ask Codex to do anything\n\n  gpt default\n", false},
		"codex, hit again":      {"codex", "■ You've hit your usage limit.\n\n› go on\n\n■ You've hit your usage limit. Try again at 9:06 AM.\n\n› Ask Codex\n", true},
		"claude":                {"claude", "❯ go on\n● You've hit your session limit · resets 3pm\n────\n❯ \n────\n", true},
		"claude, later":         {"claude", "● You've hit your session limit · resets 3pm\n❯ go on\n✻ Thinking\n────\n❯ \n────\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if n, ok := find(t, c.agent).ReadScreen(c.pane, noon); ok != c.limited || ok && n.Condition.Name != task.Limited {
				t.Errorf("%v, %+v", ok, n)
			}
		})
	}
}

func TestAFailedRunKeepsTheErrorOfItsProvider(t *testing.T) {
	for name, line := range map[string]string{
		"claude":   `{"type":"result","is_error":true,"result":"the model is gone"}`,
		"codex":    `{"type":"turn.failed","error":{"message":"the model is gone"}}`,
		"gemini":   `{"type":"result","status":"error","error":{"message":"the model is gone"}}`,
		"opencode": `{"type":"error","error":{"name":"APIError","data":{"message":"the model is gone"}}}`,
		"pi":       `{"type":"message_end","message":{"role":"assistant","errorMessage":"the model is gone"}}`,
	} {
		n := find(t, name).ReadOutput(Output{Output: agent.Output{Log: logged(t, line+"\n"), Headless: true}, Now: noon})
		if !strings.HasSuffix(n.Failure, "the model is gone") || n.Condition.Name != "" {
			t.Errorf("%s: %+v", name, n)
		}
	}
}
