// Package verify is the model checker for workflows: it searches all states that tasks of a
// workflow can reach, whatever agents, people, trackers and crashes do, and reports violations
// of the properties. It calls engine.Decide itself, so it checks the code that runs.
package verify

import (
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Property is something that must hold in every reachable state.
type Property string

// The properties.
const (
	NeverStalls Property = "never-stalls" // someone or something moves every task on
	Terminates  Property = "terminates"   // a counter bounds every loop, or the loop passes a person
	Covered     Property = "covered"      // everything that can happen is handled
	Fresh       Property = "fresh"        // no old section opens a gate
	CrashSafe   Property = "crash-safe"   // every effect is done in the end, none twice unless harmless
	OneWorker   Property = "one-worker"   // never two live agents for one role
	ActorSafe   Property = "actor-safe"   // nobody takes an edge that is not theirs
	Proven      Property = "proven"       // no report of unknown origin leads to a merge
	Told        Property = "told"         // a living agent whose turn it is again gets a message
	OwnWords    Property = "own-words"    // only the verdict of a role that may give it opens a gate
	WorkSafe    Property = "work-safe"    // no workspace or branch is removed before its work is safe
	Stoppable   Property = "stoppable"    // a person can end a task in every state
	Reachable   Property = "reachable"    // every state and every edge can be reached
)

// The properties of several tasks.
const (
	NoDeadlock       Property = "no-deadlock"        // tasks never wait for each other in a circle
	LandsOrReturns   Property = "lands-or-returns"   // what waits to land lands, or an agent gets to work on it again
	NoStarvation     Property = "no-starvation"      // a task that waits for others gets its turn
	OneWorkspaceEach Property = "one-workspace"      // two tasks never share a workspace
	CheckedTreesOnly Property = "checked-trees-only" // the target moves only to a tree on which the checks passed
)

// TaskProperties returns the properties of several tasks, in the order in which they are reported.
func TaskProperties() []Property {
	return []Property{NoDeadlock, LandsOrReturns, NoStarvation, OneWorkspaceEach, CheckedTreesOnly}
}

// Properties returns all properties, in the order in which they are reported.
func Properties() []Property {
	return []Property{NeverStalls, Terminates, Covered, Fresh, CrashSafe, OneWorker, ActorSafe, Proven, OwnWords, Told, WorkSafe, Stoppable, Reachable}
}

// Protection is something the runtime does that the model can leave out. If the checker then
// finds no violation, it could not detect the defect at all.
type Protection string

// The protections.
const (
	Redrive   Protection = "redrive"   // pending effects are driven again after a crash
	Keys      Protection = "keys"      // an effect whose receipt was lost is not done a second time
	Ensure    Protection = "ensure"    // a state that needs an agent gets one
	PerRole   Protection = "per-role"  // the end of an agent is noticed although another one lives
	Deadlines Protection = "deadlines" // an agent that hangs is ended
	Origin    Protection = "origin"    // it is known whether a report is the attempt's own
	Telling   Protection = "telling"   // an agent gets a message about a move that it did not request
	Author    Protection = "own-words" // it is known whether a verdict is its agent's own
)

// The protections that several tasks need.
const (
	OneWorkspace Protection = "one-workspace"      // a workspace is given to a task only if no other has it
	CheckedTrees Protection = "checked-trees-only" // the target moves only if it is where it was when the candidate was built
)

// TaskProtections returns the protections that several tasks need.
func TaskProtections() []Protection { return []Protection{OneWorkspace, CheckedTrees} }

// Protections returns all protections of one task.
func Protections() []Protection {
	return []Protection{Redrive, Keys, Ensure, PerRole, Deadlines, Origin, Author, Telling}
}

// SearchOptions control a search.
type SearchOptions struct {
	Without      []Protection // leave these out of the model
	MaxStates    int          // the limit of the search; 0: DefaultMaxStates
	PendingLimit int          // effects that may be pending while an actor requests another move; 0: DefaultPendingLimit
	First        bool         // stop at the first violation
	Full         bool         // distinguish worlds that can do the same: slower, with the same result
	Decide       func(*workflow.Definition, *task.Task, signal.Signal) engine.Decision
	Progress     func(Progress) // called from time to time; may be nil
	Stop         func() bool    // called from time to time, returns whether to stop; may be nil

	// Share calls work for every part below parts, concurrently if possible, and returns when
	// all calls have returned. nil runs them one after the other. The report does not depend on
	// it. With Share, Decide must be safe for concurrent use.
	Share   func(parts int, work func(part int))
	Workers int // parts into which work is divided

	exactChecks bool // count failed checks as the task does
	alone       bool // the task is after no other
	open        bool // what the task shares with others answers freely
}

// Progress is the progress of a search.
type Progress struct {
	States int // worlds that were found
	Depth  int // steps from the beginning
}

// DefaultPendingLimit lets people and agents act in the middle of all effects of one move. Without
// a limit the search would follow actors that never let a task settle.
const DefaultPendingLimit = 4

// DefaultMaxStates limits the memory of a search.
const DefaultMaxStates = 1_000_000

// A Report is the result of a search.
type Report struct {
	OK          bool        `json:"ok"`
	Workflow    string      `json:"workflow"`
	States      int         `json:"states"`
	Transitions int         `json:"transitions"`
	Decisions   int         `json:"decisions"` // calls of engine.Decide
	Waiting     int         `json:"waiting"`   // further states, in which the task waits for another one to land
	Complete    bool        `json:"complete"`  // false: there are more states than were searched
	Bounds      Bounds      `json:"bounds"`
	Violations  []Violation `json:"violations"`
}

// Bounds are worst cases between two actions of people.
type Bounds struct {
	Attempts  []Bound `json:"attempts"`  // started, by role
	Counters  []Bound `json:"counters"`  // highest value ever reached
	Unbounded bool    `json:"unbounded"` // there is a loop that nothing ends
	Crashes   int     `json:"crashes"`
	Moves     int     `json:"moves"` // changes of state

	FailedChecks int `json:"failed_checks,omitempty"` // how often a check can fail; the other bounds hold between two of them
}

// A Bound is a worst case.
type Bound struct {
	Name string `json:"name"`
	Max  int    `json:"max"`
}

// A Violation is a property that does not hold, with a shortest path to the violation.
type Violation struct {
	Property Property `json:"property"`
	Subject  string   `json:"subject"` // the state, gate, edge or effect it is about
	Message  string   `json:"message"`
	Trace    []Step   `json:"trace"`
}

// A Step is one step on the path to a violation.
type Step struct {
	What     string          `json:"what"`
	From     string          `json:"from"`
	To       string          `json:"to"` // the state of the task after it
	Why      string          `json:"why,omitempty"`
	Refused  bool            `json:"refused,omitempty"` // the engine refused it; Why says why
	After    string          `json:"after"`             // what the task then waits for
	Counters map[string]int  `json:"counters"`          // after it; nil if not recorded
	Signals  []signal.Signal `json:"signals"`           // the signals to the engine, in order
}

// How a program that searches collects garbage, for debug.SetGCPercent and debug.SetMemoryLimit. A search makes garbage much
// faster than it makes states: to collect it seldom saves a third of the time, as long as the memory is there.
const (
	GCPercent   = 800
	MemoryLimit = 384 << 20
)

// Verify searches every state that tasks of def can reach. If a counterexample needs checks that failed before, and the
// search chose how many did, it searches again and counts them, so that the engine can play every counterexample.
func Verify(def *workflow.Definition, o SearchOptions) Report {
	if o.Decide == nil {
		o.Decide = engine.Decide
	}
	if o.MaxStates == 0 {
		o.MaxStates = DefaultMaxStates
	}
	if o.PendingLimit == 0 {
		o.PendingLimit = DefaultPendingLimit
	}
	g := newGraph(newModel(def, o), o)
	g.searchAll()
	r := g.buildReport()
	if g.chose {
		o.exactChecks = true
		if exact := Verify(def, o); exact.Complete || !r.Complete {
			return exact
		}
	}
	return r
}
