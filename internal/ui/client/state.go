package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"orange/internal/core/diff"
	"orange/internal/core/overview"
	"orange/internal/core/screen"
)

// Seen says what is wanted of a state.
type Seen struct {
	Project string // "" for all
	All     bool   // tasks that are over, too
	At      int64  // as it was after this row of the journal, 0 for now
}

func (s Seen) query() url.Values {
	q := url.Values{}
	if s.Project != "" {
		q.Set("project", s.Project)
	}
	if s.All {
		q.Set("all", "1")
	}
	if s.At > 0 {
		q.Set("at", strconv.FormatInt(s.At, 10))
	}
	return q
}

// State is everything at one moment.
func (c *Client) State(ctx context.Context, s Seen) (overview.State, error) {
	var out overview.State
	err := c.get(ctx, "/state", s.query(), &out)
	return out, err
}

// Live says how a state is followed. Its functions are called one at a time.
type Live struct {
	Seen
	After  int64                       // row of the state that is known
	Change func(overview.Change) error // an error of it ends the stream
	Opened func() error                // the stream is open, for the first time or again; may be nil
	Lost   func(error)                 // it broke, and is taken up again; nil: several failures in a row are an error
}

// Follow reports what becomes of a state until ctx ends. A stream that breaks is taken
// up where it broke: no change is missed.
func (c *Client) Follow(ctx context.Context, l Live) error {
	q := call{method: http.MethodGet, path: "/state/events", query: l.query()}
	q.query.Set("after", strconv.FormatInt(l.After, 10))
	s := stream{client: c, call: q, opened: l.Opened, lost: l.Lost, deliver: func(b block) error {
		if b.event != "change" {
			return nil
		}
		var change overview.Change
		if err := b.decode(&change); err != nil {
			return err
		}
		return l.Change(change)
	}}
	return s.follow(ctx)
}

// A Screen is what the terminal of an agent shows, or the end of what one without a
// terminal wrote.
type Screen struct {
	Attempt int           `json:"attempt"` // 0: there is none
	Role    string        `json:"role"`
	Harness string        `json:"harness"`
	Alive   bool          `json:"alive"`
	Lines   []screen.Line `json:"lines"`
	Note    string        `json:"note,omitempty"` // why there is nothing to see
	At      time.Time     `json:"at"`
}

// Screen looks at the agent of a role of a task; "" for the one at work.
func (c *Client) Screen(ctx context.Context, id, role string) (Screen, error) {
	var out Screen
	err := c.ofTask(ctx, id, "/screen", url.Values{"role": {role}}, &out)
	return out, err
}

// WatchScreen reports what an agent's terminal shows, now and whenever it changes.
func (c *Client) WatchScreen(ctx context.Context, id, role string, each func(Screen) error) error {
	path, err := taskPath(id, "/screen/events")
	if err != nil {
		return err
	}
	s := stream{client: c, call: call{method: http.MethodGet, path: path, query: url.Values{"role": {role}}}, deliver: func(b block) error {
		if b.event != "screen" {
			return nil
		}
		var out Screen
		if err := b.decode(&out); err != nil {
			return err
		}
		return each(out)
	}}
	return s.follow(ctx)
}

// Type types text into an agent's terminal, and presses Enter.
func (c *Client) Type(ctx context.Context, id, role, text string) error {
	path, err := taskPath(id, "/type")
	if err != nil {
		return err
	}
	return c.put(ctx, http.MethodPost, path, map[string]string{"role": role, "text": text}, nil)
}

// A Diff is what a task's branch changes.
type Diff struct {
	Base  string      `json:"base"` // commit it is compared with
	Files []diff.File `json:"files"`
	Cut   bool        `json:"cut"` // there is more than is shown
}

// Diff asks what a task's branch changes.
func (c *Client) Diff(ctx context.Context, id string) (Diff, error) {
	var out Diff
	err := c.ofTask(ctx, id, "/diff", nil, &out)
	return out, err
}

// A WorkflowInfo is a workflow that tasks follow, or may follow.
type WorkflowInfo struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Origin string `json:"origin"` // built-in, user, the name of a project, or pinned
	File   string `json:"file"`
	Tasks  int    `json:"tasks"` // that follow this very text and are not over
}

// Workflows lists the workflows that are known.
func (c *Client) Workflows(ctx context.Context) ([]WorkflowInfo, error) {
	var out struct {
		Workflows []WorkflowInfo `json:"workflows"`
	}
	err := c.get(ctx, "/workflows", nil, &out)
	return out.Workflows, err
}

// A Page is the address of the web page.
type Page struct {
	URL   string `json:"url"`   // signs nobody in
	Login string `json:"login"` // signs in once, within a minute
}

// A PageToken is what programs show at the web page.
type PageToken struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Web asks for the address of the web page, which is opened if it is not.
func (c *Client) Web(ctx context.Context) (Page, error) {
	var out Page
	err := c.put(ctx, http.MethodPost, "/web", nil, &out)
	return out, err
}

// WebToken asks for the token of the web page, which is opened if it is not.
func (c *Client) WebToken(ctx context.Context) (PageToken, error) {
	var out PageToken
	err := c.put(ctx, http.MethodPost, "/web/token", nil, &out)
	return out, err
}
