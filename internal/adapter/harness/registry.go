package harness

import (
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
)

// A Registry runs the harnesses on this machine, each by its name.
type Registry struct {
	Call func(harness string) []string // the command that agents call on events; the name of the event is appended. nil: none
	Env  func(string) string           // the environment of this process
	Path func(harness string) string   //  the PATH that an agent has
}

// PlanLaunch says how an agent is started and writes the files that it needs.
func (r Registry) PlanLaunch(l agent.Launch) (agent.Plan, error) {
	h, err := Find(l.Harness)
	if err != nil {
		return agent.Plan{}, task.Mistakef("%v", err)
	}
	launch := Launch{Launch: l, Env: r.Env}
	if r.Call != nil {
		launch.Hook = r.Call(h.Name())
	}
	plan, err := h.PlanLaunch(launch)
	if err != nil {
		return agent.Plan{}, task.Mistakef("%v", err)
	}
	if l.ReadOnly {
		env, files := GuardReviewer(l.Dir, r.Path(l.Harness))
		plan.Env, plan.Files = append(plan.Env, env...), append(plan.Files, files...)
	}
	return plan.Plan, WriteFiles(plan.Files)
}

// ParseHook says what a call of an agent's hook means.
func (r Registry) ParseHook(name, event string, payload []byte) (agent.Notice, error) {
	h, err := Find(name)
	if err != nil {
		return agent.Notice{}, task.Mistakef("%v", err)
	}
	n, err := h.ParseHook(event, payload, time.Now())
	return inSeconds(n), err
}

// ReadOutput finds what an attempt left behind.
func (r Registry) ReadOutput(name string, o agent.Output) agent.Notice {
	h, err := Find(name)
	if err != nil {
		return agent.Notice{}
	}
	return inSeconds(h.ReadOutput(Output{Output: o, Now: time.Now()}))
}

// ReadConversation reads the conversation of an attempt, as the function Converse does.
func (r Registry) ReadConversation(name string, o agent.Output, after string) agent.Conversation {
	h, err := Find(name)
	if err != nil {
		return agent.Conversation{}
	}
	return ReadConversation(h, Output{Output: o, Now: time.Now()}, after)
}

// ReadScreen says what the screen of an agent shows about it.
func (r Registry) ReadScreen(name, pane string) (agent.Notice, bool) {
	h, err := Find(name)
	if err != nil {
		return agent.Notice{}, false
	}
	n, ok := h.ReadScreen(pane, time.Now())
	return inSeconds(n), ok
}

// ReadInput says what the screen of an agent takes.
func (r Registry) ReadInput(name string, v ansi.View) ansi.Input {
	h, err := Find(name)
	if err != nil {
		return ansi.Input{}
	}
	return h.ReadInput(v)
}

// TrustDialogKeys returns the characters to type into a dialog that asks whether the worktree is trusted.
func (r Registry) TrustDialogKeys(name, pane string) (keys string, ok bool) {
	h, err := Find(name)
	if err != nil {
		return "", false
	}
	return h.TrustDialogKeys(pane)
}

// AcknowledgesPrompts says whether a hook tells that an agent has received a prompt.
func (r Registry) AcknowledgesPrompts(name string) bool {
	return !strings.HasPrefix(name, agent.CommandPrefix)
}

// SeparatesMessages says whether what an agent says can be told from what else it prints.
func (r Registry) SeparatesMessages(name string) bool {
	return !strings.HasPrefix(name, agent.CommandPrefix)
}

// HidesFailures says whether no hook of an agent tells that a turn failed.
func (r Registry) HidesFailures(name string) bool {
	h, _ := agent.FindHarness(name)
	return h.Silent
}

// AsksFirst says whether an agent may show dialogs before it takes its prompt.
func (r Registry) AsksFirst(name string) bool {
	return !strings.HasPrefix(name, agent.CommandPrefix) && !strings.HasPrefix(name, agent.Script)
}

// inSeconds is a notice whose times are as a journal keeps them.
func inSeconds(n agent.Notice) agent.Notice {
	n.Condition.Until = n.Condition.Until.UTC().Truncate(time.Second)
	return n
}
