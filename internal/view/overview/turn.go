package overview

import (
	"slices"

	"orange/internal/core/workflow"
)

// A Turn says who must act next on a task.
type Turn string

// The turns, in the order in which they are shown.
const (
	NeedsYou     Turn = "Needs you"
	AgentsAtWork Turn = "Agents at work"
	NobodysTurn  Turn = "Waiting" // for a workspace, another task, the landing queue, or a person who starts or resumes it
	NoTurn       Turn = "Done"
)

// AllTurns lists the turns in order.
func AllTurns() []Turn { return []Turn{NeedsYou, AgentsAtWork, NobodysTurn, NoTurn} }

// WhoseTurn returns who must act next.
func (r *Row) WhoseTurn() Turn {
	checking := slices.ContainsFunc(r.Checks, func(c CheckStatus) bool { return c.InProgress() })
	switch {
	case r.Wants.WaitsForPerson():
		return NeedsYou
	case r.Kind == workflow.Terminal:
		return NoTurn
	case r.Queued, r.Wants != "":
		return NobodysTurn
	case r.Life == Alive && !r.Idle(), checking:
		return AgentsAtWork
	case r.Paused:
		return NobodysTurn
	case r.Kind == workflow.Agent && r.Life == None: // its agent is being started
		return AgentsAtWork
	}
	return NobodysTurn
}
