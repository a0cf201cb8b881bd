package github_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"orange/internal/adapter/github"
)

// standIn puts a program on the path that is called gh.
func standIn(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir := t.TempDir()
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestTokenOfGh(t *testing.T) {
	for name, tc := range map[string]struct{ script, host, want, err string }{
		"a login":                    {script: `[ "$*" = "auth token" ] && echo gho_abc; echo hint >&2`, want: "gho_abc"},
		"several words":              {script: `echo "token of $*"`, err: "returned no token"},
		"a login of a host":          {script: `[ "$*" = "auth token --hostname ghe.example" ] && echo gho_abc`, host: "ghe.example", want: "gho_abc"},
		"no login":                   {script: `echo "no oauth token found" >&2; exit 1`, err: "run gh auth login"},
		"no login at a host":         {script: `exit 1`, host: "ghe.example", err: "run gh auth login --hostname ghe.example"},
		"a login that says nothing":  {script: `exit 0`, err: "run gh auth login"},
		"no gh":                      {err: "install it and run gh auth login"},
		"a host that is an option":   {script: `echo gho_abc`, host: "--help", err: "is not a host"},
		"a host with spaces":         {script: `echo gho_abc`, host: "a b", err: "is not a host"},
		"a token with other letters": {script: `printf 'gho_\001abc'`, err: "returned no token"},
	} {
		t.Run(name, func(t *testing.T) {
			standIn(t, tc.script)
			got, err := github.TokenFromGh(t.Context(), tc.host)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "\n") || got != "" {
					t.Errorf("%q, %v, want %q", got, err, tc.err)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestTokenOfGhIsNotWaitedForLonger(t *testing.T) {
	standIn(t, "while :; do :; done")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := github.TokenFromGh(ctx, ""); err == nil || !strings.Contains(err.Error(), "gh auth login") {
		t.Error(err)
	}
}
