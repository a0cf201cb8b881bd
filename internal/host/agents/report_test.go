package agents_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/host/agents"
	"orange/internal/server/prompts"
)

// newQAEnv returns an env whose task is tested: the qa reports passed or failed.
func newQAEnv(t *testing.T, terminal bool) *env {
	t.Helper()
	c := newEnv(t, terminal)
	text, _ := builtin.Text("linear-sdlc")
	def, err := workflow.Parse("linear-sdlc.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	c.def, c.task.Status = def, "Finished"
	c.task.Attempts = []task.Attempt{{Number: 1, Role: "qa", Running: true}}
	return c
}

func (c *env) startQA(attempt int, message string) {
	c.t.Helper()
	e := effectOf(attempt)
	e.Role, e.Prompt, e.Message = "qa", "qa", message
	if _, err := c.Agents.StartAgent(c.t.Context(), c.task, e); err != nil {
		c.t.Fatal(err)
	}
}

func TestTheLastMessageIsSearchedForTheRolesProtocol(t *testing.T) {
	for _, tt := range []struct {
		name, final string
		want        signal.Result
		diagnosis   string
	}{
		{"a marker", "Fine.\n<!-- WORK_RESULT:passed -->", signal.Passed, ""},
		{"with the attempt's nonce", "<!-- WORK_RESULT:failed nonce=NONCE -->", signal.Failed, ""},
		{"with another's nonce", "<!-- WORK_RESULT:passed nonce=0badc0de -->", signal.Unknown, "nonce=0badc0de"},
		{"in a fence", "```\n<!-- WORK_RESULT:passed -->\n```", signal.Unknown, "fence"},
		{"words that mean it", "## QA Passed", signal.Passed, ""},
		{"nothing that counts", "I am done.", signal.Unknown, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newQAEnv(t, false)
				c.startQA(1, "")
				nonce := c.AttemptNonce(agents.Key{Task: id, Number: 1})
				c.read = agent.Notice{Final: strings.ReplaceAll(tt.final, "NONCE", nonce)}
				c.ends(1, agent.Exit{})
				got := c.submitted(signal.Exit)
				if len(got) != 1 || got[0].Report == nil || got[0].Report.Outcome != tt.want || !strings.Contains(got[0].Report.Diagnosis, tt.diagnosis) || got[0].Final != c.read.Final {
					t.Errorf("%+v", got)
				}
				c.Close()
			})
		})
	}
}

func TestSilenceAndRolesWithoutAProtocolHaveNoReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newQAEnv(t, false)
		c.startQA(1, "")
		c.read = agent.Notice{Final: " \n"}
		c.ends(1, agent.Exit{})
		if got := c.submitted(signal.Exit); len(got) != 1 || got[0].Report != nil || got[0].Final != "" {
			t.Errorf("%+v", got)
		}
		c.Close()
		c = newEnv(t, false) // the worker of orange asks by commands
		c.start(1)
		c.read = agent.Notice{Final: "<!-- WORK_RESULT:passed -->"}
		c.ends(1, agent.Exit{})
		if got := c.submitted(signal.Exit); len(got) != 1 || got[0].Report != nil || got[0].Final != c.read.Final {
			t.Errorf("%+v", got)
		}
		c.Close()
	})
}

func TestALongMessageIsSearchedWholeAndKeptInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newQAEnv(t, false)
		c.startQA(1, "")
		c.read = agent.Notice{Final: "<!-- WORK_RESULT:failed nonce=" + c.AttemptNonce(agents.Key{Task: id, Number: 1}) + " -->\n" + strings.Repeat("é and more of it\n", 40_000)}
		c.ends(1, agent.Exit{})
		got := c.submitted(signal.Exit)
		if len(got) != 1 || got[0].Report.Outcome != signal.Failed || len(got[0].Final) > 16<<10 || !strings.HasSuffix(c.read.Final, got[0].Final) {
			t.Errorf("%d signals, report %+v, %d bytes kept", len(got), got[0].Report, len(got[0].Final))
		}
		c.Close()
	})
}

func TestTheEndOfATurnAtATerminalIsNoticed(t *testing.T) {
	for _, tt := range []struct {
		name     string
		terminal bool
		final    string
		heard    int
	}{
		{"a marker", true, "<!-- WORK_RESULT:passed -->", 1},
		{"nothing that counts", true, "I go on later.", 0},
		{"without a terminal the end counts", false, "<!-- WORK_RESULT:passed -->", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newQAEnv(t, tt.terminal)
			c.startQA(1, "")
			c.read = agent.Notice{Final: tt.final}
			if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "idle", nil); err != nil {
				t.Fatal(err)
			}
			got := c.submitted(signal.Outcome)
			if len(got) != tt.heard || tt.heard > 0 && (got[0].Word != "passed" || got[0].Actor != "qa" || got[0].Attempt != 1 || got[0].Report == nil) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestARequestForAReportResumesTheConversation(t *testing.T) {
	c := newQAEnv(t, false)
	c.startQA(1, "")
	if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "session", []byte("native-1")); err != nil {
		t.Fatal(err)
	}
	c.ends(1, agent.Exit{})
	c.startQA(2, workflow.MessageState)
	c.ends(2, agent.Exit{})
	c.startQA(3, "") // another attempt begins a new conversation
	if c.launches[1].Resume != "native-1" || c.launches[2].Resume != "" {
		t.Errorf("%+v", c.launches)
	}
	prompt, err := os.ReadFile(filepath.Join(c.Folder(agents.Key{Task: id, Number: 2}), "prompt.md"))
	if err != nil || !strings.HasPrefix(string(prompt), "Nothing has moved: you did not say how it went") || strings.Contains(string(prompt), "# QA") {
		t.Errorf("%v\n%s", err, prompt)
	}
}

// The agent that was chosen for a start is started, with its model and its effort.
func TestTheChosenAgentIsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newQAEnv(t, false)
		e := effectOf(1)
		e.Role, e.Prompt, e.Choice = "qa", "qa", &task.Choice{Harness: "codex", Model: "m", Effort: "high"}
		if _, err := c.Agents.StartAgent(t.Context(), c.task, e); err != nil {
			t.Fatal(err)
		}
		if l := c.launches[0]; l.Harness != "codex" || l.Model != "m" || l.Effort != "high" {
			t.Errorf("%+v", l)
		}
		if card, err := c.LoadCard(agents.Key{Task: id, Number: 1}); err != nil || card.Harness != "codex" || card.Model != "m" {
			t.Errorf("%v, %+v", err, card)
		}
		c.Close()
	})
}

// The messages of a command cannot be told apart from what its tools print: its report needs the nonce of the session,
// and it has no terminal into which messages are typed.
func TestACommandsWordNeedsTheMark(t *testing.T) {
	for _, marked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newQAEnv(t, true)
			c.task.ReviewHarness = "command:x"
			c.startQA(1, "")
			if c.orders[0].Window != nil {
				t.Error("it has a terminal")
			}
			c.read = agent.Notice{Final: "<!-- WORK_RESULT:passed -->"}
			want := signal.Unknown
			if marked {
				c.read.Final = "<!-- WORK_RESULT:passed nonce=" + c.AttemptNonce(agents.Key{Task: id, Number: 1}) + " -->"
				want = signal.Passed
			}
			c.ends(1, agent.Exit{})
			if got := c.submitted(signal.Exit); len(got) != 1 || got[0].Report.Outcome != want {
				t.Errorf("%+v", got[0].Report)
			}
			c.Close()
		})
	}
}

// The pull request is looked up when the prompt is made, and only for a prompt that names it.
func TestQAGetsThePresentPullRequest(t *testing.T) {
	c := newQAEnv(t, false)
	c.task.Delivery, c.task.PRURL = task.DeliverPR, "https://hub.example/pull/7"
	answer := error(nil)
	c.Prompts = prompts.Renderer{Task: c.taskWithWorkflow, Definition: c.Definition, Project: c.Project, Pull: func(_ context.Context, t task.Task) (string, string, error) {
		return strings.Replace(t.PRURL, "7", "8", 1), "OPEN", answer
	}}
	c.startQA(1, "")
	text, err := os.ReadFile(filepath.Join(c.Folder(agents.Key{Task: id, Number: 1}), "prompt.md"))
	if err != nil || !strings.Contains(string(text), "The pull request is https://hub.example/pull/8 open.") {
		t.Errorf("%v\n%s", err, text)
	}
	answer = errors.New("the forge does not answer")
	e := effectOf(2)
	e.Role, e.Prompt = "qa", "qa"
	if _, err := c.Agents.StartAgent(t.Context(), c.task, e); !errors.Is(err, answer) {
		t.Errorf("started all the same: %v", err)
	}
	e = effectOf(3)
	e.Role, e.Prompt = "development", "development"
	if _, err := c.Agents.StartAgent(t.Context(), c.task, e); err != nil {
		t.Errorf("the developer needs no pull request: %v", err)
	}
}

func TestAConversationBeganWithItsFirstAttempt(t *testing.T) {
	c := newQAEnv(t, false)
	c.startQA(1, "")
	if err := c.ReceiveHook(t.Context(), agents.Key{Task: id, Number: 1}, "claude", "session", []byte("native-1")); err != nil {
		t.Fatal(err)
	}
	c.ends(1, agent.Exit{})
	c.startQA(2, workflow.MessageState)
	first, _ := c.ConversationStart(id, 1)
	if at, ok := c.ConversationStart(id, 2); !ok || !at.Equal(first) {
		t.Errorf("%s, %v; the first %s", at, ok, first)
	}
	if _, ok := c.ConversationStart(id, 9); ok {
		t.Error("one that never was began")
	}
}
