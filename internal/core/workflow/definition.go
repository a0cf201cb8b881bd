// Package workflow is a lifecycle as data: states, the edges between them, who may
// take an edge and what must be true first. It reads the file, names what is wrong
// with it and answers lookups; it decides nothing about a task.
package workflow

import (
	"strconv"
	"strings"
	"time"

	"orange/internal/core/task"
)

// A Definition is one workflow file. Everything is in file order, because order
// decides: the first edge that opens is the one taken.
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
	Board       *Board // nil if its tasks are on none
	Vars        []Var  // what its prompts want to know of a project or a task

	File string // where the text came from, for messages
	Hash string // of Text: what a task is pinned to
	Text string

	stateIndex  map[string]int
	edgesFrom   map[string][]int    // by state, in file order
	sources     map[string][]string // by state: where edges and reopen come from, in file order
	mergesAlone map[string]bool     // states from which a merge follows without a person
	visitGates  []string            // sections whose text is remembered when a visit begins
	steps       []string            // states, if the workflow is written in steps
}

// New stands for "no task yet" in the from of an edge with on: create.
const New = "new"

// Kind says what a state waits for.
type Kind string

// The kinds of states.
const (
	Queued   Kind = "queued"   // a resource: the engine lets the task go on
	Agent    Kind = "agent"    // a live role
	Waiting  Kind = "waiting"  // an answer from a person
	HumanDo  Kind = "human"    // a decision of a person
	Halt     Kind = "halt"     // a person to resume
	Terminal Kind = "terminal" // nothing
)

// A State is where a task can be.
type State struct {
	Name          string
	Kind          Kind
	Role          string // who works here, "" if nobody does
	Wall          time.Duration
	Idle          time.Duration
	Respawn       Respawn
	OnIdle        OnIdle
	Prompt        string        // what the role is told on entering, if not its own prompt
	RespawnPrompt string        // what a replacement is told, if not the role's own
	Model         string        // the agent's, in its own words; "" for its default
	Mode          string        // what the role is to do here, where it has several parts
	Input         string        // what it works from, for its prompt
	Output        string        // the file it must write, for its prompt
	Cooldown      time.Duration // after the work failed here, before an agent is started again
	Returns       bool          // remembers where the task came from; going back needs no gate
	Reopen        string        // where a person may send a finished task again
	OnEnter       []Effect
	Pos           Pos
}

// Respawn says what happens to a state whose agent died.
type Respawn string

// The ways to replace a dead agent.
const (
	RespawnNow    Respawn = "now"
	RespawnAuto   Respawn = "auto" // after a backoff
	RespawnManual Respawn = "manual"
)

// OnIdle says what happens in a state whose agent ended its turn without a question and without moving the
// task.
type OnIdle string

// What happens then: a person is asked, or after the idle time the agent is told once to go on.
const (
	IdleAsk   OnIdle = "ask"
	IdleNudge OnIdle = "nudge"
)

// Session says how long an agent of a role lives.
type Session string

// The lives of a role's agent.
const (
	Persistent  Session = "persistent"  // until the task ends
	PerVisit    Session = "visit"       // as long as the task stays in the state
	Interactive Session = "interactive" // like visit, with a person at the terminal
)

// A Role is a part an agent plays.
type Role struct {
	Name          string
	Harness       string        // of the first choice: task or review for one of the task's two harnesses, or a harness by its name
	Choices       []task.Choice // agents that may run it, the preferred first; none for task and review alone
	FallbackAfter time.Duration // how long one may be at its limit before the next goes on
	Session       Session
	Window        string
	Prompt        string
	RespawnPrompt string
	ReworkPrompt  string // what its agent is told when the task comes back to the role
	Access        string
	Protocol      string // how it says how it went; "" for requests and artifacts alone
	WorkType      string // scopes what counts as its word; its name if the file says nothing
	Serial        string // of all roles of that group one agent works at a time in a project
	Flag          string // tag of a card for which it needs a person
	Claim         string // tag of a card while it works on it
	StandsInFor   string // not started while that role lives; that role is told instead
	Describe      string
	Pos           Pos
}

// The harnesses that a task has for every role that names none of its own.
const (
	TaskHarness   = "task"
	ReviewHarness = "review"
)

// fallbackAfter is how long a role waits for an agent at its limit, if the file does not say.
const fallbackAfter = 30 * time.Minute

// A Counter is a bounded number of a task.
type Counter struct {
	Name     string
	Max      int
	PerState bool // back to 0 with every transition
	Crashes  bool // counts failed attempts; at Max the crash-limit edge is taken
	Silence  bool // counts ends without an answer; at Max the no-answer-limit edge is taken
	ByPerson bool // back to 0 when a person decides something about the task
	Pos      Pos

	placeholder string // as texts name it: {review_round}
}

// Fresh says when a section's text is too old to open a gate.
type Fresh string

// The kinds of freshness.
const (
	FreshUnused Fresh = "unused" // differs from the text that last opened a gate
	FreshVisit  Fresh = "visit"  // changed since the visit began
	FreshOff    Fresh = "off"
)

// A Gate is evidence that must be there when an edge is taken: a section of
// TASK.md, or a fact about the world that the runtime looked up.
type Gate struct {
	Name     string
	Section  string
	AnyOf    []string // at least one of these labels has content; none: any text will do
	Verdict  string   // PASS or FAIL
	AnyWord  bool     // the verdict is the first line with the word, not a verdict line
	Fresh    Fresh
	Evidence string
	File     string   // a file of the worktree, written in this visit
	Header   []string // fields that the file's frontmatter must have
	Children []string // states, in one of which every child of the task must be
	Pos      Pos

	title string
}

// SectionTitle returns the heading of the section the gate asks for.
func (g *Gate) SectionTitle() string { return g.title }

// TriggerKind says what an edge answers to.
type TriggerKind string

// What edges answer to.
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
	OnConsult    TriggerKind = "consult"    // another role is asked
	OnBoard      TriggerKind = "board"      // how the card looks
)

// A Trigger is one thing an edge answers to. Value is an outcome's code, a tracker's
// event or a timer's time, in words; After is that time.
type Trigger struct {
	Kind  TriggerKind
	Value string
	After time.Duration
	Board *CardTrigger
}

// CountOp changes a counter when an edge is taken.
type CountOp struct {
	Counter string
	Add     bool // else set
	Value   int
}

// An Effect is a deed an edge or a state asks for.
type Effect struct {
	Name    string
	Role    string // the role it is about, "" for none or all
	Message string // prompt that notify_worker delivers
	Word    string // tag or column of a card
}

// An Edge is a permitted move.
type Edge struct {
	From     []string
	To       string
	On       []Trigger
	By       []task.Actor
	As       string // the verb that asks for it, as in: orange task complete
	When     *Guard
	Gates    []string
	Count    []CountOp
	Do       []Effect
	Confirm  []task.Actor // may ask, but a person must agree
	Hold     bool         // the task stays, its agent is not replaced, a person looks
	Override bool         // recorded as a person's decision against the rules
	Describe string
	Pos      Pos

	gates  []int
	number int
}

// Number returns the edge's place in the file, from 1; 0 for one that is in no file.
func (e *Edge) Number() int { return e.number }

// A Prompt is what an agent is told.
type Prompt struct {
	Name string
	Text string
	Pos  Pos
}

// A Var is a text that people give a project or a task, for {vars.NAME} in prompts.
type Var struct {
	Name     string
	Default  string
	Describe string
	Pos      Pos
}

// VarNamed returns the declared variable called name.
func (d *Definition) VarNamed(name string) (*Var, bool) {
	for i := range d.Vars {
		if d.Vars[i].Name == name {
			return &d.Vars[i], true
		}
	}
	return nil, false
}

// A Projection shows a state as a tracker's status.
type Projection struct {
	State  string
	Status string
	Pos    Pos
}

// ProjectedColumn returns the column in which a tracker shows a task that is in a state, "" if
// the file does not say.
func (d *Definition) ProjectedColumn(state string) string {
	for i := range d.Projections {
		if d.Projections[i].State == state {
			return d.Projections[i].Status
		}
	}
	return ""
}

// StateNamed returns the state called name.
func (d *Definition) StateNamed(name string) (*State, bool) {
	i, ok := d.stateIndex[name]
	if !ok {
		return nil, false
	}
	return &d.States[i], true
}

// EdgesFrom lists the indexes into Edges of those that leave state, in file order.
func (d *Definition) EdgesFrom(state string) []int { return d.edgesFrom[state] }

// EdgeGates lists the gates of an edge.
func (d *Definition) EdgeGates(e *Edge) []int { return e.gates }

// VisitSections lists the sections whose text must be remembered when a visit
// begins, so that a gate with fresh: visit can tell old text from new.
func (d *Definition) VisitSections() []string { return d.visitGates }

// RoleNamed returns the role called name.
func (d *Definition) RoleNamed(name string) (*Role, bool) {
	for i := range d.Roles {
		if d.Roles[i].Name == name {
			return &d.Roles[i], true
		}
	}
	return nil, false
}

// GateNamed returns the gate called name.
func (d *Definition) GateNamed(name string) (*Gate, bool) {
	for i := range d.Gates {
		if d.Gates[i].Name == name {
			return &d.Gates[i], true
		}
	}
	return nil, false
}

// PromptNamed returns the text called name.
func (d *Definition) PromptNamed(name string) (*Prompt, bool) {
	for i := range d.Prompts {
		if d.Prompts[i].Name == name {
			return &d.Prompts[i], true
		}
	}
	return nil, false
}

// CounterNamed returns the counter called name.
func (d *Definition) CounterNamed(name string) (*Counter, bool) {
	for i := range d.Counters {
		if d.Counters[i].Name == name {
			return &d.Counters[i], true
		}
	}
	return nil, false
}

// CrashCounter returns the counter of failed attempts, nil if the file has none.
func (d *Definition) CrashCounter() *Counter {
	for i := range d.Counters {
		if d.Counters[i].Crashes {
			return &d.Counters[i]
		}
	}
	return nil
}

// SilenceCounter returns the counter of ends without an answer, nil if the file has none.
func (d *Definition) SilenceCounter() *Counter {
	for i := range d.Counters {
		if d.Counters[i].Silence {
			return &d.Counters[i]
		}
	}
	return nil
}

// RenderCounters fills counters into a short text such as a window's name.
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
	_, ok := d.RoleNamed(string(a))
	return ok
}

// AnswersTo reports whether the edge answers to a trigger of that kind and value.
func (e *Edge) AnswersTo(kind TriggerKind, value string) bool {
	for i := range e.On {
		if e.On[i].Kind == kind && e.On[i].Value == value {
			return true
		}
	}
	return false
}

// PermitsActor reports whether actor may take the edge without anybody's leave.
func (e *Edge) PermitsActor(actor task.Actor) bool {
	for _, a := range e.By {
		if a == actor {
			return true
		}
	}
	return false
}

// AsksForConsent reports whether actor may ask for the edge and a person must agree.
func (e *Edge) AsksForConsent(actor task.Actor) bool {
	for _, a := range e.Confirm {
		if a == actor {
			return true
		}
	}
	return false
}
