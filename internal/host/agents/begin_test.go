package agents_test

import (
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/host/agents"
)

func TestAnAttemptThatEndsBeforeItsFirstTurnSaysSo(t *testing.T) {
	soon := func(c *env) time.Time {
		card, _ := c.LoadCard(agents.Key{Task: id, Number: 1})
		return card.Since.Add(5 * time.Second)
	}
	tests := map[string]struct {
		terminal bool
		do       func(c *env)
		late     time.Duration
		mass     string
		want     bool
	}{
		"nothing came, at a terminal": {terminal: true, want: true},
		"nothing came, without one":   {want: true},
		"it is late":                  {terminal: true, late: time.Minute},
		"others ended too":            {terminal: true, mass: signal.MassTmux},
		"it said something":           {do: func(c *env) { c.read.Final = "hello" }},
		"the model was paid":          {do: func(c *env) { c.read.Usage = &task.Usage{InputTokens: 1} }},
		"a limit explains it":         {do: func(c *env) { c.read.Condition = task.Condition{Name: task.Limited} }},
		"its turn failed":             {do: func(c *env) { c.read.Failure = "API Error: 400" }, want: true},
		"the model called a tool": {do: func(c *env) {
			c.said = agent.Conversation{Turns: []transcript.Turn{{Who: transcript.Agent, Tool: "shell"}}, Next: "1"}
		}},
		"only its own words are written": {do: func(c *env) {
			c.said = agent.Conversation{Turns: []transcript.Turn{{Who: transcript.Tool, Failed: true}}, Next: "1"}
		}, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newEnv(t, tt.terminal)
			c.start(1)
			if tt.do != nil {
				tt.do(c)
			}
			c.ends(1, agent.Exit{Code: 1, Mass: tt.mass, At: soon(c).Add(tt.late)})
			got := c.submitted(signal.Exit)
			if len(got) != 1 || got[0].Unstarted != tt.want || got[0].Last != c.read.Failure {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A dialog that Orange answers is reported to a person only if the answer has no effect.
func TestADialogThatOrangeAnswersIsShownLater(t *testing.T) {
	for pane, soon := range map[string]string{"trust this folder?": "", "may I?": task.WaitingInput} {
		t.Run(pane, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newEnv(t, true)
				c.pane = pane
				c.start(1)
				time.Sleep(3 * time.Second)
				if got := c.condition(); got.Name != soon {
					t.Errorf("after 3 seconds it is %+v", got)
				}
				time.Sleep(5 * time.Second)
				if got := c.condition(); got.Name != task.WaitingInput {
					t.Errorf("after 8 seconds it is %+v", got)
				}
				c.Close()
			})
		})
	}
}
