// Package engine decides what a signal means for a task. Decide is a pure function: the same definition, record and
// signal give the same decision, on any machine at any time. The package performs no action; the entries that it
// returns contain the effects to run.
package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Verdict classifies a decision.
type Verdict string

// The verdicts.
const (
	Advance Verdict = "advance" // an edge was taken
	Halt    Verdict = "halt"    // an outcome led into a halt state
	Crash   Verdict = "crash"   // an attempt failed; counted or marked, no edge taken
	Stay    Verdict = "stay"    // recorded; nothing moves
	Record  Verdict = "record"  // the record changes, the status does not
	Refuse  Verdict = "refuse"  // not allowed: nothing is appended
)

// A Decision is the response to a signal. Its entries carry the effects to run; no effect may start before the entry
// that requires it is durable.
type Decision struct {
	Verdict Verdict
	Entries []journal.Entry
	Refused string   // why nothing may happen; empty unless refused
	Warning string   // what a person should know about the result
	Reasons []Reason // every rule weighed, in order, as explain prints them
}

// Rules is the version of the rules by which decisions are made. It is raised when a signal leads to other entries than
// before, so that every decision of a journal is repeated under the rules that made it. Since version 1, a living agent
// is told about moves by others, and a report by command that leads to a halt says so. Since version 2, an agent whose
// turn ended in its own state waits for a person, and an agent that ended by itself with a message but no evidence gave
// no answer. Since version 3, a check does not wait for the turn of an agent that reports none, and the
// order to end an overdue check outlives the check. Since version 4, a check waits for an agent that is owed a message,
// and a task that ends without a merge leaves the landing queue. Since version 5, an agent that replaces another one gets
// every message that the other did not receive, and the end of an agent that did not receive the message of a move does not
// answer that move.
const Rules = 5

// RulesOfUndelivered is the version of the rules since which messages that an agent did not receive count when it ends or
// is replaced.
const RulesOfUndelivered = 5

// Decide returns what sig means for t under def. A refusal has no entries. Decide does not change t.
func Decide(def *workflow.Definition, t *task.Task, sig signal.Signal) Decision {
	d := &decider{def: definitionFor(def, t, &sig), before: t, t: t, signal: sig, reasons: make([]Reason, 0, 2)}
	d.sig = &d.signal
	d.sig.Rules = max(d.sig.Rules, t.Rules) // a record never goes back to older rules
	d.classifyLastMessage()
	if v := d.checkSignal(); v != "" {
		return d.buildDecision(v)
	}
	d.resetForPerson()
	return d.buildDecision(d.keepPerformedMerge(d.dispatchSignal()))
}

// decider is one run of Decide.
type decider struct {
	def     *workflow.Definition
	before  *task.Task // the record before the decision
	t       *task.Task // the record after the entries so far
	signal  signal.Signal
	sig     *signal.Signal
	env     workflow.Env
	entries []journal.Entry
	reasons []Reason
	refused string
	stale   bool     // only the age or the origin of its section closed the last gate
	undone  []string // what the hand-over lacks, where nothing else keeps an edge closed
	planned plan

	reset          []task.Counter // counters that are reset because a person decides
	foreignVerdict string         // the verdict that would open an edge if it were the agent's own

	quotesFinal bool // an effect quotes the last message, so the entry keeps it
}

func (d *decider) dispatchSignal() Verdict {
	switch d.sig.Kind {
	case signal.Create:
		return d.createTask()
	case signal.Import:
		return d.importTask()
	case signal.Request:
		return d.decideOnRequest()
	case signal.Ready:
		return d.leaveQueue()
	case signal.Exit:
		return d.decideOnExit()
	case signal.Notice:
		return d.decideOnNotice()
	case signal.Outcome:
		return d.decideOnOutcome()
	case signal.Tracker:
		switch {
		case d.sig.CardSnapshot != nil:
			return d.decideOnCard(d.sig.CardSnapshot)
		case d.sig.Word == signal.Reachable:
			return d.retryTracker()
		case d.sig.Word == signal.PRClosed:
			return d.closedPR()
		case d.sig.Word == signal.PredecessorMoved && len(d.t.After) > 0:
			return d.decideOnPredecessors()
		}
		return d.takeEventEdge(workflow.OnTracker, d.sig.Word)
	case signal.Timer:
		return d.decideOnTimer()
	case signal.Effect:
		return d.decideOnReceipt()
	case signal.Update:
		return d.updateFields()
	case signal.Pause, signal.Resume:
		return d.pauseOrResume()
	case signal.Tamper:
		return d.recordTampering()
	case signal.Delete:
		return d.deleteTask()
	case signal.Restore:
		return d.restoreTask()
	}
	return d.refuse("signal kind %q is not known", d.sig.Kind)
}

// checkSignal refuses signals that are invalid whatever their kind.
func (d *decider) checkSignal() Verdict {
	fresh := d.sig.Kind == signal.Create || d.sig.Kind == signal.Import
	switch {
	case d.sig.At.IsZero():
		return d.refuse("the signal carries no time")
	case fresh && d.t.Seq > 0:
		return d.refuse("task %s exists already", d.t.ID)
	case !fresh && d.t.Seq == 0:
		return d.refuse("there is no such task")
	case d.t.Deleted:
		return d.refuse("task %s was deleted", d.t.ID)
	case d.sig.Actor == task.Tracker && d.t.PauseCause == task.PausedByRestore:
		return d.refuse("%s: only a person may move or resume the task", d.t.PauseReason) // the signal may be an old event of a tracker
	case d.sig.Actor != "" && !d.def.KnowsActor(d.sig.Actor):
		return d.refuse("actor %q is not known: use human, engine, tracker or a role of workflow %s", d.sig.Actor, d.def.Name)
	}
	return ""
}

func (d *decider) buildDecision(v Verdict) Decision {
	out := Decision{Verdict: v, Entries: d.entries, Reasons: d.reasons, Warning: cmp.Or(d.handoverWarning(), d.leftBehind())}
	if len(out.Entries) > 0 && d.sig.Rules > d.before.Rules {
		out.Entries[0].Rules = d.sig.Rules
	}
	if len(out.Entries) > 0 && (out.Entries[0].To == "" || slices.ContainsFunc(d.sig.Samples, func(s task.Sample) bool { return s.Foreign != "" })) {
		out.Entries[0].Samples = d.sig.Samples
	}
	if len(out.Entries) > 0 {
		out.Entries[0].Counters = withReset(out.Entries[0].Counters, d.reset)
	}
	if left := d.leftBehind(); left != "" && len(out.Entries) > 0 {
		out.Entries[0].Note = strings.TrimPrefix(out.Entries[0].Note+"; "+left, "; ")
	}
	d.recordPredecessors(out.Entries)
	switch {
	case v == Refuse:
		out.Entries, out.Refused, out.Warning = nil, d.refused, ""
	case len(out.Entries) > 0:
		out.Entries[0].Via = d.sig.Via
		if !d.sig.WeighsEvidence() {
			break
		}
		out.Entries[0].Snapshot = d.sig.Snapshot()
		if d.sig.Kind == signal.Exit && d.sig.Report == nil && d.sig.Rules >= journal.RulesOfIdle && !d.quotesFinal { // the decision used only the kind of the message
			out.Entries[0].Snapshot.Final = ""
		}
		if d.sig.Kind == signal.Exit {
			out.Entries[0].Condition, out.Entries[0].Usage, out.Entries[0].Model = d.sig.Condition, d.sig.Usage, d.sig.Model
		}
	}
	return out
}

func (d *decider) refuse(format string, args ...any) Verdict {
	d.refused = fmt.Sprintf(format, args...)
	return Refuse
}

// newEntry begins the next entry. Its sequence number follows the entries of this decision so far.
func (d *decider) newEntry(typ journal.Type) journal.Entry {
	return journal.Entry{
		Task: d.t.ID, Seq: d.t.Seq + 1, At: d.sig.At, Type: typ,
		Actor: d.sig.Actor, Attempt: d.sig.Attempt, Cause: string(d.sig.Kind), Note: d.sig.Note, Verb: d.sig.Verb,
	}
}

// pushEntry appends an entry and folds it into the record, so that the rest of the decision uses the updated record.
func (d *decider) pushEntry(e journal.Entry) {
	d.entries = append(d.entries, e)
	next := d.t.Clone()
	if err := journal.Apply(&next, &e); err != nil {
		panic("engine: " + err.Error()) // newEntry numbered it, so only a bug in this package can cause this
	}
	d.t = &next
	d.env = nil
}

// finishWith appends the entry that ends the decision.
func (d *decider) finishWith(e journal.Entry, v Verdict) Verdict {
	d.entries = append(d.entries, e)
	return v
}

// An Answer is a decision together with the record it leaves.
type Answer struct {
	Task     task.Task
	Decision Decision
	Warning  string // what was committed but could not be shown to people
}
