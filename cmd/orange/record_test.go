package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
)

// TestEffectsAreNotOnlyWrittenDownWhereAgentsLive has an agent, and a person, ask for a
// server that believes everybody.
func TestEffectsAreNotOnlyWrittenDownWhereAgentsLive(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("asking", `
worker:
  - run: "while [ ! -e ../../../go ]; do sleep 0.05; done"
  - run: "ORANGE_EFFECTS=record orange serve >../../../served 2>&1; true"
  - run: "ORANGE_EFFECTS=record orange task list >../../../listed 2>&1; true"
  - run: "touch ../../../asked"
  - idle:
`)
	s.await(id, "it lives", func(t task.Task) bool { return len(t.Attempts) == 1 && len(t.Pending) == 0 })
	s.orange("stop")
	s.eventually("the server is gone", func() bool { return !held(filepath.Join(s.home, "server.lock")) })
	s.write("go", "")
	s.eventually("it has asked", func() bool { _, err := os.Stat(filepath.Join(s.dir, "asked")); return err == nil })
	for name, want := range map[string]string{"served": "because agents run in", "listed": "counts for a server that you start yourself"} {
		if text, err := os.ReadFile(filepath.Join(s.dir, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
	s.environ = append(s.environ, "ORANGE_EFFECTS=record")
	s.refused("because agents run in", "serve")
	s.environ = s.environ[:len(s.environ)-1]
	if got := s.task(id); len(got.Attempts) != 1 {
		t.Errorf("the agent is not looked after: %+v", got)
	}
}
