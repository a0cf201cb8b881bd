package trackers_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// fakeTracker is a tracker in memory.
type fakeTracker struct {
	mu      sync.Mutex
	columns []string
	tags    []string
	issues  []*tracker.Issue
	said    int
	calls   []string // what was asked, in order
	closed  int
	whole   bool                                       // lists whole issues, and returns what it changed
	silent  *testing.T                                 // fails if it is asked anything, unless nil
	before  func(op, key string) error                 // an error is the answer, and nothing is done
	after   func(op, key string, c board.Change) error // an error is the answer to what was done
}

func newFakeTracker() *fakeTracker {
	return &fakeTracker{tags: []string{"bug", "Claimed-Dev-1"}, columns: []string{"Icebox", "Backlog", "Started", "Finished", "Delivered", "Accepted", "Canceled", "Todo"}}
}

var errAway = errors.New("the tracker does not answer")

// ask lets the server do something.
func (h *fakeTracker) ask(op, key string, c board.Change, do func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.silent != nil {
		h.silent.Errorf("the tracker is asked: %s %s", op, key)
	}
	h.calls = append(h.calls, strings.TrimSpace(op+" "+key))
	if h.before != nil {
		if err := h.before(op, key); err != nil {
			return err
		}
	}
	err := do()
	if err == nil && h.after != nil {
		err = h.after(op, key, c)
	}
	return err
}

func (h *fakeTracker) find(key string) *tracker.Issue {
	for _, is := range h.issues {
		if is.Key == key {
			return is
		}
	}
	return nil
}

func copied(is *tracker.Issue, brief bool) tracker.Issue {
	out := *is
	out.Comments, out.Card.Tags = slices.Clone(is.Comments), slices.Clone(is.Card.Tags)
	if brief {
		out.Brief, out.Comments, out.Children, out.BlockedBy, out.PRs = true, nil, nil, nil, nil
	}
	return out
}

func (h *fakeTracker) ReadVocabulary(context.Context) (v board.Vocabulary, err error) {
	err = h.ask("words", "", board.Change{}, func() error {
		v = board.Vocabulary{Columns: slices.Clone(h.columns), Tags: slices.Clone(h.tags)}
		return nil
	})
	return v, err
}

func (h *fakeTracker) ListIssues(_ context.Context, q tracker.Query) (out []tracker.Issue, err error) {
	err = h.ask("list", strings.Join(q.Columns, ","), board.Change{}, func() error {
		for _, is := range h.issues {
			if len(q.Columns) == 0 || slices.Contains(q.Columns, is.Card.Column) {
				out = append(out, copied(is, !h.whole))
			}
		}
		return nil
	})
	return out, err
}

func (h *fakeTracker) ReadIssue(_ context.Context, key string) (out tracker.Issue, err error) {
	err = h.ask("issue", key, board.Change{}, func() error {
		is := h.find(key)
		if is == nil {
			return tracker.ErrNotFound
		}
		out = copied(is, false)
		for _, other := range h.issues {
			if other.Parent == key {
				over := other.Card.Column == "Accepted" || other.Card.Column == "Canceled"
				out.Children = append(out.Children, tracker.Link{Key: other.Key, Column: other.Card.Column, Closed: over})
			}
		}
		return nil
	})
	return out, err
}

func (h *fakeTracker) WriteChange(_ context.Context, was tracker.Issue, c board.Change) (after *tracker.Issue, err error) {
	err = h.ask("write", was.Key, c, func() error {
		is := h.find(was.Key)
		if is == nil {
			return tracker.ErrNotFound
		}
		if c.Column != "" && !slices.Contains(h.columns, c.Column) {
			return tracker.ErrStale
		}
		if c.Column != "" {
			is.Card.Column = c.Column
		}
		is.Card.Tags = append(is.Card.Tags, c.AddTags...)
		is.Card.Tags = slices.DeleteFunc(is.Card.Tags, func(tag string) bool { return slices.Contains(c.RemoveTags, tag) })
		if c.Description != nil {
			is.Card.Description = *c.Description
		}
		if c.Comment != "" {
			h.comment(is, "orange-bot", c.Comment, true)
		}
		if h.whole {
			now := copied(is, false)
			after = &now
		}
		return nil
	})
	return after, err
}

func (h *fakeTracker) AccountName(context.Context) (who string, err error) {
	err = h.ask("whoami", "", board.Change{}, func() error { who = "orange-bot"; return nil })
	return who, err
}

func (h *fakeTracker) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed++
	return nil
}

// ParseWebhook accepts every delivery that has the secret.
func (h *fakeTracker) ParseWebhook(header http.Header, body []byte) (tracker.Event, error) {
	if header.Get("Signature") != "secret" {
		return tracker.Event{}, tracker.ErrForged
	}
	ev := tracker.Event{Delivery: header.Get("Delivery")}
	for word := range strings.FieldsSeq(string(body)) {
		if number, err := strconv.Atoi(strings.TrimPrefix(word, "#")); err == nil {
			ev.PRs = append(ev.PRs, number)
		} else {
			ev.Keys = append(ev.Keys, word)
		}
	}
	return ev, nil
}

func (h *fakeTracker) comment(is *tracker.Issue, author, text string, bot bool) {
	h.said++
	is.Comments = append(is.Comments, tracker.Comment{ID: "c" + strconv.Itoa(h.said), Author: author, At: time.Now(), Text: text, Bot: bot})
}

// What people do there.

func (h *fakeTracker) file(key string, more func(*tracker.Issue)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	is := &tracker.Issue{Key: key, ID: "id-" + key, URL: "https://tracker.example/" + key, Card: board.Card{Title: "Mend the " + key, Author: "alice", Column: "Backlog", CreatedAt: time.Now()}}
	if more != nil {
		more(is)
	}
	h.issues = append(h.issues, is)
}

func (h *fakeTracker) change(key string, do func(is *tracker.Issue)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do(h.find(key))
}

func (h *fakeTracker) move(key, column string) {
	h.change(key, func(is *tracker.Issue) { is.Card.Column = column })
}

func (h *fakeTracker) say(key, author, text string) {
	h.change(key, func(is *tracker.Issue) { h.comment(is, author, text, false) })
}

func (h *fakeTracker) remove(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.issues = slices.DeleteFunc(h.issues, func(is *tracker.Issue) bool { return is.Key == key })
}

func (h *fakeTracker) column(key string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.find(key).Card.Column
}

// faults sets what goes wrong from now on.
func (h *fakeTracker) faults(before func(op, key string) error, after func(op, key string, c board.Change) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before, h.after = before, after
}

// asked counts how often the tracker was asked for something since the last count.
func (h *fakeTracker) asked(op string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, call := range h.calls {
		if call == op || strings.HasPrefix(call, op+" ") {
			n++
		}
	}
	h.calls = nil
	return n
}

// fakeForge is a forge in memory.
type fakeForge struct {
	mu    sync.Mutex
	prs   []tracker.PR
	err   error
	asked int
}

func (m *fakeForge) CreatePR(context.Context, tracker.NewPR) (tracker.PR, error) {
	return tracker.PR{}, errors.New("nobody asked for one")
}

func (m *fakeForge) ReadPR(_ context.Context, number int) (tracker.PR, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	for _, pr := range m.prs {
		if pr.Number == number && m.err == nil {
			return pr, nil
		}
	}
	return tracker.PR{}, errors.Join(m.err, tracker.ErrNotFound)
}

func (m *fakeForge) some(fits func(tracker.PR) bool) (out []tracker.PR, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	for _, pr := range m.prs {
		if fits(pr) {
			pr.Checks, pr.Reviews = nil, nil
			out = append(out, pr)
		}
	}
	return out, m.err
}

func (m *fakeForge) ListBranchPRs(_ context.Context, branch string) ([]tracker.PR, error) {
	return m.some(func(pr tracker.PR) bool { return pr.Branch == branch })
}

func (m *fakeForge) ListMentioningPRs(_ context.Context, key string) ([]tracker.PR, error) {
	return m.some(func(pr tracker.PR) bool { return strings.Contains(pr.Title, key) })
}

func (m *fakeForge) UpdatePR(context.Context, int, string) error { return errors.New("not done here") }

func (m *fakeForge) RequiredChecks(context.Context, string) ([]string, error) {
	return []string{"build"}, nil
}

func (m *fakeForge) MergePR(context.Context, int, string) error {
	return errors.New("nobody asked for it")
}

func (m *fakeForge) put(pr tracker.PR) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pr.URL == "" {
		pr.URL = "https://forge.example/o/r/pull/" + strconv.Itoa(pr.Number)
	}
	m.prs = slices.DeleteFunc(m.prs, func(have tracker.PR) bool { return have.Number == pr.Number })
	m.prs = append(m.prs, pr)
}
