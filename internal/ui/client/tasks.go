package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// A Decision is what the server decided about a request.
type Decision struct {
	Verdict engine.Verdict  `json:"verdict"`
	Refused string          `json:"refused,omitempty"`
	Reasons []engine.Reason `json:"reasons"`
	Entries []journal.Entry `json:"entries"`
}

// An Answer is a decision together with the record it leaves.
type Answer struct {
	Task     task.Task `json:"task"`
	Decision Decision  `json:"decision"`
	Warning  string    `json:"warning,omitempty"`
}

// Told is the role of the agent to which an answer of a person goes that moves nothing, ""
// if there is none.
func (a *Answer) Told() string {
	for i := range a.Decision.Entries {
		if e := &a.Decision.Entries[i]; e.Type == journal.AgentAnswered {
			return e.Role
		}
	}
	return ""
}

// A View is a task with its text.
type View struct {
	Task    task.Task `json:"task"`
	Body    string    `json:"body"`
	Dir     string    `json:"dir"`
	Problem string    `json:"problem,omitempty"` // why the text could not be read

	Issue *tracker.Standing `json:"issue,omitempty"` // as it was last read

	Reasons []engine.WaitReason `json:"reasons,omitempty"` // why it waits for a person; untrusted
}

// Tasks copies the list of tasks to w, as the server wrote it: {"tasks":[...]}.
func (c *Client) Tasks(ctx context.Context, f task.Filter, w io.Writer) error {
	return c.copyTo(ctx, call{method: http.MethodGet, path: "/tasks", query: filterQuery(f)}, w)
}

// TaskList returns the tasks in order of creation.
func (c *Client) TaskList(ctx context.Context, f task.Filter) ([]task.Task, error) {
	var out struct {
		Tasks []task.Task `json:"tasks"`
	}
	err := c.get(ctx, "/tasks", filterQuery(f), &out)
	return out.Tasks, err
}

func filterQuery(f task.Filter) url.Values {
	q := url.Values{}
	if f.Project != "" {
		q.Set("project", f.Project)
	}
	if f.Status != "" {
		q.Set("status", f.Status)
	}
	if f.All {
		q.Set("all", "1")
	}
	return q
}

// Task returns one task; id may be the beginning of an id.
func (c *Client) Task(ctx context.Context, id string) (View, error) {
	var out View
	err := c.ofTask(ctx, id, "", nil, &out)
	return out, err
}

// History returns the events of history.jsonl, each as it was written.
func (c *Client) History(ctx context.Context, id string) ([]json.RawMessage, error) {
	out := struct {
		History []json.RawMessage `json:"history"`
	}{History: []json.RawMessage{}}
	err := c.ofTask(ctx, id, "/history", nil, &out)
	return out.History, err
}

// Journal returns the entries of a task after sequence number after.
func (c *Client) Journal(ctx context.Context, id string, after int) ([]journal.Entry, error) {
	var out struct {
		Entries []journal.Entry `json:"entries"`
	}
	err := c.ofTask(ctx, id, "/journal", url.Values{"after": {strconv.Itoa(after)}}, &out)
	return out.Entries, err
}

// A Chain says how far the rows of the journal are what was written.
type Chain struct {
	Rows   int64           `json:"rows"`
	Head   journal.Link    `json:"head"`
	Broken *journal.Broken `json:"broken,omitempty"`
}

// Chain follows the journal up to the last row of a task.
func (c *Client) Chain(ctx context.Context, id string) (Chain, error) {
	var out Chain
	err := c.ofTask(ctx, id, "/chain", nil, &out)
	return out, err
}

// Explain answers why a task is where it is.
func (c *Client) Explain(ctx context.Context, id string) (engine.Explanation, error) {
	var out engine.Explanation
	err := c.ofTask(ctx, id, "/explain", nil, &out)
	return out, err
}

// A Workflow is a text that tasks are pinned to.
type Workflow struct {
	Hash string `json:"hash"`
	Name string `json:"name"`
	File string `json:"file"`
	Text string `json:"text"`
}

// Workflow returns the text that tasks are pinned to by its hash.
func (c *Client) Workflow(ctx context.Context, hash string) (Workflow, error) {
	var out Workflow
	err := c.get(ctx, "/workflows/"+url.PathEscape(hash), nil, &out)
	return out, err
}

func (c *Client) ofTask(ctx context.Context, id, of string, query url.Values, out any) error {
	path, err := taskPath(id, of)
	if err != nil {
		return err
	}
	return c.get(ctx, path, query, out)
}

// Create asks for a new task.
func (c *Client) Create(ctx context.Context, w signal.Wish) (Answer, error) {
	var out Answer
	err := c.put(ctx, http.MethodPost, "/tasks", w, &out)
	return out, err
}

// Signal tells the server that something happened to a task. A refusal is an *Error
// with status 409 whose body holds the reasons.
func (c *Client) Signal(ctx context.Context, id string, s signal.Signal) (Answer, error) {
	var out Answer
	path, err := taskPath(id, "/signals")
	if err != nil {
		return out, err
	}
	err = c.put(ctx, http.MethodPost, path, s, &out)
	return out, err
}
