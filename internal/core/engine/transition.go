package engine

import (
	"fmt"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// takeEdge takes an edge that opened: status, counters and effects in one entry.
func (d *decider) takeEdge(e *workflow.Edge, typ journal.Type, v Verdict) Verdict {
	entry := d.newEntry(typ)
	return d.takeEdgeWith(entry, e, v)
}

// takeEdgeWith completes an entry that an exit or a creation began.
func (d *decider) takeEdgeWith(begun journal.Entry, e *workflow.Edge, v Verdict) Verdict {
	to, _ := d.def.StateNamed(e.To)
	if d.mustQueue(e) {
		return d.waitForPredecessors(e)
	}
	if d.sig.Artifacts.Problem != "" && d.sig.Kind == signal.Request && d.comparesLater(to.Name) {
		return d.refuse("%s -> %s: gate: TASK.md cannot be read, and %s must know what was in it: %s", d.fromState(), e.To, e.To, d.sig.Artifacts.Problem)
	}
	d.entries = append(d.entries, begun)
	entry := &d.entries[len(d.entries)-1]
	entry.From, entry.To, entry.Edge, entry.Line, entry.Override = d.fromState(), e.To, e.Number(), e.Pos.Line, e.Override
	if entry.Reason == "" {
		entry.Reason = d.openingEvidence()
	}
	if to.Kind == workflow.Halt && d.sig.Rules >= 2 {
		entry.Reason = strings.TrimSuffix(d.boundsReached(e)+entry.Reason, ": ")
	}
	entry.EntryCommit = d.sig.Commit
	entry.Unpause = d.t.Paused && to.Kind == workflow.Terminal
	if to.Returns && d.t.Seq > 0 {
		entry.ReturnTo = d.continuesIn(e)
	}
	entry.Counters = append(entry.Counters, d.changedCounters(e)...)
	entry.Opened = d.openedSections(e)
	entry.Handover = d.newHandover(e)
	if f := d.sig.CardSnapshot; f != nil && d.sig.Kind == signal.Tracker && (d.t.CardSnapshot == nil || !d.t.CardSnapshot.SameAs(*f)) {
		entry.CardSnapshot = f
	}
	entry.Seen = d.seenSections()
	p := d.newPlan(entry)
	p.counters = entry.Counters
	p.dropGivenUp()
	p.dropTurns()
	if to.Kind == workflow.Terminal {
		p.dropWork()
	}
	p.notePartDone(to)
	p.endOldAgent(e)
	p.writePersonWords(e, to)
	p.writeHandoff()
	p.writeCheck()
	p.writeLanding()
	p.addEffects(e.Do, task.ByEdge)
	p.enterState(to)
	p.notifyAgent(to)
	if p.unavailable {
		busy, waits := p.busy, p.waits
		d.entries = d.entries[:len(d.entries)-1]
		if waits {
			return d.waitForPredecessors(e)
		}
		return d.waitForWorkspace(e, busy)
	}
	d.addReason(e, RuleEdge, true, "taken")
	return v
}

// comparesLater reports whether a gate of the state needs what changed since the state was entered.
func (d *decider) comparesLater(state string) bool {
	for _, i := range d.def.EdgesFrom(state) {
		for _, g := range d.def.EdgeGates(&d.def.Edges[i]) {
			if d.def.Gates[g].Fresh == workflow.FreshVisit {
				return true
			}
		}
	}
	return false
}

// waitForWorkspace records that a task's next step needs a workspace and none is free.
func (d *decider) waitForWorkspace(e *workflow.Edge, busy string) Verdict {
	text := fmt.Sprintf("no workspace of project %s is free", d.t.Project)
	if busy != "" {
		text = d.othersWork(busy)
	}
	d.addReason(e, RuleWorkspace, false, text)
	switch {
	case d.mayQueue():
	case busy != "":
		return d.refuse("%s -> %s: serial: %s: try again when it is done", d.fromState(), e.To, text)
	default:
		return d.refuse("%s -> %s: workspace: %s: wait for a task to end, or raise the pool: orange project update %s --pool-size N", d.fromState(), e.To, text, d.t.Project)
	}
	return d.queueTask(text)
}

// mayQueue reports whether a task whose next step is not possible now waits for it. Where nobody would start it again, a
// request is refused instead.
func (d *decider) mayQueue() bool {
	s, ok := d.def.StateNamed(d.t.Status)
	return ok && (s.Kind == workflow.Queued || d.sig.Kind == signal.Tracker || d.sig.Kind == signal.Ready)
}

// queueTask records that the task leaves its queue as soon as it can, and why it cannot yet.
func (d *decider) queueTask(why string) Verdict {
	if f := d.sig.CardSnapshot; d.t.Queued && (f == nil || d.t.CardSnapshot != nil && d.t.CardSnapshot.SameAs(*f)) {
		return Stay
	}
	entry := d.newEntry(journal.TaskQueued)
	entry.Reason, entry.CardSnapshot = why, d.sig.CardSnapshot
	return d.finishWith(entry, Stay)
}

func (d *decider) othersWork(group string) string {
	return fmt.Sprintf("another task of project %s is at %s, and one works at a time", d.t.Project, group)
}

// openingEvidence names the evidence that opened the edge.
func (d *decider) openingEvidence() string {
	side := ""
	for i := len(d.reasons) - 1; i >= 0; i-- {
		switch r := &d.reasons[i]; {
		case !r.OK || r.Rule != RuleGate:
		case !r.side:
			return r.Text
		default:
			side = r.Text
		}
	}
	if d.sig.Kind != signal.Exit {
		return ""
	}
	return side
}

// changedCounters returns the new values of the counters that the edge changes. Every transition resets the per-state
// counters to 0.
func (d *decider) changedCounters(e *workflow.Edge) []task.Counter {
	var out []task.Counter
	for i := range d.def.Counters {
		c := &d.def.Counters[i]
		was := task.Counter{Name: c.Name}
		for _, have := range d.t.Counters {
			if have.Name == c.Name {
				was = have
			}
		}
		now := was
		if c.PerState {
			now.Value = 0
		}
		for _, op := range e.Count {
			if op.Counter == c.Name {
				now = applyCount(now, op)
			}
		}
		if now != was || d.t.Seq == 0 {
			out = append(out, now)
		}
	}
	return out
}

func applyCount(c task.Counter, op workflow.CountOp) task.Counter {
	if op.Add {
		c.Value += op.Value
		c.Total += op.Value
		return c
	}
	c.Value = op.Value
	c.Total += op.Value
	return c
}

// openedSections returns digests of the sections that opened the edge's gates, so that the same text opens none again.
func (d *decider) openedSections(e *workflow.Edge) []task.Digest {
	if d.gatesWaived(e) {
		return nil
	}
	var out []task.Digest
	for _, i := range d.def.EdgeGates(e) {
		g := &d.def.Gates[i]
		if g.Fresh != workflow.FreshUnused {
			continue
		}
		if s, ok := taskfile.FindSection(d.sig.Artifacts.Sections, g.Section); ok {
			out = append(out, task.Digest{Section: g.Section, Sum: s.Digest})
		}
	}
	return out
}

// seenSections returns digests of the sections that a later gate must find changed.
func (d *decider) seenSections() []task.Digest {
	var out []task.Digest
	for _, name := range d.def.VisitSections() {
		if s, ok := taskfile.FindSection(d.sig.Artifacts.Sections, name); ok {
			out = append(out, task.Digest{Section: name, Sum: s.Digest})
		}
	}
	return out
}
