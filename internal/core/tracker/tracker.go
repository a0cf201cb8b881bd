// Package tracker is what Orange knows about issues that live somewhere else: how an
// issue looks, which pull request is meant, what a comment orders, which issues are to be
// worked on next, and where a tracker and a task disagree. It is values and rules over
// them; it reads no network.
package tracker

import (
	"errors"
	"strings"
	"time"

	"orange/internal/core/board"
)

// An Issue is a piece of work in a tracker, as it was when it was read. Every text in it
// is somebody else's and untrusted.
type Issue struct {
	Key       string     `json:"key"`          // as people write it: ENG-12, 42, task-7
	ID        string     `json:"id,omitempty"` // the tracker's own name for it, if that is another
	URL       string     `json:"url,omitempty"`
	Card      board.Card `json:"card"` // title, author, description, column, tags, times
	Priority  Priority   `json:"priority,omitempty"`
	Assignee  string     `json:"assignee,omitempty"`
	Parent    string     `json:"parent,omitempty"` // key
	Children  []Link     `json:"children,omitempty"`
	BlockedBy []Link     `json:"blocked_by,omitempty"`
	PRs       []PR       `json:"prs,omitempty"`      // linked with it
	Comments  []Comment  `json:"comments,omitempty"` // oldest first
	Brief     bool       `json:"brief,omitempty"`    // of a list: links, pull requests and comments were not read
	ReadAt    time.Time  `json:"read_at,omitzero"`
}

// A Link is another issue, as far as this one shows it.
type Link struct {
	Key    string `json:"key"`
	Column string `json:"column,omitempty"`
	Closed bool   `json:"closed,omitempty"` // nothing is left to do there
}

// A Comment is something said about an issue.
type Comment struct {
	ID     string    `json:"id"`
	Author string    `json:"author"` // the account's name, as an allow-list has it
	Bot    bool      `json:"bot,omitempty"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

// Priority is how urgent an issue is; 0 if nobody said.
type Priority int

// The priorities, the most urgent first.
const (
	Urgent Priority = iota + 1
	High
	Medium
	Low
)

// A Query says which issues are wanted.
type Query struct {
	Columns []string  // in one of these; none: in any
	Since   time.Time // changed after this; zero: any
	Limit   int       // at most so many, 0 for all
}

// An Event is news of a tracker that was found to be genuine. It says where to look, and
// nothing about what is there: news may come twice, late, or in the wrong order.
type Event struct {
	Delivery string   // names this delivery; one that was heard before is no news
	Keys     []string // issues that may have changed
	PRs      []int    // pull requests that may have
}

// ErrNotFound says that a tracker has no such issue.
var ErrNotFound = errors.New("issue not found")

// ErrStale says that a column or a tag is not what it was when the tracker's words were
// read: they are to be read again.
var ErrStale = errors.New("the tracker knows this name no more")

// ErrForged says that news does not come from whom it claims to.
var ErrForged = errors.New("the signature does not fit")

// ErrMalformed says that news is signed and still not what the tracker sends. Sending it
// again does not help.
var ErrMalformed = errors.New("the news is not understood")

// NewRef is how a task names the issue it works on.
func NewRef(tracker, key string) string { return tracker + ":" + key }

// ParseRef splits what Ref made. The local board's are of tracker "board".
func ParseRef(ref string) (tracker, key string, ok bool) {
	tracker, key, ok = strings.Cut(ref, ":")
	if !ok || tracker == "" || key == "" {
		return "", "", false
	}
	return tracker, key, true
}
