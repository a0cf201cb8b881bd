package effect

import (
	"context"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
)

// Agents starts and ends agents and sends them messages.
type Agents interface {
	StartAgent(ctx context.Context, t task.Task, e task.Effect) (agent.Start, error)
	MessageAgent(ctx context.Context, t task.Task, e task.Effect) error
	EndAttempts(ctx context.Context, t task.Task, attempts []int) error
	ClearSession(ctx context.Context, t task.Task) error
	RenameSession(ctx context.Context, t task.Task) (session string, err error)
}

// Workspaces hands out worktrees and takes them back. A note says what a person should know, such as files that were
// moved aside.
type Workspaces interface {
	// Acquire returns the commit at which the task's branch left the default branch.
	Acquire(ctx context.Context, t task.Task, name string) (local.EffectResult, error)
	// Ready makes sure that an agent can be started: the workspace is the task's worktree, with its TASK.md.
	Ready(ctx context.Context, t task.Task) (note string, err error)
	// Release returns the ref at which it saved uncommitted work, if there was any.
	Release(ctx context.Context, t task.Task, name string) (local.EffectResult, error)
	RenameBranch(ctx context.Context, t task.Task, from string) error
	// PrepareLanding checks out the candidate of the task in the landing worktree of its target.
	PrepareLanding(ctx context.Context, t task.Task) error
}

// Delivery delivers finished work.
type Delivery interface {
	// Merge merges with the strategy in the effect's argument. It returns the last commit of what a forge merged, and
	// the commit that brought it into the default branch.
	Merge(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error)
	Push(ctx context.Context, t task.Task) error
	CreatePR(ctx context.Context, t task.Task) (url string, err error)
	DeleteRemoteBranch(ctx context.Context, t task.Task) error
}

// Sections writes a person's text into TASK.md: a new section, once for each key, or other requirements.
type Sections interface {
	AddSection(project string, id task.ID, section, text, key string) error
	SetRequirements(project string, id task.ID, text string) error
}

// Executor performs effects. Each can be repeated: what is done already is not done again.
type Executor struct {
	Agents     Agents
	Workspaces Workspaces
	Delivery   Delivery
	Sections   Sections
	Cards      Cards // nil: there is no board
}

// Cards changes and reads the task's card. It does not repeat a change that was made already; a change that can never
// be made is left out with a note.
type Cards interface {
	ChangeCard(ctx context.Context, t task.Task, e task.Effect) (note string, err error)
	ReadCard(ctx context.Context, t task.Task) (*board.Snapshot, error)
}

// effectTimeout bounds one try of an effect, because a set-up command or a push may take long.
const effectTimeout = 15 * time.Minute

// Perform implements local.Performer.
func (d Executor) Perform(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	ctx, cancel := context.WithTimeout(ctx, effectTimeout)
	defer cancel()
	info, _ := workflow.EffectNamed(e.Do)
	switch {
	case info.Kills:
		return d.endAgents(ctx, t, e)
	case info.Spawns, info.Notifies && e.Start:
		return d.startAgent(ctx, t, e)
	case info.Notifies:
		return local.EffectResult{}, d.Agents.MessageAgent(ctx, t, e)
	}
	if info.Card {
		return d.changeCard(ctx, t, e)
	}
	switch e.Do {
	case workflow.AcquireWorkspace:
		return d.Workspaces.Acquire(ctx, t, e.Workspace)
	case workflow.ReleaseWorkspace:
		return d.releaseWorkspace(ctx, t, e)
	case workflow.SpawnNext: // the runtime checks its queue itself
		return local.EffectResult{}, nil
	case workflow.WriteSection:
		if e.Arg == taskfile.RequirementsSection {
			return local.EffectResult{}, d.Sections.SetRequirements(t.Project, t.ID, e.Text)
		}
		return local.EffectResult{}, d.Sections.AddSection(t.Project, t.ID, e.Arg, e.Text, e.ID)
	case workflow.RenameBranch:
		return d.renameBranch(ctx, t, e)
	}
	return d.deliverWork(ctx, t, e)
}

// startAgent checks the workspace and starts an agent in it.
func (d Executor) startAgent(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	note := ""
	if t.CheckRun != nil && t.CheckRun.Place == task.PlaceLanding && e.Do == workflow.RunCheck {
		if err := d.Workspaces.PrepareLanding(ctx, t); err != nil {
			return local.EffectResult{}, err
		}
	} else if t.Workspace != "" {
		var err error
		if note, err = d.Workspaces.Ready(ctx, t); err != nil {
			return local.EffectResult{}, err
		}
	}
	started, err := d.Agents.StartAgent(ctx, t, e)
	return local.EffectResult{Session: started.Session, Harness: started.Harness, Model: started.Model, PromptHash: started.PromptHash, Note: note}, err
}

// changeCard changes or reads the task's card.
func (d Executor) changeCard(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	if d.Cards == nil {
		return local.EffectResult{}, task.Mistakef("there is no board to %s on", e.Do)
	}
	if e.Do == workflow.ReadCard {
		card, err := d.Cards.ReadCard(ctx, t)
		return local.EffectResult{CardSnapshot: card}, err
	}
	note, err := d.Cards.ChangeCard(ctx, t, e)
	return local.EffectResult{Note: note}, err
}

// endAgents ends the agents that were ordered to end, and the one whose time is up.
func (d Executor) endAgents(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	var numbers []int
	for _, a := range t.Attempts {
		ordered := a.Ending && (e.Role == "" || e.Role == a.Role)
		if ordered || e.Attempt == a.Number {
			numbers = append(numbers, a.Number)
		}
	}
	if err := d.Agents.EndAttempts(ctx, t, numbers); err != nil {
		return local.EffectResult{}, err
	}
	done := local.EffectResult{Ended: numbers}
	if e.Do == workflow.KillSession {
		return done, d.Agents.ClearSession(ctx, t)
	}
	return done, nil
}

func (d Executor) releaseWorkspace(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	if e.Workspace == "" { // the task never had one
		return local.EffectResult{}, nil
	}
	return d.Workspaces.Release(ctx, t, e.Workspace)
}

func (d Executor) renameBranch(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	if t.Workspace == "" {
		return local.EffectResult{}, nil
	}
	if err := d.Workspaces.RenameBranch(ctx, t, e.Arg); err != nil {
		return local.EffectResult{}, err
	}
	session, err := d.Agents.RenameSession(ctx, t)
	return local.EffectResult{Session: session}, err
}

func (d Executor) deliverWork(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	switch e.Do {
	case workflow.MergeBranch, workflow.Land:
		done, err := d.Delivery.Merge(ctx, t, e)
		if err != nil {
			return local.EffectResult{Landing: done.Landing, Candidate: done.Candidate, InTheWay: done.InTheWay, Since: done.Since}, err
		}
		if done.Landing == "" {
			done.Event = signal.PRMerged
		}
		return done, nil
	case workflow.Push:
		return local.EffectResult{}, d.Delivery.Push(ctx, t)
	case workflow.CreatePR:
		url, err := d.Delivery.CreatePR(ctx, t)
		if err != nil {
			return local.EffectResult{}, err
		}
		return local.EffectResult{Fields: []signal.Field{{Name: "pr_url", To: url}, {Name: "pr_state", To: "OPEN"}}}, nil
	case workflow.DeleteRemoteBranch:
		return local.EffectResult{}, d.Delivery.DeleteRemoteBranch(ctx, t)
	}
	return local.EffectResult{}, task.Mistakef("nothing here knows how to %s", e.Do)
}

var _ local.Performer = Executor{}
