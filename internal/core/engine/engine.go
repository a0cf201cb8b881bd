// Package engine decides what a signal means for a task. It is a function: the same
// definition, record and signal give the same decision, on any machine at any time.
// It starts nothing; what is to be done is written into the entries it returns.
package engine

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Verdict says in one word what a decision is.
type Verdict string

// The verdicts.
const (
	Advance Verdict = "advance" // an edge was taken
	Halt    Verdict = "halt"    // an outcome led into a halt state
	Crash   Verdict = "crash"   // an attempt failed; counted or marked, no edge taken
	Stay    Verdict = "stay"    // heard, and nothing moves
	Record  Verdict = "record"  // the record changes, the status does not
	Refuse  Verdict = "refuse"  // not allowed: nothing is appended
)

// A Decision is what to do about a signal. Its entries carry the effects to run;
// no effect may start before the entry that asks for it is durable.
type Decision struct {
	Verdict Verdict
	Entries []journal.Entry
	Refused string   // why nothing may happen; empty if something did
	Warning string   // what a person should know about what was done
	Reasons []Reason // every rule weighed, in order: what explain prints
}

// Rules is the number of the rules by which decisions are made now. It is raised when a signal leads
// to other entries than before, so that every decision of a journal is made again by the rules it was made by.
// Since 1 a living agent is told of the moves of others, and a report by command that leads to a halt says that it halted.
// Since 2 an agent whose turn ended in its own state waits for a person, and one that ended by itself with a message, and no
// evidence, gave no answer.
const Rules = 2

// Decide says what sig means for t under def. It appends nothing when it refuses.
func Decide(def *workflow.Definition, t task.Task, sig signal.Signal) Decision {
	x := &decider{def: def, task: t, signal: sig, reasons: make([]Reason, 0, 8)}
	x.t, x.sig = &x.task, &x.signal
	x.sig.Rules = max(x.sig.Rules, x.t.Rules) // a record is never decided by older rules again
	x.hearLastMessage()
	if v := x.check(); v != "" {
		return x.decision(v)
	}
	x.setBack()
	return x.decision(x.dispatch())
}

// decider is one run of Decide.
type decider struct {
	def     *workflow.Definition
	task    task.Task
	signal  signal.Signal
	t       *task.Task // as the entries so far leave it
	sig     *signal.Signal
	env     workflow.Env
	entries []journal.Entry
	reasons []Reason
	refused string
	stale   bool     // the last gate was closed by the age or the origin of its section alone
	undone  []string // what is missing of the hand-over, where nothing else keeps an edge closed
	planned plan

	back     []task.Counter // counters that are set back because a person decides
	disowned string         // the verdict that would open an edge if it were the agent's own
}

func (x *decider) dispatch() Verdict {
	switch x.sig.Kind {
	case signal.Create:
		return x.create()
	case signal.Import:
		return x.importTask()
	case signal.Request:
		return x.request()
	case signal.Ready:
		return x.ready()
	case signal.Exit:
		return x.exit()
	case signal.Notice:
		return x.notice()
	case signal.Outcome:
		return x.outcome()
	case signal.Tracker:
		switch {
		case x.sig.Face != nil:
			return x.card(x.sig.Face)
		case x.sig.Word == signal.Reachable:
			return x.reachable()
		case x.sig.Word == signal.PRClosed:
			return x.closedPR()
		}
		return x.event(workflow.OnTracker, x.sig.Word)
	case signal.Timer:
		return x.timer()
	case signal.Effect:
		return x.receipt()
	case signal.Update:
		return x.update()
	case signal.Pause, signal.Resume:
		return x.pause()
	case signal.Tamper:
		return x.tamper()
	case signal.Delete:
		return x.remove()
	case signal.Restore:
		return x.restore()
	}
	return x.refuse("signal kind %q is not known", x.sig.Kind)
}

// check refuses what no kind of signal may be.
func (x *decider) check() Verdict {
	fresh := x.sig.Kind == signal.Create || x.sig.Kind == signal.Import
	switch {
	case x.sig.At.IsZero():
		return x.refuse("the signal carries no time")
	case fresh && x.t.Seq > 0:
		return x.refuse("task %s exists already", x.t.ID)
	case !fresh && x.t.Seq == 0:
		return x.refuse("there is no such task")
	case x.t.Deleted:
		return x.refuse("task %s was deleted", x.t.ID)
	case x.sig.Actor == task.Tracker && x.t.Paused && strings.HasPrefix(x.t.Hold, RestoredHold):
		return x.refuse("%s: only a person may move or resume the task", x.t.Hold) // it may be old news of a tracker
	case x.sig.Actor != "" && !x.def.KnowsActor(x.sig.Actor):
		return x.refuse("actor %q is not known: use human, engine, tracker or a role of workflow %s", x.sig.Actor, x.def.Name)
	}
	return ""
}

func (x *decider) decision(v Verdict) Decision {
	d := Decision{Verdict: v, Entries: x.entries, Reasons: x.reasons, Warning: x.warning()}
	if len(d.Entries) > 0 && x.sig.Rules > x.task.Rules {
		d.Entries[0].Rules = x.sig.Rules
	}
	if len(d.Entries) > 0 && (d.Entries[0].To == "" || slices.ContainsFunc(x.sig.Samples, func(s task.Sample) bool { return s.Foreign != "" })) {
		d.Entries[0].Samples = x.sig.Samples
	}
	if len(d.Entries) > 0 {
		d.Entries[0].Counters = withBack(d.Entries[0].Counters, x.back)
	}
	switch {
	case v == Refuse:
		d.Entries, d.Refused, d.Warning = nil, x.refused, ""
	case len(d.Entries) > 0:
		d.Entries[0].Via = x.sig.Via
		if !x.sig.Weighs() {
			break
		}
		d.Entries[0].Heard = x.sig.Heard()
		if x.sig.Kind == signal.Exit && x.sig.Report == nil && x.sig.Rules >= journal.RulesOfIdle { // what sort of message it was is all that decisions look at
			d.Entries[0].Heard.Final = ""
		}
		if x.sig.Kind == signal.Exit {
			d.Entries[0].Notice, d.Entries[0].Usage = x.sig.Condition, x.sig.Usage
		}
	}
	return d
}

func (x *decider) refuse(format string, args ...any) Verdict {
	x.refused = fmt.Sprintf(format, args...)
	return Refuse
}

// entry begins the next entry. Its sequence follows on the record as the earlier
// entries of this decision leave it.
func (x *decider) entry(typ journal.Type) journal.Entry {
	return journal.Entry{
		Task: x.t.ID, Seq: x.t.Seq + 1, At: x.sig.At, Type: typ,
		Actor: x.sig.Actor, Attempt: x.sig.Attempt, Cause: string(x.sig.Kind), Note: x.sig.Note, Verb: x.sig.Verb,
	}
}

// push appends an entry and folds it, so that what follows in the same decision
// sees the record it leaves.
func (x *decider) push(e journal.Entry) {
	x.entries = append(x.entries, e)
	next := x.t.Clone()
	if err := journal.Apply(&next, &e); err != nil {
		panic("engine: " + err.Error()) // entry() numbered it: only a bug here can do this
	}
	x.t = &next
	x.env = nil
}

// last appends the entry that ends the decision.
func (x *decider) last(e journal.Entry, v Verdict) Verdict {
	x.entries = append(x.entries, e)
	return v
}

// An Answer is a decision together with the record it leaves.
type Answer struct {
	Task     task.Task
	Decision Decision
	Warning  string // what could not be shown to people although it was committed
}
