package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/config"
)

// loadNotify reads a config.json with this text, and returns the first problem with it.
func loadNotify(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "orange")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(func(string) string { return "" }, func() (string, error) { return home, nil })
	if err == nil && len(c.Problems) > 0 {
		err = c.Problems[0].Err
	}
	return c, err
}

func TestNotify(t *testing.T) {
	c, err := loadNotify(t, `{"notify": [
		{"kind": "desktop"},
		{"kind": "ntfy", "url": "https://ntfy.example/topic", "secret": "env:ORANGE_SECRET_NTFY", "on": ["review", "stuck"], "projects": ["shop"], "brief": true},
		{"kind": "slack", "secret": "file:~/.slack"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Notify{
		{Kind: "desktop"},
		{Kind: "ntfy", URL: "https://ntfy.example/topic", Secret: "env:ORANGE_SECRET_NTFY", On: []string{"review", "stuck"}, Projects: []string{"shop"}, Brief: true},
		{Kind: "slack", Secret: "file:~/.slack"},
	}
	if diff := cmp.Diff(want, c.Notify); diff != "" {
		t.Error(diff)
	}
}

func TestNotifyThatIsWrong(t *testing.T) {
	tests := map[string]struct{ item, says string }{
		"an unknown kind":              {`{"kind": "pigeon"}`, `kind "pigeon" is not known: use desktop, webhook, ntfy, slack, bell`},
		"an unknown key":               {`{"kind": "bell", "when": "now"}`, "give a list of objects with kind, url"},
		"an unknown item":              {`{"kind": "bell", "on": ["paused"]}`, `there are no notifications for "paused": use attention, `},
		"a secret instead of a place":  {`{"kind": "ntfy", "url": "https://x/y", "secret": "tk_123"}`, "say where the secret is"},
		"the login of gh":              {`{"kind": "ntfy", "url": "https://x/y", "secret": "gh"}`, "secret gh is for GitHub"},
		"an address for the desktop":   {`{"kind": "desktop", "url": "https://x/y"}`, "desktop has no url"},
		"a secret for the bell":        {`{"kind": "bell", "secret": "env:ORANGE_SECRET_X"}`, "bell has no secret"},
		"no address":                   {`{"kind": "webhook"}`, "give an address that begins with http:// or https://"},
		"a password in an address":     {`{"kind": "webhook", "url": "https://me:pw@x/y"}`, "has no password in it"},
		"two addresses":                {`{"kind": "slack", "url": "https://x/y", "secret": "env:ORANGE_SECRET_X"}`, "slack has url or secret"},
		"a variable that is not taken": {`{"kind": "webhook", "url": "https://x/y", "secret": "env:MY_KEY"}`, "call it ORANGE_SECRET_NAME"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := loadNotify(t, `{"notify": [`+tt.item+`]}`)
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it says %v, not %q", err, tt.says)
			}
		})
	}
}

func TestWhichItemsAreSent(t *testing.T) {
	tests := map[string]struct {
		n             config.Notify
		kind, project string
		want          bool
	}{
		"everything":         {config.Notify{}, "review", "shop", true},
		"but not starts":     {config.Notify{}, "start", "shop", false},
		"nor pauses":         {config.Notify{}, "paused", "", false},
		"starts if wanted":   {config.Notify{On: []string{"start"}}, "start", "shop", true},
		"and nothing else":   {config.Notify{On: []string{"start"}}, "review", "shop", false},
		"of one project":     {config.Notify{Projects: []string{"shop"}}, "review", "shop", true},
		"not of another one": {config.Notify{Projects: []string{"shop"}}, "review", "web", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.n.WantsKind(tt.kind, tt.project); got != tt.want {
				t.Error(got)
			}
		})
	}
}

func TestANameIsThatOfOneWay(t *testing.T) {
	base := config.Notify{Kind: "ntfy", URL: "https://x/y"}
	names := map[string]bool{base.Name(): true}
	for _, n := range []config.Notify{
		{Kind: "webhook", URL: "https://x/y"}, {Kind: "ntfy", URL: "https://x/z"}, {Kind: "ntfy", URL: "https://x/y", Brief: true},
		{Kind: "ntfy", URL: "https://x/y", On: []string{"review"}}, {Kind: "ntfy", URL: "https://x/y", Projects: []string{"review"}}, {Kind: "ntfy", URL: "https://x/y", Secret: "env:ORANGE_SECRET_X"},
	} {
		if name := n.Name(); names[name] || strings.ContainsAny(name, " \n/") {
			t.Errorf("%+v is called %s", n, name)
		}
		names[n.Name()] = true
	}
	if again := (config.Notify{Kind: "ntfy", URL: "https://x/y"}); again.Name() != base.Name() {
		t.Error("its name changes")
	}
}

func TestDesktopEnv(t *testing.T) {
	got := config.DesktopEnv([]string{"PATH=/bin", "XDG_RUNTIME_DIR=/run/user/1", "ORANGE_SECRET_X=1", "ANTHROPIC_API_KEY=2", "GITHUB_TOKEN=3", "DISPLAY=:0"})
	if diff := cmp.Diff([]string{"PATH=/bin", "XDG_RUNTIME_DIR=/run/user/1", "DISPLAY=:0", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1/bus"}, got); diff != "" {
		t.Error(diff)
	}
	got = config.DesktopEnv([]string{"XDG_RUNTIME_DIR=/run/user/1", "DBUS_SESSION_BUS_ADDRESS=unix:abstract=x"})
	if !slices.Contains(got, "DBUS_SESSION_BUS_ADDRESS=unix:abstract=x") || len(got) != 2 {
		t.Error(got)
	}
}

func TestReadShownRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify.json")
	if got, err := config.ReadNotifyResults(path); err != nil || len(got) != 0 {
		t.Errorf("without a file: %v, %v", got, err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"bell-1": {"at": "2026-03-04T12:00:00Z", "problem": "x"}}`)
	want := map[string]config.NotifyResult{"bell-1": {At: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Problem: "x"}}
	if got, err := config.ReadNotifyResults(path); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v, %v", got, err)
	}
	write(`{`)
	if got, err := config.ReadNotifyResults(path); err == nil || got == nil {
		t.Errorf("a broken file: %v, %v", got, err)
	}
}
