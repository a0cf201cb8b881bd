package wire

import (
	"time"

	"orange/internal/core/task"
	"orange/internal/view/overview"
)

// A StatusLine is what orange status shows.
type StatusLine struct {
	overview.Summary
	Paused  bool        `json:"paused"`
	Items   int         `json:"items,omitempty"`   // in the inbox that belong to no task: a held landing queue, for example
	Project string      `json:"project,omitempty"` // the project that it describes, "" for all
	Unknown bool        `json:"unknown,omitempty"` // there is no such project
	Task    *StatusTask `json:"task,omitempty"`    // the task that was requested
}

// ShowTask makes a task the one that was requested.
func (l *StatusLine) ShowTask(r *overview.Row) {
	l.Task = &StatusTask{ID: r.ID, Status: r.Status, Life: r.Life, Queued: r.Queued, Paused: r.Paused}
	if r.Wants.WaitsForPerson() {
		l.Task.Wants = string(r.Wants)
	}
}

// A StatusTask is the task of a folder in a StatusLine.
type StatusTask struct {
	ID     task.ID       `json:"id"`
	Status string        `json:"status"`
	Life   overview.Life `json:"life"`
	Wants  string        `json:"wants,omitempty"`
	Queued bool          `json:"queued,omitempty"`
	Paused bool          `json:"paused,omitempty"`
}

// Moves are moments at which tasks changed their state.
type Moves struct {
	Rows []int64 `json:"rows"` // of the journal
}

// A TaskTable is a list of tasks as a table shows them, in order of creation.
type TaskTable struct {
	Tasks []TaskLine `json:"tasks"`
}

// A TaskLine is the part of a task that a line of a table needs. Its texts are untrusted.
type TaskLine struct {
	ID        task.ID   `json:"id"`
	Project   string    `json:"project"`
	Branch    string    `json:"branch"`
	Status    string    `json:"status"`
	Summary   string    `json:"summary"`
	Since     time.Time `json:"since"`
	Paused    bool      `json:"paused,omitempty"`
	Attention bool      `json:"attention,omitempty"` // a person must act
	Asks      string    `json:"asks,omitempty"`      // the state that a person is asked to approve
	Failed    bool      `json:"failed,omitempty"`    // the work failed, and the state's agent is not started again until a person acts
	Stopped   bool      `json:"stopped,omitempty"`   // a person stopped the state's agent, and nobody started one since
	Crashed   bool      `json:"crashed,omitempty"`
	RespawnAt time.Time `json:"respawn_at,omitzero"`
	Queued    bool      `json:"queued,omitempty"`
	Landing   bool      `json:"landing,omitempty"`       // its work is in a landing queue
	Place     int       `json:"landing_place,omitempty"` // its number there, from 1
	Roles     []string  `json:"roles,omitempty"`         // roles whose agents are at work

	After    []task.Predecessor `json:"after,omitempty"`    // the tasks that it is after, and what became of them
	Unblocks int                `json:"unblocks,omitempty"` // how many open tasks are after it
}

// NewTaskLine returns the line of a task.
func NewTaskLine(t *task.Task) TaskLine {
	out := TaskLine{
		ID: t.ID, Project: t.Project, Branch: t.Branch, Status: t.Status, Summary: t.Summary, Since: t.Since, Paused: t.Paused,
		Attention: t.Attention != "", Failed: t.WorkFailed != "" && t.Stopped == nil, Stopped: t.Stopped != nil, Crashed: t.Crashed != "", RespawnAt: t.RespawnAt, Queued: t.Queued, Landing: t.MergeEffect() != nil,
		After: t.Predecessors,
	}
	if t.Asked != nil {
		out.Asks = t.Asked.To
	}
	for i := range t.Attempts {
		if a := &t.Attempts[i]; !a.Ending {
			out.Roles = append(out.Roles, a.Role)
		}
	}
	return out
}
