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

// ListTrackers lists the trackers, each with its last reading.
func (c *Client) ListTrackers(ctx context.Context) ([]tracker.Reading, error) {
	var out wire.TrackerList
	err := c.getJSON(ctx, wire.PathTrackers, nil, &out)
	return out.Trackers, err
}

// SetTracker adds a tracker, or changes it.
func (c *Client) SetTracker(ctx context.Context, cfg tracker.Config) (tracker.Config, error) {
	var out wire.TrackerUpdate
	err := c.sendJSON(ctx, http.MethodPost, wire.PathTrackers, cfg, &out)
	return out.Tracker, err
}

// RemoveTracker removes a tracker and its stored data.
func (c *Client) RemoveTracker(ctx context.Context, name string) error {
	return c.ofTracker(ctx, call{method: http.MethodDelete}, name, wire.PathTracker, nil)
}

// ListIssues lists the stored issues of a tracker.
func (c *Client) ListIssues(ctx context.Context, name string) ([]tracker.Issue, error) {
	var out wire.IssueList
	err := c.ofTracker(ctx, call{method: http.MethodGet}, name, wire.PathTrackerIssues, &out)
	return out.Issues, err
}

// SyncTracker polls a tracker; with fix, it moves drifted issues back.
func (c *Client) SyncTracker(ctx context.Context, name string, fix bool) (tracker.Report, error) {
	var out tracker.Report
	err := c.postToTracker(ctx, name, wire.PathTrackerSync, wire.SyncRequest{Fix: fix}, &out)
	return out, err
}

// SyncForges polls the pull requests of tasks that belong to no tracker.
func (c *Client) SyncForges(ctx context.Context) ([]string, error) {
	var out wire.SyncReport
	err := c.sendJSON(ctx, http.MethodPost, wire.PathForgesSync, struct{}{}, &out)
	return out.News, err
}

// TestTracker tests the connection to a tracker.
func (c *Client) TestTracker(ctx context.Context, name string) (tracker.Trial, error) {
	var out tracker.Trial
	err := c.postToTracker(ctx, name, wire.PathTrackerTest, struct{}{}, &out)
	return out, err
}

// DispatchIssues creates tasks for the next issues; with dry, it only lists them.
func (c *Client) DispatchIssues(ctx context.Context, name string, dry bool) (tracker.Round, error) {
	var out tracker.Round
	err := c.postToTracker(ctx, name, wire.PathTrackerDispatch, wire.DispatchRequest{Dry: dry}, &out)
	return out, err
}

// CheckBoard returns what is wrong with the cards of a board.
func (c *Client) CheckBoard(ctx context.Context, x wire.BoardCheckRequest) ([]boardcheck.Finding, error) {
	var out wire.BoardCheckResult
	err := c.sendJSON(ctx, http.MethodPost, wire.PathDoctorBoard, x, &out)
	return out.Findings, err
}

// postToTracker sends in as JSON to a path of a tracker.
func (c *Client) postToTracker(ctx context.Context, name, pattern string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	return c.ofTracker(ctx, call{method: http.MethodPost, body: bytes.NewReader(body), form: "application/json"}, name, pattern, out)
}

// ofTracker calls a path of a tracker. It rejects names that have another meaning in a path.
func (c *Client) ofTracker(ctx context.Context, q call, name, pattern string, out any) error {
	if strings.Trim(name, ".") == "" {
		return &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("there is no tracker %q: see orange tracker list", name)}
	}
	q.path = wire.FillPath(pattern, name)
	return c.callJSON(ctx, q, out)
}
