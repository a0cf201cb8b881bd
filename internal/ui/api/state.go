package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/overview"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// changesApart is the least time between two changes on one stream: what comes faster
// is told together.
const changesApart = 20 * time.Millisecond

// Sights are what is known of tasks beside their journals.
type Sights interface {
	// Facts are what is known of a task.
	Facts(t *task.Task) overview.Facts
	// Since returns the tasks of which something else is known than at mark, the mark
	// of now, and a channel that closes when there are more.
	Since(mark int64) (ids []task.ID, now int64, more <-chan struct{})
}

// Rows reads the journal of all tasks.
type Rows interface {
	LastRow() (int64, error)
	EachRow(ctx context.Context, yield func(journal.Row) error) error
}

// seen is what a request wants to see.
type seen struct {
	project string
	all     bool
	at      int64
}

func seenOf(r *http.Request) (seen, error) {
	q := r.URL.Query()
	s := seen{project: q.Get("project"), all: q.Get("all") == "1"}
	text := q.Get("at")
	if text == "" {
		return s, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return s, task.Mistakef("at=%q is no row of the journal: give a number above 0", text)
	}
	s.at = n
	return s, nil
}

// state is everything at one moment, now or after a row.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	want, err := seenOf(r)
	var out overview.State
	if err == nil && want.at > 0 {
		out, err = s.stateAt(r.Context(), want)
	} else if err == nil {
		out, err = s.stateNow(want)
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	out.Tasks = nonNil(out.Tasks)
	s.reply(w, http.StatusOK, out)
}

func (s *Server) stateNow(want seen) (overview.State, error) {
	out := s.moment()
	row, err := s.Rows.LastRow() // before the tasks: what comes in between is told again
	if err != nil {
		return out, err
	}
	out.Row = row
	known := map[task.ID]bool{}
	add := func(t *task.Task) {
		known[t.ID] = true
		out.Tasks = append(out.Tasks, s.row(t, out.At))
	}
	err = s.Tasks.EachTask(task.Filter{Project: want.project, All: want.all}, func(fold []byte) error {
		var t task.Task
		if err := json.Unmarshal(fold, &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		add(&t)
		return nil
	})
	if err != nil || want.all {
		return out, err
	}
	late, err := s.Tasks.Unsettled() // a task that is over may need somebody too
	for i := range late {
		if t := &late[i]; !known[t.ID] && !t.Deleted && (want.project == "" || t.Project == want.project) {
			add(t)
		}
	}
	return out, err
}

// moment is a state without tasks.
func (s *Server) moment() overview.State {
	out := overview.State{At: time.Now().UTC(), Version: s.Release, Paused: s.Control.Paused(), Projects: []overview.Project{}}
	book, counts := s.Tasks.(ledger)
	for _, p := range s.Projects.Projects() {
		item := overview.Project{Name: p.Name, Path: p.Path, Pool: p.PoolSize, Day: p.Budget}
		if counts && p.Budget.Daily() {
			item.DayAttempts, item.DayMicros, _ = book.SpentOn(p.Name, task.DayOf(out.At)) // a glance goes without
		}
		out.Projects = append(out.Projects, item)
	}
	return out
}

// row is how a task looks now.
func (s *Server) row(t *task.Task, now time.Time) overview.Row {
	var facts overview.Facts
	if s.Sights != nil {
		facts = s.Sights.Facts(t)
	}
	return overview.Of(s.definition(t), t, facts, now)
}

func (s *Server) definition(t *task.Task) *workflow.Definition {
	def, err := s.Definition(t)
	if err != nil {
		return nil
	}
	return def
}

// errEnough ends a walk over the journal.
var errEnough = errors.New("enough was read")

// stateAt folds the journal up to a row.
func (s *Server) stateAt(ctx context.Context, want seen) (overview.State, error) {
	out := s.moment()
	tasks := map[task.ID]*task.Task{}
	var order []*task.Task
	err := s.Rows.EachRow(ctx, func(row journal.Row) error {
		if row.ID > want.at {
			return errEnough
		}
		var e journal.Entry
		if err := json.Unmarshal(row.Entry, &e); err != nil {
			return fmt.Errorf("read row %d: %w", row.ID, err)
		}
		t, known := tasks[e.Task]
		if !known {
			t = &task.Task{}
			tasks[e.Task] = t
			order = append(order, t)
		}
		out.Row, out.At = row.ID, e.At
		return journal.Apply(t, &e)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return out, err
	}
	for _, t := range order {
		if t.Deleted || want.project != "" && t.Project != want.project {
			continue
		}
		r := overview.Of(s.definition(t), t, overview.Facts{}, out.At)
		if want.all || r.Kind != workflow.Terminal || r.Wants != "" {
			out.Tasks = append(out.Tasks, r)
		}
	}
	return out, nil
}

// stateEvents streams what becomes of a state after a row. What happens quickly is told
// together; nothing is left out.
func (s *Server) stateEvents(w http.ResponseWriter, r *http.Request) {
	after, err := resumeAt(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	want, _ := seenOf(r)
	f := follower{s: s, want: want, after: after}
	if s.Sights != nil {
		_, f.mark, _ = s.Sights.Since(-1)
	}
	out := openStream(w)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		change, wake, err := f.next()
		if err != nil {
			s.Log.Error("follow the state", "component", "api", "error", err)
			return
		}
		if change != nil {
			if !out.send("change", f.after, change) || !s.wait(r.Context(), changesApart) {
				return
			}
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.leaving:
			return
		case <-wake.journal:
		case <-wake.sights:
		case <-ping.C:
			out.ping()
		}
	}
}

// wait lets time pass. It says false if the server or the client leaves.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-s.leaving:
		return false
	case <-t.C:
		return true
	}
}

// follower knows how far a stream has told.
type follower struct {
	s      *Server
	want   seen
	after  int64
	mark   int64
	paused bool
	begun  bool
}

// wake are the channels that close when there is more to tell.
type wake struct{ journal, sights <-chan struct{} }

// next is what there is to tell, nil if there is nothing.
func (f *follower) next() (*overview.Change, wake, error) {
	var on wake
	rows, more, err := f.s.Engine.Follow(f.after, "", 2000)
	if err != nil {
		return nil, on, err
	}
	on.journal = more
	var ids []task.ID
	for _, row := range rows {
		var e struct {
			Task task.ID `json:"task"`
		}
		if err := json.Unmarshal(row.Entry, &e); err != nil {
			return nil, on, fmt.Errorf("read row %d: %w", row.ID, err)
		}
		f.after = row.ID
		ids = append(ids, e.Task)
	}
	if f.s.Sights != nil {
		var touched []task.ID
		touched, f.mark, on.sights = f.s.Sights.Since(f.mark)
		ids = append(ids, touched...)
	}
	now := f.s.moment()
	if len(ids) == 0 && f.begun && f.paused == now.Paused {
		return nil, on, nil
	}
	f.begun, f.paused = true, now.Paused
	change := overview.Change{Row: f.after, At: now.At, Paused: now.Paused, Projects: now.Projects, Tasks: []overview.Row{}, Gone: []task.ID{}}
	return &change, on, f.fill(&change, ids)
}

// fill adds the rows of tasks, each once.
func (f *follower) fill(c *overview.Change, ids []task.ID) error {
	told := map[task.ID]bool{}
	for _, id := range ids {
		if told[id] {
			continue
		}
		told[id] = true
		t, ok, err := f.s.Tasks.Task(id)
		switch {
		case err != nil:
			return err
		case !ok || t.Deleted:
			c.Gone = append(c.Gone, id)
		case f.want.project == "" || t.Project == f.want.project:
			c.Tasks = append(c.Tasks, f.s.row(&t, c.At))
		}
	}
	return nil
}

// sse is a stream of server-sent events.
type sse struct {
	w     http.ResponseWriter
	flush http.Flusher
}

// openStream begins a stream, so that the client knows that it is heard.
func openStream(w http.ResponseWriter) sse {
	flusher, _ := w.(http.Flusher)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	fmt.Fprint(w, ": orange\n\n")
	flusher.Flush()
	return sse{w, flusher}
}

// send sends one event. It says false if the client has left.
func (s sse) send(event string, id int64, v any) bool {
	body, err := json.Marshal(v)
	if err != nil {
		return false
	}
	if id > 0 {
		fmt.Fprintf(s.w, "id: %d\n", id)
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", event, body); err != nil {
		return false
	}
	s.flush.Flush()
	return true
}

func (s sse) ping() {
	fmt.Fprint(s.w, ": ping\n\n")
	s.flush.Flush()
}
