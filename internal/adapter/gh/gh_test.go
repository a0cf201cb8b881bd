package gh

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
)

// pretend returns a CLI whose program is a script: the forge itself cannot be had here.
func pretend(t *testing.T, script string) *CLI {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &CLI{program: path}
}

func TestCreateOpensOnePullRequest(t *testing.T) {
	dir := t.TempDir()
	c := pretend(t, `
case "$1 $2" in
"pr view") echo "no pull requests found" >&2; exit 1 ;;
"pr create") printf '%s|' "$@" >args; cat >body; echo; echo https://forge.example/o/r/pull/7 ;;
esac`)
	url, err := c.Create(t.Context(), dir, Wish{Branch: "b", Base: "main", Title: "-t", Body: "the body"})
	if err != nil || url != "https://forge.example/o/r/pull/7" {
		t.Fatal(url, err)
	}
	args, _ := os.ReadFile(filepath.Join(dir, "args"))
	body, _ := os.ReadFile(filepath.Join(dir, "body"))
	if string(args) != "pr|create|--head=b|--base=main|--title=-t|--body-file|-|" || string(body) != "the body" {
		t.Errorf("%s, %q", args, body)
	}
}

func TestCreateFindsTheOneThatIsOpen(t *testing.T) {
	c := pretend(t, `echo '{"url":"https://forge.example/1","state":"OPEN"}'`)
	if url, err := c.Create(t.Context(), t.TempDir(), Wish{Branch: "b"}); err != nil || url != "https://forge.example/1" {
		t.Error(url, err)
	}
}

func TestTrouble(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string
		final              bool
	}{
		{"not logged in", `echo "To get started with GitHub CLI, please run:  gh auth login" >&2; exit 4`, "run gh auth login", true},
		{"a forge that is down", `echo "HTTP 502" >&2; exit 1`, "HTTP 502", false},
		{"no address", `test "$2" = view && exit 1; echo done`, "did not say where", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pretend(t, tt.script).Create(t.Context(), t.TempDir(), Wish{Branch: "b"})
			var mistake *task.Mistake
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &mistake) != tt.final {
				t.Error(err)
			}
		})
	}
	if _, err := (&CLI{program: "no-such-gh"}).View(t.Context(), t.TempDir(), "b"); err == nil || !strings.Contains(err.Error(), "gh is not installed") {
		t.Error(err)
	}
}
