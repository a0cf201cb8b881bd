package explain

import (
	"orange/internal/core/engine"
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
func (d *explainer) helpfulVerb(kind ItemKind) string {
	switch kind {
	case ItemQuestion, ItemIdle, ItemStuck:
		if d.takesAnswer() {
			return engine.VerbAnswer
		}
	case ItemConfirm:
		return VerbApprove
	case ItemPermission, ItemInput, ItemTurnFailed:
		return VerbAttach
	case ItemNotStarted:
		if s, _ := d.def.StateNamed(d.t.Status); d.now.FailedStart(s) == nil { // it stands still at its terminal
			return VerbAttach
		}
		return engine.Respawn
	case ItemCrashed, ItemFailed, ItemNoAnswer:
		return engine.Respawn
	case ItemAttention, ItemPaused:
		return VerbResume
	case ItemStart:
		return VerbSpawn
	}
	return ""
}

// takesAnswer says whether an answer of a person would be taken now. Surfaces offer to
// answer where it is.
func (d *explainer) takesAnswer() bool {
	verb := d.now.AnswerVerb()
	if verb == "" {
		return d.now.WaitsForWords() != nil
	}
	return !d.def.WaitsForChildren(d.t.Status) && d.now.PersonMay(verb)
}
