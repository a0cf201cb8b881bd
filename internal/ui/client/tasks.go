package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// CopyTaskList copies the list of tasks to w, as the server wrote it: {"tasks":[...]}.
func (c *Client) CopyTaskList(ctx context.Context, f task.Filter, w io.Writer) error {
	return c.copyTo(ctx, call{method: http.MethodGet, path: wire.PathTasks, query: filterQuery(f)}, w)
}

// TaskList returns the tasks in order of creation.
func (c *Client) TaskList(ctx context.Context, f task.Filter) ([]task.Task, error) {
	var out wire.TaskList
	err := c.getJSON(ctx, wire.PathTasks, filterQuery(f), &out)
	return out.Tasks, err
}

func filterQuery(f task.Filter) url.Values {
	q := url.Values{}
	if f.Project != "" {
		q.Set(wire.ParamProject, f.Project)
	}
	if f.Status != "" {
		q.Set(wire.ParamStatus, f.Status)
	}
	if f.All {
		q.Set(wire.ParamAll, "1")
	}
	return q
}

// ReadTask returns one task. As in every method, id may be any name of the task.
func (c *Client) ReadTask(ctx context.Context, id string) (wire.TaskDetails, error) {
	var out wire.TaskDetails
	err := c.ofTask(ctx, id, wire.PathTask, nil, &out)
	return out, err
}

// ReadHistory returns the events of history.jsonl, each as it was written.
func (c *Client) ReadHistory(ctx context.Context, id string) ([]json.RawMessage, error) {
	out := struct {
		History []json.RawMessage `json:"history"`
	}{History: []json.RawMessage{}}
	err := c.ofTask(ctx, id, wire.PathTaskHistory, nil, &out)
	return out.History, err
}

// ReadJournal returns the entries of a task after sequence number after.
func (c *Client) ReadJournal(ctx context.Context, id string, after int) ([]journal.Entry, error) {
	var out wire.Journal
	err := c.ofTask(ctx, id, wire.PathTaskJournal, url.Values{wire.ParamAfter: {strconv.Itoa(after)}}, &out)
	return out.Entries, err
}

// VerifyChain verifies the journal up to the last row of a task.
func (c *Client) VerifyChain(ctx context.Context, id string) (wire.Chain, error) {
	var out wire.Chain
	err := c.ofTask(ctx, id, wire.PathTaskChain, nil, &out)
	return out, err
}

// ExplainTask returns why a task is in its state.
func (c *Client) ExplainTask(ctx context.Context, id string) (explain.Explanation, error) {
	var out explain.Explanation
	err := c.ofTask(ctx, id, wire.PathTaskExplain, nil, &out)
	return out, err
}

// ReadWorkflow returns the text that tasks are pinned to by its hash.
func (c *Client) ReadWorkflow(ctx context.Context, hash string) (wire.WorkflowText, error) {
	var out wire.WorkflowText
	err := c.getJSON(ctx, wire.FillPath(wire.PathWorkflow, hash), nil, &out)
	return out, err
}

func (c *Client) ofTask(ctx context.Context, id, pattern string, query url.Values, out any) error {
	path, err := taskPath(id, pattern)
	if err != nil {
		return err
	}
	return c.getJSON(ctx, path, query, out)
}

// CreateTask creates a task.
func (c *Client) CreateTask(ctx context.Context, w signal.NewTask) (wire.Answer, error) {
	var out wire.Answer
	err := c.sendJSON(ctx, http.MethodPost, wire.PathTasks, w, &out)
	return out, err
}

// SendSignal sends a signal about a task. A refusal is an *Error with status 409 whose body has the reasons.
func (c *Client) SendSignal(ctx context.Context, id string, s signal.Signal) (wire.Answer, error) {
	var out wire.Answer
	path, err := taskPath(id, wire.PathTaskSignals)
	if err != nil {
		return out, err
	}
	err = c.sendJSON(ctx, http.MethodPost, path, s, &out)
	return out, err
}
