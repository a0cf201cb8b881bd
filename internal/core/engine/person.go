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
func (d *decider) personDecides() bool {
	switch d.sig.Kind {
	case signal.Request:
		return d.personMoves() && (d.sig.To != "" || d.sig.Verb != VerbMerge && d.sig.Verb != VerbPush && d.sig.Verb != VerbCreatePR)
	case signal.Resume:
		return d.sig.Actor == task.Human || d.sig.Actor == task.Tracker
	case signal.Tracker:
		return d.sig.CardSnapshot != nil && d.personChanged(d.sig.CardSnapshot)
	}
	return false
}

// personMoves says that a person asks for a move, here or by moving the issue in the tracker. What forges ask for, such as
// changes after a failed check, names a verb.
func (d *decider) personMoves() bool {
	return d.sig.Kind == signal.Request && (d.sig.Actor == task.Human || d.sig.Actor == task.Tracker && d.sig.To != "")
}

// personChanged says that a person changed column or tags of the card. A new tag that only people set proves it. Any other
// difference does unless it may be Orange's own: while it changes a card itself, the tracker shows both.
func (d *decider) personChanged(f *board.Snapshot) bool {
	was := d.t.CardSnapshot
	if slices.ContainsFunc(f.Tags, func(tag string) bool {
		return d.def.SetByPeople(tag) && (was == nil || !slices.Contains(was.Tags, tag))
	}) {
		return true
	}
	switch {
	case d.sig.Actor != task.Human && d.sig.Actor != task.Tracker, d.sig.Actor == task.Tracker && d.hasPendingCardRead():
		return false
	}
	return was == nil || was.Column != f.Column || !slices.Equal(was.Tags, f.Tags)
}

// setBack takes the counters that a person resets to 0 before anything is weighed: who decides gets the whole bound again.
func (d *decider) setBack() {
	if d.personDecides() {
		t, back := setBack(d.def, d.t)
		d.task, d.back = *t, back
	}
}

// setBack is the record with the counters at 0 that a person resets, and those that were not.
func setBack(def *workflow.Definition, t *task.Task) (*task.Task, []task.Counter) {
	var back []task.Counter
	out := t
	for i := range t.Counters {
		c, ok := def.CounterNamed(t.Counters[i].Name)
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
func (d *decider) guardOfPerson(e *workflow.Edge) bool {
	if !e.AnswersTo(workflow.OnRequest, "") || !e.PermitsActor(task.Human) {
		return d.checkGuard(e)
	}
	y := *d
	y.t, _ = setBack(d.def, d.t)
	y.env = nil
	ok := y.checkGuard(e)
	d.reasons = y.reasons
	return ok
}

// boundsReached names the bounds that open an edge, "" for none.
func (d *decider) boundsReached(e *workflow.Edge) string {
	if e.When == nil {
		return ""
	}
	text := ""
	for _, name := range e.When.Names {
		c, ok := d.def.CounterNamed(name)
		if !ok || d.t.CounterValue(name) < c.Max {
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
