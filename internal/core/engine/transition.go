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

// take commits to an edge that opened: status, counters and effects in one entry.
func (x *decider) take(e *workflow.Edge, typ journal.Type, v Verdict) Verdict {
	entry := x.entry(typ)
	return x.takeWith(entry, e, v)
}

// takeWith completes an entry that an exit or a creation began.
func (x *decider) takeWith(begun journal.Entry, e *workflow.Edge, v Verdict) Verdict {
	to, _ := x.def.State(e.To)
	if x.sig.Artifacts.Problem != "" && x.sig.Kind == signal.Request && x.comparesLater(to.Name) {
		return x.refuse("%s -> %s: gate: TASK.md cannot be read, and %s must know what was in it: %s", x.from(), e.To, e.To, x.sig.Artifacts.Problem)
	}
	x.entries = append(x.entries, begun)
	entry := &x.entries[len(x.entries)-1]
	entry.From, entry.To, entry.Edge, entry.Line, entry.Override = x.from(), e.To, e.Number(), e.Pos.Line, e.Override
	if entry.Reason == "" {
		entry.Reason = x.because()
	}
	if to.Kind == workflow.Halt && x.sig.Rules >= 2 {
		entry.Reason = strings.TrimSuffix(x.boundsReached(e)+entry.Reason, ": ")
	}
	entry.Tip = x.sig.Commit
	entry.Unpause = x.t.Paused && to.Kind == workflow.Terminal
	if to.Returns && x.t.Seq > 0 {
		entry.ReturnTo = x.goesOnIn(e)
	}
	entry.Counters = append(entry.Counters, x.counters(e)...)
	entry.Opened = x.opened(e)
	entry.Handover = x.handover(e)
	if f := x.sig.Face; f != nil && x.sig.Kind == signal.Tracker && (x.t.Face == nil || !x.t.Face.Is(*f)) {
		entry.Face = f
	}
	entry.Seen = x.seen()
	p := x.plan(entry)
	p.counters = entry.Counters
	p.dropGivenUp()
	p.dropTurns()
	if to.Kind == workflow.Terminal {
		p.dropWork()
	}
	p.part(to)
	p.leave(e)
	p.words(e, to)
	p.handover()
	p.all(e.Do, task.ByEdge)
	p.enter(to)
	p.tell(to)
	if p.starved {
		busy := p.busy
		x.entries = x.entries[:len(x.entries)-1]
		return x.starve(e, busy)
	}
	x.note(e, RuleEdge, true, "taken")
	return v
}

// comparesLater says that a gate of the state asks what changed since it began.
func (x *decider) comparesLater(state string) bool {
	for _, i := range x.def.EdgesFrom(state) {
		for _, g := range x.def.EdgeGates(&x.def.Edges[i]) {
			if x.def.Gates[g].Fresh == workflow.FreshVisit {
				return true
			}
		}
	}
	return false
}

// starve keeps a task whose next step needs a workspace while none is free.
func (x *decider) starve(e *workflow.Edge, busy string) Verdict {
	text := fmt.Sprintf("no workspace of project %s is free", x.t.Project)
	if busy != "" {
		text = x.othersWork(busy)
	}
	x.note(e, RuleWorkspace, false, text)
	s, ok := x.def.State(x.t.Status)
	switch {
	case ok && (s.Kind == workflow.Queued || x.sig.Kind == signal.Tracker || x.sig.Kind == signal.Ready):
	case busy != "":
		return x.refuse("%s -> %s: serial: %s: try again when it is done", x.from(), e.To, text)
	default:
		return x.refuse("%s -> %s: workspace: %s: wait for a task to end, or raise the pool: orange project update %s --pool-size N", x.from(), e.To, text, x.t.Project)
	}
	if f := x.sig.Face; x.t.Queued && (f == nil || x.t.Face != nil && x.t.Face.Is(*f)) {
		return Stay
	}
	entry := x.entry(journal.TaskQueued)
	entry.Reason, entry.Face = text, x.sig.Face
	return x.last(entry, Stay)
}

func (x *decider) othersWork(group string) string {
	return fmt.Sprintf("another task of project %s is at %s, and one works at a time", x.t.Project, group)
}

// because names the evidence that opened the edge.
func (x *decider) because() string {
	side := ""
	for i := len(x.reasons) - 1; i >= 0; i-- {
		switch r := &x.reasons[i]; {
		case !r.OK || r.Rule != RuleGate:
		case !r.side:
			return r.Text
		default:
			side = r.Text
		}
	}
	if x.sig.Kind != signal.Exit {
		return ""
	}
	return side
}

// counters gives the new values of those that the edge changes. Every transition
// takes the per-state ones back to 0.
func (x *decider) counters(e *workflow.Edge) []task.Counter {
	var out []task.Counter
	for i := range x.def.Counters {
		c := &x.def.Counters[i]
		was := task.Counter{Name: c.Name}
		for _, have := range x.t.Counters {
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
				now = counted(now, op)
			}
		}
		if now != was || x.t.Seq == 0 {
			out = append(out, now)
		}
	}
	return out
}

func counted(c task.Counter, op workflow.CountOp) task.Counter {
	if op.Add {
		c.Value += op.Value
		c.Total += op.Value
		return c
	}
	c.Value = op.Value
	c.Total += op.Value
	return c
}

// opened remembers the text that opened the edge's gates, so that it opens none again.
func (x *decider) opened(e *workflow.Edge) []task.Digest {
	if x.waived(e) {
		return nil
	}
	var out []task.Digest
	for _, i := range x.def.EdgeGates(e) {
		g := &x.def.Gates[i]
		if g.Fresh != workflow.FreshUnused {
			continue
		}
		if s, ok := taskfile.Find(x.sig.Artifacts.Sections, g.Section); ok {
			out = append(out, task.Digest{Section: g.Section, Sum: s.Digest})
		}
	}
	return out
}

// seen remembers the sections that a later gate must find changed.
func (x *decider) seen() []task.Digest {
	var out []task.Digest
	for _, name := range x.def.VisitSections() {
		if s, ok := taskfile.Find(x.sig.Artifacts.Sections, name); ok {
			out = append(out, task.Digest{Section: name, Sum: s.Digest})
		}
	}
	return out
}
