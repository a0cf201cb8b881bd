package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"orange/internal/core/boardcheck"
	"orange/internal/core/tracker"
)

// Trackers lists the trackers and how fresh what is kept of them is.
func (c *Client) Trackers(ctx context.Context) ([]tracker.Reading, error) {
	var out struct {
		Trackers []tracker.Reading `json:"trackers"`
	}
	err := c.get(ctx, "/trackers", nil, &out)
	return out.Trackers, err
}

// SetTracker adds a tracker, or changes it.
func (c *Client) SetTracker(ctx context.Context, cfg tracker.Config) (tracker.Config, error) {
	var out struct {
		Tracker tracker.Config `json:"tracker"`
	}
	err := c.put(ctx, http.MethodPost, "/trackers", cfg, &out)
	return out.Tracker, err
}

// RemoveTracker forgets a tracker and what was kept of it.
func (c *Client) RemoveTracker(ctx context.Context, name string) error {
	return c.ofTracker(ctx, call{method: http.MethodDelete}, name, "", nil)
}

// Issues are what is kept of a tracker.
func (c *Client) Issues(ctx context.Context, name string) ([]tracker.Issue, error) {
	var out struct {
		Issues []tracker.Issue `json:"issues"`
	}
	err := c.ofTracker(ctx, call{method: http.MethodGet}, name, "/issues", &out)
	return out.Issues, err
}

// SyncTracker has a tracker looked at; with fix, issues that drifted are put back.
func (c *Client) SyncTracker(ctx context.Context, name string, fix bool) (tracker.Report, error) {
	var out tracker.Report
	err := c.tellTracker(ctx, name, "/sync", map[string]bool{"fix": fix}, &out)
	return out, err
}

// SyncForges has the pull requests of tasks looked at that are of no tracker.
func (c *Client) SyncForges(ctx context.Context) ([]string, error) {
	var out struct {
		News []string `json:"news"`
	}
	err := c.put(ctx, http.MethodPost, "/forges/sync", struct{}{}, &out)
	return out.News, err
}

// TestTracker finds out whether a tracker can be worked with.
func (c *Client) TestTracker(ctx context.Context, name string) (tracker.Trial, error) {
	var out tracker.Trial
	err := c.tellTracker(ctx, name, "/test", struct{}{}, &out)
	return out, err
}

// Dispatch has tasks made of the issues that are next; dry, it only says which.
func (c *Client) Dispatch(ctx context.Context, name string, dry bool) (tracker.Round, error) {
	var out tracker.Round
	err := c.tellTracker(ctx, name, "/dispatch", map[string]bool{"dry": dry}, &out)
	return out, err
}

// An Examination says which board the doctor looks at, and whether it mends what it can.
type Examination struct {
	Project string `json:"project,omitempty"`
	Tracker string `json:"tracker,omitempty"`
	Key     string `json:"key,omitempty"`
	Fix     bool   `json:"fix,omitempty"`
}

// ExamineBoard looks for what is wrong with the cards of a board.
func (c *Client) ExamineBoard(ctx context.Context, x Examination) ([]boardcheck.Finding, error) {
	var out struct {
		Findings []boardcheck.Finding `json:"findings"`
	}
	err := c.put(ctx, http.MethodPost, "/doctor/board", x, &out)
	return out.Findings, err
}

// tellTracker sends in as JSON to what belongs to a tracker.
func (c *Client) tellTracker(ctx context.Context, name, of string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	return c.ofTracker(ctx, call{method: http.MethodPost, body: bytes.NewReader(body), form: "application/json"}, name, of, out)
}

// ofTracker asks for what belongs to a tracker. Names that mean something else in an
// address name none.
func (c *Client) ofTracker(ctx context.Context, q call, name, of string, out any) error {
	if strings.Trim(name, ".") == "" {
		return &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("there is no tracker %q: see orange tracker list", name)}
	}
	q.path = "/trackers/" + url.PathEscape(name) + of
	return c.do(ctx, q, out)
}
