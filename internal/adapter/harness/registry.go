package harness

import (
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
)

// A Registry gives access to the harnesses on this machine by name.
type Registry struct {
	Call func(harness string) []string // the command that agents call on events, without the name of the event, which is appended; nil for none
	Env  func(string) string           // the environment of this process
	Path func(harness string) string   // the PATH that an agent has

	Programs func(harness string) string // the path of its program that a person set, "" for the one in PATH; nil: none is set
}

// PlanLaunch plans the start of an agent and writes the files that it needs.
func (r Registry) PlanLaunch(l agent.Launch) (agent.Plan, error) {
	h, err := Find(l.Harness)
	if err != nil {
		return agent.Plan{}, task.Mistakef("%v", err)
	}
	launch := Launch{Launch: l, Env: r.Env}
	if r.Programs != nil {
		launch.Path = r.Programs(h.Name())
	}
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

// ParseHook returns the meaning of a call of an agent's hook.
func (r Registry) ParseHook(name, event string, payload []byte) (agent.Notice, error) {
	h, err := Find(name)
	if err != nil {
		return agent.Notice{}, task.Mistakef("%v", err)
	}
	n, err := h.ParseHook(event, payload, time.Now())
	return inSeconds(n), err
}

// ReadOutput reads what an attempt left behind.
func (r Registry) ReadOutput(name string, o agent.Output) agent.Notice {
	h, err := Find(name)
	if err != nil {
		return agent.Notice{}
	}
	return inSeconds(h.ReadOutput(Output{Output: o, Now: time.Now()}))
}

// ReadConversation reads the conversation of an attempt, like the function ReadConversation.
func (r Registry) ReadConversation(name string, o agent.Output, after string) agent.Conversation {
	h, err := Find(name)
	if err != nil {
		return agent.Conversation{}
	}
	return ReadConversation(h, Output{Output: o, Now: time.Now()}, after)
}

// ReadScreen returns what the screen of an agent shows about it.
func (r Registry) ReadScreen(name, pane string) (agent.Notice, bool) {
	h, err := Find(name)
	if err != nil {
		return agent.Notice{}, false
	}
	n, ok := h.ReadScreen(pane, time.Now())
	return inSeconds(n), ok
}

// ReadInput returns what input the screen of an agent accepts.
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

// AcknowledgesPrompts reports whether an agent has a hook that confirms that it has received a
// prompt.
func (r Registry) AcknowledgesPrompts(name string) bool {
	return !strings.HasPrefix(name, agent.CommandPrefix)
}

// SeparatesMessages reports whether an agent's messages can be told apart from the rest of its
// output.
func (r Registry) SeparatesMessages(name string) bool {
	return !strings.HasPrefix(name, agent.CommandPrefix)
}

// HidesFailures reports whether an agent has no hook for a failed turn.
func (r Registry) HidesFailures(name string) bool {
	h, _ := agent.FindHarness(name)
	return h.Silent
}

// AsksFirst reports whether an agent may show dialogs before it accepts its prompt.
func (r Registry) AsksFirst(name string) bool {
	return !strings.HasPrefix(name, agent.CommandPrefix) && !strings.HasPrefix(name, agent.Script)
}

// inSeconds returns a notice with its times truncated to seconds, as a journal stores them.
func inSeconds(n agent.Notice) agent.Notice {
	n.Condition.Until = n.Condition.Until.UTC().Truncate(time.Second)
	return n
}
