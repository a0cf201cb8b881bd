package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"orange/internal/core/boardcheck"
	"orange/internal/core/tracker"
	"orange/internal/wire"
)

// ListTrackers lists the trackers and how fresh what is kept of them is.
func (c *Client) ListTrackers(ctx context.Context) ([]tracker.Reading, error) {
	var out wire.TrackerList
	err := c.getJSON(ctx, wire.PathTrackers, nil, &out)
	return out.Trackers, err
}

// SetTracker adds a tracker, or changes it.
func (c *Client) SetTracker(ctx context.Context, cfg tracker.Config) (tracker.Config, error) {
	var out wire.TrackerSet
	err := c.sendJSON(ctx, http.MethodPost, wire.PathTrackers, cfg, &out)
	return out.Tracker, err
}

// RemoveTracker forgets a tracker and what was kept of it.
func (c *Client) RemoveTracker(ctx context.Context, name string) error {
	return c.ofTracker(ctx, call{method: http.MethodDelete}, name, wire.PathTracker, nil)
}

// ListIssues are what is kept of a tracker.
func (c *Client) ListIssues(ctx context.Context, name string) ([]tracker.Issue, error) {
	var out wire.IssueList
	err := c.ofTracker(ctx, call{method: http.MethodGet}, name, wire.PathTrackerIssues, &out)
	return out.Issues, err
}

// SyncTracker has a tracker looked at; with fix, issues that drifted are put back.
func (c *Client) SyncTracker(ctx context.Context, name string, fix bool) (tracker.Report, error) {
	var out tracker.Report
	err := c.tellTracker(ctx, name, wire.PathTrackerSync, wire.SyncWish{Fix: fix}, &out)
	return out, err
}

// SyncForges has the pull requests of tasks looked at that are of no tracker.
func (c *Client) SyncForges(ctx context.Context) ([]string, error) {
	var out wire.News
	err := c.sendJSON(ctx, http.MethodPost, wire.PathForgesSync, struct{}{}, &out)
	return out.News, err
}

// TestTracker finds out whether a tracker can be worked with.
func (c *Client) TestTracker(ctx context.Context, name string) (tracker.Trial, error) {
	var out tracker.Trial
	err := c.tellTracker(ctx, name, wire.PathTrackerTest, struct{}{}, &out)
	return out, err
}

// DispatchIssues has tasks made of the issues that are next; dry, it only says which.
func (c *Client) DispatchIssues(ctx context.Context, name string, dry bool) (tracker.Round, error) {
	var out tracker.Round
	err := c.tellTracker(ctx, name, wire.PathTrackerDispatch, wire.DispatchWish{Dry: dry}, &out)
	return out, err
}

// CheckBoard looks for what is wrong with the cards of a board.
func (c *Client) CheckBoard(ctx context.Context, x wire.Examination) ([]boardcheck.Finding, error) {
	var out wire.Findings
	err := c.sendJSON(ctx, http.MethodPost, wire.PathDoctorBoard, x, &out)
	return out.Findings, err
}

// tellTracker sends in as JSON to what belongs to a tracker.
func (c *Client) tellTracker(ctx context.Context, name, pattern string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	return c.ofTracker(ctx, call{method: http.MethodPost, body: bytes.NewReader(body), form: "application/json"}, name, pattern, out)
}

// ofTracker asks for what belongs to a tracker. Names that mean something else in an
// address name none.
func (c *Client) ofTracker(ctx context.Context, q call, name, pattern string, out any) error {
	if strings.Trim(name, ".") == "" {
		return &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("there is no tracker %q: see orange tracker list", name)}
	}
	q.path = wire.FillPath(pattern, name)
	return c.callJSON(ctx, q, out)
}
