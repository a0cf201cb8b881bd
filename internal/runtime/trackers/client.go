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

// A Client reads and changes the issues of one tracker. It resolves the tracker's names, makes no change twice, and
// checks that a change was made. It is safe for concurrent use.
type Client struct {
	Backend
	now  func() time.Time
	salt string // part of the marks of comments

	mu    sync.Mutex
	words *board.Vocabulary // as last read; nil before
}

// NewClient returns a client of a tracker.
func NewClient(p Backend) *Client { return &Client{Backend: p, now: time.Now} }

// ReadVocabulary reads the tracker's columns and tags.
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

// ListIssues returns the issues that match a query, oldest first. Brief ones lack comments and links.
func (d *Client) ListIssues(ctx context.Context, q tracker.Query) ([]tracker.Issue, error) {
	at := d.now() // the listed issues are at least as new as this
	list, err := d.Backend.ListIssues(ctx, q)
	for i := range list {
		list[i].ReadAt = at
	}
	return list, err
}

// ReadIssue reads one issue with all its parts.
func (d *Client) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	at := d.now()
	is, err := d.Backend.ReadIssue(ctx, key)
	is.ReadAt = at
	return is, err
}

// Apply reads an issue and changes it like ChangeRead.
func (d *Client) Apply(ctx context.Context, key string, c board.Change) (tracker.Issue, error) {
	was, err := d.ReadIssue(ctx, key)
	if err != nil {
		return was, err
	}
	return d.ChangeRead(ctx, was, c)
}

// ChangeRead changes an issue that was just read, and returns it as it is afterwards. It does not repeat a change whose
// key was used before. For a change that can never be made it returns a *board.Refusal and changes nothing. It looks up
// an unknown name once more.
func (d *Client) ChangeRead(ctx context.Context, was tracker.Issue, c board.Change) (tracker.Issue, error) {
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
		return is, first // somebody else changed it at the same time; the caller tries again
	}
	if was, err = d.ReadIssue(ctx, was.Key); err != nil { // part of the change may be made already
		return was, err
	}
	is, err = d.tryChange(ctx, was, c, words)
	return is, refuseStale(err, c)
}

// isLocal reports whether the tracker is the board in the store.
func (d *Client) isLocal() bool {
	_, ok := d.Backend.(LocalBoard)
	return ok
}

// changeCard makes a change on the local board. A part that the card does not show afterwards is missing only if the
// version shows that this change, and no other, was made: an earlier try may have made it, and somebody else may have
// reverted it.
func (d *Client) changeCard(ctx context.Context, was tracker.Issue, c board.Change) (tracker.Issue, error) {
	if _, err := d.WriteChange(ctx, was, c); err != nil {
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

// tryChange makes a change with the known names, and checks that the issue shows it.
func (d *Client) tryChange(ctx context.Context, was tracker.Issue, c board.Change, words board.Vocabulary) (tracker.Issue, error) {
	todo, err := planChange(&was, c, words, d.now())
	if err != nil {
		return was, err
	}
	after, err := d.writeChange(ctx, was, todo)
	if err != nil {
		return was, err
	}
	if after == nil {
		is, err := d.ReadIssue(ctx, was.Key)
		if err != nil {
			return is, err
		}
		after = &is
	}
	return *after, d.checkApplied(after, todo)
}

// mayBeStale reports whether reading the names again might lead to another result.
func mayBeStale(err error) bool {
	return errors.Is(err, tracker.ErrStale) || errors.As(err, new(*board.Refusal)) || errors.As(err, new(*missingChange))
}

// missingChange is the part of a change that an issue does not show.
type missingChange struct{ what string }

func (u *missingChange) Error() string { return "after the change " + u.what }

// refuseStale returns a refusal for a name that no longer exists.
func refuseStale(err error, c board.Change) error {
	if errors.Is(err, tracker.ErrStale) {
		return board.Refusef("%s%s no longer exists in the tracker: see orange tracker test", c.Column, strings.Join(slices.Concat(c.AddTags, c.RemoveTags), ", "))
	}
	return err
}

// planChange returns the part of a change that remains to be made, with names as the tracker spells them. It leaves out
// a comment that was made before.
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

// writeChange makes a change and returns the issue as it is afterwards, or nil if it must be read.
func (d *Client) writeChange(ctx context.Context, was tracker.Issue, c board.Change) (after *tracker.Issue, err error) {
	after = &was
	parts := splitComment(c.Comment)
	c.Comment = ""
	if hasFieldChanges(c) {
		if after, err = d.writeOnce(ctx, was, c); err != nil {
			return nil, err
		}
	}
	for i, text := range parts {
		mark := d.commentMark(c.Key, i)
		if mark != "" && slices.ContainsFunc(was.Comments, func(o tracker.Comment) bool { return strings.Contains(o.Text, mark) }) {
			continue // an earlier try made it
		}
		part := board.Change{Author: c.Author, Comment: text}
		if mark != "" {
			part.Key, part.Comment = fmt.Sprintf("%s/%d", c.Key, i), text+"\n\n"+mark
		}
		if after, err = d.writeOnce(ctx, was, part); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// writeOnce makes one request for a change. An issue that the tracker returns with its answer was read when the answer
// arrived: a read that began before may show the issue without the change.
func (d *Client) writeOnce(ctx context.Context, was tracker.Issue, c board.Change) (after *tracker.Issue, err error) {
	after, err = d.WriteChange(ctx, was, c)
	if after != nil {
		after.ReadAt = d.now()
	}
	return after, err
}

func hasFieldChanges(c board.Change) bool {
	return len(c.AddTags)+len(c.RemoveTags) > 0 || c.Column != "" || c.Title != "" || c.Description != nil
}

// sameDescription reports whether two descriptions are equal except for what trackers change: line ends and surrounding
// white space.
func sameDescription(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return a == b || plain(a) == plain(b)
}

// checkApplied returns the part of a change that an issue does not show.
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
			return &missingChange{"the comment is missing"}
		}
	}
	return nil
}
