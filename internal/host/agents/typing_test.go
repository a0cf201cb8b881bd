package agents_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/host/agents"
)

// keys lists what was typed, without the text of the message.
func (c *env) keys() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, what := range c.typed {
		what, _, _ = strings.Cut(what, " ")
		out = append(out, what)
	}
	return strings.Join(out, " ")
}

// tells sends the agent the pending message of the task.
func (c *env) tells() error {
	c.t.Helper()
	now, _, _ := c.Task(id)
	return c.MessageAgent(c.t.Context(), now, tellOf(0))
}

func (c *env) retries() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.retried
}

func (c *env) condition() task.Condition {
	now, _, _ := c.Task(id)
	return now.Attempts[0].Condition
}

// idles reports by a hook that the agent's turn ended.
func (c *env) idles() {
	c.t.Helper()
	if err := c.ReceiveHook(c.t.Context(), agents.Key{Task: id, Number: 1}, "claude", "idle", nil); err != nil {
		c.t.Fatal(err)
	}
}

func TestAMessageWaitsForAHalfTypedLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.idles()
		c.draws("", "my own password is")
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) || c.keys() != "" {
			t.Fatalf("%v, typed %q", err, c.typed)
		}
		if got := c.condition(); got.Name != task.WaitingInput || !strings.Contains(got.Detail, "half typed") || strings.Contains(got.Detail, "password") {
			t.Errorf("it is shown as %+v", got)
		}
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		if got := c.submitted(signal.Notice); len(got) != 2 {
			t.Errorf("it was reported again: %+v", got)
		}
		c.draws("", "my own password is no")
		time.Sleep(time.Second)
		if c.retries() != 0 {
			t.Error("it was tried again into the line")
		}
		c.draws("", "")
		time.Sleep(time.Second)
		if got := c.condition(); c.retries() != 1 || got.Name != task.Idle {
			t.Errorf("tried again %d times; it is %+v", c.retries(), got)
		}
		c.acks = true
		if err := c.tells(); err != nil || c.keys() != "paste enter" {
			t.Errorf("%v, typed %q", err, c.typed)
		}
		c.Close()
	})
}

func TestADroppedMessageShowsNoScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.idles()
		c.draws("", "half")
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		c.drops()
		time.Sleep(20 * time.Second)
		if got := c.condition(); got.Name != task.Idle || c.retries() != 0 {
			t.Errorf("it is %+v, tried again %d times", got, c.retries())
		}
		c.Close()
	})
}

func TestWhatAPersonTypesMeanwhileIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.idles()
		c.taken = "and "
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) || c.keys() != "paste" {
			t.Fatalf("%v, typed %q", err, c.typed)
		}
		if got := c.condition(); got.Name != task.WaitingInput || !strings.Contains(got.Detail, "both texts are in its input line") {
			t.Errorf("it is shown as %+v", got)
		}
		// The person sends both: the agent has the message.
		time.Sleep(time.Second)
		c.draws("", "")
		if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "prompt", nil); err != nil {
			t.Fatal(err)
		}
		if err := c.tells(); err != nil || c.keys() != "paste" {
			t.Errorf("%v, typed %q", err, c.typed)
		}
		c.Close()
	})
}

func TestAMessageThatAPersonRemovedIsTypedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.taken = "and "
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		c.taken, c.acks = "", true
		c.draws("", "")
		if err := c.tells(); err != nil || c.keys() != "paste paste enter" {
			t.Errorf("%v, typed %q", err, c.typed)
		}
		c.Close()
	})
}

func TestNothingIsTypedWhileHistoryIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.inMode = true
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) || c.keys() != "" {
			t.Fatalf("%v, typed %q", err, c.typed)
		}
		c.mu.Lock()
		c.inMode = false // the program draws nothing
		c.mu.Unlock()
		time.Sleep(5 * time.Second)
		if c.retries() != 1 {
			t.Error("it was not tried again")
		}
		c.Close()
	})
}

func TestAnUnknownScreenIsTypedAtOnlyAfterATurn(t *testing.T) {
	k := agents.Key{Task: id, Number: 1}
	for name, tt := range map[string]struct {
		hooks []string
		drawn time.Duration // after the last hook
		typed string
	}{
		"no hook":                {nil, 0, ""},
		"in a turn":              {[]string{"prompt"}, 0, ""},
		"after a turn":           {[]string{"prompt", "idle"}, time.Second, "paste enter"},
		"drawn on after a turn":  {[]string{"idle"}, time.Minute, ""},
		"in a turn after a turn": {[]string{"idle", "prompt"}, 0, ""},
		"asked after a turn":     {[]string{"idle", "ask"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newEnv(t, true)
				c.start(1)
				c.acks = true
				c.draws("...", "")
				for _, hook := range tt.hooks {
					if err := c.ReceiveHook(t.Context(), k, "claude", hook, nil); err != nil {
						t.Fatal(err)
					}
				}
				log := c.Agents.OutputFile(k)
				drawn := time.Now().Add(tt.drawn)
				if err := errors.Join(os.WriteFile(log, []byte("x"), 0o600), os.Chtimes(log, drawn, drawn)); err != nil {
					t.Fatal(err)
				}
				err := c.tells()
				if c.keys() != tt.typed || (err == nil) != (tt.typed != "") || err != nil && !errors.Is(err, task.ErrNotNow) {
					t.Errorf("%v, typed %q", err, c.typed)
				}
				c.Close()
			})
		})
	}
}

func TestAScreenIsShownWithoutSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.Mask = func(_, text string) string { return strings.ReplaceAll(text, "short-1", "[secret]") }
		c.start(1)
		c.draws(strings.Repeat("word ", 200)+"\x1b[31mPaste your key:\x1b[0m sk-live-0123456789abcdefghij\x07 ... short-1\nthe end", "")
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		got := c.condition()
		if got.Name != task.WaitingInput || len(got.Detail) > 500 || !strings.HasSuffix(got.Detail, "key: [...] ... [secret] the end") || strings.ContainsAny(got.Detail, "\x1b\x07\n") || strings.Contains(got.Detail, "0123456789") {
			t.Errorf("%+v", got)
		}
		c.Close()
	})
}

func TestAChangingScreenIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.acks, c.moves = true, 5
		if err := c.tells(); err != nil || c.keys() != "paste enter" {
			t.Errorf("%v, typed %q", err, c.typed)
		}
		c.Close()
	})
}

func TestAScreenThatAlwaysMovesIsNotTypedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.moves = 1000
		err := c.tells()
		card, _ := c.LoadCard(agents.Key{Task: id, Number: 1})
		if !errors.Is(err, task.ErrNotNow) || c.keys() != "" || len(card.Told) != 0 {
			t.Errorf("%v, typed %q, %+v", err, c.typed, card)
		}
		c.Close()
	})
}

// A busy agent takes a message out of its input line and acknowledges it when its turn ends.
func TestAMessageThatLeftTheLineIsNotTypedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		time.AfterFunc(600*time.Millisecond, func() { c.draws("", "") })
		if err := c.tells(); err != nil || c.keys() != "paste enter" {
			t.Errorf("%v, typed %q", err, c.typed)
		}
		c.draws("", "the next words of a person")
		if err := c.tells(); err != nil || c.keys() != "paste enter" {
			t.Errorf("asked again: %v, typed %q", err, c.typed)
		}
		c.Close()
	})
}

// Enter may complete a word instead of sending the line: the message does not count as sent.
func TestAMessageThatChangedInTheLineIsNotSentYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		time.AfterFunc(600*time.Millisecond, func() {
			c.mu.Lock()
			line := c.line
			c.mu.Unlock()
			c.draws("", line+"/completed.txt")
		})
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) || c.keys() != "paste enter" {
			t.Errorf("%v, typed %q", err, c.typed)
		}
		c.Close()
	})
}

func TestAnEmptyScreenIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.draws(blank, "")
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) || c.condition().Name != task.WaitingInput {
			t.Fatalf("%v, it is %+v", err, c.condition())
		}
		c.draws("", "")
		time.Sleep(time.Second)
		if got := c.condition(); c.retries() != 1 || got.Name != task.Running {
			t.Errorf("tried again %d times; it is %+v", c.retries(), got)
		}
		c.Close()
	})
}

// What a person pastes looks like any long paste. It is not the message, and nothing changes while it stands there.
func TestAPasteOfAPersonIsWaitedForQuietly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.idles()
		c.draws("", "[Pasted text #1 +12 lines]")
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := c.condition(); c.retries() != 0 || got.Name != task.WaitingInput {
			t.Errorf("tried again %d times; it is %+v", c.retries(), got)
		}
		c.Close()
	})
}

// Above an input line the words of a question may be part of the work.
func TestTextAboveAPromptIsNotAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.idles()
		c.draws("", "half typed, is it?")
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		if got := c.condition(); got.Name != task.WaitingInput || !strings.Contains(got.Detail, "a line is half typed") {
			t.Errorf("it is shown as %+v", got)
		}
		c.Close()
	})
}

// The first message was dropped and the second is reported: the watcher of the first restores the condition.
func TestWhatIsShownOfTheNextMessageIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		c.idles()
		c.draws("", "half")
		if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // who watches looks again later
		next := tellOf(0)
		next.ID += "-next"
		c.mu.Lock()
		c.task.Pending, c.inMode = []task.Effect{next}, true
		c.mu.Unlock()
		now, _, _ := c.Task(id)
		if err := c.MessageAgent(t.Context(), now, next); !errors.Is(err, task.ErrNotNow) {
			t.Fatal(err)
		}
		if got := c.condition(); !strings.Contains(got.Detail, "history") {
			t.Fatalf("it is shown as %+v", got)
		}
		c.drops()
		time.Sleep(20 * time.Second)
		if got := c.condition(); got.Name != task.Idle {
			t.Errorf("it is %+v", got)
		}
		c.Close()
	})
}

// The server stopped while a message was pending, and the next server finds that it no longer is.
func TestWhatAnEarlierServerShowedIsTakenBack(t *testing.T) {
	for name, owed := range map[string]bool{"dropped": false, "owed": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newEnv(t, true)
				c.start(1)
				c.idles()
				c.draws("", "half")
				if err := c.tells(); !errors.Is(err, task.ErrNotNow) {
					t.Fatal(err)
				}
				c.mu.Lock()
				shown := c.task.Attempts[0].Condition
				c.failing = errors.New("closed")
				c.mu.Unlock()
				c.Close()
				if !owed {
					c.drops()
				}
				c.Agents = agents.New(c.AgentOptions)
				now, _, _ := c.Task(id)
				c.AdoptAttempts([]task.Task{now})
				synctest.Wait()
				if got := c.condition(); owed && got != shown || !owed && got.Name != task.Idle {
					t.Errorf("it is %+v", got)
				}
				c.Close()
			})
		})
	}
}
