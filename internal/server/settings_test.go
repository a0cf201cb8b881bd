package server

import (
	"strings"
	"testing"
	"time"

	"orange/internal/config"
)

func TestKeysThatNeedARestartAreNamed(t *testing.T) {
	t.Setenv("THERE", "1")
	was := config.Config{AgentEnv: []string{"OLD"}, Harness: "claude"}
	for want, now := range map[string]config.Config{
		"":                            {AgentEnv: []string{"THERE"}, Harness: "codex", PoolSize: 9, LogLevel: "debug", Notify: []config.Notify{{Kind: "bell"}}},
		"agent_env":                   {AgentEnv: []string{"OLD", "MISSING_HERE"}},
		"sessions idle_exit":          {Sessions: "tmux", IdleExit: time.Hour},
		"hooks web web_input effects": {Hooks: "127.0.0.1:1", Web: "127.0.0.1:2", WebInput: true, Record: true},
		"metrics":                     {Metrics: "9464"},
	} {
		if got := strings.Join(fixedKeys(&was, &now), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
