package engine

import (
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// maxSummary bounds a summary, in bytes: it is a line, not a document.
const maxSummary = 4096

// create begins a task in one of the workflow's entry states. If it may start at
// once it leaves its queue in the same decision, so that no crash can part the two.
func (x *decider) create() Verdict {
	n := x.sig.New
	if v := x.checkNew(); v != "" {
		return v
	}
	if n.Workspace != "" || len(n.Counters) > 0 || !n.CreatedAt.IsZero() {
		return x.refuse("a new task has no workspace, counters or time of its own: only an import takes them over")
	}
	edge := x.entryEdge()
	if edge == nil {
		return x.refuse("Invalid status %q: a task of workflow %s begins in %s", n.Status, x.def.Name, strings.Join(x.entryStates(), ", "))
	}
	if !x.weigh(edge, x.sig.Actor) {
		return x.refuseClosed()
	}
	e := x.entry(journal.TaskCreated)
	e.Task, e.New, e.Workflow, e.Hash = n.ID, n, x.def.Name, x.def.Hash
	x.t.Project = n.Project // a new record has nothing else that effects ask for
	if v := x.takeWith(e, edge, Advance); v == Refuse {
		return v
	}
	x.talkAtOnce()
	return x.startAtOnce()
}

// talkAtOnce starts the agent of a task that begins with questions, if a workspace is
// free. Otherwise a person starts it when they want to talk.
func (x *decider) talkAtOnce() {
	e := &x.entries[0]
	s, _ := x.def.State(e.To)
	if !x.sig.New.Spawn || s.Kind != workflow.Waiting || s.Role == "" || len(x.sig.Free) == 0 {
		return
	}
	p := x.plan(e)
	p.counters = e.Counters
	p.ensure(s)
}

func (x *decider) startAtOnce() Verdict {
	s, _ := x.def.State(x.entries[0].To)
	if !x.sig.New.Spawn || s.Kind != workflow.Queued {
		return Advance
	}
	created := x.entries[0]
	x.entries = x.entries[:0]
	*x.t = task.Task{}
	x.push(created)
	x.event(workflow.OnReady, "")
	return Advance
}

func (x *decider) checkNew() Verdict {
	n := x.sig.New
	switch {
	case n == nil:
		return x.refuse("the signal does not say which task is wanted")
	case !n.ID.Valid():
		return x.refuse("%q is not a task id", n.ID)
	case n.Project == "":
		return x.refuse("a task belongs to a project: name one")
	}
	if why := badField("branch", n.Branch); why != "" {
		return x.refuse("%s", why)
	}
	if why := badField("summary", n.Summary); why != "" {
		return x.refuse("%s", why)
	}
	return ""
}

// entryEdge finds the edge that leads to the wanted first state. A task without a
// summary begins where an answer is waited for, if the workflow has such an entry.
func (x *decider) entryEdge() *workflow.Edge {
	want := x.sig.New.Status
	var first *workflow.Edge
	for _, i := range x.def.EdgesFrom(workflow.New) {
		e := &x.def.Edges[i]
		s, _ := x.def.State(e.To)
		switch {
		case want != "" && e.To == want:
			return e
		case want == "" && strings.TrimSpace(x.sig.New.Summary) == "" && s.Kind == workflow.Waiting:
			return e
		case want == "" && first == nil:
			first = e
		}
	}
	return first
}

func (x *decider) entryStates() []string {
	var out []string
	for _, i := range x.def.EdgesFrom(workflow.New) {
		out = append(out, x.def.Edges[i].To)
	}
	return out
}

// importTask takes over a task of an earlier installation, in the state it was in.
// Nothing is started: a state that needs an agent gets one when its deadline passes.
func (x *decider) importTask() Verdict {
	if x.sig.Actor != task.Human {
		return x.refuse("only a person may import a task")
	}
	if v := x.checkNew(); v != "" {
		return v
	}
	n := x.sig.New
	if _, ok := x.def.State(n.Status); !ok && (x.sig.Lost == nil || x.haltState() == "") {
		return x.refuse("Invalid status %q: workflow %s has %s", n.Status, x.def.Name, x.stateList())
	}
	e := x.entry(journal.TaskCreated)
	e.Task, e.New, e.Workflow, e.Hash = n.ID, n, x.def.Name, x.def.Hash
	e.From, e.To, e.Seen, e.Reason = workflow.New, n.Status, x.seen(), "imported"
	for i := range x.def.Counters {
		c := task.Counter{Name: x.def.Counters[i].Name}
		for _, have := range n.Counters {
			if have.Name == c.Name {
				c.Value, c.Total = have.Value, have.Value
			}
		}
		e.Counters = append(e.Counters, c)
	}
	if lost := x.sig.Lost; lost != nil {
		return x.importLost(e, lost)
	}
	return x.last(e, Record)
}
