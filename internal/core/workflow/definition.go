// Package workflow describes a lifecycle as data: states, the edges between them, who may take
// an edge and what must be true first. It parses the file, reports what is wrong with it and
// answers lookups; it decides nothing about a task.
package workflow

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/task"
)

// A Definition is one workflow file. Everything is in file order, because order matters: the
// first edge that opens is taken.
type Definition struct {
	Name     string
	Version  int
	Describe string

	Roles       []Role
	Counters    []Counter
	Gates       []Gate
	States      []State
	Edges       []Edge
	Prompts     []Prompt
	Projections []Projection
	Board       *Board      // nil if its tasks are on no board
	Vars        []Var       // texts that its prompts need from a project or a task
	Checks      task.Checks // commands that Orange runs, unless the project defines them otherwise

	File string // where the text came from, for messages
	Hash string // hash of Text, to which a task is pinned
	Text string

	stateIndex  map[string]int
	edgesFrom   map[string][]int    // by state, in file order
	sources     map[string][]string // by state: the states from which edges and reopen lead to it, in file order
	mergesAlone map[string]bool     // states from which a merge follows without a person
	visitGates  []string            // sections whose text is recorded when a visit begins
	steps       []string            // states, if the workflow is written in steps
	unchecked   *Definition         // without check states, nil if there are none
}

// New stands for "no task yet" in the from of an edge with on: create.
const New = "new"

// Kind is what a state waits for.
type Kind string

// The kinds of states.
const (
	Queued   Kind = "queued"   // a resource: the engine lets the task continue
	Agent    Kind = "agent"    // a live role
	Waiting  Kind = "waiting"  // an answer from a person
	HumanDo  Kind = "human"    // a decision of a person
	CheckDo  Kind = "check"    // the end of commands that Orange runs
	Halt     Kind = "halt"     // a person to resume
	Terminal Kind = "terminal" // nothing
)

// A State is where a task can be.
type State struct {
	Name          string
	Kind          Kind
	Role          string // the role that works here; "" if none does
	Wall          time.Duration
	Idle          time.Duration
	Respawn       Respawn
	OnIdle        OnIdle
	Prompt        string        // the prompt of the role on entry, if not its own
	RespawnPrompt string        // the prompt of a replacement, if not the role's own
	Model         string        // as the agent names it; "" for its default
	Mode          string        // the role's part here, if it has several
	Input         string        // what the role works from, for its prompt
	Output        string        // the file that the role must write, for its prompt
	Cooldown      time.Duration // after the work failed here, before an agent is started again
	Returns       bool          // remembers where the task came from; returning needs no gate
	Reopen        string        // where a person may send a finished task again
	OnEnter       []Effect
	Checks        []string // kind check: the checks that run, in order; none for all
	Pos           Pos
}

// Respawn is how a dead agent of a state is replaced.
type Respawn string

// The ways to replace a dead agent.
const (
	RespawnNow    Respawn = "now"
	RespawnAuto   Respawn = "auto" // after a backoff
	RespawnManual Respawn = "manual"
)

// OnIdle is what happens in a state whose agent ended its turn without a question and without
// moving the task.
type OnIdle string

// Values of OnIdle: a person is asked, or the agent is told once, after the idle time, to
// continue.
const (
	IdleAsk   OnIdle = "ask"
	IdleNudge OnIdle = "nudge"
)

// Session is how long an agent of a role lives.
type Session string

// Values of Session.
const (
	Persistent  Session = "persistent"  // until the task ends
	PerVisit    Session = "visit"       // as long as the task stays in the state
	Interactive Session = "interactive" // like visit, with a person at the terminal
)

// A Role is a part that an agent plays.
type Role struct {
	Name          string
	Harness       string        // of the first choice: task or review for one of the task's two harnesses, or the name of a harness
	Choices       []task.Choice // agents that may run it, in order of preference; none for task and review alone
	FallbackAfter time.Duration // how long an agent may be at its limit before the next one replaces it
	Session       Session
	Window        string
	Prompt        string
	RespawnPrompt string
	ReworkPrompt  string // the prompt of its agent when the task comes back to the role
	Access        string
	Protocol      string // how it reports; "" for requests and sections only
	WorkType      string // scopes which reports are its own; its name by default
	Serial        string // group of roles of which one agent works at a time in a project
	Flag          string // tag of a card for which it needs a person
	Claim         string // tag of a card while it works on it
	StandsInFor   string // role that gets its messages while it lives; this one is not started then
	Describe      string
	Pos           Pos
}

// The harnesses that a task has for every role that does not name one.
const (
	TaskHarness   = "task"
	ReviewHarness = "review"
)

// fallbackAfter is how long a role waits for an agent at its limit by default.
const fallbackAfter = 30 * time.Minute

// A Counter is a bounded number of a task.
type Counter struct {
	Name     string
	Max      int
	PerState bool // reset to 0 by every transition
	Crashes  bool // counts failed attempts; at Max the crash-limit edge is taken
	Silence  bool // counts ends without an answer; at Max the no-answer-limit edge is taken
	ByPerson bool // reset to 0 when a person decides something about the task
	Pos      Pos

	placeholder string // its name in texts: {review_round}
}

// Fresh is when a section's text is too old to open a gate.
type Fresh string

// Values of Fresh.
const (
	FreshUnused Fresh = "unused" // differs from the text that last opened a gate
	FreshVisit  Fresh = "visit"  // changed since the visit began
	FreshOff    Fresh = "off"
)

// A Gate is evidence that must exist when an edge is taken: a section of TASK.md, or a fact
// that the runtime looks up.
type Gate struct {
	Name     string
	Section  string
	AnyOf    []string // at least one of these labels has content; none: any text is enough
	Verdict  string   // PASS or FAIL
	AnyWord  bool     // the verdict is the first line with the word, not a verdict line
	Fresh    Fresh
	Evidence string
	File     string   // a file of the worktree, written in this visit
	Header   []string // fields that the file's frontmatter must have
	Children []string // states, in one of which every child of the task must be
	Check    string   // a check that passed on the branch's present tree
	Pos      Pos

	title string
}

// SectionTitle returns the heading of the section that the gate requires.
func (g *Gate) SectionTitle() string { return g.title }

// TriggerKind is the kind of event that an edge responds to.
type TriggerKind string

// The kinds of triggers.
const (
	OnRequest    TriggerKind = "request"
	OnExit       TriggerKind = "exit"
	OnCrashLimit TriggerKind = "crash-limit"
	OnReady      TriggerKind = "ready"  // a queued task's turn has come
	OnCreate     TriggerKind = "create" // from: new
	OnOutcome    TriggerKind = "outcome"
	OnTimer      TriggerKind = "timer"
	OnTracker    TriggerKind = "tracker"
	OnSilence    TriggerKind = "no-answer-limit"
	OnUnexpected TriggerKind = "unexpected" // an outcome that no edge names
	OnConsult    TriggerKind = "consult"    // another role is asked for advice
	OnBoard      TriggerKind = "board"      // the columns and tags of the card
	OnCheck      TriggerKind = "check"      // how the checks of the state went: passed or failed
	OnLanding    TriggerKind = "landing"    // how the landing of the branch went: an outcome of package task
)

// A Trigger is one event that an edge responds to. Value is an outcome's code, a tracker's
// event or a timer's time as text; After is that time.
type Trigger struct {
	Kind  TriggerKind
	Value string
	After time.Duration
	Board *CardTrigger
}

// CountOp changes a counter when an edge is taken.
type CountOp struct {
	Counter string
	Add     bool // otherwise the counter is set
	Value   int
}

// An Effect is an action that an edge or a state requires.
type Effect struct {
	Name    string
	Role    string // the role it is about; "" for none or all
	Message string // prompt that notify_worker delivers
	Word    string // tag or column of a card
}

// An Edge is a permitted move.
type Edge struct {
	From     []string
	To       string
	On       []Trigger
	By       []task.Actor
	As       string // the verb that requests it, as in: orange task complete
	When     *Guard
	Gates    []string
	Count    []CountOp
	Do       []Effect
	Confirm  []task.Actor // may request it, but a person must agree
	Hold     bool         // the task stays, its agent is not replaced, and a person must act
	Override bool         // recorded as a person's decision against the rules
	Describe string
	Pos      Pos

	gates  []int
	number int
}

// Number returns the edge's position in the file, from 1, or 0 for an edge that is not in a
// file.
func (e *Edge) Number() int { return e.number }

// A Prompt is a text for agents.
type Prompt struct {
	Name string
	Text string
	Pos  Pos
}

// A Var is a text that people set for a project or a task, for {vars.NAME} in prompts.
type Var struct {
	Name     string
	Default  string
	Describe string
	Pos      Pos
}

// VarNamed returns the declared variable with a name.
func (d *Definition) VarNamed(name string) (*Var, bool) {
	for i := range d.Vars {
		if d.Vars[i].Name == name {
			return &d.Vars[i], true
		}
	}
	return nil, false
}

// A Projection maps a state to a tracker's status.
type Projection struct {
	State  string
	Status string
	Pos    Pos
}

// ProjectedColumn returns the column in which a tracker shows a task that is in a state, or ""
// if the file does not declare one.
func (d *Definition) ProjectedColumn(state string) string {
	for i := range d.Projections {
		if d.Projections[i].State == state {
			return d.Projections[i].Status
		}
	}
	return ""
}

// StateNamed returns the state with a name.
func (d *Definition) StateNamed(name string) (*State, bool) {
	i, ok := d.stateIndex[name]
	if !ok {
		return nil, false
	}
	return &d.States[i], true
}

// EdgesFrom returns the indexes into Edges of the edges that leave state, in file order.
func (d *Definition) EdgesFrom(state string) []int { return d.edgesFrom[state] }

// EdgeGates returns the indexes of the gates of an edge.
func (d *Definition) EdgeGates(e *Edge) []int { return e.gates }

// VisitSections returns the sections whose text must be recorded when a visit begins, so that a
// gate with fresh: visit can tell old text from new.
func (d *Definition) VisitSections() []string { return d.visitGates }

// RoleNamed returns the role with a name.
func (d *Definition) RoleNamed(name string) (*Role, bool) {
	for i := range d.Roles {
		if d.Roles[i].Name == name {
			return &d.Roles[i], true
		}
	}
	if name == CheckRole {
		return &builtinCheck, true
	}
	return nil, false
}

// DeclaresRole reports whether the file declares a role.
func (d *Definition) DeclaresRole(name string) bool {
	return slices.ContainsFunc(d.Roles, func(r Role) bool { return r.Name == name })
}

// GateNamed returns the gate with a name.
func (d *Definition) GateNamed(name string) (*Gate, bool) {
	for i := range d.Gates {
		if d.Gates[i].Name == name {
			return &d.Gates[i], true
		}
	}
	return nil, false
}

// PromptNamed returns the prompt with a name.
func (d *Definition) PromptNamed(name string) (*Prompt, bool) {
	for i := range d.Prompts {
		if d.Prompts[i].Name == name {
			return &d.Prompts[i], true
		}
	}
	return nil, false
}

// CounterNamed returns the counter with a name.
func (d *Definition) CounterNamed(name string) (*Counter, bool) {
	for i := range d.Counters {
		if d.Counters[i].Name == name {
			return &d.Counters[i], true
		}
	}
	return nil, false
}

// CrashCounter returns the counter of failed attempts, or nil if the file has none.
func (d *Definition) CrashCounter() *Counter {
	for i := range d.Counters {
		if d.Counters[i].Crashes {
			return &d.Counters[i]
		}
	}
	return nil
}

// SilenceCounter returns the counter of ends without an answer, or nil if the file has none.
func (d *Definition) SilenceCounter() *Counter {
	for i := range d.Counters {
		if d.Counters[i].Silence {
			return &d.Counters[i]
		}
	}
	return nil
}

// RenderCounters fills counters into a short text such as the name of a window.
func (d *Definition) RenderCounters(text string, value func(counter string) int) string {
	for i := range d.Counters {
		if c := &d.Counters[i]; strings.Contains(text, c.placeholder) {
			text = strings.ReplaceAll(text, c.placeholder, strconv.Itoa(value(c.Name)))
		}
	}
	return text
}

// KnowsActor reports whether a is human, engine, tracker or a declared role.
func (d *Definition) KnowsActor(a task.Actor) bool {
	if a == task.Human || a == task.Engine || a == task.Tracker {
		return true
	}
	return d.DeclaresRole(string(a))
}

// AnswersTo reports whether the edge has a trigger of that kind and value.
func (e *Edge) AnswersTo(kind TriggerKind, value string) bool {
	for i := range e.On {
		if e.On[i].Kind == kind && e.On[i].Value == value {
			return true
		}
	}
	return false
}

// PermitsActor reports whether actor may take the edge without consent.
func (e *Edge) PermitsActor(actor task.Actor) bool {
	for _, a := range e.By {
		if a == actor {
			return true
		}
	}
	return false
}

// AsksForConsent reports whether actor may request the edge and a person must approve it.
func (e *Edge) AsksForConsent(actor task.Actor) bool {
	for _, a := range e.Confirm {
		if a == actor {
			return true
		}
	}
	return false
}
