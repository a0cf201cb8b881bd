package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"orange/internal/core/task"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// StateQuery selects a part of the state.
type StateQuery struct {
	Project string // "" for all
	Task    string // the whole id of the only task; "" for all
	All     bool   // include finished tasks
	Recent  bool   // include those that finished in the last wire.RecentDays days
	At      int64  // as it was after this row of the journal, 0 for now
}

func (s StateQuery) queryValues() url.Values {
	q := url.Values{}
	if s.Project != "" {
		q.Set(wire.ParamProject, s.Project)
	}
	if s.Task != "" {
		q.Set(wire.ParamTask, s.Task)
	}
	switch {
	case s.All:
		q.Set(wire.ParamAll, "1")
	case s.Recent:
		q.Set(wire.ParamAll, wire.Recent)
	}
	if s.At > 0 {
		q.Set(wire.ParamAt, strconv.FormatInt(s.At, 10))
	}
	return q
}

// ReadState returns the whole state at one moment.
func (c *Client) ReadState(ctx context.Context, s StateQuery) (overview.State, error) {
	var out overview.State
	err := c.getJSON(ctx, wire.PathState, s.queryValues(), &out)
	return out, err
}

// ReadStatusLine returns the state as a status line shows it: of a project or of all, and of a task if id is not "".
func (c *Client) ReadStatusLine(ctx context.Context, project string, id task.ID) (wire.StatusLine, error) {
	var out wire.StatusLine
	err := c.getJSON(ctx, wire.PathStateSummary, url.Values{wire.ParamProject: {project}, wire.ParamTask: {string(id)}}, &out)
	return out, err
}

// ReadMoves returns moments at which tasks changed their state.
func (c *Client) ReadMoves(ctx context.Context) (wire.Moves, error) {
	var out wire.Moves
	err := c.getJSON(ctx, wire.PathStateMoves, nil, &out)
	return out, err
}

// ReadStats returns what became of tasks, by group.
func (c *Client) ReadStats(ctx context.Context, q wire.StatsQuery) (wire.Stats, error) {
	values := url.Values{wire.ParamBy: {string(q.By)}, wire.ParamProject: {q.Project}}
	if !q.Since.IsZero() {
		values.Set(wire.ParamSince, q.Since.UTC().Format(time.RFC3339))
	}
	var out wire.Stats
	err := c.getJSON(ctx, wire.PathStats, values, &out)
	return out, err
}

// TaskTable returns the tasks as a table shows them, in order of creation.
func (c *Client) TaskTable(ctx context.Context, f task.Filter) ([]wire.TaskLine, error) {
	var out wire.TaskTable
	err := c.getJSON(ctx, wire.PathStateTasks, filterQuery(f), &out)
	return out.Tasks, err
}

// FollowOptions configures FollowState. Its functions are called one at a time.
type FollowOptions struct {
	StateQuery
	After  int64                       // row of the known state
	Change func(overview.Change) error // its error ends the stream
	Opened func() error                // the stream is open, for the first time or again; may be nil
	Lost   func(error)                 // the stream broke, and is resumed; nil: several failures in a row are an error
}

// FollowState reports changes of the state until ctx ends. A broken stream is resumed where it broke: no change is
// missed.
func (c *Client) FollowState(ctx context.Context, l FollowOptions) error {
	q := call{method: http.MethodGet, path: wire.PathStateEvents, query: l.queryValues()}
	q.query.Set(wire.ParamAfter, strconv.FormatInt(l.After, 10))
	s := stream{client: c, call: q, opened: l.Opened, lost: l.Lost, deliver: func(b block) error {
		if b.event != wire.EventChange {
			return nil
		}
		var change overview.Change
		if err := b.decodeData(&change); err != nil {
			return err
		}
		return l.Change(change)
	}}
	return s.followStream(ctx)
}

// ReadScreen returns the screen of a role's agent; "" for the agent at work.
func (c *Client) ReadScreen(ctx context.Context, id, role string) (wire.Screen, error) {
	var out wire.Screen
	err := c.ofTask(ctx, id, wire.PathTaskScreen, url.Values{wire.ParamRole: {role}}, &out)
	return out, err
}

// WatchScreen reports what an agent's terminal shows, now and whenever it changes.
func (c *Client) WatchScreen(ctx context.Context, id, role string, each func(wire.Screen) error) error {
	path, err := taskPath(id, wire.PathTaskScreenEvents)
	if err != nil {
		return err
	}
	s := stream{client: c, call: call{method: http.MethodGet, path: path, query: url.Values{wire.ParamRole: {role}}}, deliver: func(b block) error {
		if b.event != wire.EventScreen {
			return nil
		}
		var out wire.Screen
		if err := b.decodeData(&out); err != nil {
			return err
		}
		return each(out)
	}}
	return s.followStream(ctx)
}

// TypeText types text into an agent's terminal, and presses Enter.
func (c *Client) TypeText(ctx context.Context, id, role, text string) error {
	path, err := taskPath(id, wire.PathTaskType)
	if err != nil {
		return err
	}
	return c.sendJSON(ctx, http.MethodPost, path, wire.TerminalInput{Role: role, Text: text}, nil)
}

// PressKey presses a key in an agent's terminal, if it still shows what the person saw.
func (c *Client) PressKey(ctx context.Context, id string, in wire.KeyInput) error {
	path, err := taskPath(id, wire.PathTaskKeys)
	if err != nil {
		return err
	}
	return c.sendJSON(ctx, http.MethodPost, path, in, nil)
}

// ReadDiff returns what a task's branch changes.
func (c *Client) ReadDiff(ctx context.Context, id string) (wire.Diff, error) {
	var out wire.Diff
	err := c.ofTask(ctx, id, wire.PathTaskDiff, nil, &out)
	return out, err
}

// ReadFile returns a file of a task's branch, on the old or the new side of its diff.
func (c *Client) ReadFile(ctx context.Context, id, path string, old bool) (wire.FileContent, error) {
	q := url.Values{wire.ParamPath: {path}}
	if old {
		q.Set(wire.ParamSide, wire.SideOld)
	}
	var out wire.FileContent
	err := c.ofTask(ctx, id, wire.PathTaskFile, q, &out)
	return out, err
}

// ListWorkflows lists the known workflows.
func (c *Client) ListWorkflows(ctx context.Context) ([]wire.WorkflowInfo, error) {
	var out wire.WorkflowList
	err := c.getJSON(ctx, wire.PathWorkflows, nil, &out)
	return out.Workflows, err
}

// OpenPage returns the address of the web page, and opens the page if it is not open.
func (c *Client) OpenPage(ctx context.Context) (wire.PageAddress, error) {
	var out wire.PageAddress
	err := c.sendJSON(ctx, http.MethodPost, wire.PathWeb, nil, &out)
	return out, err
}

// WebToken returns the token of the web page, and opens the page if it is not open.
func (c *Client) WebToken(ctx context.Context) (wire.PageToken, error) {
	var out wire.PageToken
	err := c.sendJSON(ctx, http.MethodPost, wire.PathWebToken, nil, &out)
	return out, err
}
