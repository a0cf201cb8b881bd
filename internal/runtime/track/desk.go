package track

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// A Desk is where one tracker is worked with. It knows the tracker's words, says nothing
// twice, and looks whether what it did is there. It is safe for concurrent use.
type Desk struct {
	Port
	now  func() time.Time
	salt string // goes into the marks of comments

	mu    sync.Mutex
	words *board.Vocabulary // as last read, nil before
}

// NewDesk returns a desk for a tracker.
func NewDesk(p Port) *Desk { return &Desk{Port: p, now: time.Now} }

// Words are the tracker's columns and tags, read anew.
func (d *Desk) Words(ctx context.Context) (board.Vocabulary, error) {
	v, err := d.Port.Words(ctx)
	if err != nil {
		return v, err
	}
	d.mu.Lock()
	d.words = &v
	d.mu.Unlock()
	return v, nil
}

func (d *Desk) known(ctx context.Context) (v board.Vocabulary, fresh bool, err error) {
	d.mu.Lock()
	have := d.words
	d.mu.Unlock()
	if have != nil {
		return *have, false, nil
	}
	v, err = d.Words(ctx)
	return v, true, err
}

// List returns the issues that a query asks for, oldest first. They may be brief.
func (d *Desk) List(ctx context.Context, q tracker.Query) ([]tracker.Issue, error) {
	at := d.now() // what is listed is at least as new as this
	list, err := d.Port.List(ctx, q)
	for i := range list {
		list[i].ReadAt = at
	}
	return list, err
}

// Issue reads one issue whole.
func (d *Desk) Issue(ctx context.Context, key string) (tracker.Issue, error) {
	at := d.now()
	is, err := d.Port.Issue(ctx, key)
	is.ReadAt = at
	return is, err
}

// Apply changes an issue and returns it as it is afterwards, read again. A change with a
// key that was made before is not made again. What can never be done is a *board.Refusal
// and changes nothing. A name that is not known is looked up once more.
func (d *Desk) Apply(ctx context.Context, key string, c board.Change) (tracker.Issue, error) {
	was, err := d.Issue(ctx, key)
	if err != nil {
		return was, err
	}
	words, fresh, err := d.known(ctx)
	if err != nil {
		return was, err
	}
	is, err := d.try(ctx, was, c, words)
	if fresh && !errors.Is(err, tracker.ErrStale) || !dubious(err) {
		return is, unstale(err, c)
	}
	first := err
	if words, err = d.Words(ctx); err != nil {
		return is, err
	}
	if _, err = plan(&is, c, words, d.now()); err != nil {
		return is, err
	}
	if errors.As(first, new(*unseen)) {
		return is, first // somebody else was at it: whoever asked asks again
	}
	if was, err = d.Issue(ctx, key); err != nil { // some of it may be there by now
		return was, err
	}
	is, err = d.try(ctx, was, c, words)
	return is, unstale(err, c)
}

// try makes a change with the words that are known, and looks whether it is there.
func (d *Desk) try(ctx context.Context, was tracker.Issue, c board.Change, words board.Vocabulary) (tracker.Issue, error) {
	todo, err := plan(&was, c, words, d.now())
	if err == nil {
		err = d.write(ctx, was, todo)
	}
	if err != nil {
		return was, err
	}
	is, err := d.Issue(ctx, was.Key)
	if err != nil {
		return is, err
	}
	return is, d.missing(&is, todo)
}

// dubious says whether other words might lead to something else.
func dubious(err error) bool {
	return errors.Is(err, tracker.ErrStale) || errors.As(err, new(*board.Refusal)) || errors.As(err, new(*unseen))
}

// unseen is what an issue does not show after a change.
type unseen struct{ what string }

func (u *unseen) Error() string { return "after the change " + u.what }

// unstale makes a refusal of a name that is gone for good.
func unstale(err error, c board.Change) error {
	if errors.Is(err, tracker.ErrStale) {
		return board.Refusef("%s%s is not known to the tracker any more: see orange tracker test", c.Column, strings.Join(slices.Concat(c.AddTags, c.RemoveTags), ", "))
	}
	return err
}

// plan is what of a change is left to do, with names as the tracker spells them. It
// says what it has to say only once.
func plan(was *tracker.Issue, c board.Change, words board.Vocabulary, now time.Time) (board.Change, error) {
	c.Claim, c.Release = nil, ""
	have := was.Card.Description
	if c.Description != nil && alike(*c.Description, have) {
		c.Description, c.Was = nil, nil
	}
	if c.Was != nil && alike(*c.Was, have) {
		c.Was = &have
	}
	to, said, err := board.Apply(was.Card, c, words, now)
	if err != nil {
		return board.Change{}, err
	}
	todo := board.Changed(was.Card, to, said)
	todo.Key, todo.Author = c.Key, c.Author
	return todo, nil
}

func (d *Desk) write(ctx context.Context, was tracker.Issue, c board.Change) error {
	parts := split(c.Comment)
	c.Comment = ""
	if changes(c) {
		if err := d.Write(ctx, was, c); err != nil {
			return err
		}
	}
	for i, text := range parts {
		mark := d.mark(c.Key, i)
		if mark != "" && slices.ContainsFunc(was.Comments, func(o tracker.Comment) bool { return strings.Contains(o.Text, mark) }) {
			continue // an earlier try said it
		}
		part := board.Change{Author: c.Author, Comment: text}
		if mark != "" {
			part.Key, part.Comment = fmt.Sprintf("%s/%d", c.Key, i), text+"\n\n"+mark
		}
		if err := d.Write(ctx, was, part); err != nil {
			return err
		}
	}
	return nil
}

func changes(c board.Change) bool {
	return len(c.AddTags)+len(c.RemoveTags) > 0 || c.Column != "" || c.Title != "" || c.Description != nil
}

// alike says whether two descriptions are the same but for what trackers do to them: line
// ends, and blanks around them.
func alike(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return a == b || plain(a) == plain(b)
}

// missing says what of a change an issue does not show.
func (d *Desk) missing(is *tracker.Issue, c board.Change) error {
	if c.Description != nil && alike(*c.Description, is.Card.Description) {
		c.Description = nil
	}
	if why := board.Missing(is.Card, c); why != "" {
		return &unseen{why}
	}
	for i := range split(c.Comment) {
		mark := d.mark(c.Key, i)
		if mark != "" && !slices.ContainsFunc(is.Comments, func(o tracker.Comment) bool { return strings.Contains(o.Text, mark) }) {
			return &unseen{"the comment is not there"}
		}
	}
	return nil
}
