package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

// mostSubjects limits how many resources are followed at the same time.
const mostSubjects = 1000

// subject is a resource that somebody subscribed to.
type subject struct {
	uri     string
	task    task.ID // of a task's text
	project string  // of a board; if both are empty it is the inbox
}

// updates reports the changes of resources to those who subscribed to them. While there are subscriptions, it follows the
// state of all tasks once for all of them.
type updates struct {
	life   context.Context
	api    StateFollower
	notify func(uri string)

	mu       sync.Mutex
	subjects map[string]*followed // by URI
	stop     context.CancelFunc   // ends the following; nil: nothing is followed
}

type followed struct {
	subject
	count int // of subscriptions
}

func newUpdates(life context.Context, api StateFollower) *updates {
	return &updates{life: life, api: api, subjects: map[string]*followed{}}
}

// add begins to report the changes of a resource. When it returns, no change is missed.
func (u *updates) add(ctx context.Context, s subject) error {
	if u.api == nil {
		return invalidRequest(errors.New("there are no subscriptions here: use wait"))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if f, ok := u.subjects[s.uri]; ok {
		f.count++
		return nil
	}
	if len(u.subjects) == mostSubjects {
		return invalidRequest(fmt.Errorf("more than %d resources are followed already: end some subscriptions", mostSubjects))
	}
	if u.stop == nil {
		state, err := u.api.ReadState(ctx, client.StateQuery{})
		if err != nil {
			return invalidRequest(err)
		}
		life, stop := context.WithCancel(u.life)
		u.stop = stop
		go u.follow(life, newStateMarks(&state))
	}
	u.subjects[s.uri] = &followed{s, 1}
	return nil
}

// remove ends one subscription of a resource.
func (u *updates) remove(uri string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f, ok := u.subjects[uri]
	if !ok {
		return
	}
	if f.count--; f.count == 0 {
		delete(u.subjects, uri)
	}
	if len(u.subjects) == 0 && u.stop != nil {
		u.stop()
		u.stop = nil
	}
}

// follow reports changes until life ends.
func (u *updates) follow(life context.Context, m *stateMarks) {
	for {
		u.api.FollowState(life, client.FollowOptions{After: m.row, Lost: func(error) {}, Change: func(c overview.Change) error {
			for _, uri := range u.touched(m.apply(&c)) {
				u.notify(uri)
			}
			return nil
		}}) //nolint:errcheck // see below
		// The stream ended because life did, or because the server does not know the row: its store is another one, and
		// everything may be different.
		state, err := u.api.ReadState(life, client.StateQuery{})
		for err != nil {
			select {
			case <-life.Done():
				return
			case <-time.After(retryAfter):
			}
			state, err = u.api.ReadState(life, client.StateQuery{})
		}
		m = newStateMarks(&state)
		for _, uri := range u.touched(&stateChange{all: true}) {
			u.notify(uri)
		}
	}
}

// retryAfter is the time before the state is read again.
const retryAfter = time.Second

// touched returns the URIs of the resources that a change is about, in order.
func (u *updates) touched(c *stateChange) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []string
	for uri, f := range u.subjects {
		switch {
		case c.all, f.task != "" && c.tasks[f.task], f.project != "" && c.boards[f.project], f.task == "" && f.project == "" && c.inbox:
			out = append(out, uri)
		}
	}
	slices.Sort(out)
	return out
}

// stateMarks is what must be known of a state to tell which resources a change is about.
type stateMarks struct {
	row      int64
	paused   bool
	projects []overview.Project
	rows     map[task.ID]rowMark
}

type rowMark struct {
	seq   int
	wants explain.ItemKind
	text  string
	since time.Time
}

// stateChange is what became different.
type stateChange struct {
	all    bool
	inbox  bool
	tasks  map[task.ID]bool
	boards map[string]bool // by project
}

func newStateMarks(s *overview.State) *stateMarks {
	m := &stateMarks{row: s.Row, paused: s.Paused, projects: s.Projects, rows: map[task.ID]rowMark{}}
	for i := range s.Tasks {
		m.rows[s.Tasks[i].ID] = markOf(&s.Tasks[i])
	}
	return m
}

func markOf(r *overview.Row) rowMark { return rowMark{r.Seq, r.Wants, r.Text, r.Asked} }

// apply brings the marks up to date and returns what became different.
func (m *stateMarks) apply(c *overview.Change) *stateChange {
	out := &stateChange{inbox: c.Paused != m.paused, tasks: map[task.ID]bool{}, boards: map[string]bool{}}
	for i := range c.Tasks {
		r := &c.Tasks[i]
		was, now := m.rows[r.ID], markOf(r)
		out.tasks[r.ID] = was.seq != now.seq
		was.seq = now.seq
		out.inbox = out.inbox || was != now
		m.rows[r.ID] = now
	}
	for _, id := range c.Gone {
		out.tasks[id] = true
		out.inbox = out.inbox || m.rows[id].wants != ""
		delete(m.rows, id)
	}
	was := map[string]overview.Project{}
	for _, p := range m.projects {
		was[p.Name] = p
	}
	for _, p := range c.Projects {
		before, known := was[p.Name]
		out.boards[p.Name] = !known || before.Board != p.Board
		out.inbox = out.inbox || before.Git != p.Git || before.HoldLanding != p.HoldLanding
	}
	m.row, m.paused, m.projects = c.Row, c.Paused, c.Projects
	return out
}

// listensAside lets a request that listens for changes give way to those that work.
func listensAside(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == methodListen {
			end, err := heldFrom(ctx).beginWaiting()
			if err != nil {
				return nil, invalidRequest(err)
			}
			defer end()
		}
		return next(ctx, method, req)
	}
}

// methodListen is the request that carries notifications in its answer, which comes when the client ends it.
const methodListen = "subscriptions/listen"
