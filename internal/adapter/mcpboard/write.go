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

// WriteChange makes a change of an issue: tags, column, title, description, comment, in this
// order.
func (t *Tracker) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) error {
	texts, err := t.changeTexts(c)
	if err != nil {
		return err
	}
	if err := t.ensureVocabulary(ctx, c); err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	if err := t.writeTags(ctx, was, c); err != nil {
		return err
	}
	if c.Column != "" {
		if err := t.moveIssue(ctx, idOf(was), c.Column); err != nil {
			return err
		}
	}
	for _, s := range texts {
		if err := t.writeText(ctx, idOf(was), c.Author, s); err != nil {
			return err
		}
	}
	return nil
}

// ensureVocabulary reads the board's words if a change names some and nobody read them yet.
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

// findName is a column or tag by its name.
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

// asStale takes what a board does not know, or does not take, for a name that is gone: the
// issue was there a moment ago.
func asStale(err error) error {
	if kind := kindOf(err); kind == troubleMissing || kind == troubleRefused {
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
	return board.Refusef("mapping %s says nothing about tags: give it add_tag and remove_tag, or set_tags", t.m.Name)
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
			continue // a tag that the board does not have is on no issue
		}
		if err := t.writeChecked(ctx, t.m.RemoveTag, tagVars(id, tag)); err != nil && kindOf(err) != troubleMissing {
			return asStale(err)
		}
	}
	return nil
}

func tagVars(id string, tag named) map[string]any {
	return map[string]any{"id": id, "tag": tag.name, "tag_id": tag.id}
}

// setTags replaces all tags. The issue is read once more just before, so that what
// somebody else did meanwhile is lost as seldom as such a board allows.
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

// A textWrite is a text that is to be written.
type textWrite struct {
	op   *Operation
	what string
	text string
}

// changeTexts are what a change says, in the order in which it is written. What the board does
// not take is refused before anything is done.
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
			return nil, board.Refusef("the board takes a %s of at most %d characters: shorten it", s.what, s.op.Max)
		}
		if s.op.Not.matches(out[i].text) {
			return nil, board.Refusef("the board would not keep the %s as it is: leave out what is no text", s.what)
		}
		if n < s.op.Min {
			return nil, board.Refusef("the board takes no %s of less than %d characters: give more", s.what, s.op.Min)
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
	case troubleRefused:
		return board.Refusef("the board does not take the %s: %s", s.what, oneLine(err.Error(), 300))
	case troubleMissing:
		return tracker.ErrNotFound
	}
	return err
}

// utf16Length counts characters as most boards do, and none counts more: those outside the
// basic plane are two.
func utf16Length(text string) (n int) {
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// splitText cuts a text into parts of at most so many characters, at the end of a line where
// there is one in the second half.
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

// writeChecked makes a write. Only an answer that says so means that it was made.
func (t *Tracker) writeChecked(ctx context.Context, op *Operation, vars map[string]any) error {
	a, err := t.callTool(ctx, op, vars, op != t.m.Comment)
	if kindOf(err) == troubleDone {
		return nil
	}
	if err != nil {
		return err
	}
	if !op.OK.matches(a.text) {
		return errors.New("the answer of " + op.Tool + " does not say that it was done (it begins: " + t.cleanMessage(a.text) + ")")
	}
	return nil
}
