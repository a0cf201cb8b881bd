package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"orange/internal/core/task"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// changesApart is the minimum time between two changes on one stream; faster changes are combined.
const changesApart = 20 * time.Millisecond

// maxRows limits the rows of one change, so that a client can read it in one piece.
const maxRows = 1000

// stateEvents streams the changes of a state after a row. It combines changes in quick succession, and leaves out none.
func (s *Server) stateEvents(w http.ResponseWriter, r *http.Request) {
	f, err := s.newFollower(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	out := openEvents(w)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		change, wake, err := f.nextChange()
		if err != nil {
			s.Log.Error("follow the state", "component", "api", "error", err)
			return
		}
		if change != nil && !out.sendEvent(wire.EventChange, change.Row, change) || wake == nil && !s.waitUnlessLeaving(r.Context(), changesApart) {
			return
		}
		if wake == nil {
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.leaving:
			return
		case <-wake.journal:
		case <-wake.measurements:
		case <-wake.boards:
		case <-wake.rest:
		case <-ping.C:
			if !out.sendPing() {
				return
			}
		}
	}
}

// waitUnlessLeaving waits for d. It returns false if the server stops or the client disconnects.
func (s *Server) waitUnlessLeaving(ctx context.Context, d time.Duration) bool {
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

// follower tracks how far a stream has sent.
type follower struct {
	s       *Server
	want    stateQuery
	after   int64
	mark    int64     // of the measurements; 0 sends everything, because it is unknown what the client has
	todo    []task.ID // to be sent before the client is up to date with after
	sentRow int64     // row up to which the client is up to date
	begun   bool
	last    overview.Change // without its rows
}

// newFollower begins after the row that a client has.
func (s *Server) newFollower(r *http.Request) (*follower, error) {
	after, err := resumeAt(r)
	if err != nil {
		return nil, err
	}
	want, err := parseStateQuery(r)
	if err == nil && want.at > 0 {
		err = task.Mistakef("at=%d selects a past state, which does not change: use after to follow changes", want.at)
	}
	if err != nil {
		return nil, err
	}
	row, err := s.Rows.LastRow()
	if err == nil && after > row {
		err = task.Mistakef("row %d is not in this journal, which ends at %d: ask for the state again", after, row)
	}
	return &follower{s: s, want: want, after: after, sentRow: after}, err
}

// wakeChannels are the channels that close when there is more to send.
type wakeChannels struct{ journal, measurements, boards, rest <-chan struct{} }

// nextChange returns the next change to send, or nil if there is nothing that the client requested. It returns channels
// to wait on only if there is no change and nothing left to read.
func (f *follower) nextChange() (*overview.Change, *wakeChannels, error) {
	on := &wakeChannels{rest: f.s.streamWaker.wakeChannel()} // before anything is read
	if f.s.Boards != nil {
		on.boards = f.s.Boards.NextBoardChange()
	}
	if len(f.todo) == 0 {
		if err := f.noteTouched(on); err != nil {
			return nil, nil, err
		}
	}
	if len(f.todo) > 0 {
		on = nil
	}
	now := f.s.emptyState()
	change := &overview.Change{At: now.At, Paused: now.Paused, Projects: now.Projects, Tasks: []overview.Row{}, Gone: []task.ID{}}
	if err := f.fillRows(change); err != nil {
		return nil, nil, err
	}
	if len(f.todo) == 0 {
		f.sentRow = f.after
	}
	change.Row = f.sentRow
	if f.begun && len(change.Tasks)+len(change.Gone) == 0 && change.Paused == f.last.Paused && slices.Equal(change.Projects, f.last.Projects) {
		return nil, on, nil
	}
	f.begun, f.last = true, overview.Change{Paused: change.Paused, Projects: change.Projects}
	return change, nil, nil
}

// noteTouched records the tasks that changed, each once.
func (f *follower) noteTouched(on *wakeChannels) error {
	rows, more, err := f.s.Engine.FollowJournal(f.after, "", stride)
	if err != nil {
		return err
	}
	on.journal = more
	noted := make(map[task.ID]bool, len(rows))
	note := func(id task.ID) {
		if !noted[id] {
			noted[id] = true
			f.todo = append(f.todo, id)
		}
	}
	for _, row := range rows {
		var e struct {
			Task task.ID `json:"task"`
		}
		if err := json.Unmarshal(row.Entry, &e); err != nil {
			return fmt.Errorf("read row %d: %w", row.ID, err)
		}
		f.after = row.ID
		note(e.Task)
	}
	if f.s.Measurements != nil {
		var seen []task.ID
		seen, f.mark, on.measurements = f.s.Measurements.ChangedSince(f.mark)
		for _, id := range seen {
			note(id)
		}
	}
	return nil
}

// fillRows adds the rows of tasks that are to be sent, as many as fit.
func (f *follower) fillRows(c *overview.Change) error {
	now := f.todo[:min(maxRows, len(f.todo))]
	for _, id := range now {
		if f.want.task != "" && f.want.task != id {
			continue
		}
		t, ok, err := f.s.Tasks.Task(id)
		switch {
		case err != nil:
			return err
		case !ok:
			c.Gone = append(c.Gone, id)
			continue
		case !f.want.matchesTask(&t):
			continue
		}
		if r := f.s.overviewRow(&t, c.At); !t.Deleted && f.want.matchesRow(&r, &t) {
			c.Tasks = append(c.Tasks, r)
		} else {
			c.Gone = append(c.Gone, id)
		}
	}
	if f.todo = f.todo[len(now):]; len(f.todo) == 0 {
		f.todo = nil // release the memory
	}
	return nil
}
