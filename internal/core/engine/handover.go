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

// handsOver weighs the gates that require committed work. It weighs all of them, last, so that an agent gets everything
// it has to do in one response. A person only gets a warning.
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
	// Older workflows require commits without clean: for them this remains an answer that does not count.
	if handed := !alone || said || d.sig.Kind != signal.Exit; len(undone) > 0 && handed && clean && d.undone == nil {
		d.undone = undone
	}
	return len(undone) == 0
}

// byPerson reports whether a person sent the signal.
func (d *decider) byPerson() bool {
	return d.sig.Kind == signal.Request && d.sig.Actor == task.Human
}

// explainsNoCommits reports whether the requester explained why the branch has no commits.
func (d *decider) explainsNoCommits(g *workflow.Gate) bool {
	if d.sig.Kind != signal.Request || g.Evidence != workflow.Commits {
		return false
	}
	s, ok := taskfile.FindSection(d.sig.Artifacts.Sections, workflow.HandoffSection)
	return ok && s.HasLabel(workflow.NothingLabel)
}

// newHandover returns what the record keeps of a hand-over: what is missing. It is empty if nothing is missing and the
// record says otherwise, and nil where nothing is handed over.
func (d *decider) newHandover(e *workflow.Edge) *task.Handover {
	if d.gatesWaived(e) {
		return nil
	}
	var missing []string
	asks, nothing := false, false
	for _, i := range d.def.EdgeGates(e) {
		g := &d.def.Gates[i]
		if !g.HandsOver() {
			continue
		}
		asks = true
		switch ok, why := d.checkGate(g); {
		case ok:
		case d.explainsNoCommits(g):
			nothing = true
		default:
			missing = append(missing, why)
		}
	}
	if !asks || len(missing) == 0 && !nothing && d.t.Handover == nil {
		return nil
	}
	return &task.Handover{Missing: missing, Nothing: nothing}
}

// handoverWarning returns what is missing from the work that was handed over, for a person.
func (d *decider) handoverWarning() string {
	for i := range d.entries {
		if h := d.entries[i].Handover; h != nil && d.entries[i].To != "" && len(h.Missing) > 0 {
			return fmt.Sprintf("the task is %s now, and its work is incomplete: %s", d.entries[i].To, strings.Join(h.Missing, "; "))
		}
	}
	return ""
}

// askToFinish handles an agent that did its part and left uncommitted work. It asks the agent once per visit to finish,
// in the same conversation; after that the task is held. This is not a crash. ended is empty if the agent lives.
func (d *decider) askToFinish(s *workflow.State, a task.Attempt, ended []journal.Ended) Verdict {
	e := d.newEntry(journal.AgentUndone)
	e.Ended, e.Role, e.From = ended, a.Role, d.t.Status
	e.Reason = strings.Join(d.undone, "; ")
	if r := d.attemptReport(); r != nil {
		e.LastReport = d.newLastReport(r, a.Role, a.Number)
	}
	e.Handover = &task.Handover{Missing: slices.Clone(d.undone), Visit: d.t.Visit}
	if h := d.t.Handover; h != nil && h.Visit == d.t.Visit {
		e.Handover.Visit = 0 // after a person lets the agent continue, it may be asked once more
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
	if p.unavailable {
		e.Effects, e.Started, e.RespawnAt = nil, nil, d.sig.At.Add(respawnDelay(1))
	}
	return d.finishWith(e, Stay)
}
