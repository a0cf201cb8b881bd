package engine

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// handsOver weighs the gates that ask for committed work. They are weighed last and all of
// them, so that an agent hears in one answer what it has to do. A person is only warned.
func (x *decider) handsOver(e *workflow.Edge) bool {
	var undone []string
	alone, clean := true, false
	for _, i := range x.def.EdgeGates(e) {
		g := &x.def.Gates[i]
		if !g.HandsOver() {
			alone = false
			continue
		}
		clean = clean || g.Evidence == workflow.Clean
		ok, why := x.gate(g)
		switch {
		case ok:
		case x.nothing(g):
			ok, why = true, "NOTHING: in ## "+workflow.HandoffSection+" says why there are no "+g.Evidence
		case x.byPerson():
			ok, why = true, why+" (a person may go on without)"
		default:
			undone = append(undone, why)
		}
		x.note(e, RuleGate, ok, why)
		x.reasons[len(x.reasons)-1].side = true
	}
	said := x.sig.Report != nil && x.sig.Report.Code != ""
	// Workflows from before ask for commits without clean: there it stays an answer that does not count.
	if handed := !alone || said || x.sig.Kind != signal.Exit; len(undone) > 0 && handed && clean && x.undone == nil {
		x.undone = undone
	}
	return len(undone) == 0
}

// byPerson says that a person asks.
func (x *decider) byPerson() bool {
	return x.sig.Kind == signal.Request && x.sig.Actor == task.Human
}

// nothing says that whoever asks wrote down why the branch has no commits.
func (x *decider) nothing(g *workflow.Gate) bool {
	if x.sig.Kind != signal.Request || g.Evidence != workflow.Commits {
		return false
	}
	s, ok := taskfile.Find(x.sig.Artifacts.Sections, workflow.HandoffSection)
	return ok && s.Has(workflow.NothingLabel)
}

// handover is what the record keeps of a hand-over: what is missing. It is empty if
// nothing is and the record says otherwise, and nil where nothing is handed over.
func (x *decider) handover(e *workflow.Edge) *task.Handover {
	var h task.Handover
	asks := false
	if x.waived(e) {
		return nil
	}
	for _, i := range x.def.EdgeGates(e) {
		g := &x.def.Gates[i]
		if !g.HandsOver() {
			continue
		}
		asks = true
		switch ok, why := x.gate(g); {
		case ok:
		case x.nothing(g):
			h.Nothing = true
		default:
			h.Missing = append(h.Missing, why)
		}
	}
	if !asks || len(h.Missing) == 0 && !h.Nothing && x.t.Handover == nil {
		return nil
	}
	return &h
}

// warning tells a person what is missing of the work that was handed over.
func (x *decider) warning() string {
	for i := range x.entries {
		if h := x.entries[i].Handover; h != nil && x.entries[i].To != "" && len(h.Missing) > 0 {
			return fmt.Sprintf("the task is %s now, and its work is incomplete: %s", x.entries[i].To, strings.Join(h.Missing, "; "))
		}
	}
	return ""
}

// finish answers an agent that did its part and left work that is not committed. It is
// asked once in a visit to finish it, in the same conversation; then the task is held.
// That is no crash. ended is empty if the agent lives.
func (x *decider) finish(s *workflow.State, a task.Attempt, ended []journal.Ended) Verdict {
	e := x.entry(journal.AgentUndone)
	e.Ended, e.Role, e.From = ended, a.Role, x.t.Status
	e.Reason = strings.Join(x.undone, "; ")
	if r := x.report(); r != nil {
		e.Said = x.saying(r, a.Role, a.Number)
	}
	e.Handover = &task.Handover{Missing: slices.Clone(x.undone), Visit: x.t.Visit}
	if h := x.t.Handover; h != nil && h.Visit == x.t.Visit {
		e.Handover.Visit = 0 // whom a person lets go on may be asked once more
		e.Held = fmt.Sprintf("the %s handed over twice, and its work is incomplete: %s", a.Role, e.Reason)
		return x.last(e, Stay)
	}
	p := x.plan(&e)
	p.said = e.Reason
	name := workflow.SpawnName(s.Role)
	if len(ended) == 0 {
		name = workflow.NotifyName(s.Role)
	}
	p.add(workflow.Effect{Name: name, Role: s.Role, Message: workflow.MessageFinish}, task.ByState)
	if p.starved {
		e.Effects, e.Started, e.Respawn = nil, nil, x.sig.At.Add(respawnDelay(1))
	}
	return x.last(e, Stay)
}
