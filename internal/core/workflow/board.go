package workflow

import (
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/task"
)

// A Board is what a workflow expects of the board of its tasks.
type Board struct {
	Columns []Mark // in order
	Tags    []Mark
	Pos     Pos
}

// A Mark is a tag that a card may have, or a column that it may be in.
type Mark struct {
	Name string
	By   []task.Actor // roles that may request it in their result; people always may
	Pos  Pos
}

// OnlyPeople reports whether only people may request it.
func (m *Mark) OnlyPeople() bool {
	return !slices.ContainsFunc(m.By, func(a task.Actor) bool { return a != task.Human })
}

// SetByPeople reports whether only people set a tag: no role may request it, no role claims
// cards with it, and no effect sets it.
func (d *Definition) SetByPeople(name string) bool {
	tag, ok := d.Board.TagNamed(name)
	if !ok || !tag.OnlyPeople() || slices.ContainsFunc(d.Roles, func(r Role) bool { return strings.EqualFold(r.Claim, tag.Name) }) {
		return false
	}
	sets := func(e Effect) bool { return e.Name == TagCard && strings.EqualFold(e.Word, tag.Name) }
	return !slices.ContainsFunc(d.Edges, func(e Edge) bool { return slices.ContainsFunc(e.Do, sets) }) &&
		!slices.ContainsFunc(d.States, func(s State) bool { return slices.ContainsFunc(s.OnEnter, sets) })
}

// TagNamed returns the declared tag with a name, ignoring case.
func (b *Board) TagNamed(name string) (*Mark, bool) {
	if b == nil {
		return nil, false
	}
	return markNamed(b.Tags, name)
}

// ColumnNamed returns the declared column with a name, ignoring case.
func (b *Board) ColumnNamed(name string) (*Mark, bool) {
	if b == nil {
		return nil, false
	}
	return markNamed(b.Columns, name)
}

func markNamed(list []Mark, name string) (*Mark, bool) {
	for i := range list {
		if strings.EqualFold(list[i].Name, strings.TrimSpace(name)) {
			return &list[i], true
		}
	}
	return nil, false
}

// Vocabulary returns the columns and tags that a board needs for the workflow.
func (b *Board) Vocabulary() board.Vocabulary {
	var v board.Vocabulary
	for i := range b.Columns {
		v.Columns = append(v.Columns, b.Columns[i].Name)
	}
	for i := range b.Tags {
		v.Tags = append(v.Tags, b.Tags[i].Name)
	}
	return v
}

// A CardTrigger is what an edge waits for on the board: a card in one of the columns, with all
// of the tags and none of the tags in Not. A tag that ends in * stands for all tags with that
// prefix. An empty CardTrigger matches every card.
type CardTrigger struct {
	Columns []string
	Tags    []string
	Not     []string
}

// MatchesCard reports whether a card matches the trigger.
func (l *CardTrigger) MatchesCard(f *board.Snapshot) bool {
	if len(l.Columns) > 0 && !slices.Contains(l.Columns, f.Column) {
		return false
	}
	carries := func(pattern string) bool {
		return slices.ContainsFunc(f.Tags, func(tag string) bool { return tagMatches(pattern, tag) })
	}
	for _, want := range l.Tags {
		if !carries(want) {
			return false
		}
	}
	return !slices.ContainsFunc(l.Not, carries)
}

// MissingTags returns the tags that a card in the right column lacks; ok is false if no tag
// would help.
func (l *CardTrigger) MissingTags(f *board.Snapshot) (tags []string, ok bool) {
	bare := CardTrigger{Columns: l.Columns, Not: l.Not}
	if !bare.MatchesCard(f) {
		return nil, false
	}
	for _, want := range l.Tags {
		if !slices.ContainsFunc(f.Tags, func(tag string) bool { return tagMatches(want, tag) }) {
			tags = append(tags, want)
		}
	}
	return tags, true
}

// InTheWay returns the tags that alone prevent a card from matching.
func (l *CardTrigger) InTheWay(f *board.Snapshot) []string {
	bare := CardTrigger{Columns: l.Columns, Tags: l.Tags}
	if len(l.Tags) == 0 || !bare.MatchesCard(f) {
		return nil
	}
	var out []string
	for _, tag := range f.Tags {
		if slices.ContainsFunc(l.Not, func(pattern string) bool { return tagMatches(pattern, tag) }) {
			out = append(out, tag)
		}
	}
	return out
}

// ExampleCard returns a card that matches.
func (l *CardTrigger) ExampleCard() board.Snapshot {
	f := board.Snapshot{}
	if len(l.Columns) > 0 {
		f.Column = l.Columns[0]
	}
	for _, tag := range l.Tags {
		f.Tags = append(f.Tags, strings.TrimSuffix(tag, "*"))
	}
	return f
}

func (l *CardTrigger) String() string {
	words := []string{strings.Join(l.Columns, " or ")}
	if len(l.Columns) == 0 {
		words[0] = "any column"
	}
	for _, tag := range l.Tags {
		words = append(words, "+"+tag)
	}
	for _, tag := range l.Not {
		words = append(words, "-"+tag)
	}
	return strings.Join(words, " ")
}

func tagMatches(pattern, tag string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(tag, prefix)
	}
	return pattern == tag
}

// MatchesCard reports whether the edge waits for a card like f.
func (e *Edge) MatchesCard(f *board.Snapshot) bool {
	for i := range e.On {
		if e.On[i].Kind == OnBoard && e.On[i].Board.MatchesCard(f) {
			return true
		}
	}
	return false
}

// WatchesBoard reports whether an edge out of the state waits for a card.
func (d *Definition) WatchesBoard(state string) bool {
	for _, i := range d.edgesFrom[state] {
		for _, tr := range d.Edges[i].On {
			if tr.Kind == OnBoard {
				return true
			}
		}
	}
	return false
}

// readBoard reads the board that the file declares.
func (d *Definition) readBoard(v value) {
	b := &Board{Pos: v.pos}
	for _, p := range v.readPairs("board") {
		switch p.key {
		case "columns":
			b.Columns = readMarks(p.val, "board: columns")
		case "tags":
			b.Tags = readMarks(p.val, "board: tags")
		default:
			unknownKey(v.r, p, "board", "columns", "tags")
		}
	}
	if v.r.err == nil && len(b.Columns) == 0 {
		v.r.failAt(v.pos, "a board needs columns: add columns: {NAME: [ROLES]}")
	}
	d.Board = b
}

func readMarks(v value, what string) []Mark {
	var out []Mark
	for _, q := range v.readPairs(what) {
		out = append(out, Mark{Name: q.key, By: toActors(q.val.readTexts(what + ": " + q.key)), Pos: q.pos})
	}
	return out
}

// readCardTrigger reads the card that an edge waits for.
func readCardTrigger(v value) Trigger {
	l := &CardTrigger{}
	for _, p := range v.readPairs("on board") {
		switch p.key {
		case "column":
			l.Columns = p.val.readTexts("on board: column")
		case "tags":
			l.Tags = p.val.readTexts("on board: tags")
		case "not":
			l.Not = p.val.readTexts("on board: not")
		default:
			unknownKey(v.r, p, "on board", "column", "tags", "not")
		}
	}
	return Trigger{Kind: OnBoard, Value: l.String(), Board: l}
}

// checkCardTrigger requires that the board has the columns and tags that an edge waits for.
func (n *nameResolver) checkCardTrigger(l *CardTrigger, pos Pos, what string) {
	n.requireThat(n.d.Board != nil, pos, "%s: on: board needs board: in the file, with columns and tags", what)
	if n.d.Board == nil {
		return
	}
	for _, c := range l.Columns {
		_, ok := n.d.Board.ColumnNamed(c)
		n.requireThat(ok, pos, "%s: column %q is not declared: add it to board: columns%s", what, c, suggestSimilar(c, n.d.Board.columnList()))
	}
	for _, tag := range append(slices.Clone(l.Tags), l.Not...) {
		known := slices.ContainsFunc(n.d.Board.Tags, func(t Mark) bool { return tagMatches(tag, t.Name) })
		n.requireThat(known, pos, "%s: tag %q is not declared: add it to board: tags%s", what, tag, suggestSimilar(tag, n.d.Board.tagList()))
	}
}

// checkBoard requires that the actors who may request tags and columns are known.
func (n *nameResolver) checkBoard() {
	if n.d.Board == nil {
		return
	}
	for _, m := range append(slices.Clone(n.d.Board.Tags), n.d.Board.Columns...) {
		for _, by := range m.By {
			n.requireThat(n.d.KnowsActor(by), m.Pos, "board: %s: actor %q is not known: use human or a declared role%s", m.Name, by, n.d.similarActor(by))
		}
	}
}

// boardTag requires that a tag is declared.
func (n *nameResolver) boardTag(tag string, pos Pos, what string) {
	_, ok := n.d.Board.TagNamed(tag)
	n.requireThat(tag == "" || ok, pos, "%s: tag %q is not declared: add it to board: tags%s", what, tag, suggestSimilar(tag, n.d.Board.tagList()))
}
