package engine

import (
	"fmt"
	"slices"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// personDecides reports whether a person does something that begins a new round: moves, answers, resumes or respawns
// the task, or changes column or tags of its card. A comment, a field, a message and a push do not count.
func (d *decider) personDecides() bool {
	switch d.sig.Kind {
	case signal.Request:
		if d.sig.To == "" && slices.Contains(minorVerbs[:], d.sig.Verb) {
			return false
		}
		return d.personMoves()
	case signal.Resume:
		return d.sig.Actor == task.Human || d.sig.Actor == task.Tracker
	case signal.Tracker:
		return d.sig.CardSnapshot != nil && d.personChanged(d.sig.CardSnapshot)
	}
	return false
}

// minorVerbs are the verbs of a person that begin no new round.
var minorVerbs = [...]string{VerbMerge, VerbPush, VerbCreatePR, VerbSend, VerbEdit, VerbStop}

// personMoves reports whether a person requests a move, by command or by moving the issue in the tracker. Requests of
// forges, such as changes after a failed check, name a verb.
func (d *decider) personMoves() bool {
	return d.sig.Kind == signal.Request && (d.sig.Actor == task.Human || d.sig.Actor == task.Tracker && d.sig.To != "")
}

// personChanged reports whether a person changed column or tags of the card. A new tag that only people set proves it.
// Any other difference does too, unless Orange may have caused it: while Orange changes a card, the tracker shows both.
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

// resetForPerson resets the counters that a person's decision resets, before anything is weighed, so that the new round gets
// the full limits.
func (d *decider) resetForPerson() {
	if d.personDecides() {
		d.t, d.reset = resetCounters(d.def, d.t)
	}
}

// resetCounters returns the record with the counters reset that a person's decision resets, and the counters that changed.
func resetCounters(def *workflow.Definition, t *task.Task) (*task.Task, []task.Counter) {
	var reset []task.Counter
	out := t
	for i := range t.Counters {
		c, ok := def.CounterNamed(t.Counters[i].Name)
		if !ok || !c.ByPerson || t.Counters[i].Value == 0 {
			continue
		}
		if reset == nil {
			next := *t
			next.Counters = slices.Clone(t.Counters)
			out = &next
		}
		out.Counters[i].Value = 0
		reset = append(reset, out.Counters[i])
	}
	return out, reset
}

// AsPersonDecides returns the record as guards see it when a person decides.
func AsPersonDecides(def *workflow.Definition, t *task.Task) *task.Task {
	out, _ := resetCounters(def, t)
	return out
}

// withReset adds the counters that were reset to those that an entry changes.
func withReset(counters, reset []task.Counter) []task.Counter {
	for _, c := range reset {
		if !slices.ContainsFunc(counters, func(have task.Counter) bool { return have.Name == c.Name }) {
			counters = append(counters, c)
		}
	}
	return counters
}

// guardOfPerson evaluates the guard as it is when a person requests the edge, if a person may.
func (d *decider) guardOfPerson(e *workflow.Edge) bool {
	if !e.AnswersTo(workflow.OnRequest, "") || !e.PermitsActor(task.Human) {
		return d.checkGuard(e)
	}
	y := *d
	y.t, _ = resetCounters(d.def, d.t)
	y.env = nil
	ok := y.checkGuard(e)
	d.reasons = y.reasons
	return ok
}

// boundsReached names the limits that open an edge, "" for none.
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
