package explain

import (
	"orange/internal/core/engine"
	"orange/internal/core/task"
)

// Verbs for people, besides those of the engine.
const (
	VerbApprove  = "approve"   // approves the move that an agent asks for
	VerbAttach   = "attach"    // attaches to the agent's terminal
	VerbResume   = "resume"    // resumes what was paused or given up; without a task, everything
	VerbSpawn    = "spawn"     // starts a task
	VerbMove     = "move"      // moves the task to a state
	VerbShowLog  = "log"       // shows the log of an agent
	VerbExplain  = "explain"   // explains why the task is in its state
	VerbTagCard  = "tag"       // sets or removes tags of a card
	VerbShowCard = "show-card" // shows a card
	VerbTrustGit = "trust-git" // trusts the programs that git would run
	VerbDoctor   = "doctor"    // checks the installation

	VerbDropAfter     = "not-after"   // removes a dependency on another task
	VerbResumeLanding = "land-resume" // lets the landing queues of a project go on
	VerbEnlargePool   = "pool-size"   // gives a project more workspaces
)

// An Action is something that a person does to help. Each surface offers it in its own form: as a
// command line, a button, a key or a tool.
type Action struct {
	Verb    string   `json:"verb"` // "": there is nothing to do
	Task    task.ID  `json:"task,omitempty"`
	To      string   `json:"to,omitempty"`   // the state, for VerbMove
	Note    string   `json:"note,omitempty"` // the note that goes with it
	Project string   `json:"project,omitempty"`
	Size    int      `json:"size,omitempty"` // the number of workspaces, for VerbEnlargePool
	Card    string   `json:"card,omitempty"`
	Tags    []string `json:"tags,omitempty"` // tags to set
	Untags  []string `json:"untags,omitempty"`
	After   task.ID  `json:"after,omitempty"` // the other task, for VerbDropAfter
}

// taskAction returns an action on the task.
func (d *explainer) taskAction(verb string) Action { return Action{Verb: verb, Task: d.t.ID} }

// moveAction returns the action that moves the task to a state.
func (d *explainer) moveAction(to string) Action {
	return Action{Verb: VerbMove, Task: d.t.ID, To: to}
}

// unblockBy returns an action on the task that gets it going.
func (d *explainer) unblockBy(verb, opens string) Unblock {
	return Unblock{Action: d.taskAction(verb), Opens: opens}
}

// helpfulVerb returns the most helpful verb for an item of a kind, or "" if there is none and a person
// must look first.
func (d *explainer) helpfulVerb(kind ItemKind) string {
	verb := kind.Info().Verb
	switch s, _ := d.def.StateNamed(d.t.Status); {
	case verb == engine.VerbAnswer && !d.takesAnswer():
		return ""
	case kind == ItemNotStarted && d.now.FailedStart(s) == nil: // it waits at its terminal
		return VerbAttach
	}
	return verb
}

// takesAnswer reports whether the task would accept an answer from a person now. If so, surfaces offer
// to answer.
func (d *explainer) takesAnswer() bool {
	verb := d.now.AnswerVerb()
	if verb == "" {
		return d.now.WaitsForAnswer() != nil
	}
	return !d.def.WaitsForChildren(d.t.Status) && d.now.PersonMay(verb)
}
