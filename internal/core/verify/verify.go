// Package verify asks every question about a workflow that can be asked of it: it
// searches all states that tasks of the workflow can get into, whatever agents,
// people, trackers and crashes do, and names what must never happen and does. It calls
// engine.Decide itself: what is proved is what runs.
package verify

import (
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Property names something that must hold in every reachable state.
type Property string

// The properties.
const (
	NeverStalls Property = "never-stalls" // somebody or something moves every task on
	Terminates  Property = "terminates"   // every loop is bounded by a counter, or passes a person
	Covered     Property = "covered"      // everything that can happen has an answer
	Fresh       Property = "fresh"        // no old artifact opens a gate
	CrashSafe   Property = "crash-safe"   // every effect is done in the end, none twice unless harmless
	OneWorker   Property = "one-worker"   // never two live agents for one role
	ActorSafe   Property = "actor-safe"   // nobody takes an edge that is not theirs
	Proven      Property = "proven"       // no report of unknown origin leads to a merge
	Told        Property = "told"         // a living agent whose turn it is again is told
	OwnWords    Property = "own-words"    // no verdict opens a gate unless it is that of a role that may give it
	WorkSafe    Property = "work-safe"    // no workspace or branch goes before its work is safe
	Stoppable   Property = "stoppable"    // a person can end a task wherever it is
	Reachable   Property = "reachable"    // no state and no edge is dead
)

// Properties lists all of them, in the order in which they are reported.
func Properties() []Property {
	return []Property{NeverStalls, Terminates, Covered, Fresh, CrashSafe, OneWorker, ActorSafe, Proven, OwnWords, Told, WorkSafe, Stoppable, Reachable}
}

// Protection names something the runtime does that the model may be told to leave
// out. A checker that finds nothing then could not see the defect at all.
type Protection string

// The protections.
const (
	Redrive   Protection = "redrive"   // pending effects are driven again after a crash
	Keys      Protection = "keys"      // an effect whose receipt was lost is not done a second time
	Ensure    Protection = "ensure"    // a state that needs an agent gets one
	PerRole   Protection = "per-role"  // the end of an agent is seen although another one lives
	Deadlines Protection = "deadlines" // an agent that hangs is ended
	Origin    Protection = "origin"    // a report is known to be the attempt's own, or not
	Telling   Protection = "telling"   // an agent is told of a move that it did not ask for
	Author    Protection = "own-words" // a verdict is known to be its agent's own, or not
)

// Protections lists all of them.
func Protections() []Protection {
	return []Protection{Redrive, Keys, Ensure, PerRole, Deadlines, Origin, Author, Telling}
}

// Options say what is searched.
type Options struct {
	Without   []Protection // leave these out of the model
	MaxStates int          // give up beyond; 0: DefaultMaxStates
	Patience  int          // effects that may be owed while somebody asks for yet another move; 0: DefaultPatience
	First     bool         // stop at the first violation
	Full      bool         // tell worlds apart that can do the same: slower, and with the same result
	Decide    func(*workflow.Definition, task.Task, signal.Signal) engine.Decision
	Progress  func(Progress) // called now and then; may be nil
	Stop      func() bool    // asked now and then whether to give up; may be nil

	// Share calls work for every part below parts, if it can at the same time, and returns
	// when all calls have. nil: one thing is done after the other. The report does not
	// depend on it. With Share, Decide must be safe to be called at the same time.
	Share   func(parts int, work func(part int))
	Workers int // parts into which work is shared
}

// Progress is how far a search is.
type Progress struct {
	States int // worlds that were met
	Depth  int // steps from the beginning
}

// DefaultPatience lets people and agents act in the middle of everything that one
// move asks for. Without a bound the search would follow those who never let a task
// settle.
const DefaultPatience = 4

// DefaultMaxStates bounds the memory of a search.
const DefaultMaxStates = 1_000_000

// A Report is what a search found.
type Report struct {
	OK          bool        `json:"ok"`
	Workflow    string      `json:"workflow"`
	States      int         `json:"states"`
	Transitions int         `json:"transitions"`
	Decisions   int         `json:"decisions"` // calls of engine.Decide
	Complete    bool        `json:"complete"`  // false: there are more states than were searched
	Bounds      Bounds      `json:"bounds"`
	Violations  []Violation `json:"violations"`
}

// Bounds are worst cases between two moments at which a person acts: what can happen
// while nobody looks.
type Bounds struct {
	Attempts  []Bound `json:"attempts"`  // started, by role
	Counters  []Bound `json:"counters"`  // highest value ever reached
	Unbounded bool    `json:"unbounded"` // there is a loop that nobody ends
	Crashes   int     `json:"crashes"`
	Moves     int     `json:"moves"` // changes of state
}

// A Bound is a worst case.
type Bound struct {
	Name string `json:"name"`
	Max  int    `json:"max"`
}

// A Violation is a property that does not hold, with a shortest way to get there.
type Violation struct {
	Property Property `json:"property"`
	Subject  string   `json:"subject"` // the state, gate, edge or effect it is about
	Message  string   `json:"message"`
	Trace    []Step   `json:"trace"`
}

// A Step is one thing that happens on the way to a violation.
type Step struct {
	What     string          `json:"what"`
	From     string          `json:"from"`
	To       string          `json:"to"` // the state it leaves the task in
	Why      string          `json:"why,omitempty"`
	After    string          `json:"after"`    // what the task waits for then
	Counters map[string]int  `json:"counters"` // then; nil if nobody wrote them down
	Signals  []signal.Signal `json:"signals"`  // what the engine was told, in order
}

// Verify searches every state that tasks of def can get into.
func Verify(def *workflow.Definition, o Options) Report {
	if o.Decide == nil {
		o.Decide = engine.Decide
	}
	if o.MaxStates == 0 {
		o.MaxStates = DefaultMaxStates
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	g := newGraph(newModel(def, o), o)
	g.searchAll()
	return g.buildReport()
}
