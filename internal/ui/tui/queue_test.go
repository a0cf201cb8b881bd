package tui

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/view/overview"
)

func TestChangesAreMerged(t *testing.T) {
	q := newQueue()
	row := func(id task.ID, seq int) overview.Row { return overview.Row{ID: id, Seq: seq} }
	q.mergeChange(overview.Change{Row: 1, Tasks: []overview.Row{row("a", 1), row("b", 1)}})
	q.mergeChange(overview.Change{Row: 2, Tasks: []overview.Row{row("a", 2), row("c", 1)}})
	q.mergeChange(overview.Change{Row: 3, Paused: true, Gone: []task.ID{"b", "d"}})
	q.mergeChange(overview.Change{Row: 4, Paused: true, Tasks: []overview.Row{row("c", 2)}})
	want := overview.Change{Row: 4, Paused: true, Tasks: []overview.Row{row("a", 2), row("c", 2)}, Gone: []task.ID{"b", "d"}}
	if d := cmp.Diff(want, q.takeChange()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(overview.Change{}, q.takeChange()); d != "" {
		t.Errorf("it is told twice: %s", d)
	}
}

// TestNothingIsNoChange is about a change that comes just when the one before it is taken:
// both are sent together, and the queue reports once more that it has changes.
func TestNothingIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.filled <- struct{}{}
		var got []int64
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			q.sendChanges(ctx, time.Millisecond, func(msg tea.Msg) { got = append(got, msg.(changeMsg).change.Row) })
		})
		synctest.Wait()
		q.mergeChange(overview.Change{Row: 2, At: noon})
		time.Sleep(time.Second)
		cancel()
		wg.Wait()
		if d := cmp.Diff([]int64{2}, got); d != "" {
			t.Error(d)
		}
	})
}
