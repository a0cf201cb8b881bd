package workflow

import "slices"

// personTags finds edges that one tag of a person takes repeatedly.
func (c *checker) personTags() {
	if c.d.Board == nil {
		return
	}
	for i := range c.d.Edges {
		e := &c.d.Edges[i]
		for _, t := range e.On {
			if t.Kind != OnBoard {
				continue
			}
			for _, tag := range t.Board.Tags {
				if c.d.onlyPeopleSet(tag) && !c.d.usedUp(e, t.Board, tag) && c.d.comesBack(e, tag) {
					c.addAdvice(RuleTagKept, e.Pos, "edge %s needs the tag %s, which only people set, and leaves it on the card: the edge can be taken again although no person decided again: add do: [{untag_card: %s}]",
						e.edgeTitle(), tag, tag)
				}
			}
		}
	}
}

// onlyPeopleSet reports whether no role sets a tag that matches the pattern.
func (d *Definition) onlyPeopleSet(pattern string) bool {
	found := false
	for i := range d.Board.Tags {
		if m := &d.Board.Tags[i]; tagMatches(pattern, m.Name) {
			if !m.OnlyPeople() {
				return false
			}
			found = true
		}
	}
	return found
}

// usedUp reports whether the same card cannot take the edge a second time: the edge removes the
// tag or moves the card away, or it counts up to a bound and leaves the tag for another edge,
// which removes it.
func (d *Definition) usedUp(e *Edge, l *CardTrigger, tag string) bool {
	if d.removesMatch(e, l, tag) {
		return true
	}
	bounded := e.When != nil && slices.ContainsFunc(e.Count, func(op CountOp) bool { return op.Add && slices.Contains(e.When.Names, op.Counter) })
	return bounded && slices.ContainsFunc(d.Edges, func(f Edge) bool {
		return slices.ContainsFunc(f.On, func(t Trigger) bool {
			return t.Kind == OnBoard && slices.Contains(t.Board.Tags, tag) && d.removesTags(&f, tag)
		})
	})
}

// removesMatch reports whether a card that took the edge no longer matches the trigger, unless
// a person changes it.
func (d *Definition) removesMatch(e *Edge, l *CardTrigger, tag string) bool {
	if d.removesTags(e, tag) {
		return true
	}
	to, _ := d.StateNamed(e.To)
	for _, f := range slices.Concat(e.Do, to.OnEnter) {
		switch f.Name {
		case UntagCard:
			if slices.ContainsFunc(l.Tags, func(want string) bool { return tagMatches(want, f.Word) && d.onlyPeopleSet(want) }) {
				return true
			}
		case MoveCard:
			if len(l.Columns) > 0 && !slices.Contains(l.Columns, f.Word) && !slices.ContainsFunc(l.Columns, d.rolesMoveTo) {
				return true
			}
		}
	}
	return false
}

// rolesMoveTo reports whether a role may move a card to the column.
func (d *Definition) rolesMoveTo(column string) bool {
	m, ok := d.Board.ColumnNamed(column)
	return ok && !m.OnlyPeople()
}

// removesTags reports whether the edge removes all tags that match the pattern from the card.
func (d *Definition) removesTags(e *Edge, pattern string) bool {
	to, _ := d.StateNamed(e.To)
	effects := slices.Concat(e.Do, to.OnEnter)
	for i := range d.Board.Tags {
		name := d.Board.Tags[i].Name
		if tagMatches(pattern, name) && !slices.ContainsFunc(effects, func(f Effect) bool {
			tag, ok := d.Board.TagNamed(f.Word)
			return f.Name == UntagCard && ok && tag.Name == name
		}) {
			return false
		}
	}
	return true
}

// comesBack reports whether a task that took the edge can return to where the edge begins
// without a person, with the tag still on its card.
func (d *Definition) comesBack(e *Edge, tag string) bool {
	reached := d.reachableStates([]string{e.To}, func(from string) []string {
		var out []string
		for _, i := range d.edgesFrom[from] {
			if f := &d.Edges[i]; !d.removesTags(f, tag) && d.takenAlone(f, tag) {
				out = append(out, f.To)
			}
		}
		return out
	})
	return slices.ContainsFunc(e.From, func(from string) bool { return reached[from] })
}

// takenAlone reports whether an edge is taken without a person while the card has the tag.
func (d *Definition) takenAlone(e *Edge, tag string) bool {
	return slices.ContainsFunc(e.On, func(t Trigger) bool {
		if t.Kind != OnBoard {
			return !d.needsPerson(&Edge{On: []Trigger{t}, By: e.By})
		}
		others := slices.DeleteFunc(slices.Clone(t.Board.Tags), func(want string) bool { return want == tag })
		return !slices.ContainsFunc(others, d.onlyPeopleSet) &&
			!slices.ContainsFunc(t.Board.Not, func(no string) bool { return tagMatches(no, tag) })
	})
}
