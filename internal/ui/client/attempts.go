package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
)

// An Attempt is one run of one role, alive or over.
type Attempt struct {
	Number    int            `json:"number"`
	Role      string         `json:"role"`
	State     string         `json:"state,omitempty"` // that it was started in
	Harness   string         `json:"harness"`
	Model     string         `json:"model,omitempty"` // that it was told to use
	Alive     bool           `json:"alive"`
	Since     time.Time      `json:"since,omitzero"`
	Condition task.Condition `json:"condition,omitzero"`
	Window    string         `json:"window,omitempty"`  // "" without a terminal
	Session   string         `json:"session,omitempty"` // the harness's own name of the conversation
	Log       string         `json:"log"`               // file of its output, on the server's machine
	Code      *int           `json:"code,omitempty"`    // nil: alive, or lost
	Final     string         `json:"final,omitempty"`
	Usage     *task.Usage    `json:"usage,omitempty"`
}

// Today is what the attempts of a project were and cost on this day.
type Today struct {
	Day      string      `json:"day"` // 2006-01-02, UTC
	Attempts int         `json:"attempts"`
	Micros   int64       `json:"cost_micro_usd"`
	Budget   task.Budget `json:"budget"`
}

// Attempts lists the attempts of a task.
func (c *Client) Attempts(ctx context.Context, id string) ([]Attempt, error) {
	list, _, err := c.AttemptsToday(ctx, id)
	return list, err
}

// AttemptsToday lists the attempts of a task, and says what its project has spent on this
// day, nil if its days have no budget.
func (c *Client) AttemptsToday(ctx context.Context, id string) ([]Attempt, *Today, error) {
	out := struct {
		Attempts []Attempt `json:"attempts"`
		Today    *Today    `json:"today"`
	}{Attempts: []Attempt{}}
	err := c.ofTask(ctx, id, "/attempts", nil, &out)
	return out.Attempts, out.Today, err
}

// The forms of a log.
const (
	FormTranscript = "transcript" // what was said, in turns
	FormTerminal   = "terminal"   // what the terminal showed, in lines
	FormOutput     = "output"     // what an agent without a terminal printed, in lines
)

// A Log is what happened in an attempt: the conversation that its agent keeps, else the end
// of what it printed.
type Log struct {
	Attempt int               `json:"attempt"`
	Role    string            `json:"role"`
	Harness string            `json:"harness"`
	Alive   bool              `json:"alive"`
	Form    string            `json:"form"`
	Turns   []transcript.Turn `json:"turns"`
	Lines   []string          `json:"lines"`
	Skipped int               `json:"skipped,omitempty"` // lines of the agent's record that are not understood
	Cut     bool              `json:"cut,omitempty"`     // there is more before it
	Next    string            `json:"next,omitempty"`    // where to go on reading a transcript
}

// Log reads what happened in an attempt; after is Next of an earlier answer, or "".
func (c *Client) Log(ctx context.Context, id string, attempt int, after string) (Log, error) {
	var out Log
	err := c.ofTask(ctx, id, "/log", url.Values{"attempt": {strconv.Itoa(attempt)}, "after": {after}}, &out)
	return out, err
}

// A Message is what an attempt said last.
type Message struct {
	Attempt int    `json:"attempt"`
	Role    string `json:"role"`
	Alive   bool   `json:"alive"`
	Text    string `json:"text"` // "" if it has said nothing
}

// Said asks what an attempt said last: the one of that number, else the newest of the role,
// else the newest.
func (c *Client) Said(ctx context.Context, id string, attempt int, role string) (Message, error) {
	var out Message
	query := url.Values{}
	if attempt > 0 {
		query.Set("attempt", strconv.Itoa(attempt))
	}
	if role != "" {
		query.Set("role", role)
	}
	err := c.ofTask(ctx, id, "/output", query, &out)
	return out, err
}

// An Attachment is how a person gets to an agent's terminal.
type Attachment struct {
	Argv    []string `json:"argv"`
	Session string   `json:"session"`
}

// Attach asks for the command that shows the terminal of a task's role, "" for the one
// that is at work.
func (c *Client) Attach(ctx context.Context, id, role string) (Attachment, error) {
	var out Attachment
	query := url.Values{}
	if role != "" {
		query.Set("role", role)
	}
	err := c.ofTask(ctx, id, "/attach", query, &out)
	return out, err
}

// Hook reports an event of the harness that this runs in.
func (c *Client) Hook(ctx context.Context, harness, event string, payload []byte) error {
	in := struct {
		Harness string `json:"harness"`
		Event   string `json:"event"`
		Payload []byte `json:"payload"`
	}{harness, event, payload}
	return c.put(ctx, http.MethodPost, "/hooks", in, nil)
}

// A Fork says how a task is begun where another one stood.
type Fork struct {
	Seq    int    `json:"seq"`    // of the entry it begins at
	Branch string `json:"branch"` // "" for one that the server names
	Spawn  bool   `json:"spawn"`
}

// Fork begins a new task where id stood at an entry of its journal.
func (c *Client) Fork(ctx context.Context, id string, f Fork) (Answer, error) {
	var out Answer
	path, err := taskPath(id, "/fork")
	if err != nil {
		return out, err
	}
	err = c.put(ctx, http.MethodPost, path, f, &out)
	return out, err
}

// Inbox lists what waits for a person, the most pressing first; project "" for all.
func (c *Client) Inbox(ctx context.Context, project string) ([]engine.Item, error) {
	out := struct {
		Items []engine.Item `json:"items"`
	}{Items: []engine.Item{}}
	err := c.get(ctx, "/inbox", ofProject(project), &out)
	return out.Items, err
}

func ofProject(name string) url.Values {
	if name == "" {
		return nil
	}
	return url.Values{"project": {name}}
}
