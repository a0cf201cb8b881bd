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
	verb := kind.Info().Verb
	switch s, _ := d.def.StateNamed(d.t.Status); {
	case verb == engine.VerbAnswer && !d.takesAnswer():
		return ""
	case kind == ItemNotStarted && d.now.FailedStart(s) == nil: // it stands still at its terminal
		return VerbAttach
	}
	return verb
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
