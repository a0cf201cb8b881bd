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

// decideOnRequest handles an actor's request for a state or a verb.
func (d *decider) decideOnRequest() Verdict {
	if d.sig.To == "" && d.sig.Verb == "" {
		return d.refuse("a request names a status or a verb")
	}
	if _, ok := d.def.StateNamed(d.sig.To); !ok && d.sig.To != "" {
		return d.refuse("status %q is not known: workflow %s has %s", d.sig.To, d.def.Name, d.stateList())
	}
	if d.sig.To == "" {
		switch d.sig.Verb {
		case Respawn:
			return d.respawnNow()
		case VerbMerge, VerbPush, VerbCreatePR:
			return d.requestPersonAction()
		case VerbCheck:
			return d.requestCheck()
		case VerbUnland:
			return d.leaveLandingQueue()
		case VerbApproveChanges:
			return d.approveChanges()
		case VerbSend:
			return d.sendMessage()
		case VerbEdit:
			return d.editTask()
		case VerbAnswer:
			if d.answerVerb() == "" {
				return d.answerIdle()
			}
		}
	}
	edges := d.requestedEdges()
	if len(edges) == 0 && d.sig.To == "" && d.sig.Verb == VerbStop {
		return d.stopAgent()
	}
	if len(edges) == 0 && d.sig.To == "" && d.sig.Verb == VerbVerdict {
		return d.refuseVerdict()
	}
	if len(edges) == 0 {
		return d.refuseNoEdge()
	}
	for _, e := range edges {
		if !d.weighEdge(e, d.sig.Actor) || !d.checkRequester(e) || !d.mayLeaveCheck(e) {
			continue
		}
		switch {
		case e.AsksForConsent(d.sig.Actor):
			return d.askPerson(e)
		case e.As == Reopen && d.hasCleanupLeft():
			return d.refuse("the clean-up of the task is still in progress: try again in a moment")
		}
		return d.takeEdge(e, journal.StatusChanged, Advance)
	}
	return d.refuseClosed()
}

// requestedEdges lists the edges that would fulfil the request, best first.
func (d *decider) requestedEdges() []*workflow.Edge {
	var out []*workflow.Edge
	verb := d.sig.Verb
	if verb == VerbAnswer {
		verb = d.answerVerb()
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		switch {
		case !e.AnswersTo(workflow.OnRequest, ""):
		case d.sig.To == "" && verb == VerbVerdict && d.sig.Arg != "":
			if d.verdictFits(e) {
				out = append(out, e)
			}
		case d.sig.To != "" && d.def.LeadsTo(e, d.sig.To) || d.sig.To == "" && e.As == verb:
			out = append(out, e)
		}
	}
	if e := d.reopenEdge(); e != nil {
		out = append(out, e)
	}
	if d.sig.To == "" && d.t.ReturnTo != "" {
		back := slices.IndexFunc(out, func(e *workflow.Edge) bool { return e.To == d.t.ReturnTo })
		if back > 0 {
			out[0], out[back] = out[back], out[0]
		}
	}
	return out
}

// Reopen is the verb that reopens a finished task.
const Reopen = "reopen"

// reopenEdge returns the edge out of a terminal state that its reopen: names.
func (d *decider) reopenEdge() *workflow.Edge {
	e := d.definedReopenEdge()
	if e == nil || d.sig.Verb != Reopen && d.sig.To != e.To {
		return nil
	}
	return e
}

// definedReopenEdge returns the edge that a terminal state's reopen: defines. The counters of a reopened task start from 0.
func (d *decider) definedReopenEdge() *workflow.Edge {
	s, ok := d.def.StateNamed(d.t.Status)
	if !ok || s.Reopen == "" {
		return nil
	}
	resets := make([]workflow.CountOp, len(d.def.Counters))
	for i := range resets {
		resets[i] = workflow.CountOp{Counter: d.def.Counters[i].Name}
	}
	return &workflow.Edge{
		Count: resets, From: []string{s.Name}, To: s.Reopen, As: Reopen, Pos: s.Pos,
		On: []workflow.Trigger{{Kind: workflow.OnRequest}}, By: []task.Actor{task.Human},
	}
}

// hasCleanupLeft reports whether effects of the finished task are pending. Its workspace must be released before the
// task can request one again.
func (d *decider) hasCleanupLeft() bool {
	return slices.ContainsFunc(d.t.Pending, func(e task.Effect) bool { return !e.GivenUp && !e.NonBlocking })
}

// checkRequester checks that a role's request comes from a live attempt of that role.
func (d *decider) checkRequester(e *workflow.Edge) bool {
	if _, role := d.def.RoleNamed(string(d.sig.Actor)); !role {
		return true
	}
	a, ok := d.t.AttemptByNumber(d.sig.Attempt)
	switch {
	case !ok && d.sig.Attempt == 0:
		return d.addReason(e, RuleActor, false, fmt.Sprintf("no %s of this task is alive", d.sig.Actor))
	case !ok:
		return d.addReason(e, RuleActor, false, fmt.Sprintf("attempt %d is over or never was", d.sig.Attempt))
	case a.Role != string(d.sig.Actor):
		return d.addReason(e, RuleActor, false, fmt.Sprintf("attempt %d is the %s's, not the %s's", a.Number, a.Role, d.sig.Actor))
	case a.Ending:
		return d.addReason(e, RuleActor, false, fmt.Sprintf("attempt %d was told to end", a.Number))
	}
	return true
}

// askPerson records a request that only a person can grant.
func (d *decider) askPerson(to *workflow.Edge) Verdict {
	if d.t.Asked != nil && d.t.Asked.To == to.To {
		return d.refuse("%s was asked for already, and waits for a person: orange task update %s --status %s", to.To, d.t.ID, to.To)
	}
	e := d.newEntry(journal.AskedPerson)
	e.Line = to.Pos.Line
	e.Asked = &task.Asked{To: to.To, By: d.sig.Actor, At: d.sig.At, Note: d.sig.Note}
	e.Reason = fmt.Sprintf("%s asks for %s; a person must agree", d.sig.Actor, to.To)
	return d.finishWith(e, Stay)
}

// leaveQueue handles a queued task's turn.
func (d *decider) leaveQueue() Verdict {
	s, ok := d.def.StateNamed(d.t.Status)
	onBoard := d.t.Queued && d.t.CardSnapshot != nil && d.def.WatchesBoard(d.t.Status)
	parent := d.t.Queued && d.def.WaitsForChildren(d.t.Status)
	if !ok || s.Kind != workflow.Queued && !onBoard && !parent {
		return d.refuse("the task is %s: it waits in no queue", d.t.Status)
	}
	if d.t.Paused && d.sig.Actor == task.Engine {
		return Stay
	}
	switch {
	case onBoard:
		return d.decideOnCard(d.t.CardSnapshot)
	case parent:
		return d.takeEventEdge(workflow.OnTracker, ChildMoved)
	}
	return d.takeEventEdge(workflow.OnReady, "")
}

// ChildMoved is the event that notifies a parent of a change of its children.
const ChildMoved = "child"

// takeEventEdge takes the first open edge for an event that nobody requested.
func (d *decider) takeEventEdge(kind workflow.TriggerKind, value string) Verdict {
	typ := journal.AutoAdvanced
	if kind == workflow.OnTracker {
		typ = journal.StatusChanged
	}
	found := false
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if !e.AnswersTo(kind, value) {
			continue
		}
		found = true
		if !d.checkSource(kind, e) || !d.checkGuard(e) || !d.checkGates(e) {
			continue
		}
		return d.takeEdge(e, typ, Advance)
	}
	if !found {
		d.reasons = append(d.reasons, Reason{From: d.t.Status, Rule: RuleEdge, Text: d.describeUnanswered(kind, value)})
	}
	return Stay
}

// checkSource checks the source of a signal that anybody could send: a queue's turn, an outcome, a tracker's event. Timers
// come from the engine itself.
func (d *decider) checkSource(kind workflow.TriggerKind, e *workflow.Edge) bool {
	switch {
	case kind == workflow.OnTimer || len(e.By) == 0:
		return true
	case d.sig.Kind == signal.Create: // the creator requested it; the engine does it
		return d.checkActor(e, task.Engine) || d.checkActor(e, d.sig.Actor)
	}
	return d.checkActor(e, d.sig.Actor) && d.checkRequester(e)
}

func (d *decider) describeUnanswered(kind workflow.TriggerKind, value string) string {
	var known []string
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		for _, tr := range d.def.Edges[i].On {
			if tr.Kind == kind && !slices.Contains(known, tr.Value) {
				known = append(known, tr.Value)
			}
		}
	}
	if len(known) == 0 {
		return fmt.Sprintf("no edge from %s answers to %s %s", d.t.Status, kind, value)
	}
	return fmt.Sprintf("no edge from %s answers to %s %s: declared are %s", d.t.Status, kind, value, strings.Join(known, ", "))
}

func (d *decider) refuseNoEdge() Verdict {
	if d.sig.To == "" {
		if s, ok := d.def.StateNamed(d.t.Status); ok && s.Kind == workflow.Terminal {
			return d.refuse("the task is over: it is %s", d.t.Status)
		}
		return d.refuse("not in map: %s has no %q: from %s a task may go to %s", d.t.Status, d.sig.Verb, d.t.Status, d.listTargets())
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		if e := &d.def.Edges[i]; e.To == d.sig.To {
			d.addReason(e, RuleEdge, false, "taken by the engine only, on "+TriggerList(e))
			return d.refuse("not in map: %s -> %s is taken by the engine only, on %s", d.t.Status, d.sig.To, TriggerList(e))
		}
	}
	return d.refuse("not in map: there is no edge %s -> %s: from %s a task may go to %s", d.t.Status, d.sig.To, d.t.Status, d.listTargets())
}

// refuseClosed refuses with the reason of the edge that came closest to opening.
func (d *decider) refuseClosed() Verdict {
	r := nearestReason(d.reasons)
	if len(d.undone) > 0 {
		return d.refuse("%s -> %s: %s: %s", r.From, r.To, r.Rule, strings.Join(d.undone, "; "))
	}
	return d.refuse("%s -> %s: %s: %s", r.From, r.To, r.Rule, r.Text)
}

// nearestReason returns the rule that closed the edge that came closest to opening, or nil if none was closed.
func nearestReason(reasons []Reason) *Reason {
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

func (d *decider) listTargets() string {
	var out []string
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if e.AnswersTo(workflow.OnRequest, "") && !slices.Contains(out, e.To) {
			out = append(out, e.To)
		}
	}
	if len(out) == 0 {
		return "nowhere"
	}
	return strings.Join(out, ", ")
}

func (d *decider) stateList() string {
	names := make([]string, len(d.def.States))
	for i := range d.def.States {
		names[i] = d.def.States[i].Name
	}
	return strings.Join(names, ", ")
}

// TriggerList names the triggers of an edge.
func TriggerList(e *workflow.Edge) string {
	words := make([]string, len(e.On))
	for i, t := range e.On {
		words[i] = strings.TrimSpace(string(t.Kind) + " " + t.Value)
	}
	return strings.Join(words, ", ")
}
