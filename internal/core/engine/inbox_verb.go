package engine

import (
	"slices"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Verbs by which a person helps with an item, besides those that move a task.
const (
	VerbApprove = "approve" // grants the move that an agent asks for
	VerbAttach  = "attach"  // goes to the agent's terminal
	VerbResume  = "resume"  // lets what was held or given up go on
	VerbSpawn   = "spawn"   // starts a task
)

// helpfulVerb is the verb that helps most with an item of a kind, "" where none does and a person
// has to look first.
func (d *decider) helpfulVerb(kind ItemKind) string {
	switch kind {
	case ItemQuestion, ItemIdle, ItemStuck:
		if d.takesAnswer() {
			return VerbAnswer
		}
	case ItemConfirm:
		return VerbApprove
	case ItemPermission, ItemInput, ItemTurnFailed:
		return VerbAttach
	case ItemNotStarted:
		if s, _ := d.def.StateNamed(d.t.Status); d.failedStart(s) == nil { // it stands still at its terminal
			return VerbAttach
		}
		return Respawn
	case ItemCrashed, ItemFailed, ItemNoAnswer:
		return Respawn
	case ItemAttention, ItemPaused:
		return VerbResume
	case ItemStart:
		return VerbSpawn
	}
	return ""
}

// takesAnswer says whether an answer of a person would be taken now. Surfaces offer to
// answer where it is.
func (d *decider) takesAnswer() bool {
	verb := d.answerVerb()
	if verb == "" {
		return d.waitsForWords() != nil
	}
	return !d.def.WaitsForChildren(d.t.Status) && d.personMay(verb)
}

// personMay says whether a person may ask for a verb of the workflow now, as far as that is
// known before the gates are looked at.
func (d *decider) personMay(verb string) bool {
	return slices.ContainsFunc(d.def.EdgesFrom(d.t.Status), func(i int) bool {
		e := &d.def.Edges[i]
		return e.As == verb && e.AnswersTo(workflow.OnRequest, "") && e.PermitsActor(task.Human) && d.guardOfPerson(e)
	})
}
