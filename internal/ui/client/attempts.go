package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"orange/internal/core/explain"
	"orange/internal/wire"
)

// ListAttempts lists the attempts of a task.
func (c *Client) ListAttempts(ctx context.Context, id string) ([]wire.Attempt, error) {
	list, _, err := c.AttemptsToday(ctx, id)
	return list, err
}

// AttemptsToday lists the attempts of a task, and returns what its project has spent today, or nil if it has no daily
// budget.
func (c *Client) AttemptsToday(ctx context.Context, id string) ([]wire.Attempt, *wire.DailySpend, error) {
	out := wire.AttemptList{Attempts: []wire.Attempt{}}
	err := c.ofTask(ctx, id, wire.PathTaskAttempts, nil, &out)
	return out.Attempts, out.Today, err
}

// ReadLog returns the log of an attempt; after is Next of an earlier response, or "".
func (c *Client) ReadLog(ctx context.Context, id string, attempt int, after string) (wire.Log, error) {
	var out wire.Log
	err := c.ofTask(ctx, id, wire.PathTaskLog, url.Values{wire.ParamAttempt: {strconv.Itoa(attempt)}, wire.ParamAfter: {after}}, &out)
	return out, err
}

// LastMessage returns the last message of an attempt: the one with that number, else the role's newest, else the
// newest.
func (c *Client) LastMessage(ctx context.Context, id string, attempt int, role string) (wire.Message, error) {
	var out wire.Message
	query := url.Values{}
	if attempt > 0 {
		query.Set(wire.ParamAttempt, strconv.Itoa(attempt))
	}
	if role != "" {
		query.Set(wire.ParamRole, role)
	}
	err := c.ofTask(ctx, id, wire.PathTaskOutput, query, &out)
	return out, err
}

// AttachCommand returns the command that shows the terminal of a task's role, "" for the agent at work.
func (c *Client) AttachCommand(ctx context.Context, id, role string) (wire.AttachCommand, error) {
	var out wire.AttachCommand
	query := url.Values{}
	if role != "" {
		query.Set(wire.ParamRole, role)
	}
	err := c.ofTask(ctx, id, wire.PathTaskAttach, query, &out)
	return out, err
}

// ReportHook reports an event of the harness in which this process runs.
func (c *Client) ReportHook(ctx context.Context, harness, event string, payload []byte) error {
	return c.sendJSON(ctx, http.MethodPost, wire.PathHooks, wire.HookEvent{Harness: harness, Event: event, Payload: payload}, nil)
}

// ForkTask creates a task that begins at an entry of the journal of id.
func (c *Client) ForkTask(ctx context.Context, id string, f wire.ForkRequest) (wire.Answer, error) {
	var out wire.Answer
	path, err := taskPath(id, wire.PathTaskFork)
	if err != nil {
		return out, err
	}
	err = c.sendJSON(ctx, http.MethodPost, path, f, &out)
	return out, err
}

// ListInbox lists what waits for a person, most urgent first; project "" for all.
func (c *Client) ListInbox(ctx context.Context, project string) ([]explain.Item, error) {
	out := wire.InboxList{Items: []explain.Item{}}
	err := c.getJSON(ctx, wire.PathInbox, ofProject(project), &out)
	return out.Items, err
}

func ofProject(name string) url.Values {
	if name == "" {
		return nil
	}
	return url.Values{wire.ParamProject: {name}}
}
