package agents_test

import (
	"testing"

	"orange/internal/core/task"
	"orange/internal/host/agents"
)

// A hook that is called while a screen is read takes precedence over the screen.
func TestAScreenFromBeforeAHookIsNotReported(t *testing.T) {
	c := newEnv(t, true)
	c.start(1)
	c.draws("may I?", "")
	now, _, _ := c.Task(id)
	c.captured = c.idles
	c.LastActive(&now, 1)
	if got := c.condition(); got.Name != task.Idle {
		t.Errorf("it is %+v", got)
	}
	c.LastActive(&now, 1)
	if got := c.condition(); got.Name != task.WaitingInput {
		t.Errorf("looked at again it is %+v", got)
	}
}

func TestWhatAHookSaysIsShownWithoutSecrets(t *testing.T) {
	c := newEnv(t, true)
	c.Mask = func(_, text string) string { return "masked " + text }
	c.start(1)
	if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "ask", []byte("curl")); err != nil {
		t.Fatal(err)
	}
	if got := c.condition(); got.Detail != "masked curl" {
		t.Errorf("it is %+v", got)
	}
}
