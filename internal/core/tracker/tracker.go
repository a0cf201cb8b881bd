// Package tracker defines issues that are kept somewhere else and the rules about them: which pull request belongs to
// an issue, which directive a comment contains, which issues to work on next, and where a tracker and a task disagree.
// It consists of values and rules over them; it does no I/O.
package tracker

import (
	"errors"
	"strings"
	"time"

	"orange/internal/core/board"
)

// An Issue is a piece of work in a tracker, as it was when it was read. Every text in it is untrusted.
type Issue struct {
	Key       string     `json:"key"`          // as people write it: ENG-12, 42, task-7
	ID        string     `json:"id,omitempty"` // the tracker's internal id, if it differs
	URL       string     `json:"url,omitempty"`
	Card      board.Card `json:"card"` // title, author, description, column, tags, times
	Priority  Priority   `json:"priority,omitempty"`
	Assignee  string     `json:"assignee,omitempty"`
	Parent    string     `json:"parent,omitempty"` // key
	Children  []Link     `json:"children,omitempty"`
	BlockedBy []Link     `json:"blocked_by,omitempty"`
	PRs       []PR       `json:"prs,omitempty"`      // linked with it
	Comments  []Comment  `json:"comments,omitempty"` // oldest first
	Brief     bool       `json:"brief,omitempty"`    // from a list: links, pull requests and comments were not read
	ReadAt    time.Time  `json:"read_at,omitzero"`
}

// A Link is another issue, as far as this one shows it.
type Link struct {
	Key    string `json:"key"`
	Column string `json:"column,omitempty"`
	Closed bool   `json:"closed,omitempty"` // nothing is left to do there
}

// A Comment is a comment on an issue.
type Comment struct {
	ID     string    `json:"id"`
	Author string    `json:"author"` // the account's name, as an allow-list has it
	Bot    bool      `json:"bot,omitempty"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

// Priority is how urgent an issue is; 0 if not set.
type Priority int

// The priorities, the most urgent first.
const (
	Urgent Priority = iota + 1
	High
	Medium
	Low
)

// A Query selects issues.
type Query struct {
	Columns []string  // in one of these; none: in any
	Since   time.Time // changed after this; zero: any
	Limit   int       // maximum number, 0 for all
}

// An Event is a verified notification of a tracker. It names what may have changed, and not how: events may arrive
// twice, late, or out of order.
type Event struct {
	Delivery string   // id of this delivery; a repeated id is ignored
	Keys     []string // issues that may have changed
	PRs      []int    // pull requests that may have changed
}

// ErrNotFound means that the tracker has no such issue.
var ErrNotFound = errors.New("issue not found")

// ErrStale means that a column or a tag changed since the tracker's vocabulary was read, which must be read again.
var ErrStale = errors.New("the tracker no longer has this name")

// ErrForged means that an event does not come from its claimed sender.
var ErrForged = errors.New("the signature does not match")

// ErrMalformed means that an event is signed but cannot be parsed. Sending it again does not help.
var ErrMalformed = errors.New("the event cannot be parsed")

// NewRef returns the name that a task uses for its issue.
func NewRef(tracker, key string) string { return tracker + ":" + key }

// ParseRef splits what NewRef returns. The refs of the embedded board have tracker "board".
func ParseRef(ref string) (tracker, key string, ok bool) {
	tracker, key, ok = strings.Cut(ref, ":")
	if !ok || tracker == "" || key == "" {
		return "", "", false
	}
	return tracker, key, true
}
