package mcpboard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// WriteChange applies a change to an issue: tags, column, title, description, comment, in this
// order.
func (t *Tracker) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) (*tracker.Issue, error) {
	texts, err := t.changeTexts(c)
	if err != nil {
		return nil, err
	}
	if err := t.ensureVocabulary(ctx, c); err != nil {
		return nil, err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	if err := t.writeTags(ctx, was, c); err != nil {
		return nil, err
	}
	if c.Column != "" {
		if err := t.moveIssue(ctx, idOf(was), c.Column); err != nil {
			return nil, err
		}
	}
	for _, s := range texts {
		if err := t.writeText(ctx, idOf(was), c.Author, s); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// ensureVocabulary reads the board's columns and tags if a change names some and nobody has
// read them yet.
func (t *Tracker) ensureVocabulary(ctx context.Context, c board.Change) error {
	t.mu.Lock()
	known := t.known
	t.mu.Unlock()
	if known || c.Column == "" && len(c.AddTags)+len(c.RemoveTags) == 0 {
		return nil
	}
	_, err := t.ReadVocabulary(ctx)
	return err
}

// findName returns the column or tag with a name.
func (t *Tracker) findName(list *[]named, name string) (named, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(*list, func(n named) bool { return n.name == name })
	if i < 0 {
		i = slices.IndexFunc(*list, func(n named) bool { return strings.EqualFold(n.name, name) })
	}
	if i < 0 {
		return named{}, false
	}
	return (*list)[i], true
}

func (t *Tracker) moveIssue(ctx context.Context, id, column string) error {
	to, ok := t.findName(&t.columns, column)
	if !ok {
		return tracker.ErrStale
	}
	return asStale(t.writeChecked(ctx, t.m.Move, map[string]any{"id": id, "column": to.name, "column_id": to.id}))
}

// asStale treats what a board does not know, or does not accept, as a name that no longer
// exists, because the issue existed a moment ago.
func asStale(err error) error {
	if kind := kindOf(err); kind == kindMissing || kind == kindRefused {
		return tracker.ErrStale
	}
	return err
}

func (t *Tracker) writeTags(ctx context.Context, was tracker.Issue, c board.Change) error {
	switch {
	case len(c.AddTags)+len(c.RemoveTags) == 0:
		return nil
	case t.m.AddTag != nil:
		return t.eachTag(ctx, idOf(was), c)
	case t.m.SetTags != nil:
		return t.setTags(ctx, was, c)
	}
	return board.Refusef("mapping %s has no operations for tags: give it add_tag and remove_tag, or set_tags", t.m.Name)
}

func (t *Tracker) eachTag(ctx context.Context, id string, c board.Change) error {
	var add []named
	for _, name := range c.AddTags {
		tag, ok := t.findName(&t.tags, name)
		if !ok {
			return tracker.ErrStale
		}
		add = append(add, tag)
	}
	for _, tag := range add {
		if err := t.writeChecked(ctx, t.m.AddTag, tagVars(id, tag)); err != nil {
			return asStale(err)
		}
	}
	for _, name := range c.RemoveTags {
		tag, ok := t.findName(&t.tags, name)
		if !ok {
			continue // no issue has a tag that the board does not have
		}
		if err := t.writeChecked(ctx, t.m.RemoveTag, tagVars(id, tag)); err != nil && kindOf(err) != kindMissing {
			return asStale(err)
		}
	}
	return nil
}

func tagVars(id string, tag named) map[string]any {
	return map[string]any{"id": id, "tag": tag.name, "tag_id": tag.id}
}

// setTags replaces all tags. It reads the issue again just before, so that a concurrent change
// is lost as rarely as such a board allows.
func (t *Tracker) setTags(ctx context.Context, was tracker.Issue, c board.Change) error {
	is, err := t.readIssue(ctx, was.Key)
	if err != nil {
		return err
	}
	want := slices.DeleteFunc(slices.Clone(is.Card.Tags), func(tag string) bool { return slices.Contains(c.RemoveTags, tag) })
	for _, tag := range c.AddTags {
		if !slices.Contains(want, tag) {
			want = append(want, tag)
		}
	}
	ids := []string{}
	for _, name := range want {
		tag, ok := t.findName(&t.tags, name)
		if !ok && slices.Contains(c.AddTags, name) {
			return tracker.ErrStale
		}
		if !ok {
			tag.id = name
		}
		ids = append(ids, tag.id)
	}
	return asStale(t.writeChecked(ctx, t.m.SetTags, map[string]any{"id": idOf(was), "tags": want, "tag_ids": ids}))
}

// A textWrite is a text to write.
type textWrite struct {
	op   *Operation
	what string
	text string
}

// changeTexts returns the texts of a change in the order in which they are written. It refuses
// what the board does not accept before anything is done.
func (t *Tracker) changeTexts(c board.Change) ([]textWrite, error) {
	var out []textWrite
	if c.Title != "" {
		out = append(out, textWrite{t.m.Title, "title", c.Title})
	}
	if c.Description != nil {
		out = append(out, textWrite{t.m.Describe, "description", *c.Description})
	}
	if text := strings.TrimSpace(c.Comment); text != "" {
		out = append(out, textWrite{t.m.Comment, "comment", text})
	}
	for i, s := range out {
		if s.op == nil {
			return nil, board.Refusef("mapping %s has no way to write a %s: add it there", t.m.Name, s.what)
		}
		out[i].text = swapLines(s.text, s.op.Lines, false)
		n := utf16Length(out[i].text)
		if s.op.Max > 0 && n > s.op.Max && !slices.Contains(templateVariables(s.op.Args), "texts") {
			return nil, board.Refusef("the board accepts a %s of at most %d characters: shorten it", s.what, s.op.Max)
		}
		if s.op.Not.matches(out[i].text) {
			return nil, board.Refusef("the board would not store the %s unchanged: remove what is not text", s.what)
		}
		if n < s.op.Min {
			return nil, board.Refusef("the board accepts no %s of less than %d characters: make it longer", s.what, s.op.Min)
		}
	}
	return out, nil
}

func (t *Tracker) writeText(ctx context.Context, id, author string, s textWrite) error {
	texts := []string{s.text}
	if s.op.Max > 0 {
		texts = splitText(s.text, s.op.Max)
	}
	err := t.writeChecked(ctx, s.op, map[string]any{"id": id, "text": s.text, "texts": texts, "author": oneLine(author, 100)})
	switch kindOf(err) {
	case kindRefused:
		return board.Refusef("the board does not accept the %s: %s", s.what, oneLine(err.Error(), 300))
	case kindMissing:
		return tracker.ErrNotFound
	}
	return err
}

// utf16Length counts characters as most boards do, and no board counts more: characters outside
// the basic plane count as two.
func utf16Length(text string) (n int) {
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// splitText splits a text into parts of at most most characters, at the end of a line if there
// is one in the second half.
func splitText(text string, most int) []string {
	var out []string
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	from, line, n, atLine := 0, 0, 0, 0
	for i, r := range text {
		w := max(1, utf16.RuneLen(r))
		if n+w > most && i > from {
			cut, rest := i, 0
			if line > from && atLine > most/2 {
				cut, rest = line, n-atLine
			}
			add(text[from:cut])
			from, n = cut, rest
		}
		n += w
		if r == '\n' {
			line, atLine = i+1, n
		}
	}
	add(text[from:])
	return out
}

// writeChecked makes a write. Only an answer that confirms it counts as success.
func (t *Tracker) writeChecked(ctx context.Context, op *Operation, vars map[string]any) error {
	a, err := t.callTool(ctx, op, vars, op != t.m.Comment)
	if kindOf(err) == kindDone {
		return nil
	}
	if err != nil {
		return err
	}
	if !op.OK.matches(a.text) {
		return errors.New("the answer of " + op.Tool + " does not confirm that it was done (it begins: " + t.cleanMessage(a.text) + ")")
	}
	return nil
}
