package agents_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/core/workflow"
	"orange/internal/host/agents"
)

func TestAnAgentIsStartedOnceAndKnowsWhoItIs(t *testing.T) {
	c := newEnv(t, true)
	c.start(1)
	c.start(1)
	if len(c.orders) != 1 {
		t.Fatalf("%d starts", len(c.orders))
	}
	o := c.orders[0]
	k := agents.Key{Task: id, Number: 1}
	for _, want := range []string{
		"PATH=/bin", "MORE=1", "ORANGE_TASK=" + string(id), "ORANGE_ATTEMPT=1", "ORANGE_ROLE=worker", "ORANGE_TOKEN=" + c.AttemptToken(k), "ORANGE_NONCE=" + c.AttemptNonce(k),
		"ORANGE_SLOT=2", "ORANGE_PORT_OFFSET=200", "TERM=dumb", "ORANGE_ATTEMPT_KEY=here/" + string(id) + "/1",
	} {
		if !slices.Contains(o.Env, want) {
			t.Errorf("%s is not in %q", want, o.Env)
		}
	}
	if o.Dir != "/workspaces/p--2" || o.Window == nil || o.Window.Name != "worker" || o.Window.Session != "p/b" {
		t.Errorf("%+v", o)
	}
	prompt, err := os.ReadFile(filepath.Join(c.Folder(k), "prompt.md"))
	if err != nil || !strings.Contains(string(prompt), "# Task: s") || strings.Contains(string(prompt), c.AttemptNonce(k)) { // nothing asks the worker for it
		t.Errorf("%v\n%s", err, prompt)
	}
	if strings.Contains(string(prompt), c.AttemptToken(k)) {
		t.Error("the token is in the prompt")
	}
}

func TestAReviewerHasItsOwnHarnessAndReadsOnly(t *testing.T) {
	c := newEnv(t, false)
	e := effectOf(2)
	e.Role, e.Prompt = "reviewer", "reviewer"
	if _, err := c.Agents.StartAgent(t.Context(), c.task, e); err != nil {
		t.Fatal(err)
	}
	if l := c.launches[0]; l.Harness != "pi" || !l.ReadOnly || l.Interactive || c.orders[0].Window != nil {
		t.Errorf("%+v", l)
	}
}

func TestANewWorkerResumesTheLastConversation(t *testing.T) {
	c := newEnv(t, false)
	c.said = agent.Conversation{Turns: []transcript.Turn{{Who: transcript.Agent, Text: "I read a file."}}}
	c.start(1)
	k := agents.Key{Task: id, Number: 1}
	if err := c.ReceiveHook(t.Context(), k, "claude", "session", []byte("native-1")); err != nil {
		t.Fatal(err)
	}
	c.ends(1, agent.Exit{Code: 1})
	c.start(2)
	if l := c.launches[1]; l.Resume != "native-1" || l.Session != "native-1" {
		t.Fatalf("%+v", l)
	}
	c.ends(2, agent.Exit{Code: 1}) // the resumed agent broke off: a third begins a new conversation
	c.start(3)
	if l := c.launches[2]; l.Resume != "" || l.Session == "native-1" || l.Session == "" {
		t.Errorf("%+v", l)
	}
}

// An agent that was killed before it recorded its conversation cannot continue it. The prompt of the next agent
// contains what a person answered.
func TestAConversationThatWasNotKeptIsNotResumed(t *testing.T) {
	turn := func(text string) transcript.Turn { return transcript.Turn{Who: transcript.Agent, Text: text} }
	for name, tt := range map[string]struct {
		kept   []transcript.Turn
		resume string
		quotes bool
	}{
		"nothing is kept":         {nil, "", true},
		"the question is lost":    {[]transcript.Turn{turn("I read a file.")}, "native-1", true},
		"the whole of it is kept": {[]transcript.Turn{turn("Shall it be blue?")}, "native-1", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newEnv(t, true)
			c.start(1)
			k := agents.Key{Task: id, Number: 1}
			c.read = agent.Notice{Final: "Shall it be blue?"}
			if err := errors.Join(c.ReceiveHook(t.Context(), k, "claude", "session", []byte("native-1")), c.ReceiveHook(t.Context(), k, "claude", "idle", nil)); err != nil {
				t.Fatal(err)
			}
			c.ends(1, agent.Exit{Code: 137})
			c.said = agent.Conversation{Turns: tt.kept}
			e := effectOf(2)
			e.Message, e.Text = workflow.MessageReply, "green"
			if _, err := c.Agents.StartAgent(t.Context(), c.task, e); err != nil {
				t.Fatal(err)
			}
			l := c.launches[1]
			if l.Resume != tt.resume || strings.Contains(l.Prompt, "> Shall it be blue?") != tt.quotes || !strings.Contains(l.Prompt, "> green") {
				t.Errorf("it goes on with %q and is told\n%s", l.Resume, l.Prompt)
			}
		})
	}
}

func TestAConversationIsResumedIfOnlyItsNameIsKnown(t *testing.T) {
	c := newEnv(t, false)
	c.start(1)
	if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "name", []byte("native-1")); err != nil {
		t.Fatal(err)
	}
	c.ends(1, agent.Exit{Code: 137})
	c.start(2)
	if l := c.launches[1]; l.Resume != "native-1" {
		t.Errorf("%+v", l)
	}
}

func TestTheEndOfATurnAtATerminalSaysWhatWasUsed(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		c := newEnv(t, terminal)
		c.start(1)
		c.read = agent.Notice{Usage: &task.Usage{InputTokens: 5}}
		if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "idle", nil); err != nil {
			t.Fatal(err)
		}
		got := c.submitted(signal.Notice)
		if len(got) != 1 || (got[0].Usage != nil) != terminal || terminal && got[0].Usage.InputTokens != 5 {
			t.Errorf("at a terminal %v: %+v", terminal, got)
		}
	}
}

func TestTheEndOfATurnIsReportedWithTheLastMessage(t *testing.T) {
	c := newEnv(t, true)
	c.start(1)
	hear := func(lastMessage string) {
		t.Helper()
		c.read = agent.Notice{Final: lastMessage}
		if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "idle", nil); err != nil {
			t.Fatal(err)
		}
	}
	hear("Which one?")
	c.task.Attempts[0].Condition.Name = task.Idle
	hear("what was said before") // the program's record lags behind its hooks
	got := c.submitted(signal.Notice)
	if len(got) != 2 || got[0].Final != "Which one?" || got[1].Final != "" {
		t.Errorf("%+v", got)
	}
	if last, err := c.LastMessage(&c.task, 1); last != "Which one?" || err != nil {
		t.Errorf("%q, %v", last, err)
	}
}

func TestAConversationThatNeverBeganIsNotResumed(t *testing.T) {
	c := newEnv(t, false)
	c.start(1)
	c.ends(1, agent.Exit{Code: 1})
	c.start(2)
	if l := c.launches[1]; l.Resume != "" {
		t.Errorf("%+v", l)
	}
}

func TestAnEndIsReportedWithWhatWasLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, false)
		c.start(1)
		c.read = agent.Notice{
			Final: "done", Usage: &task.Usage{InputTokens: 5},
			Condition: task.Condition{Name: task.Limited, Until: time.Now().Add(time.Hour)},
		}
		c.failing = errors.New("the disk is full")
		c.ends(1, agent.Exit{Code: 3, Reason: "killed"})
		got := c.submitted(signal.Exit)
		if len(got) != 1 || got[0].Code != 3 || got[0].Attempt != 1 || got[0].Role != "worker" || got[0].Usage.InputTokens != 5 || got[0].Condition == nil {
			t.Errorf("%+v", got)
		}
		card, err := c.LoadCard(agents.Key{Task: id, Number: 1})
		if err != nil || card.Final != "done" || card.Code == nil || *card.Code != 3 {
			t.Errorf("%+v, %v", card, err)
		}
		if c.Len() != 0 {
			t.Error("it is still watched")
		}
		c.Close()
	})
}

func TestAdoption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, false)
		c.task.Attempts = []task.Attempt{
			{Number: 1, Role: "worker", Running: true}, {Number: 2, Role: "reviewer", Running: true},
			{Number: 3, Role: "fixer", Running: true}, {Number: 4, Role: "worker"},
		}
		c.phases[c.Folder(agents.Key{Task: id, Number: 1})] = agent.Alive
		c.phases[c.Folder(agents.Key{Task: id, Number: 2})] = agent.Gone
		c.blind = 1 // that nothing can be read of the first is no death
		c.AdoptAttempts([]task.Task{c.task})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		var ended []int
		for _, s := range c.submitted(signal.Exit) {
			ended = append(ended, s.Attempt)
		}
		slices.Sort(ended)
		if !slices.Equal(ended, []int{2, 3}) || c.Len() != 1 { // 4 was never started: its effect starts it
			t.Errorf("ended %v, %d watched", ended, c.Len())
		}
		if len(c.swept) != 1 || c.swept[0] != "here/"+string(id)+"/3" {
			t.Errorf("swept %q", c.swept)
		}
		c.Close()
	})
}

func TestWhoIsWho(t *testing.T) {
	c := newEnv(t, false)
	c.start(1)
	token, other := c.AttemptToken(agents.Key{Task: id, Number: 1}), c.AttemptToken(agents.Key{Task: id, Number: 2})
	c.parents[555], c.parents[554] = 554, 100 // below the agent
	c.parents[701] = 700
	c.marks = map[int]string{700: "here/" + string(id) + "/1", 702: "here/server", 703: "elsewhere/" + string(id) + "/1", 704: "here/" + string(id) + "/9"}
	for _, tt := range []struct {
		name, token string
		pid         int
		role        string
		wrong       string
	}{
		{"a person", "", 900, "", ""},
		{"an agent with its token", token, 555, "worker", ""},
		{"an agent that dropped its token", "", 555, "worker", ""},
		{"a process elsewhere with the token", token, 900, "worker", ""},
		{"an agent with another's token", other, 555, "", "belongs to another"},
		{"a made-up token", string(id) + ".1.AAAA", 900, "", "does not belong to this server"},
		{"no token at all", "x", 900, "", "does not belong to this server"},
		{"a process that is gone", "", 404, "", "cannot identify the caller"},
		{"a process of the server", "", 405, "", "the server started this process"},
		{"a process of the server with a token", token, 405, "", "the server started this process"},
		{"a process in the tmux of Orange", "", 406, "", "in the tmux of Orange"},
		{"a process with the mark of an agent", "", 700, "worker", ""},
		{"a process below one with the mark of an agent", token, 701, "worker", ""},
		{"a process with the mark of an agent and another's token", other, 701, "", "belongs to another"},
		{"a process with the mark of the server", "", 702, "", "requests are refused"},
		{"a process with the mark of another data folder", "", 703, "", ""},
		{"a process with the mark of an attempt that does not live", "", 704, "", "requests are refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.IdentifyCaller(tt.token, tt.pid)
			switch {
			case tt.wrong != "":
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("%+v, %v", got, err)
				}
			case err != nil || (got == nil) != (tt.role == "") || got != nil && (got.Role != tt.role || got.Attempt != 1 || got.Task != id):
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	if own := strings.TrimPrefix(c.orders[0].Env[slices.IndexFunc(c.orders[0].Env, func(v string) bool { return strings.HasPrefix(v, "TMUX_TMPDIR=") })], "TMUX_TMPDIR="); filepath.Dir(own) != c.Tmux {
		t.Errorf("the tmux of the agent is in %s", own)
	}
	c.ends(1, agent.Exit{})
	if left, err := os.ReadDir(c.Tmux); err != nil || len(left) != 0 {
		t.Errorf("folders of tmux are left: %v, %v", left, err)
	}
	c.task.Attempts = nil
	if got, err := c.IdentifyCaller(token, 900); err != nil || got.Role != "worker" {
		t.Errorf("an attempt that is over is still itself: %+v, %v", got, err)
	}
	for pid, want := range map[int]string{404: "cannot identify", 405: "the server started", 406: "in the tmux of Orange", 701: "requests are refused"} {
		if got, err := c.IdentifyCaller("", pid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("while no agent lives, process %d is %+v, %v", pid, got, err)
		}
	}
	if got, err := c.IdentifyCaller("", 0); got != nil || err != nil {
		t.Errorf("a process that the kernel does not name is %+v, %v", got, err)
	}
}

func tellOf(tries int) task.Effect {
	return task.Effect{ID: string(id) + "/12/0", Do: "notify_worker", Role: "worker", Attempt: 1, Prompt: "review-failed", Tries: tries}
}

func TestAMessageIsTypedOnceAndSubmittedUntilAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, true)
		c.start(1)
		if err := c.MessageAgent(t.Context(), c.task, tellOf(0)); err == nil || !strings.Contains(err.Error(), "does not accept the message") {
			t.Fatal(err)
		}
		c.acks = true
		if err := c.MessageAgent(t.Context(), c.task, tellOf(1)); err != nil {
			t.Fatal(err)
		}
		pastes := 0
		for _, what := range c.typed {
			if strings.HasPrefix(what, "paste p/b worker Review round") {
				pastes++
			}
		}
		if pastes != 1 || c.typed[len(c.typed)-1] != "enter" {
			t.Errorf("%q", c.typed)
		}
		c.Close()
	})
}

func TestNothingIsTypedIntoAQuestion(t *testing.T) {
	for _, how := range []string{"by the record", "by the screen"} {
		c := newEnv(t, true)
		c.start(1)
		if how == "by the record" {
			c.task.Attempts[0].Condition = task.Condition{Name: task.WaitingPermission, Since: time.Now()}
		} else {
			c.draws("may I?", "")
		}
		if err := c.MessageAgent(t.Context(), c.task, tellOf(0)); !errors.Is(err, task.ErrNotNow) || len(c.typed) != 0 {
			t.Errorf("%s: %v, typed %q", how, err, c.typed)
		}
	}
}

func TestAnAgentWithoutATerminalEndsToGetAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, false)
		c.start(1)
		if err := c.MessageAgent(t.Context(), c.task, tellOf(0)); err == nil || !strings.Contains(err.Error(), "ended before it received the message") {
			t.Fatal(err)
		}
		if got := c.submitted(signal.Exit); len(got) != 1 || got[0].Code != 143 {
			t.Errorf("%+v", got)
		}
		c.Close()
	})
}

func TestAMessageThatIsDroppedLetsTheAgentWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, false)
		c.start(1)
		told := make(chan error, 1)
		moved := c.task
		go func() { told <- c.MessageAgent(t.Context(), moved, tellOf(0)) }()
		synctest.Wait()
		c.drops()
		if err := <-told; err == nil || !strings.Contains(err.Error(), "was dropped") {
			t.Error(err)
		}
		if got := c.submitted(signal.Exit); len(got) != 0 {
			t.Errorf("the agent was ended: %+v", got)
		}
		c.Close()
	})
}

func TestAMessageThatIsDroppedIsNotTyped(t *testing.T) {
	for name, tt := range map[string]struct {
		after         time.Duration
		pastes, enter int
	}{
		"before the paste":     {0, 0, 0},
		"before the first key": {100 * time.Millisecond, 1, 0},
		"before the next key":  {500 * time.Millisecond, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newEnv(t, true)
				c.start(1)
				moved := c.task
				if tt.after == 0 {
					c.drops()
				} else {
					time.AfterFunc(tt.after, c.drops)
				}
				if err := c.MessageAgent(t.Context(), moved, tellOf(0)); err == nil || !strings.Contains(err.Error(), "was dropped") {
					t.Error(err)
				}
				keys := 0
				for _, what := range c.typed {
					if what == "enter" {
						keys++
					}
				}
				if keys != tt.enter || len(c.typed)-keys != tt.pastes {
					t.Errorf("%q", c.typed)
				}
				c.Close()
			})
		})
	}
}

func TestHooksSayHowItIsDoing(t *testing.T) {
	c := newEnv(t, true)
	c.start(1)
	k := agents.Key{Task: id, Number: 1}
	if err := c.ReceiveHook(t.Context(), k, "claude", "ask", []byte("rm -r")); err != nil {
		t.Fatal(err)
	}
	if got := c.submitted(signal.Notice); len(got) != 1 || got[0].Condition.Name != task.WaitingPermission || got[0].Condition.Detail != "rm -r" {
		t.Errorf("%+v", got)
	}
	if err := c.ReceiveHook(t.Context(), k, "claude", "odd", nil); err == nil {
		t.Error("an odd event was heard")
	}
}

func TestASilentScreenIsRead(t *testing.T) {
	c := newEnv(t, true)
	c.start(1)
	k := agents.Key{Task: id, Number: 1}
	if err := os.WriteFile(c.Agents.OutputFile(k), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.draws("may I?", "")
	if at := c.LastActive(&c.task, 1); at.IsZero() {
		t.Error("the log's time is not seen")
	}
	if got := c.submitted(signal.Notice); len(got) != 1 || got[0].Condition.Name != task.WaitingInput {
		t.Errorf("%+v", got)
	}
}

func TestEndingClosesTheWindow(t *testing.T) {
	c := newEnv(t, true)
	c.start(1)
	if err := c.Agents.EndAttempts(t.Context(), c.task, []int{1}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(c.typed, "close worker") || len(c.submitted(signal.Exit)) != 1 {
		t.Errorf("%q, %+v", c.typed, c.signals)
	}
	if err := c.ClearSession(t.Context(), c.task); err != nil || !slices.Contains(c.typed, "close session p/b") {
		t.Errorf("%v, %q", err, c.typed)
	}
	c.task.Branch = "better"
	if session, err := c.RenameSession(t.Context(), c.task); err != nil || session != "p/better" || !slices.Contains(c.typed, "rename p/b p/better") {
		t.Errorf("%q, %v, %q", session, err, c.typed)
	}
}

func TestTheKeyIsMadeOnceAndIsTheOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token.key")
	one, err := agents.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := agents.LoadKey(path)
	info, stat := os.Stat(path)
	if err != nil || stat != nil || string(one) != string(two) || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, %v", err, stat, info)
	}
}

func TestTheLastMessageOfAnAttempt(t *testing.T) {
	c := newEnv(t, true)
	k := agents.Key{Task: id, Number: 1}
	card := func(text string) {
		t.Helper()
		if err := os.MkdirAll(c.Folder(k), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.Folder(k), "card.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says := func(name, want string) {
		t.Helper()
		if got, err := c.LastMessage(&c.task, 1); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	says("nothing is known", "")
	card(`{"role":"worker","harness":"claude","window":"w","final":"of the turn before"}`)
	says("at work, nothing new", "of the turn before")
	c.said = agent.Conversation{Turns: []transcript.Turn{
		{Who: transcript.User, Text: "do it"}, {Who: transcript.Agent, Text: "I do"}, {Who: transcript.Agent, Tool: "Bash"}, {Who: transcript.Tool, Text: "x"},
	}}
	says("at work, in its record", "I do")
	c.read = agent.Notice{Final: "as the harness reads it"}
	says("at work, as it is read", "as the harness reads it")
	c.task.Attempts[0].Condition.Name = task.Idle
	says("idle", "of the turn before")
	c.task.Attempts = nil
	says("over", "of the turn before")
}

// The last message that a hook reported ends the conversation of an attempt that is over, once, if the agent's own
// record lacks it.
func TestTheLastMessageEndsAConversation(t *testing.T) {
	c := newEnv(t, true)
	k := agents.Key{Task: id, Number: 1}
	if err := os.MkdirAll(c.Folder(k), 0o700); err != nil {
		t.Fatal(err)
	}
	card := func(final string) {
		t.Helper()
		text := fmt.Sprintf(`{"role":"worker","harness":"claude","window":"w","final":%q}`, final)
		if err := os.WriteFile(filepath.Join(c.Folder(k), "card.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	record := agent.Conversation{Next: "0:9", Turns: []transcript.Turn{{Who: transcript.User, Text: "do it"}, {Who: transcript.Agent, Text: "I\n\ndo"}}}
	ends := func(name, after, want, next string) {
		t.Helper()
		got, err := c.AttemptConversation(&c.task, 1, after)
		last := ""
		if n := len(got.Turns); n > 0 {
			last = got.Turns[n-1].Text
		}
		if err != nil || last != want || got.Next != next {
			t.Errorf("%s: %q, next %q, %v", name, last, got.Next, err)
		}
	}
	c.said = record
	card("All done.")
	ends("at work", "", "I\n\ndo", "0:9")
	c.task.Attempts[0].Condition.Name = task.Idle
	ends("its turn ended, and its record is late", "", "All done.", "0:9+last")
	c.converse = func(string) agent.Conversation {
		return agent.Conversation{Next: "0:20", Turns: []transcript.Turn{{Who: transcript.Agent, Text: "All\ndone."}}}
	}
	ends("its record has caught up", "0:9+last", "", "0:20")
	c.converse = nil
	c.task.Attempts = nil
	ends("over", "", "All done.", "0:9+last")
	card("I do")
	ends("over, and recorded", "", "I\n\ndo", "0:9")
	card("do it")
	ends("over, said by another", "", "do it", "0:9+last")

	c.converse = func(after string) agent.Conversation {
		if after == "" {
			return record
		}
		return agent.Conversation{Next: after}
	}
	card("All done.")
	ends("followed", "0:9", "All done.", "0:9+last")
	ends("followed on", "0:9+last", "", "0:9+last")
	c.converse = func(string) agent.Conversation { return agent.Conversation{} }
	ends("no record", "", "", "")
}

func TestAttemptsWithoutAProcess(t *testing.T) {
	c := newEnv(t, false)
	if got := c.AttemptsWithoutProcess(&c.task); !slices.Equal(got, []int{1}) {
		t.Errorf("nothing was started: %v", got)
	}
	c.mu.Lock()
	c.phases[c.Folder(agents.Key{Task: id, Number: 1})] = agent.Alive
	c.mu.Unlock()
	if got := c.AttemptsWithoutProcess(&c.task); len(got) > 0 {
		t.Errorf("it runs: %v", got)
	}
}
