package mcp

import (
	"context"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/signal"
	"orange/internal/view/humanize"
)

// pauseIn says what to pause.
type pauseIn struct {
	oneIn
	All bool `json:"all,omitempty" jsonschema:"all tasks of all projects, instead of one. For people"`
}

// resumeIn says what to resume.
type resumeIn struct {
	pauseIn
	Code string `json:"code,omitempty" jsonschema:"confirmation code from a person's notification, if it was refused without it; ask the person for it"`
}

// pausedOut says what is paused now.
type pausedOut struct {
	ID     string `json:"id,omitempty" jsonschema:"of the task; absent for all tasks"`
	Paused bool   `json:"paused" jsonschema:"whether it is paused now"`
	Status string `json:"status,omitempty" jsonschema:"current state of the task"`
}

func (t *tools) addPausing(s *sdk.Server) {
	addTool(s, &sdk.Tool{
		Name: "pause", Annotations: toolHints("Pause a task or all tasks", false, false, true),
		Description: "Pause a task, or all tasks: nothing new starts and no timer fires. Agents that are at work continue.",
	}, callTime, t.pauseTasks)
	addTool(s, &sdk.Tool{
		Name: "resume", Annotations: toolHints("Resume a task or all tasks", false, false, true),
		Description: "Resume a task, or all tasks, after a pause. For a task, effects that were given up after several failures are tried again.",
	}, callTime, t.resumeTasks)
}

func (t *tools) pauseTasks(ctx context.Context, c Caller, in pauseIn) (pausedOut, string, error) {
	return c.setPaused(ctx, in, signal.Signal{Kind: signal.Pause}, c.API.PauseAll)
}

func (t *tools) resumeTasks(ctx context.Context, c Caller, in resumeIn) (pausedOut, string, error) {
	return c.setPaused(ctx, in.pauseIn, signal.Signal{Kind: signal.Resume, Confirm: in.Code}, c.API.ResumeAll)
}

// setPaused sends a signal about one task, or changes all.
func (c Caller) setPaused(ctx context.Context, in pauseIn, sig signal.Signal, all func(context.Context) error) (pausedOut, string, error) {
	out := pausedOut{Paused: sig.Kind == signal.Pause}
	said := "continues"
	if out.Paused {
		said = "is paused"
	}
	switch {
	case in.All && in.Task != "":
		return pausedOut{}, "", errors.New("task and all exclude each other: pass one of them")
	case in.All:
		return out, "Everything " + said + ".", all(ctx)
	}
	id, err := c.taskOf(ctx, in.Task)
	if err != nil {
		return pausedOut{}, "", err
	}
	done, err := c.sendSignal(ctx, id, sig)
	if err != nil {
		return pausedOut{}, "", err
	}
	out.ID, out.Status, out.Paused = done.ID, done.Status, done.paused
	return out, "Task " + humanize.ShortID(out.ID) + " " + said + ".", nil
}
