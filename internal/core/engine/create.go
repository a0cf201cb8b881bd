package engine

import (
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// maxSummary is the maximum size of a summary, in bytes.
const maxSummary = 4096

// createTask creates a task in one of the workflow's entry states. If the task may start immediately, it leaves its
// queue in the same decision, so that a crash cannot separate the two.
func (d *decider) createTask() Verdict {
	n := d.sig.New
	if v := d.checkNew(); v != "" {
		return v
	}
	if n.Workspace != "" || len(n.Counters) > 0 || !n.CreatedAt.IsZero() {
		return d.refuse("a new task has no workspace, counters or time of its own: only an import takes them over")
	}
	edge := d.entryEdge()
	if edge == nil {
		return d.refuse("Invalid status %q: a task of workflow %s begins in %s", n.Status, d.def.Name, strings.Join(d.entryStates(), ", "))
	}
	if !d.weighEdge(edge, d.sig.Actor) {
		return d.refuseClosed()
	}
	e := d.newEntry(journal.TaskCreated)
	e.Task, e.New, e.Workflow, e.WorkflowHash = n.ID, n, d.def.Name, d.def.Hash
	d.t = &task.Task{Project: n.Project} // effects need nothing else from a new record
	if v := d.takeEdgeWith(e, edge, Advance); v == Refuse {
		return v
	}
	d.startClarification()
	return d.startImmediately()
}

// startClarification starts the agent of a task that begins with questions, if a workspace is free and the task need not wait
// for another. Otherwise a person starts the agent later.
func (d *decider) startClarification() {
	e := &d.entries[0]
	s, _ := d.def.StateNamed(e.To)
	if !d.sig.New.Spawn || s.Kind != workflow.Waiting || s.Role == "" || len(d.sig.Free) == 0 || len(d.unmetToStart()) > 0 {
		return
	}
	p := d.newPlan(e)
	p.counters = e.Counters
	p.ensureAgent(s)
}

func (d *decider) startImmediately() Verdict {
	s, _ := d.def.StateNamed(d.entries[0].To)
	if !d.sig.New.Spawn || s.Kind != workflow.Queued {
		return Advance
	}
	created := d.entries[0]
	d.entries = d.entries[:0]
	d.t = &task.Task{}
	d.pushEntry(created)
	d.takeEventEdge(workflow.OnReady, "")
	return Advance
}

func (d *decider) checkNew() Verdict {
	n := d.sig.New
	switch {
	case n == nil:
		return d.refuse("the signal does not describe the task to create")
	case !n.ID.IsValid():
		return d.refuse("%q is not a task id", n.ID)
	case n.Project == "":
		return d.refuse("a task belongs to a project: name one")
	}
	if why := badField("branch", n.Branch); why != "" {
		return d.refuse("%s", why)
	}
	if why := badField("summary", n.Summary); why != "" {
		return d.refuse("%s", why)
	}
	if why := d.badAfter(n.ID, n.After); why != "" {
		return d.refuse("%s", why)
	}
	return ""
}

// entryEdge returns the edge to the requested first state. A task without a summary begins in a state that waits for an
// answer, if the workflow has such an entry.
func (d *decider) entryEdge() *workflow.Edge {
	want := d.sig.New.Status
	var first *workflow.Edge
	for _, i := range d.def.EdgesFrom(workflow.New) {
		e := &d.def.Edges[i]
		s, _ := d.def.StateNamed(e.To)
		switch {
		case want != "" && e.To == want:
			return e
		case want == "" && strings.TrimSpace(d.sig.New.Summary) == "" && s.Kind == workflow.Waiting:
			return e
		case want == "" && first == nil:
			first = e
		}
	}
	return first
}

func (d *decider) entryStates() []string {
	var out []string
	for _, i := range d.def.EdgesFrom(workflow.New) {
		out = append(out, d.def.Edges[i].To)
	}
	return out
}

// importTask takes over a task of an earlier installation, in the state it was in. It starts nothing: a state that
// needs an agent gets one when its deadline passes.
func (d *decider) importTask() Verdict {
	if d.sig.Actor != task.Human {
		return d.refuse("only a person may import a task")
	}
	if v := d.checkNew(); v != "" {
		return v
	}
	n := d.sig.New
	if _, ok := d.def.StateNamed(n.Status); !ok && (d.sig.Lost == nil || d.haltState() == "") {
		return d.refuse("Invalid status %q: workflow %s has %s", n.Status, d.def.Name, d.stateList())
	}
	e := d.newEntry(journal.TaskCreated)
	e.Task, e.New, e.Workflow, e.WorkflowHash = n.ID, n, d.def.Name, d.def.Hash
	e.From, e.To, e.Seen, e.Reason = workflow.New, n.Status, d.seenSections(), "imported"
	for i := range d.def.Counters {
		c := task.Counter{Name: d.def.Counters[i].Name}
		for _, have := range n.Counters {
			if have.Name == c.Name {
				c.Value, c.Total = have.Value, have.Value
			}
		}
		e.Counters = append(e.Counters, c)
	}
	if lost := d.sig.Lost; lost != nil {
		return d.importLost(e, lost)
	}
	return d.finishWith(e, Record)
}
