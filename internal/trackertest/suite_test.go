package trackertest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
)

// client is the adapter of a tracker in memory. It may make a mistake on purpose.
type client struct {
	server  *memory
	mistake string

	mu            sync.Mutex
	columns, tags []named // as last read
}

func (c *client) ReadVocabulary(context.Context) (v board.Vocabulary, err error) {
	err = c.request(false, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.columns, c.tags = slices.Clone(c.server.columns), slices.Clone(c.server.tags)
		for _, n := range c.columns {
			v.Columns = append(v.Columns, n.name)
		}
		for _, n := range c.tags {
			v.Tags = append(v.Tags, n.name)
		}
		return nil
	})
	return v, err
}

func (c *client) request(write bool, do func() error) error {
	err := c.server.request(write, do)
	if c.mistake == "a secret in an error" && err != nil {
		return fmt.Errorf("with %s: %w", secret, err)
	}
	return err
}

func (c *client) ListIssues(_ context.Context, q tracker.Query) (out []tracker.Issue, err error) {
	err = c.request(false, func() error {
		for _, is := range c.server.issues {
			shown := c.server.shown(is)
			if len(q.Columns) > 0 && !slices.Contains(q.Columns, shown.Card.Column) || !shown.Card.UpdatedAt.After(q.Since) {
				continue
			}
			if q.Limit > 0 && len(out) == q.Limit || c.mistake == "one page" && len(out) == 50 {
				break
			}
			shown.Brief, shown.Comments, shown.PRs = true, nil, nil
			out = append(out, shown)
		}
		return nil
	})
	return out, err
}

func (c *client) ReadIssue(_ context.Context, key string) (out tracker.Issue, err error) {
	err = c.request(false, func() error {
		is := c.server.find(key)
		if is == nil {
			return fmt.Errorf("%w: %.20q", tracker.ErrNotFound, key)
		}
		out = c.server.shown(is)
		return nil
	})
	if c.mistake == "a failure is taken for nothing" && errors.Is(err, errNoAnswer) {
		err = tracker.ErrNotFound
	}
	if c.mistake == "comments are turned around" {
		slices.Reverse(out.Comments)
	}
	return out, err
}

func (c *client) WriteChange(_ context.Context, was tracker.Issue, change board.Change) (*tracker.Issue, error) {
	c.mu.Lock()
	columns, tags := c.columns, c.tags
	c.mu.Unlock()
	column := idOf(columns, change.Column)
	if c.mistake == "what was read is written back" && column == "" {
		column = idOf(columns, was.Card.Column)
	}
	do := func(then func(is *issue) error) error {
		return c.request(true, func() error { return then(c.server.find(was.Key)) })
	}
	steps := []func(is *issue) error{
		func(is *issue) error { return c.tag(is, was, change, tags) },
		func(is *issue) error {
			if column != "" {
				is.column = column
			}
			if change.Title != "" {
				is.Card.Title = change.Title
			}
			if change.Description != nil {
				is.Card.Description = *change.Description
				if c.server.trims {
					is.Card.Description = strings.TrimSpace(is.Card.Description)
				}
			}
			if change.Comment != "" {
				c.server.say(is, "orange", c.cut(change.Comment))
			}
			return nil
		},
	}
	for i, step := range steps {
		if i == 0 && len(change.AddTags)+len(change.RemoveTags) == 0 {
			continue
		}
		err := do(step)
		if c.mistake == "a write is repeated" && errors.Is(err, errNoAnswer) {
			err = do(step)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (c *client) cut(text string) string {
	if c.mistake == "a comment is cut" && len(text) > 4<<10 {
		return text[:4<<10]
	}
	return text
}

func (c *client) tag(is *issue, was tracker.Issue, change board.Change, known []named) error {
	if c.mistake == "tags are one list" {
		is.tags = nil
		for _, name := range was.Card.Tags {
			is.tag(idOf(known, name), true)
		}
	}
	for _, name := range change.AddTags {
		id := idOf(known, name)
		switch {
		case nameOf(c.server.tags, id) != "":
		case c.mistake == "a tag is made again":
			c.server.tags = append(c.server.tags, named{id, name})
		default:
			return tracker.ErrStale
		}
		is.tag(id, true)
	}
	for _, name := range change.RemoveTags {
		is.tag(idOf(known, name), false)
	}
	return nil
}

func (c *client) AccountName(context.Context) (name string, err error) {
	return "orange", c.request(false, func() error { return nil })
}

func (c *client) ParseWebhook(header http.Header, body []byte) (tracker.Event, error) {
	if !tracker.SignedBy(secret, body, header.Get("X-Signature")) && c.mistake != "all deliveries are believed" {
		return tracker.Event{}, tracker.ErrForged
	}
	return tracker.Event{Delivery: header.Get("X-Delivery"), Keys: strings.Fields(string(body))[:1]}, nil
}

var (
	_ trackers.Backend       = (*client)(nil)
	_ trackers.WebhookParser = (*client)(nil)

	mistake = flag.String("mistake", "", "the mistake that the tracker in memory makes")
)

func TestATrackerInMemory(t *testing.T) {
	trackertest.RunTracker(t, func(*testing.T) trackertest.World { return newMemory(*mistake) })
}

func TestATrackerThatTrims(t *testing.T) {
	trackertest.RunTracker(t, func(*testing.T) trackertest.World {
		m := newMemory("")
		m.trims = true
		return m
	})
}

// The suite is worth what it finds: each mistake, by the story that is about it.
func TestTheSuiteFindsMistakes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for mistake, story := range map[string]string{
		"a secret in an error":           "a_bad_secret_is_an_error",
		"one page":                       "more_than_a_page_of_issues",
		"a failure is taken for nothing": "a_server_that_fails_when_it_is_read",
		"comments are turned around":     "more_than_a_page_of_comments",
		"what was read is written back":  "what_a_person_does_between",
		"a write is repeated":            "a_comment_whose_answer_is_lost",
		"a comment is cut":               "a_long_comment_is_split",
		"tags are one list":              "what_a_person_does_between",
		"a tag is made again":            "a_tag_that_was_deleted",
		"all deliveries are believed":    "forged_deliveries",
	} {
		t.Run(mistake, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), self, "-test.run=^TestATrackerInMemory$", "-mistake="+mistake).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestATrackerInMemory/"+story) {
				t.Errorf("%v: no story called %s fails in\n%s", err, story, out)
			}
		})
	}
}
