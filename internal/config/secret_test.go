package config_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/config"
)

const planted = "lin_api_planted-0123456789"

func TestWhereASecretMayBe(t *testing.T) {
	for source, want := range map[string]string{
		"": "", "gh": "", "env:LINEAR_API_KEY": "", "env:GITEA_TOKEN": "", "env:ORANGE_SECRET_MINE": "", "file:/etc/token": "", "command:pass show x": "",
		"env:HOME":      "env:HOME: the server does not inherit this variable: call it ORANGE_SECRET_NAME, or use LINEAR_API_KEY, ",
		"env:":          "the server does not inherit this variable",
		"file:":         "say where the secret is: env:NAME, file:PATH, command:PROGRAM ARGS or gh; never the secret itself",
		"command:":      "say where the secret is",
		"token:x":       "say where the secret is",
		planted:         "say where the secret is",
		"gh:" + planted: "say where the secret is",
	} {
		err := config.CheckSecret(source)
		switch {
		case want == "" && err == nil:
		case want == "" || err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %q", source, err, want)
		case strings.Contains(err.Error(), planted) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%q: %v", source, err)
		}
	}
}

// written returns a file with the secret and these permissions.
func written(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestASecretIsRead(t *testing.T) {
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(written(t, planted, 0o600), linked); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"a variable": "env:LINEAR_API_KEY", "a variable of one's own": "env:ORANGE_SECRET_X",
		"a file": "file:" + written(t, planted, 0o600), "a file with a line end": "file:" + written(t, " "+planted+"\r\n", 0o400), "a link": "file:" + linked,
		"a command": "command:printf %s " + planted, "a pipe": "command:echo x" + planted + " | cut -c2-",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.ReadSecret(t.Context(), source, env("LINEAR_API_KEY", planted, "ORANGE_SECRET_X", planted+"\n"))
			if got != planted || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestASecretIsReadEachTime(t *testing.T) {
	path := written(t, "old", 0o600)
	for _, want := range []string{"old", "new"} {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := config.ReadSecret(t.Context(), "file:"+path, env()); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestASecretThatCannotBeReadIsInNoError(t *testing.T) {
	file := func(mode os.FileMode) string { return "file:" + written(t, planted, mode) }
	tests := map[string]struct{ source, want string }{
		"nothing is configured":       {"", "no secret is configured: see orange tracker add --help"},
		"what gh knows":               {"gh", "no secret is configured"},
		"a variable that is not set":  {"env:GH_TOKEN", "read the secret from env:GH_TOKEN: GH_TOKEN is not set where the server was started: set it, then run orange restart"},
		"a variable with blanks":      {"env:JOAN_TOKEN", "it is not one line"},
		"a variable with two lines":   {"env:GITHUB_TOKEN", "it is not one line"},
		"a variable of nobody":        {"env:OTHER", "the server does not inherit this variable"},
		"the group may read it":       {file(0o640), "others may read it: chmod 600 "},
		"everybody may read it":       {file(0o604), "others may read it"},
		"everybody may write it":      {file(0o602), "others may read it"},
		"the group may run it":        {file(0o610), "others may read it"},
		"no file":                     {"file:" + filepath.Join(t.TempDir(), "gone"), "no such file"},
		"a folder":                    {"file:" + t.TempDir(), "it is not a file"},
		"a file with two lines":       {"file:" + written(t, planted+"\n"+planted, 0o600), "it is not one line"},
		"an empty file":               {"file:" + written(t, "\n", 0o600), "it is not one line"},
		"a command that fails":        {"command:echo " + planted + " >&2; echo " + planted + "; exit 3", "read the secret from command:echo: the command failed: exit status 3"},
		"a command that says nothing": {"command:true", "it is not one line"},
		"a command that says a lot":   {"command:head -c 20000 /dev/zero | tr '\\0' x", "printed too much"},
		"a command that is not there": {"command:no-such-program-here " + planted, "the command failed: exit status 127"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := config.ReadSecret(t.Context(), tt.source, env("JOAN_TOKEN", " \t", "GITHUB_TOKEN", planted+"\n"+planted, "OTHER", planted))
			if got != "" || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%q, %v; want %q", got, err, tt.want)
			}
			if strings.Contains(err.Error(), planted) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestACommandIsBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := config.ReadSecret(ctx, "command:sleep 600; echo "+planted, env()); got != "" || err == nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Agents never get the secrets of trackers and forges, even if agent_env names them.
func TestNoAgentGetsASecretOfATracker(t *testing.T) {
	names := []string{
		"LINEAR_API_KEY", "LINEAR_WEBHOOK_SECRET", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_WEBHOOK_SECRET", "GITEA_TOKEN", "FORGEJO_TOKEN",
		"JOAN_API_KEY", "JOAN_TOKEN", "ORANGE_SECRET_", "ORANGE_SECRET_ANYTHING",
	}
	environ := []string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o", "GEMINI_API_KEY=g", "MINE=m"}
	for _, name := range names {
		if !config.TrackerSecret(name) {
			t.Errorf("%s is no secret", name)
		}
		environ = append(environ, name+"="+planted)
	}
	more := append(slices.Clone(names), "MINE")
	for _, harness := range []string{"claude", "codex", "gemini", "opencode", "pi", "script", "", "unknown"} {
		got := config.AgentEnv(environ, harness, more...)
		if text := strings.Join(got, "\n"); strings.Contains(text, planted) || !strings.Contains(text, "MINE=m") || !strings.Contains(text, "PATH=/bin") {
			t.Errorf("%s gets %q", harness, got)
		}
	}
	if got := strings.Join(config.ToolEnv(environ), "\n"); strings.Contains(got, planted) {
		t.Errorf("a project's own commands get %q", got)
	}
	server := config.ServerEnv(environ)
	for _, name := range names {
		if !slices.Contains(server, name+"="+planted) {
			t.Errorf("the server does not get %s", name)
		}
	}
	for _, name := range []string{"GITHUB_TOKEN_FILE", "MY_LINEAR_API_KEY", "orange_secret_x", "ORANGE_SECRETS"} {
		if config.TrackerSecret(name) {
			t.Errorf("%s is a secret", name)
		}
	}
}

// TestASecretIsKeptForAWhile reads a secret many times concurrently, with a fake clock.
func TestASecretIsKeptForAWhile(t *testing.T) {
	now, reads := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), 0
	var broken error
	get := config.KeepSecret(func(context.Context) (string, error) {
		reads++
		return fmt.Sprint("secret ", reads), broken
	}, time.Minute, func() time.Time { return now })
	ask := func(want int) {
		t.Helper()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := get(t.Context()); got != fmt.Sprint("secret ", want) || !errors.Is(err, broken) {
					t.Errorf("%q, %v; want the one of read %d", got, err, want)
				}
			})
		}
		all.Wait()
		if reads != want {
			t.Errorf("%d reads, want %d", reads, want)
		}
	}
	ask(1)
	now = now.Add(59 * time.Second)
	ask(1)
	now = now.Add(time.Second)
	broken = errors.New("no")
	ask(2)
	now = now.Add(59 * time.Second)
	ask(2)
	now = now.Add(-time.Hour) // someone sets the clock
	broken = nil
	ask(3)
}
