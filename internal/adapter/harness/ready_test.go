package harness

import (
	"strings"
	"testing"
)

func TestHowFarAnAgentIsByItsScreen(t *testing.T) {
	screens := recordedScreens(t)
	for name, want := range map[string]Readiness{
		"claude-prompt-first": Ready, "codex-prompt-first": Ready, "gemini-prompt-first": Ready, "opencode-prompt-first": Ready, "pi-prompt-first": Ready,
		"claude-login": NoLogin, "codex-login": NoLogin, "gemini-login": NoLogin,
		"claude-api-key": AtDialog, "claude-theme": AtDialog, "claude-trust": AtDialog, "codex-trust": AtDialog, "gemini-trust": AtDialog,
		"codex-exited-shell": Unclear,
	} {
		v, ok := screens[name]
		agent, _, _ := strings.Cut(name, "-")
		if got := ReadyOn(find(t, agent), v); !ok || got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
