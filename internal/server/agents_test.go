package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/config"
	"orange/internal/core/agent"
)

func TestAnAgentThatCannotBeStartedIsRefused(t *testing.T) {
	dir := t.TempDir()
	play := filepath.Join(dir, "play.yaml")
	if err := os.WriteFile(play, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const none = "no coding agent is installed here: install claude, codex, opencode, gemini or pi; or, if one is outside of PATH or a shell alias, set its path in "
	tests := map[string]struct {
		name, configured, installed, want string
	}{
		"nothing was chosen, nothing is there": {"claude", "", "", none},
		"one was chosen":                       {"codex", "", "", "codex is not in the PATH of the server: install codex, or run orange restart"},
		"one is configured":                    {"claude", "claude", "", "claude is not in the PATH of the server: install claude"},
		"another is there":                     {"claude", "", "pi", "claude is not in the PATH of the server"},
		"it is there":                          {"pi", "", "pi", ""},
		"a script":                             {"script:" + play, "", "", ""},
		"a script that is not there":           {"script:" + play + "l", "", "", "there is no script " + play + "l: give"},
		"a script without its path":            {"script:play.yaml", "", "", "give the whole path of the script"},
		"nobody knows it":                      {"cursor", "", "", `harness "cursor" is not known`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			t.Setenv("PATH", bin)
			if tt.installed != "" {
				if err := os.WriteFile(filepath.Join(bin, tt.installed), []byte("#!/bin/sh\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			s := &Server{cfg: config.Config{Harness: tt.configured}}
			s.live.Store(&s.cfg)
			err := s.checkHarness(agent.Terms{Harness: tt.name})
			switch {
			case tt.want == "" && err != nil, tt.want != "" && err == nil:
				t.Errorf("it says %v, not %q", err, tt.want)
			case err != nil && (!strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "--")):
				t.Errorf("it says %v, not %q", err, tt.want)
			}
		})
	}
}
