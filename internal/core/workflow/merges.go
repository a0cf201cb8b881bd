package workflow

import (
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/task"
)

// LeadsToMerge reports whether the edge merges, or leads to a state from which a merge follows
// without a person. A held task waits for a person.
func (d *Definition) LeadsToMerge(e *Edge) bool {
	return !e.Hold && (d.MergesAtOnce(e) || d.mergesAlone[e.To])
}

// MergesAtOnce reports whether the edge merges, by its own effects or by those of its target.
func (d *Definition) MergesAtOnce(e *Edge) bool {
	isMerge := func(f Effect) bool { return f.Name == MergeBranch || f.Name == Land }
	if slices.ContainsFunc(e.Do, isMerge) {
		return true
	}
	to, ok := d.StateNamed(e.To)
	return ok && slices.ContainsFunc(to.OnEnter, isMerge)
}

// MergesWork reports whether a task of the workflow can be merged: an edge merges, or waits for a merge.
func (d *Definition) MergesWork() bool {
	return slices.ContainsFunc(d.Gates, func(g Gate) bool { return g.Evidence == Merged }) ||
		slices.ContainsFunc(d.Edges, func(e Edge) bool { return d.MergesAtOnce(&e) })
}

// VerbCancel is the verb that ends a task without a result.
const VerbCancel = "cancel"

// MeansCancelled reports whether a task in the terminal state was cancelled: no edge but those of that verb leads there.
func (d *Definition) MeansCancelled(state string) bool {
	found := false
	for i := range d.Edges {
		if e := &d.Edges[i]; e.To == state {
			found = true
			if e.As != VerbCancel {
				return false
			}
		}
	}
	return found
}

// indexMerges finds the states from which a merge can follow without a person.
func (d *Definition) indexMerges() {
	d.mergesAlone = map[string]bool{}
	for grown := true; grown; {
		grown = false
		for i := range d.Edges {
			e := &d.Edges[i]
			if d.needsPerson(e) || !d.LeadsToMerge(e) {
				continue
			}
			for _, from := range e.From {
				if !d.mergesAlone[from] {
					d.mergesAlone[from], grown = true, true
				}
			}
		}
	}
}

// needsPerson reports whether only a person's request or mark on a card takes the edge.
func (d *Definition) needsPerson(e *Edge) bool {
	for i := range e.On {
		switch tr := &e.On[i]; tr.Kind {
		case OnRequest, OnCreate:
			if slices.ContainsFunc(e.By, func(a task.Actor) bool { return a != task.Human && a != task.Tracker }) {
				return false
			}
		case OnBoard:
			if !d.onlyPeopleMark(tr.Board) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (d *Definition) onlyPeopleMark(l *CardTrigger) bool {
	return slices.ContainsFunc(l.ExampleCard().Tags, func(name string) bool {
		tag, ok := d.Board.TagNamed(name)
		return ok && tag.OnlyPeople()
	})
}

// MarksMerge reports whether a card like f lets an edge merge: it matches the edge, or it has a
// tag that the edge waits for and that only people set.
func (d *Definition) MarksMerge(f *board.Snapshot) bool {
	for i := range d.Edges {
		e := &d.Edges[i]
		if !d.MergesAtOnce(e) {
			continue
		}
		for j := range e.On {
			if l := e.On[j].Board; e.On[j].Kind == OnBoard && (l.MatchesCard(f) || d.carriesMark(l, f)) {
				return true
			}
		}
	}
	return false
}

// carriesMark reports whether a card has a tag of a trigger that only people set.
func (d *Definition) carriesMark(l *CardTrigger, f *board.Snapshot) bool {
	return slices.ContainsFunc(l.Tags, func(want string) bool {
		tag, ok := d.Board.TagNamed(strings.TrimSuffix(want, "*"))
		return ok && tag.OnlyPeople() && slices.ContainsFunc(f.Tags, func(have string) bool { return tagMatches(want, have) })
	})
}
