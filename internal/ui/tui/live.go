package tui

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

// Messages from the feed to the model.
type (
	stateMsg  struct{ state overview.State }
	changeMsg struct{ change overview.Change }
	linkMsg   struct{ err error } // nil: the stream is open
)

// retryState is the delay before a failed read of the state is retried.
const retryState = time.Second

// feed follows the state and sends it to the program.
type feed struct {
	api   Feed
	send  func(tea.Msg)
	apart time.Duration // the minimum time between two changes that are sent
}

func (f *feed) run(ctx context.Context) {
	for ctx.Err() == nil {
		state, err := f.api.ReadState(ctx, client.StateQuery{All: true})
		if err == nil {
			f.send(stateMsg{state})
			err = f.followStream(ctx, state.Row)
		}
		if ctx.Err() == nil && err != nil {
			f.send(linkMsg{err})
		}
		waitFor(ctx, retryState)
	}
}

// followStream reads the stream until ctx ends. It merges changes that arrive while the program is busy, so that
// neither waits for the other.
func (f *feed) followStream(ctx context.Context, after int64) error {
	ctx, cancel := context.WithCancel(ctx)
	q := newQueue()
	var pumping sync.WaitGroup
	pumping.Go(func() { q.sendChanges(ctx, f.apart, f.send) })
	defer pumping.Wait()
	defer cancel()
	again := false
	return f.api.FollowState(ctx, client.FollowOptions{
		StateQuery: client.StateQuery{All: true}, After: after,
		Change: func(c overview.Change) error { q.mergeChange(c); return nil },
		Lost:   func(err error) { again = true; f.send(linkMsg{err}) },
		Opened: func() error {
			if again { // what no journal records may have changed meanwhile
				if state, err := f.api.ReadState(ctx, client.StateQuery{All: true}); err == nil {
					f.send(stateMsg{state})
				}
			}
			f.send(linkMsg{})
			return nil
		},
	})
}

// wokenMsg is the result of starting a server.
type wokenMsg struct{ err error }

// wakeServer sends a small request if there is no server: a request starts one, and following the stream does not. The
// quit key sends nothing.
func (m *model) wakeServer(key string) tea.Cmd {
	leaves := key == "q" && m.page == pageList && m.dialog == nil && m.input == nil
	if !client.IsAbsent(m.lost) || m.waking || leaves {
		return nil
	}
	m.waking = true
	ctx, api := m.ctx, m.API
	return func() tea.Msg {
		_, err := api.ReadState(ctx, client.StateQuery{})
		return wokenMsg{err}
	}
}

// finishWaking handles the result. The stream itself reports when it is open again.
func (m *model) finishWaking(msg wokenMsg) {
	m.waking = false
	if msg.err != nil {
		m.showError("%s", oneLine(msg.err))
		return
	}
	if client.IsAbsent(m.lost) {
		m.lost = errWoken
	}
}

// errWoken is why the stream is not open although a server runs.
var errWoken = errors.New("it is taken up again")

// waitFor waits, or returns early if ctx ends.
func waitFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// queue merges the changes that were not sent yet into one.
type queue struct {
	mu     sync.Mutex
	change overview.Change
	places map[task.ID]int // in change.Tasks
	filled chan struct{}
}

func newQueue() *queue {
	return &queue{places: map[task.ID]int{}, filled: make(chan struct{}, 1)}
}

func (q *queue) mergeChange(c overview.Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := &q.change
	all.Row, all.At, all.Paused, all.Projects = max(all.Row, c.Row), c.At, c.Paused, c.Projects
	for _, r := range c.Tasks {
		if at, ok := q.places[r.ID]; ok {
			all.Tasks[at] = r
			continue
		}
		q.places[r.ID] = len(all.Tasks)
		all.Tasks = append(all.Tasks, r)
	}
	for _, id := range c.Gone {
		all.Gone = append(all.Gone, id)
		if _, ok := q.places[id]; ok { // it was there before it was gone
			all.Tasks = slices.DeleteFunc(all.Tasks, func(r overview.Row) bool { return r.ID == id })
			clear(q.places)
			for i := range all.Tasks {
				q.places[all.Tasks[i].ID] = i
			}
		}
	}
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

func (q *queue) takeChange() overview.Change {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.change
	q.change = overview.Change{}
	clear(q.places)
	return c
}

// sendChanges sends changes: the first immediately, those that follow shortly after it together.
func (q *queue) sendChanges(ctx context.Context, apart time.Duration, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.filled:
		}
		if c := q.takeChange(); c.Row > 0 || !c.At.IsZero() {
			send(changeMsg{c})
		}
		waitFor(ctx, apart)
	}
}
