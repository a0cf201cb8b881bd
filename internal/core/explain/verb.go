package explain

import (
	"orange/internal/core/engine"
	"orange/internal/core/task"
)

// Verbs by which a person helps, besides those that the engine knows.
const (
	VerbApprove  = "approve"   // grants the move that an agent asks for
	VerbAttach   = "attach"    // goes to the agent's terminal
	VerbResume   = "resume"    // lets what was held or given up go on; without a task, everything
	VerbSpawn    = "spawn"     // starts a task
	VerbMove     = "move"      // moves the task to a state
	VerbShowLog  = "log"       // reads what an agent wrote
	VerbExplain  = "explain"   // reads why the task is where it is
	VerbTagCard  = "tag"       // sets tags of a card or takes them off
	VerbShowCard = "show-card" // reads a card
	VerbTrustGit = "trust-git" // trusts the programs that git would run
	VerbDoctor   = "doctor"    // looks for what is wrong with the installation
)

// An Action is something that a person does to help. A surface offers it in its own way: as a
// command line, a button, a key or a tool.
type Action struct {
	Verb    string   `json:"verb"` // "": there is nothing to do
	Task    task.ID  `json:"task,omitempty"`
	To      string   `json:"to,omitempty"`   // the state, of VerbMove
	Note    string   `json:"note,omitempty"` // the words that go with it
	Project string   `json:"project,omitempty"`
	Card    string   `json:"card,omitempty"`
	Tags    []string `json:"tags,omitempty"` // that are set
	Untags  []string `json:"untags,omitempty"`
}

// taskAction is an action about the task.
func (d *explainer) taskAction(verb string) Action { return Action{Verb: verb, Task: d.t.ID} }

// moveAction moves the task to a state.
func (d *explainer) moveAction(to string) Action {
	return Action{Verb: VerbMove, Task: d.t.ID, To: to}
}

// unblockBy is an action about the task that gets it going.
func (d *explainer) unblockBy(verb, opens string) Unblock {
	return Unblock{Action: d.taskAction(verb), Opens: opens}
}

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
