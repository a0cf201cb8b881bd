// Package explain explains why a task is in its state, what it waits for, and what gets it going. It
// makes no decisions: package engine does, and answers the questions from which an explanation is
// built.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// explainer builds one explanation from the task, the present and the engine's view of both.
type explainer struct {
	def *workflow.Definition
	t   *task.Task
	sig *signal.Signal
	now *engine.Situation
}

func newExplainer(def *workflow.Definition, t *task.Task, sig *signal.Signal) *explainer {
	if sig == nil {
		sig = &signal.Signal{}
	}
	return &explainer{def: def, t: t, sig: sig, now: engine.NewSituation(def, t, sig)}
}

// An Explanation says where a task is, who must act, which edges are open, which are closed and why,
// and what the engine will do next.
type Explanation struct {
	Task     task.ID       `json:"task"`
	Workflow string        `json:"workflow"`
	Status   string        `json:"status"`
	Kind     string        `json:"kind"`
	Since    time.Time     `json:"since"`
	Visit    int           `json:"visit"`
	Owner    string        `json:"owner"` // who must act: a person, the engine, a role, or nobody
	Why      string        `json:"why"`
	Do       string        `json:"do,omitempty"`      // the command line that moves the task on, if a person must act; package narrate writes it
	Cheapest Unblock       `json:"cheapest"`          // the least that gets the task going
	Confirm  string        `json:"confirm,omitempty"` // how a person confirms their merge, "" if they need not
	Deadline *engine.Timer `json:"deadline,omitempty"`
	Edges    []Way         `json:"edges"`
	Bounds   []Bound       `json:"bounds"` // counters that matter in this state
	Next     []Step        `json:"next"`

	// From the journal, and from what is stored beside it:
	Chain    []Cause           `json:"chain"`             // how the task came here, oldest first
	Cost     []RoleCost        `json:"cost"`              // so far, by role
	Refusals []journal.Refusal `json:"refusals"`          // refused requests, oldest first
	Problem  string            `json:"problem,omitempty"` // why the journal could not be read

	Reasons []WaitReason `json:"reasons,omitempty"` // why the task waits for a person, the most important first

	After    []task.Predecessor `json:"after,omitempty"`    // the tasks that it is after, and what became of them
	Unblocks []task.Reference   `json:"unblocks,omitempty"` // the open tasks that are after it; the server adds them
}

// A Way is one edge out of the state, evaluated for everyone who may take it.
type Way struct {
	To      string          `json:"to"`
	As      string          `json:"as,omitempty"`
	On      string          `json:"on"`
	By      string          `json:"by"`
	Line    int             `json:"line"` // in the workflow file
	Open    bool            `json:"open"`
	Closed  string          `json:"closed,omitempty"` // the rule that keeps it closed, with its line
	Reasons []engine.Reason `json:"reasons"`
}

// A Step is something that the engine will do by itself.
type Step struct {
	What string    `json:"what"`
	At   time.Time `json:"at,omitzero"` // zero: immediately
}

// Task explains why t is in its state. sig carries the present: the time, the sections, the evidence
// and the free workspaces. Its kind does not matter.
func Task(def *workflow.Definition, t task.Task, sig signal.Signal) Explanation {
	def = def.ForTask(t.Checks)
	x := newExplainer(def, &t, &sig)
	out := Explanation{
		Task: t.ID, Workflow: t.Workflow, Status: t.Status, Since: t.Since, Visit: t.Visit,
		Edges: []Way{}, Bounds: []Bound{}, Next: x.nextSteps(), Deadline: x.nextTimer(),
		Chain: []Cause{}, Cost: sumRoleCosts(&t, nil, &sig), Refusals: []journal.Refusal{},
		After: t.Predecessors,
	}
	for _, i := range def.EdgesFrom(t.Status) {
		out.Edges = append(out.Edges, x.weighWay(&def.Edges[i]))
	}
	if e := x.now.ReopenEdge(); e != nil {
		out.Edges = append(out.Edges, x.weighWay(e))
	}
	s, ok := def.StateNamed(t.Status)
	if !ok {
		out.Owner, out.Why = aPerson, noState(def, t.Status)
		return out
	}
	out.Kind = string(s.Kind)
	out.Owner, out.Why = x.findOwner(s)
	out.Bounds = x.counterBounds(s)
	out.Cheapest = x.cheapestUnblock(s)
	return out
}

// Owners of a task that are not roles.
const (
	aPerson   = "a person"
	theEngine = "the engine"
	nobody    = "nobody"
)

// weighWay evaluates one edge regardless of who asks. The result says who may.
func (d *explainer) weighWay(e *workflow.Edge) Way {
	w := Way{To: e.To, As: e.As, On: engine.TriggerList(e), By: engine.ActorList(e), Line: e.Pos.Line}
	if closed := cmp.Or(d.limitClosed(e), d.cardClosed(e)); closed != nil {
		w.Reasons = []engine.Reason{*closed}
	} else {
		w.Open, w.Reasons = d.now.WeighEdge(e)
	}
	for i := range w.Reasons {
		if r := &w.Reasons[i]; !r.OK {
			w.Closed = fmt.Sprintf("%s: %s", r.Rule, r.Text)
		}
	}
	return w
}

// closedReason returns the reason that a rule keeps an edge closed.
func (d *explainer) closedReason(e *workflow.Edge, rule engine.Rule, text string) *engine.Reason {
	return &engine.Reason{From: d.t.Status, To: e.To, Line: e.Pos.Line, Rule: rule, Text: text}
}

// cardClosed returns why an edge that waits for a change of the card is closed, or nil if it is not
// closed for that reason.
func (d *explainer) cardClosed(e *workflow.Edge) *engine.Reason {
	waits := slices.ContainsFunc(e.On, func(tr workflow.Trigger) bool { return tr.Kind == workflow.OnBoard })
	if !waits || d.t.CardSnapshot == nil || e.MatchesCard(d.t.CardSnapshot) {
		return nil
	}
	return d.closedReason(e, engine.RuleGate, "the card is in "+engine.CardPlaceText(d.t.CardSnapshot))
}

// limitClosed returns why an edge that waits only for limits is closed, or nil if one of them is
// reached or the edge has another trigger.
func (d *explainer) limitClosed(e *workflow.Edge) *engine.Reason {
	var below []string
	for _, tr := range e.On {
		c := map[workflow.TriggerKind]*workflow.Counter{workflow.OnCrashLimit: d.def.CrashCounter(), workflow.OnSilence: d.def.SilenceCounter()}[tr.Kind]
		if c == nil || d.t.CounterValue(c.Name) >= c.Max {
			return nil
		}
		below = append(below, fmt.Sprintf("%s is %d and the limit is %d", c.Name, d.t.CounterValue(c.Name), c.Max))
	}
	return d.closedReason(e, engine.RuleGuard, strings.Join(below, ", "))
}

// keptFrom returns the agent that cannot receive the next message until a person has been at its
// terminal, or nil if there is none.
func (d *explainer) keptFrom() *task.Attempt {
	p, _ := d.now.FirstPending()
	if p == nil {
		return nil
	}
	info, _ := workflow.EffectNamed(p.Do)
	a, ok := d.t.AttemptByNumber(p.Attempt)
	if kind, _ := atTerminal(&a); !ok || !info.Notifies || p.Start || kind == "" || d.isAbsent(a) {
		return nil
	}
	return &a
}

func (d *explainer) agentOwner(s *workflow.State) (who, why string) {
	if a, ok := d.t.LiveAttempt(s.Role); ok {
		return d.liveOwner(s, a)
	}
	if d.now.CoolsDown(s) {
		return theEngine, fmt.Sprintf("the work failed in %s, and the %s is started when the cooldown of %s is over; a person's move, here or in the tracker, ends it, and so does orange task respawn %s", s.Name, s.Role, humanize.FormatDuration(s.Cooldown), d.t.ID)
	}
	if u := d.now.FailedStart(s); u != nil && !d.t.RespawnAt.IsZero() {
		return theEngine, fmt.Sprintf("the %s could not start and is started again later: %s", s.Role, u.Words)
	}
	if !d.t.RespawnAt.IsZero() && d.t.Crashed == "" {
		return theEngine, "the " + s.Role + " is started later"
	}
	if !d.t.RespawnAt.IsZero() {
		return theEngine, "the " + s.Role + " died and will be started again"
	}
	if d.t.Crashed != "" && s.Respawn == workflow.RespawnManual {
		return aPerson, "the " + s.Role + " died, and Orange does not start it again"
	}
	return theEngine, "no " + s.Role + " lives; the deadline starts another one"
}

// liveOwner returns who must act while an agent runs: the agent, or what it waits for.
func (d *explainer) liveOwner(s *workflow.State, a task.Attempt) (who, why string) {
	if d.isAbsent(a) && a.Running {
		return theEngine, fmt.Sprintf("attempt %d of the %s has ended, and its end is being recorded", a.Number, s.Role)
	}
	if d.isAbsent(a) {
		return theEngine, fmt.Sprintf("attempt %d of the %s is being started", a.Number, s.Role)
	}
	switch c := a.Condition; c.Name {
	case task.WaitingPermission, task.WaitingInput:
		return aPerson, fmt.Sprintf("attempt %d of the %s %s", a.Number, s.Role, c.Text())
	case task.NotStarted, task.TurnFailed:
		_, text := atTerminal(&a)
		return aPerson, fmt.Sprintf("attempt %d: %s", a.Number, text)
	case task.Limited:
		return theEngine, fmt.Sprintf("attempt %d of the %s reached its usage limit", a.Number, s.Role)
	case task.Idle:
		return s.Role, fmt.Sprintf("attempt %d is idle: its turn has ended", a.Number)
	}
	if a.Why != "" {
		return s.Role, fmt.Sprintf("attempt %d is at work: %s", a.Number, engine.ChosenText(&a))
	}
	return s.Role, fmt.Sprintf("attempt %d is at work", a.Number)
}

// isAbsent reports whether an attempt is known to have no process now.
func (d *explainer) isAbsent(a task.Attempt) bool { return slices.Contains(d.sig.Absent, a.Number) }

// nextTimer returns the next time at which the engine acts by itself, whatever an agent does until
// then.
func (d *explainer) nextTimer() *engine.Timer {
	var next *engine.Timer
	for _, tm := range engine.Timers(d.def, d.t) {
		if tm.Name == engine.Idle {
			continue
		}
		if next == nil || tm.At.Before(next.At) {
			next = &tm
		}
	}
	return next
}

// nextSteps lists what the engine will do by itself, soonest first.
func (d *explainer) nextSteps() []Step {
	out := []Step{}
	var line, nonBlocking time.Time // effects run in order: one that waits delays those after it
	for i := range d.t.Pending {
		p := &d.t.Pending[i]
		at := &line
		if p.NonBlocking {
			at = &nonBlocking
		}
		if p.GivenUp || d.t.Paused {
			continue
		}
		what := strings.TrimSpace(p.Do + " " + p.Role)
		if p.Tries > 0 {
			what += fmt.Sprintf(" (try %d of %d: %s)", p.Tries+1, engine.MaxTriesOf(p), p.Error)
		}
		if p.NotBefore.After(*at) {
			*at = p.NotBefore
		}
		out = append(out, Step{What: what, At: *at})
	}
	for _, tm := range engine.Timers(d.def, d.t) {
		out = append(out, Step{What: tm.What, At: tm.At})
	}
	slices.SortStableFunc(out, func(a, b Step) int { return a.At.Compare(b.At) })
	return out
}
