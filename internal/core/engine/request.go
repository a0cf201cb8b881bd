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

// request is an actor asking for a state or for a verb.
func (x *decider) request() Verdict {
	if x.sig.To == "" && x.sig.Verb == "" {
		return x.refuse("a request names a status or a verb")
	}
	if _, ok := x.def.State(x.sig.To); !ok && x.sig.To != "" {
		return x.refuse("status %q is not known: workflow %s has %s", x.sig.To, x.def.Name, x.stateList())
	}
	if x.sig.To == "" {
		switch x.sig.Verb {
		case Respawn:
			return x.respawnNow()
		case VerbMerge, VerbPush, VerbCreatePR:
			return x.deed()
		case VerbAnswer:
			if x.answers() == "" {
				return x.answerIdle()
			}
		}
	}
	edges := x.asked()
	if len(edges) == 0 && x.sig.To == "" && x.sig.Verb == VerbVerdict {
		return x.refuseVerdict()
	}
	if len(edges) == 0 {
		return x.refuseNoEdge()
	}
	for _, e := range edges {
		if !x.weigh(e, x.sig.Actor) || !x.speaks(e) {
			continue
		}
		switch {
		case e.Asks(x.sig.Actor):
			return x.ask(e)
		case e.As == Reopen && x.cleaning():
			return x.refuse("the clean-up of the task is still under way: try again in a moment")
		}
		return x.take(e, journal.StatusChanged, Advance)
	}
	return x.refuseClosed()
}

// asked lists the edges that would do what is asked, best first.
func (x *decider) asked() []*workflow.Edge {
	var out []*workflow.Edge
	verb := x.sig.Verb
	if verb == VerbAnswer {
		verb = x.answers()
	}
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		switch {
		case !e.Answers(workflow.OnRequest, ""):
		case x.sig.To == "" && verb == VerbVerdict && x.sig.Arg != "":
			if x.rules(e) {
				out = append(out, e)
			}
		case e.To == x.sig.To || x.sig.To == "" && e.As == verb:
			out = append(out, e)
		}
	}
	if e := x.reopening(); e != nil {
		out = append(out, e)
	}
	if x.sig.To == "" && x.t.ReturnTo != "" {
		back := slices.IndexFunc(out, func(e *workflow.Edge) bool { return e.To == x.t.ReturnTo })
		if back > 0 {
			out[0], out[back] = out[back], out[0]
		}
	}
	return out
}

// Reopen is the verb that sends a finished task back.
const Reopen = "reopen"

// reopening is the way out of a terminal state that its reopen: names.
func (x *decider) reopening() *workflow.Edge {
	e := x.wayBack()
	if e == nil || x.sig.Verb != Reopen && x.sig.To != e.To {
		return nil
	}
	return e
}

// wayBack is the edge that a terminal state's reopen: stands for. A task that is
// reopened counts from the beginning.
func (x *decider) wayBack() *workflow.Edge {
	s, ok := x.def.State(x.t.Status)
	if !ok || s.Reopen == "" {
		return nil
	}
	anew := make([]workflow.CountOp, len(x.def.Counters))
	for i := range anew {
		anew[i] = workflow.CountOp{Counter: x.def.Counters[i].Name}
	}
	return &workflow.Edge{
		Count: anew, From: []string{s.Name}, To: s.Reopen, As: Reopen, Pos: s.Pos,
		On: []workflow.Trigger{{Kind: workflow.OnRequest}}, By: []task.Actor{task.Human},
	}
}

// cleaning says whether effects of the finished task are still to be done. Its
// workspace must be given back before it can ask for one again.
func (x *decider) cleaning() bool {
	return slices.ContainsFunc(x.t.Pending, func(e task.Effect) bool { return !e.GivenUp && !e.Aside })
}

// speaks makes sure that a role's request comes from a live attempt of that role.
func (x *decider) speaks(e *workflow.Edge) bool {
	if _, role := x.def.Role(string(x.sig.Actor)); !role {
		return true
	}
	a, ok := x.t.AttemptByNumber(x.sig.Attempt)
	switch {
	case !ok && x.sig.Attempt == 0:
		return x.note(e, RuleActor, false, fmt.Sprintf("no %s of this task is alive", x.sig.Actor))
	case !ok:
		return x.note(e, RuleActor, false, fmt.Sprintf("attempt %d is over or never was", x.sig.Attempt))
	case a.Role != string(x.sig.Actor):
		return x.note(e, RuleActor, false, fmt.Sprintf("attempt %d is the %s's, not the %s's", a.Number, a.Role, x.sig.Actor))
	case a.Ending:
		return x.note(e, RuleActor, false, fmt.Sprintf("attempt %d was told to end", a.Number))
	}
	return true
}

// ask records a request that only a person can grant.
func (x *decider) ask(to *workflow.Edge) Verdict {
	if x.t.Asked != nil && x.t.Asked.To == to.To {
		return x.refuse("%s was asked for already, and waits for a person: orange task update %s --status %s", to.To, x.t.ID, to.To)
	}
	e := x.entry(journal.AskedPerson)
	e.Line = to.Pos.Line
	e.Asked = &task.Asked{To: to.To, By: x.sig.Actor, At: x.sig.At, Note: x.sig.Note}
	e.Reason = fmt.Sprintf("%s asks for %s; a person must agree", x.sig.Actor, to.To)
	return x.last(e, Stay)
}

// ready is a queued task's turn.
func (x *decider) ready() Verdict {
	s, ok := x.def.State(x.t.Status)
	onBoard := x.t.Queued && x.t.Face != nil && x.def.WatchesBoard(x.t.Status)
	parent := x.t.Queued && x.def.WaitsForChildren(x.t.Status)
	if !ok || s.Kind != workflow.Queued && !onBoard && !parent {
		return x.refuse("the task is %s: it waits in no queue", x.t.Status)
	}
	if x.t.Paused && x.sig.Actor == task.Engine {
		return Stay
	}
	switch {
	case onBoard:
		return x.card(x.t.Face)
	case parent:
		return x.event(workflow.OnTracker, ChildMoved)
	}
	return x.event(workflow.OnReady, "")
}

// ChildMoved is the event by which a parent hears of its children.
const ChildMoved = "child"

// event takes the first open edge that answers to something nobody asked for.
func (x *decider) event(kind workflow.TriggerKind, value string) Verdict {
	typ := journal.AutoAdvanced
	if kind == workflow.OnTracker {
		typ = journal.StatusChanged
	}
	found := false
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if !e.Answers(kind, value) {
			continue
		}
		found = true
		if !x.mayTell(kind, e) || !x.guard(e) || !x.gates(e) {
			continue
		}
		return x.take(e, typ, Advance)
	}
	if !found {
		x.reasons = append(x.reasons, Reason{From: x.t.Status, Rule: RuleEdge, Text: x.unanswered(kind, value)})
	}
	return Stay
}

// mayTell weighs who brings the news, where anybody could: a queue's turn, an outcome,
// a tracker's event. The engine itself fires timers.
func (x *decider) mayTell(kind workflow.TriggerKind, e *workflow.Edge) bool {
	switch {
	case kind == workflow.OnTimer || len(e.By) == 0:
		return true
	case x.sig.Kind == signal.Create: // the creator asked for it; the engine does it
		return x.permits(e, task.Engine) || x.permits(e, x.sig.Actor)
	}
	return x.permits(e, x.sig.Actor) && x.speaks(e)
}

func (x *decider) unanswered(kind workflow.TriggerKind, value string) string {
	var known []string
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		for _, tr := range x.def.Edges[i].On {
			if tr.Kind == kind && !slices.Contains(known, tr.Value) {
				known = append(known, tr.Value)
			}
		}
	}
	if len(known) == 0 {
		return fmt.Sprintf("no edge from %s answers to %s %s", x.t.Status, kind, value)
	}
	return fmt.Sprintf("no edge from %s answers to %s %s: declared are %s", x.t.Status, kind, value, strings.Join(known, ", "))
}

func (x *decider) refuseNoEdge() Verdict {
	if x.sig.To == "" {
		if s, ok := x.def.State(x.t.Status); ok && s.Kind == workflow.Terminal {
			return x.refuse("the task is over: it is %s", x.t.Status)
		}
		return x.refuse("not in map: %s has no %q: from %s a task may go to %s", x.t.Status, x.sig.Verb, x.t.Status, x.targets())
	}
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		if e := &x.def.Edges[i]; e.To == x.sig.To {
			x.note(e, RuleEdge, false, "taken by the engine only, on "+triggerList(e))
			return x.refuse("not in map: %s -> %s is taken by the engine only, on %s", x.t.Status, x.sig.To, triggerList(e))
		}
	}
	return x.refuse("not in map: there is no edge %s -> %s: from %s a task may go to %s", x.t.Status, x.sig.To, x.t.Status, x.targets())
}

// refuseClosed gives the reason of the edge that came closest to opening.
func (x *decider) refuseClosed() Verdict {
	r := nearest(x.reasons)
	if len(x.undone) > 0 {
		return x.refuse("%s -> %s: %s: %s", r.From, r.To, r.Rule, strings.Join(x.undone, "; "))
	}
	return x.refuse("%s -> %s: %s: %s", r.From, r.To, r.Rule, r.Text)
}

// nearest is the rule that kept the edge closed which came closest to opening, nil if
// nothing was closed.
func nearest(reasons []Reason) *Reason {
	var best *Reason
	for i := range reasons {
		r := &reasons[i]
		closer := best == nil || r.Rule.depth() > best.Rule.depth() || r.near && !best.near && r.Rule == best.Rule
		if !r.OK && closer {
			best = r
		}
	}
	return best
}

func (x *decider) targets() string {
	var out []string
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if e.Answers(workflow.OnRequest, "") && !slices.Contains(out, e.To) {
			out = append(out, e.To)
		}
	}
	if len(out) == 0 {
		return "nowhere"
	}
	return strings.Join(out, ", ")
}

func (x *decider) stateList() string {
	names := make([]string, len(x.def.States))
	for i := range x.def.States {
		names[i] = x.def.States[i].Name
	}
	return strings.Join(names, ", ")
}

func triggerList(e *workflow.Edge) string {
	words := make([]string, len(e.On))
	for i, t := range e.On {
		words[i] = strings.TrimSpace(string(t.Kind) + " " + t.Value)
	}
	return strings.Join(words, ", ")
}
