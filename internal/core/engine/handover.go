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
func (d *decider) handsOver(e *workflow.Edge) bool {
	var undone []string
	alone, clean := true, false
	for _, i := range d.def.EdgeGates(e) {
		g := &d.def.Gates[i]
		if !g.HandsOver() {
			alone = false
			continue
		}
		clean = clean || g.Evidence == workflow.Clean
		ok, why := d.checkGate(g)
		switch {
		case ok:
		case d.explainsNoCommits(g):
			ok, why = true, "NOTHING: in ## "+workflow.HandoffSection+" says why there are no "+g.Evidence
		case d.byPerson():
			ok, why = true, why+" (a person may go on without)"
		default:
			undone = append(undone, why)
		}
		d.addReason(e, RuleGate, ok, why)
		d.reasons[len(d.reasons)-1].side = true
	}
	said := d.sig.Report != nil && d.sig.Report.Code != ""
	// Workflows from before ask for commits without clean: there it stays an answer that does not count.
	if handed := !alone || said || d.sig.Kind != signal.Exit; len(undone) > 0 && handed && clean && d.undone == nil {
		d.undone = undone
	}
	return len(undone) == 0
}

// byPerson says that a person asks.
func (d *decider) byPerson() bool {
	return d.sig.Kind == signal.Request && d.sig.Actor == task.Human
}

// explainsNoCommits says that whoever asks wrote down why the branch has no commits.
func (d *decider) explainsNoCommits(g *workflow.Gate) bool {
	if d.sig.Kind != signal.Request || g.Evidence != workflow.Commits {
		return false
	}
	s, ok := taskfile.FindSection(d.sig.Artifacts.Sections, workflow.HandoffSection)
	return ok && s.HasLabel(workflow.NothingLabel)
}

// newHandover is what the record keeps of a hand-over: what is missing. It is empty if
// nothing is and the record says otherwise, and nil where nothing is handed over.
func (d *decider) newHandover(e *workflow.Edge) *task.Handover {
	var h task.Handover
	asks := false
	if d.gatesWaived(e) {
		return nil
	}
	for _, i := range d.def.EdgeGates(e) {
		g := &d.def.Gates[i]
		if !g.HandsOver() {
			continue
		}
		asks = true
		switch ok, why := d.checkGate(g); {
		case ok:
		case d.explainsNoCommits(g):
			h.Nothing = true
		default:
			h.Missing = append(h.Missing, why)
		}
	}
	if !asks || len(h.Missing) == 0 && !h.Nothing && d.t.Handover == nil {
		return nil
	}
	return &h
}

// handoverWarning tells a person what is missing of the work that was handed over.
func (d *decider) handoverWarning() string {
	for i := range d.entries {
		if h := d.entries[i].Handover; h != nil && d.entries[i].To != "" && len(h.Missing) > 0 {
			return fmt.Sprintf("the task is %s now, and its work is incomplete: %s", d.entries[i].To, strings.Join(h.Missing, "; "))
		}
	}
	return ""
}

// askToFinish answers an agent that did its part and left work that is not committed. It is
// asked once in a visit to finish it, in the same conversation; then the task is held.
// That is no crash. ended is empty if the agent lives.
func (d *decider) askToFinish(s *workflow.State, a task.Attempt, ended []journal.Ended) Verdict {
	e := d.newEntry(journal.AgentUndone)
	e.Ended, e.Role, e.From = ended, a.Role, d.t.Status
	e.Reason = strings.Join(d.undone, "; ")
	if r := d.attemptReport(); r != nil {
		e.LastReport = d.newLastReport(r, a.Role, a.Number)
	}
	e.Handover = &task.Handover{Missing: slices.Clone(d.undone), Visit: d.t.Visit}
	if h := d.t.Handover; h != nil && h.Visit == d.t.Visit {
		e.Handover.Visit = 0 // whom a person lets go on may be asked once more
		e.WorkFailed = fmt.Sprintf("the %s handed over twice, and its work is incomplete: %s", a.Role, e.Reason)
		return d.finishWith(e, Stay)
	}
	p := d.newPlan(&e)
	p.said = e.Reason
	name := workflow.SpawnName(s.Role)
	if len(ended) == 0 {
		name = workflow.NotifyName(s.Role)
	}
	p.addEffect(workflow.Effect{Name: name, Role: s.Role, Message: workflow.MessageFinish}, task.ByState)
	if p.starved {
		e.Effects, e.Started, e.RespawnAt = nil, nil, d.sig.At.Add(respawnDelay(1))
	}
	return d.finishWith(e, Stay)
}
