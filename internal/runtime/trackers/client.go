package trackers

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

// A Client is where one tracker is worked with. It knows the tracker's words, says nothing
// twice, and looks whether what it did is there. It is safe for concurrent use.
type Client struct {
	Backend
	now  func() time.Time
	salt string // goes into the marks of comments

	mu    sync.Mutex
	words *board.Vocabulary // as last read, nil before
}

// NewClient returns a desk for a tracker.
func NewClient(p Backend) *Client { return &Client{Backend: p, now: time.Now} }

// ReadVocabulary are the tracker's columns and tags, read anew.
func (d *Client) ReadVocabulary(ctx context.Context) (board.Vocabulary, error) {
	v, err := d.Backend.ReadVocabulary(ctx)
	if err != nil {
		return v, err
	}
	d.mu.Lock()
	d.words = &v
	d.mu.Unlock()
	return v, nil
}

func (d *Client) knownVocabulary(ctx context.Context) (v board.Vocabulary, fresh bool, err error) {
	d.mu.Lock()
	have := d.words
	d.mu.Unlock()
	if have != nil {
		return *have, false, nil
	}
	v, err = d.ReadVocabulary(ctx)
	return v, true, err
}

// ListIssues returns the issues that a query asks for, oldest first. They may be brief.
func (d *Client) ListIssues(ctx context.Context, q tracker.Query) ([]tracker.Issue, error) {
	at := d.now() // what is listed is at least as new as this
	list, err := d.Backend.ListIssues(ctx, q)
	for i := range list {
		list[i].ReadAt = at
	}
	return list, err
}

// ReadIssue reads one issue whole.
func (d *Client) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	at := d.now()
	is, err := d.Backend.ReadIssue(ctx, key)
	is.ReadAt = at
	return is, err
}

// Apply changes an issue and returns it as it is afterwards, read again. A change with a
// key that was made before is not made again. What can never be done is a *board.Refusal
// and changes nothing. A name that is not known is looked up once more.
func (d *Client) Apply(ctx context.Context, key string, c board.Change) (tracker.Issue, error) {
	was, err := d.ReadIssue(ctx, key)
	if err != nil {
		return was, err
	}
	if d.isLocal() {
		return d.changeCard(ctx, was, c)
	}
	words, fresh, err := d.knownVocabulary(ctx)
	if err != nil {
		return was, err
	}
	is, err := d.tryChange(ctx, was, c, words)
	if fresh && !errors.Is(err, tracker.ErrStale) || !mayBeStale(err) {
		return is, refuseStale(err, c)
	}
	first := err
	if words, err = d.ReadVocabulary(ctx); err != nil {
		return is, err
	}
	if _, err = planChange(&is, c, words, d.now()); err != nil {
		return is, err
	}
	if errors.As(first, new(*missingChange)) {
		return is, first // somebody else was at it: whoever asked asks again
	}
	if was, err = d.ReadIssue(ctx, key); err != nil { // some of it may be there by now
		return was, err
	}
	is, err = d.tryChange(ctx, was, c, words)
	return is, refuseStale(err, c)
}

// isLocal says whether the tracker is the board in the store.
func (d *Client) isLocal() bool {
	_, ok := d.Backend.(LocalBoard)
	return ok
}

// changeCard has the local board make a change as it is. What the card does not show
// afterwards is missing only if its version says that this change was made, and no other: an
// earlier try may have made it, and somebody else may have undone it.
func (d *Client) changeCard(ctx context.Context, was tracker.Issue, c board.Change) (tracker.Issue, error) {
	if err := d.WriteChange(ctx, was, c); err != nil {
		return was, err
	}
	is, err := d.ReadIssue(ctx, was.Key)
	if err != nil || is.Card.Version != was.Card.Version+1 {
		return is, err
	}
	if missing := board.MissingEffect(is.Card, c); missing != "" {
		return is, &missingChange{missing}
	}
	return is, nil
}

// tryChange makes a change with the words that are known, and looks whether it is there.
func (d *Client) tryChange(ctx context.Context, was tracker.Issue, c board.Change, words board.Vocabulary) (tracker.Issue, error) {
	todo, err := planChange(&was, c, words, d.now())
	if err == nil {
		err = d.writeChange(ctx, was, todo)
	}
	if err != nil {
		return was, err
	}
	is, err := d.ReadIssue(ctx, was.Key)
	if err != nil {
		return is, err
	}
	return is, d.checkApplied(&is, todo)
}

// mayBeStale says whether other words might lead to something else.
func mayBeStale(err error) bool {
	return errors.Is(err, tracker.ErrStale) || errors.As(err, new(*board.Refusal)) || errors.As(err, new(*missingChange))
}

// missingChange is what an issue does not show after a change.
type missingChange struct{ what string }

func (u *missingChange) Error() string { return "after the change " + u.what }

// refuseStale makes a refusal of a name that is gone for good.
func refuseStale(err error, c board.Change) error {
	if errors.Is(err, tracker.ErrStale) {
		return board.Refusef("%s%s is not known to the tracker any more: see orange tracker test", c.Column, strings.Join(slices.Concat(c.AddTags, c.RemoveTags), ", "))
	}
	return err
}

// planChange is what of a change is left to do, with names as the tracker spells them. It
// says what it has to say only once.
func planChange(was *tracker.Issue, c board.Change, words board.Vocabulary, now time.Time) (board.Change, error) {
	c.Claim, c.Release = nil, ""
	have := was.Card.Description
	if c.Description != nil && sameDescription(*c.Description, have) {
		c.Description, c.Was = nil, nil
	}
	if c.Was != nil && sameDescription(*c.Was, have) {
		c.Was = &have
	}
	to, said, err := board.Apply(was.Card, c, words, now)
	if err != nil {
		return board.Change{}, err
	}
	todo := board.ChangeBetween(was.Card, to, said)
	todo.Key, todo.Author = c.Key, c.Author
	return todo, nil
}

func (d *Client) writeChange(ctx context.Context, was tracker.Issue, c board.Change) error {
	parts := splitComment(c.Comment)
	c.Comment = ""
	if hasFieldChanges(c) {
		if err := d.WriteChange(ctx, was, c); err != nil {
			return err
		}
	}
	for i, text := range parts {
		mark := d.commentMark(c.Key, i)
		if mark != "" && slices.ContainsFunc(was.Comments, func(o tracker.Comment) bool { return strings.Contains(o.Text, mark) }) {
			continue // an earlier try said it
		}
		part := board.Change{Author: c.Author, Comment: text}
		if mark != "" {
			part.Key, part.Comment = fmt.Sprintf("%s/%d", c.Key, i), text+"\n\n"+mark
		}
		if err := d.WriteChange(ctx, was, part); err != nil {
			return err
		}
	}
	return nil
}

func hasFieldChanges(c board.Change) bool {
	return len(c.AddTags)+len(c.RemoveTags) > 0 || c.Column != "" || c.Title != "" || c.Description != nil
}

// sameDescription says whether two descriptions are the same but for what trackers do to them: line
// ends, and blanks around them.
func sameDescription(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return a == b || plain(a) == plain(b)
}

// checkApplied says what of a change an issue does not show.
func (d *Client) checkApplied(is *tracker.Issue, c board.Change) error {
	if c.Description != nil && sameDescription(*c.Description, is.Card.Description) {
		c.Description = nil
	}
	if why := board.MissingEffect(is.Card, c); why != "" {
		return &missingChange{why}
	}
	for i := range splitComment(c.Comment) {
		mark := d.commentMark(c.Key, i)
		if mark != "" && !slices.ContainsFunc(is.Comments, func(o tracker.Comment) bool { return strings.Contains(o.Text, mark) }) {
			return &missingChange{"the comment is not there"}
		}
	}
	return nil
}
