package effect

import (
	"context"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
)

// Agents starts, tells and ends agents.
type Agents interface {
	Start(ctx context.Context, t task.Task, e task.Effect) (session string, err error)
	Tell(ctx context.Context, t task.Task, e task.Effect) error
	End(ctx context.Context, t task.Task, attempts []int) error
	Clear(ctx context.Context, t task.Task) error
	Rename(ctx context.Context, t task.Task) (session string, err error)
}

// Workspaces hands out worktrees and takes them back. A note names what a person should
// know about, such as files that were moved aside.
type Workspaces interface {
	// Acquire tells the commit at which the task's branch left the default branch.
	Acquire(ctx context.Context, t task.Task, name string) (local.Done, error)
	// Ready makes sure that an agent can be started: the workspace is the task's worktree,
	// with its TASK.md.
	Ready(ctx context.Context, t task.Task) (note string, err error)
	// Release tells the ref at which work that was not committed is kept, if there was any.
	Release(ctx context.Context, t task.Task, name string) (local.Done, error)
	RenameBranch(ctx context.Context, t task.Task, from string) error
}

// Delivery brings finished work where it belongs.
type Delivery interface {
	// Merge merges by the strategy that is the effect's argument. It tells the last commit of
	// what a forge has merged, and the commit by which it came into the default branch.
	Merge(ctx context.Context, t task.Task, e task.Effect) (local.Done, error)
	Push(ctx context.Context, t task.Task) error
	CreatePR(ctx context.Context, t task.Task) (url string, err error)
	DeleteRemoteBranch(ctx context.Context, t task.Task) error
}

// Sections adds a person's words to TASK.md, once for each key.
type Sections interface {
	AddSection(project string, id task.ID, section, text, key string) error
}

// Doer carries effects out. Every one of them can be asked for again: what is done
// already is found done.
type Doer struct {
	Agents     Agents
	Workspaces Workspaces
	Delivery   Delivery
	Sections   Sections
	Cards      Cards // nil: there is no board
}

// Cards change the task's card on its board and look at it. A change that was made
// already is not made again; what cannot be done, ever, is left out with a note.
type Cards interface {
	Change(ctx context.Context, t task.Task, e task.Effect) (note string, err error)
	Look(ctx context.Context, t task.Task) (*board.Face, error)
}

// limit bounds one try of an effect: a set-up command or a push may take its time.
const limit = 15 * time.Minute

// Perform implements local.Performer.
func (d Doer) Perform(ctx context.Context, t task.Task, e task.Effect) (local.Done, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info, _ := workflow.EffectNamed(e.Do)
	switch {
	case info.Kills:
		return d.kill(ctx, t, e)
	case info.Spawns, info.Notifies && e.Start:
		return d.start(ctx, t, e)
	case info.Notifies:
		return local.Done{}, d.Agents.Tell(ctx, t, e)
	}
	if info.Card {
		return d.card(ctx, t, e)
	}
	switch e.Do {
	case workflow.AcquireWorkspace:
		return d.Workspaces.Acquire(ctx, t, e.Workspace)
	case workflow.ReleaseWorkspace:
		return d.release(ctx, t, e)
	case workflow.SpawnNext: // the runtime looks at its queue itself
		return local.Done{}, nil
	case workflow.WriteSection:
		return local.Done{}, d.Sections.AddSection(t.Project, t.ID, e.Arg, e.Text, e.ID)
	case workflow.RenameBranch:
		return d.rename(ctx, t, e)
	}
	return d.deliver(ctx, t, e)
}

// start starts an agent in a workspace that was checked.
func (d Doer) start(ctx context.Context, t task.Task, e task.Effect) (local.Done, error) {
	note := ""
	if t.Workspace != "" {
		var err error
		if note, err = d.Workspaces.Ready(ctx, t); err != nil {
			return local.Done{}, err
		}
	}
	session, err := d.Agents.Start(ctx, t, e)
	return local.Done{Session: session, Note: note}, err
}

// card changes the task's card, or looks at it.
func (d Doer) card(ctx context.Context, t task.Task, e task.Effect) (local.Done, error) {
	if d.Cards == nil {
		return local.Done{}, task.Mistakef("there is no board to %s on", e.Do)
	}
	if e.Do == workflow.ReadCard {
		face, err := d.Cards.Look(ctx, t)
		return local.Done{Face: face}, err
	}
	note, err := d.Cards.Change(ctx, t, e)
	return local.Done{Note: note}, err
}

// kill ends the agents that were ordered to end, and the one whose time is over.
func (d Doer) kill(ctx context.Context, t task.Task, e task.Effect) (local.Done, error) {
	var numbers []int
	for _, a := range t.Attempts {
		ordered := a.Ending && (e.Role == "" || e.Role == a.Role)
		if ordered || e.Attempt == a.Number {
			numbers = append(numbers, a.Number)
		}
	}
	if err := d.Agents.End(ctx, t, numbers); err != nil {
		return local.Done{}, err
	}
	done := local.Done{Ended: numbers}
	if e.Do == workflow.KillSession {
		return done, d.Agents.Clear(ctx, t)
	}
	return done, nil
}

func (d Doer) release(ctx context.Context, t task.Task, e task.Effect) (local.Done, error) {
	if e.Workspace == "" { // it never had one
		return local.Done{}, nil
	}
	return d.Workspaces.Release(ctx, t, e.Workspace)
}

func (d Doer) rename(ctx context.Context, t task.Task, e task.Effect) (local.Done, error) {
	if t.Workspace == "" {
		return local.Done{}, nil
	}
	if err := d.Workspaces.RenameBranch(ctx, t, e.Arg); err != nil {
		return local.Done{}, err
	}
	session, err := d.Agents.Rename(ctx, t)
	return local.Done{Session: session}, err
}

func (d Doer) deliver(ctx context.Context, t task.Task, e task.Effect) (local.Done, error) {
	switch e.Do {
	case workflow.MergeBranch:
		done, err := d.Delivery.Merge(ctx, t, e)
		if err != nil {
			return local.Done{}, err
		}
		done.Event = signal.PRMerged
		return done, nil
	case workflow.Push:
		return local.Done{}, d.Delivery.Push(ctx, t)
	case workflow.CreatePR:
		url, err := d.Delivery.CreatePR(ctx, t)
		if err != nil {
			return local.Done{}, err
		}
		return local.Done{Fields: []signal.Field{{Name: "pr_url", To: url}, {Name: "pr_state", To: "OPEN"}}}, nil
	case workflow.DeleteRemoteBranch:
		return local.Done{}, d.Delivery.DeleteRemoteBranch(ctx, t)
	}
	return local.Done{}, task.Mistakef("nothing here knows how to %s", e.Do)
}

var _ local.Performer = Doer{}
