package engine

import (
	"fmt"
	"slices"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// personDecides says that a person does something that begins a new round: moves, answers, resumes or respawns the
// task, or changes column or tags of its card. A comment, a field and a push are no decision about the task.
func (x *decider) personDecides() bool {
	switch x.sig.Kind {
	case signal.Request:
		return x.personMoves() && (x.sig.To != "" || x.sig.Verb != VerbMerge && x.sig.Verb != VerbPush && x.sig.Verb != VerbCreatePR)
	case signal.Resume:
		return x.sig.Actor == task.Human || x.sig.Actor == task.Tracker
	case signal.Tracker:
		return x.sig.Face != nil && x.personChanged(x.sig.Face)
	}
	return false
}

// personMoves says that a person asks for a move, here or by moving the issue in the tracker. What forges ask for, such as
// changes after a failed check, names a verb.
func (x *decider) personMoves() bool {
	return x.sig.Kind == signal.Request && (x.sig.Actor == task.Human || x.sig.Actor == task.Tracker && x.sig.To != "")
}

// personChanged says that a person changed column or tags of the card. A new tag that only people set proves it. Any other
// difference does unless it may be Orange's own: while it changes a card itself, the tracker shows both.
func (x *decider) personChanged(f *board.Face) bool {
	was := x.t.Face
	if slices.ContainsFunc(f.Tags, func(tag string) bool {
		return x.def.SetByPeople(tag) && (was == nil || !slices.Contains(was.Tags, tag))
	}) {
		return true
	}
	switch {
	case x.sig.Actor != task.Human && x.sig.Actor != task.Tracker, x.sig.Actor == task.Tracker && x.changing():
		return false
	}
	return was == nil || was.Column != f.Column || !slices.Equal(was.Tags, f.Tags)
}

// setBack takes the counters that a person resets to 0 before anything is weighed: who decides gets the whole bound again.
func (x *decider) setBack() {
	if x.personDecides() {
		t, back := setBack(x.def, x.t)
		x.task, x.back = *t, back
	}
}

// setBack is the record with the counters at 0 that a person resets, and those that were not.
func setBack(def *workflow.Definition, t *task.Task) (*task.Task, []task.Counter) {
	var back []task.Counter
	out := t
	for i := range t.Counters {
		c, ok := def.Counter(t.Counters[i].Name)
		if !ok || !c.ByPerson || t.Counters[i].Value == 0 {
			continue
		}
		if back == nil {
			next := *t
			next.Counters = slices.Clone(t.Counters)
			out = &next
		}
		out.Counters[i].Value = 0
		back = append(back, out.Counters[i])
	}
	return out, back
}

// AsPersonDecides is the record as guards see it when a person decides.
func AsPersonDecides(def *workflow.Definition, t *task.Task) *task.Task {
	out, _ := setBack(def, t)
	return out
}

// withBack adds the counters that were set back to those that an entry changes.
func withBack(counters, back []task.Counter) []task.Counter {
	for _, c := range back {
		if !slices.ContainsFunc(counters, func(have task.Counter) bool { return have.Name == c.Name }) {
			counters = append(counters, c)
		}
	}
	return counters
}

// guardOfPerson is guard as it is when a person asks for the edge, where one may.
func (x *decider) guardOfPerson(e *workflow.Edge) bool {
	if !e.Answers(workflow.OnRequest, "") || !e.Permits(task.Human) {
		return x.guard(e)
	}
	y := *x
	y.t, _ = setBack(x.def, x.t)
	y.env = nil
	ok := y.guard(e)
	x.reasons = y.reasons
	return ok
}

// boundsReached names the bounds that open an edge, "" for none.
func (x *decider) boundsReached(e *workflow.Edge) string {
	if e.When == nil {
		return ""
	}
	text := ""
	for _, name := range e.When.Names {
		c, ok := x.def.Counter(name)
		if !ok || x.t.Counter(name) < c.Max {
			continue
		}
		text += fmt.Sprintf("%s reached its bound of %d", name, c.Max)
		if c.ByPerson {
			text += " since a person last decided"
		}
		text += ": "
	}
	return text
}
