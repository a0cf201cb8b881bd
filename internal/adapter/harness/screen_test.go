package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"orange/internal/core/task"
)

// noon is the present of most tests, a Sunday.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func pane(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "pane", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func find(t testing.TB, name string) Harness {
	t.Helper()
	h, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestScreen(t *testing.T) {
	for _, c := range []struct {
		pane, condition, says string
		until                 time.Time
	}{
		{"claude-permission", task.WaitingPermission, "curl http://example.invalid", time.Time{}},
		{"claude-question", task.WaitingInput, "Which colour? ❯ 1. Red", time.Time{}},
		{"claude-trust", task.WaitingPermission, "Is this a project you created", time.Time{}},
		{"claude-bypass", task.WaitingPermission, "you accept all responsibility", time.Time{}},
		{"claude-limit", task.Limited, "session limit", time.Date(2026, 11, 15, 14, 0, 0, 0, time.UTC)},
		{"claude-at-work", "", "", time.Time{}},
		{"codex-permission", task.WaitingPermission, "touch /etc/xyzzy", time.Time{}},
		{"codex-trust", task.WaitingPermission, "Trust this folder?", time.Time{}},
		{"codex-limit", task.Limited, "You've hit your usage limit", time.Date(2026, 11, 16, 8, 6, 0, 0, time.UTC)},
		{"gemini-permission", task.WaitingPermission, "Allow execution of [Shell]?", time.Time{}},
		{"gemini-limit", task.Limited, "Usage limit reached for gemini-2.5-flash.", time.Date(2026, 11, 15, 15, 5, 0, 0, time.UTC)},
		{"opencode-permission", task.WaitingPermission, "echo hello-from-tool", time.Time{}},
	} {
		t.Run(c.pane, func(t *testing.T) {
			name, _, _ := strings.Cut(c.pane, "-")
			n, ok := find(t, name).ReadScreen(pane(t, c.pane), noon)
			if ok != (c.condition != "") || n.Condition.Name != c.condition {
				t.Fatalf("condition %q (%v), want %q", n.Condition.Name, ok, c.condition)
			}
			if !strings.Contains(n.Condition.Detail, c.says) || len(n.Condition.Detail) > maxDetail || strings.ContainsFunc(n.Condition.Detail, unicode.IsControl) {
				t.Errorf("detail %q, want one line with %q", n.Condition.Detail, c.says)
			}
			if !n.Condition.Until.Equal(c.until) {
				t.Errorf("until %v, want %v", n.Condition.Until, c.until)
			}
		})
	}
}

func TestOnlyTheDialogAboutTheWorktreeIsAnswered(t *testing.T) {
	all, err := filepath.Glob(filepath.Join("testdata", "pane", "*.txt"))
	if err != nil || len(all) < 10 {
		t.Fatalf("panes %v, %v", all, err)
	}
	for _, file := range all {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		agent, _, _ := strings.Cut(name, "-")
		keys, ok := find(t, agent).TrustDialogKeys(pane(t, name))
		if want := name == "claude-trust" || name == "codex-trust"; ok != want || (keys == "\r") != want {
			t.Errorf("%s: answered %q (%v), want %v", name, keys, ok, want)
		}
	}
}

func TestTheLoginMenuOfCodexWaitsForAPerson(t *testing.T) {
	screens := recordedScreens(t)
	for _, name := range []string{"codex-login", "codex-login-api-key-chosen"} {
		v, ok := screens[name]
		if !ok {
			t.Fatalf("%s is not recorded", name)
		}
		n, ok := find(t, "codex").ReadScreen(v.Text, noon)
		if !ok || n.Condition.Name != task.WaitingInput || !strings.HasPrefix(n.Condition.Detail, "Welcome to Codex") || !strings.Contains(n.Condition.Detail, "Sign in with ChatGPT") {
			t.Errorf("%s: %+v, %v", name, n, ok)
		}
	}
	for name, v := range screens {
		if n, ok := find(t, "codex").ReadScreen(v.Text, noon); ok && strings.HasPrefix(name, "codex-prompt") {
			t.Errorf("%s: %+v", name, n)
		}
	}
}
