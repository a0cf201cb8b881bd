package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

const (
	// maxWalks limits how many requests read the whole journal at the same time.
	maxWalks = 2
	// stride is how many rows of the journal are read at a time.
	stride = 2000
)

// Measurements are facts about tasks beyond their journals.
type Measurements interface {
	// TaskFacts returns the facts about a task.
	TaskFacts(t *task.Task) overview.Facts
	// AbsentAttempts returns the attempts of a task that have no process, as TaskFacts does.
	AbsentAttempts(t *task.Task) []int
	// ChangedSince returns the tasks whose facts changed since mark, the present mark, and a channel that closes at the
	// next change. Mark 0 is before the first fact.
	ChangedSince(mark int64) (ids []task.ID, now int64, more <-chan struct{})
}

// Rows reads the journal of all tasks.
type Rows interface {
	LastRow() (int64, error)
	MovedRows(parts int) ([]int64, error) // of each part of the journal, the last row at which a task changed its state
}

// movesShown is how many moments of the journal at most are listed as moves.
const movesShown = 60

// listMoves lists moments at which tasks changed their state, spread over the whole journal.
func (s *Server) listMoves(*http.Request) (wire.Moves, error) {
	rows, err := s.Rows.MovedRows(movesShown)
	return wire.Moves{Rows: nonNil(rows)}, err
}

// stateQuery is the part of the state that a request selects.
type stateQuery struct {
	project string
	task    task.ID
	all     bool      // include finished tasks
	since   time.Time // include those that finished then or later, unless it is zero
	at      int64
}

func parseStateQuery(r *http.Request) (stateQuery, error) {
	q := r.URL.Query()
	s := stateQuery{project: q.Get(wire.ParamProject), task: task.ID(q.Get(wire.ParamTask)), all: q.Get(wire.ParamAll) == "1"}
	if q.Get(wire.ParamAll) == wire.Recent {
		s.since = recentAt(time.Now())
	}
	text := q.Get(wire.ParamAt)
	if text == "" {
		return s, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return s, task.Mistakef("at=%q is not a row of the journal: give a number above 0", text)
	}
	s.at = n
	return s, nil
}

// matchesTask reports whether a task is selected, and of the selected projects.
func (s *stateQuery) matchesTask(t *task.Task) bool {
	return (s.project == "" || s.project == t.Project) && (s.task == "" || s.task == t.ID)
}

// recentAt returns the time at which the tasks begin that had finished lately at a time.
func recentAt(at time.Time) time.Time { return at.AddDate(0, 0, -wire.RecentDays) }

// finishedLately reports whether a task is selected because it finished lately, if it finished.
func (s *stateQuery) finishedLately(since time.Time) bool {
	return !s.since.IsZero() && !since.Before(s.since)
}

// matchesRow reports whether a row is selected. A finished task is selected if it still needs somebody, by the same
// rule in every response, or if the query asks for it.
func (s *stateQuery) matchesRow(r *overview.Row, t *task.Task) bool {
	return s.all || s.finishedLately(r.Since) || r.Kind != workflow.Terminal || r.Wants != "" && len(t.Pending)+len(t.Attempts) > 0
}

// serveState sends the whole state, now or after a row.
func (s *Server) serveState(w http.ResponseWriter, r *http.Request) {
	want, err := parseStateQuery(r)
	var out overview.State
	if err == nil && want.at > 0 {
		out, err = s.stateAt(r.Context(), want)
	} else if err == nil {
		out, err = s.stateNow(want)
	}
	if err == nil {
		err = writeState(w, out)
	}
	if err != nil {
		s.failWith(w, err)
	}
}

// writeState writes a state row by row, because the text of ten thousand tasks is large. A client that disconnects is
// not an error.
func writeState(w http.ResponseWriter, state overview.State) error {
	tasks := state.Tasks
	state.Tasks = []overview.Row{} // the last field
	head, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, 64<<10)
	out.Write(bytes.TrimSuffix(head, []byte("]}"))) //nolint:errcheck // the writer keeps the error
	for i := range tasks {
		if i > 0 {
			out.WriteByte(',') //nolint:errcheck // likewise
		}
		row, err := json.Marshal(&tasks[i])
		if err != nil {
			panic(http.ErrAbortHandler) // the state is incomplete, and the client must notice
		}
		if _, err := out.Write(row); err != nil {
			return nil
		}
	}
	out.WriteString("]}\n") //nolint:errcheck // the client disconnected
	out.Flush()             //nolint:errcheck // likewise
	return nil
}

func (s *Server) stateNow(want stateQuery) (overview.State, error) {
	out := s.emptyState()
	row, err := s.Rows.LastRow() // before the tasks: changes in between are sent again
	if err != nil {
		return out, err
	}
	out.Row = row
	tasks, err := s.readSelected(want)
	out.Tasks = make([]overview.Row, 0, len(tasks))
	for i, t := range tasks {
		if r := s.overviewRow(&t.Task, out.At); want.matchesRow(&r, &t.Task) {
			out.Tasks = append(out.Tasks, r)
		}
		tasks[i] = nil // a record is larger than its row
	}
	return out, err
}

// readSelected reads the records of the selected tasks. It may return a few that are finished and not selected.
func (s *Server) readSelected(want stateQuery) ([]*record, error) {
	if want.task != "" {
		t, ok, err := s.Tasks.Task(want.task)
		if err != nil || !ok || t.Deleted || !want.matchesTask(&t) {
			return nil, err
		}
		return []*record{{Task: t}}, nil
	}
	tasks, err := s.readRecords(task.Filter{Project: want.project, All: want.all, OverSince: want.since})
	if err == nil && !want.all {
		tasks, err = s.withUnsettled(tasks, want)
	}
	return tasks, err
}

// withUnsettled adds finished tasks that may still need somebody.
func (s *Server) withUnsettled(tasks []*record, want stateQuery) ([]*record, error) {
	late, err := s.Tasks.UnsettledFinished()
	for i := range late {
		if t := &late[i]; want.matchesTask(t) && !want.finishedLately(t.Since) { // those are there
			tasks = append(tasks, &record{Task: *t})
		}
	}
	return tasks, err
}

// emptyState is a state without tasks.
func (s *Server) emptyState() overview.State {
	out := overview.State{At: time.Now().UTC(), Version: s.Release, Paused: s.Control.Paused(), Projects: []overview.Project{}}
	spend, counts := s.Tasks.(spendQuery)
	for _, p := range s.Projects.Projects() {
		item := overview.Project{Name: p.Name, Path: p.Path, Pool: p.PoolSize, Day: p.Budget, HoldLanding: p.HoldLanding}
		if counts && p.Budget.HasDailyLimit() {
			item.DayAttempts, item.DayMicros, _ = spend.SpentOn(p.Name, task.DayOf(out.At)) // a summary works without it
		}
		if s.GitPrograms != nil {
			item.Git = s.GitPrograms.UntrustedNotice(context.Background(), p)
		}
		if s.Boards != nil {
			item.Board = s.Boards.BoardMark(p.Name)
		}
		out.Projects = append(out.Projects, item)
	}
	return out
}

// overviewRow returns the row of a task as it is now.
func (s *Server) overviewRow(t *task.Task, now time.Time) overview.Row {
	var facts overview.Facts
	if s.Measurements != nil {
		facts = s.Measurements.TaskFacts(t)
	}
	return overview.NewRow(s.findDefinition(t), t, facts, now)
}

func (s *Server) findDefinition(t *task.Task) *workflow.Definition {
	def, err := s.Definition(t)
	if err != nil {
		return nil
	}
	return def
}

// stateAt folds the journal up to a row. Only tasks are as they were: pauses and projects are not in the journal.
func (s *Server) stateAt(ctx context.Context, want stateQuery) (overview.State, error) {
	out := s.emptyState()
	past, err := s.walkJournal(ctx, want.at)
	if err != nil {
		return out, err
	}
	if past.row > 0 {
		out.Row, out.At = past.row, past.at
	}
	if !want.since.IsZero() {
		want.since = recentAt(out.At)
	}
	out.Tasks = []overview.Row{}
	for _, t := range past.order {
		if t.Deleted || !want.matchesTask(t) {
			continue
		}
		if r := overview.NewRow(s.findDefinition(t), t, overview.Facts{}, out.At); want.matchesRow(&r, t) {
			out.Tasks = append(out.Tasks, r)
		}
	}
	return out, nil
}

// pastState is the result of a journal up to one row.
type pastState struct {
	row   int64
	at    time.Time
	tasks map[task.ID]*task.Task
	order []*task.Task // of creation
}

// walkJournal reads the journal from its beginning to a row. It reads in batches, so that it never blocks the store,
// and ends with its client; maxWalks limits how many run.
func (s *Server) walkJournal(ctx context.Context, to int64) (pastState, error) {
	p := pastState{tasks: map[task.ID]*task.Task{}}
	select {
	case s.walks <- struct{}{}:
		defer func() { <-s.walks }()
	case <-ctx.Done():
		return p, ctx.Err()
	case <-s.leaving:
		return p, task.ErrClosing
	}
	for {
		rows, _, err := s.Engine.FollowJournal(p.row, "", stride)
		if err != nil {
			return p, err
		}
		for _, row := range rows {
			if row.ID > to {
				return p, nil
			}
			if err := p.applyRow(row); err != nil {
				return p, err
			}
		}
		if len(rows) < stride {
			return p, nil
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-s.leaving:
			return p, task.ErrClosing
		default:
		}
	}
}

func (p *pastState) applyRow(row journal.Row) error {
	e, err := journal.Decode(row.Entry)
	if err != nil {
		return fmt.Errorf("read row %d: %w", row.ID, err)
	}
	t, known := p.tasks[e.Task]
	if !known {
		t = &task.Task{}
		p.tasks[e.Task] = t
		p.order = append(p.order, t)
	}
	p.row, p.at = row.ID, e.At
	if err := journal.Apply(t, &e); err != nil {
		return fmt.Errorf("fold row %d: %w", row.ID, err)
	}
	return nil
}
