package notify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/notify"
	"orange/internal/core/explain"
)

// standIn puts a program called name into PATH that writes its arguments down, one after
// the other with a NUL behind each, and ends with code.
func standIn(t *testing.T, name, code string) (args func() []string) {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "args")
	script := "#!/bin/sh\nprintf '%s\\0' \"$@\" > '" + out + "'\necho noise >&2\nexit " + code + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	}
}

func TestTheDesktopGetsPlainText(t *testing.T) {
	tests := map[string]struct {
		text, branch string
		title, body  string
	}{
		"an option":   {"--help", "-u", "Orange: permission: shop/-u", "--help"},
		"markup":      {"<b>bold</b> & <a href='x'>link</a>", "a<b>&c", "Orange: permission: shop/a(b)+c", "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;a href='x'&gt;link&lt;/a&gt;"},
		"line breaks": {"a\nb\r\nc", "x", "Orange: permission: shop/x", "a b c"},
		"escapes":     {"\x1b[31mred\x1b[0m\x07", "x", "Orange: permission: shop/x", "red"},
		"backslashes": {`a\nb\033[31m\`, `x\n`, "Orange: permission: shop/x/n", `a\\nb\\033[31m\\`},
		"a shell":     {"$(reboot) `reboot`; reboot", "x", "Orange: permission: shop/x", "$(reboot) `reboot`; reboot"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args := standIn(t, "notify-send", "0")
			m := message(tt.text)
			m.Items[0].Branch = tt.branch
			if err := (notify.Desktop{System: "linux", Env: os.Environ()}).SendMessage(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			want := []string{"--app-name=Orange", "--urgency=normal", "--", tt.title, tt.body + "\nSign in\norange task attach oneAAAAAAAAAAAAAAAAAA"}
			if diff := cmp.Diff(want, args()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsBrokenIsUrgent(t *testing.T) {
	for kind, urgency := range map[explain.ItemKind]string{explain.ItemAttention: "critical", explain.ItemReview: "normal", explain.ItemStart: "low"} {
		args := standIn(t, "notify-send", "0")
		m := message("x")
		m.Items[0].Kind = kind
		if err := (notify.Desktop{System: "linux", Env: os.Environ()}).SendMessage(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if got := args()[1]; got != "--urgency="+urgency {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestTheDesktopOfAMac(t *testing.T) {
	args := standIn(t, "osascript", "0")
	if err := (notify.Desktop{System: "darwin", Env: os.Environ()}).SendMessage(t.Context(), message(`-e "quit" & \`)); err != nil {
		t.Fatal(err)
	}
	got := args()
	if want := []string{"Orange: permission: shop/feat/login", "-e \"quit\" & \\\nSign in\norange task attach oneAAAAAAAAAAAAAAAAAA"}; len(got) != 8 || cmp.Diff(want, got[6:]) != "" {
		t.Errorf("got %q", got)
	}
}

func TestWithoutADesktop(t *testing.T) {
	standIn(t, "notify-send", "1")
	err := notify.Desktop{System: "linux", Env: os.Environ()}.SendMessage(t.Context(), message("?"))
	if err == nil || err.Error() != "notify-send ended with 1: is there a desktop?" {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	err = notify.Desktop{System: "linux"}.SendMessage(t.Context(), message("?"))
	if err == nil || err.Error() != "notify-send is not installed" {
		t.Error(err)
	}
}
