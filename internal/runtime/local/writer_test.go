package local

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// disk is a store that only commits, one batch for every go.
type disk struct {
	Store
	mu      sync.Mutex
	writing chan struct{} // receives when a batch may be written
	batches [][]task.ID
	bad     task.ID // cannot be written
	broken  bool    // panics
}

func (d *disk) Commit(_ context.Context, commits []journal.Commit) (int64, error) {
	<-d.writing
	d.mu.Lock()
	defer d.mu.Unlock()
	var ids []task.ID
	for _, c := range commits {
		if c.Task.ID == d.bad {
			return 0, errors.New("bad")
		}
		ids = append(ids, c.Task.ID)
	}
	if d.broken {
		panic("broken")
	}
	slices.Sort(ids)
	d.batches = append(d.batches, ids)
	return 1, nil
}

// writing returns a runtime of which only the writing works.
func writing() (*Runtime, *disk) {
	d := &disk{writing: make(chan struct{})}
	r := &Runtime{RuntimeOptions: RuntimeOptions{Store: d, Fault: func(string) {}}}
	r.shown.open = map[task.ID]int64{}
	r.commits.init()
	return r, d
}

// submit writes in the background and says how it went.
func (d *disk) submit(ctx context.Context, r *Runtime, id task.ID) <-chan error {
	out := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				out <- errors.New("panic")
			}
		}()
		out <- r.writeDurably(ctx, journal.Commit{Task: task.Task{ID: id, Seq: 1}, Entries: make([]journal.Entry, 1)})
	}()
	synctest.Wait()
	return out
}

func TestWhatWaitsWhileOneIsWrittenIsWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := writing()
		var all []<-chan error
		for _, id := range []task.ID{"a", "b", "c"} {
			all = append(all, d.submit(t.Context(), r, id))
		}
		close(d.writing)
		for _, done := range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff([][]task.ID{{"a"}, {"b", "c"}}, d.batches); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOneThatCannotBeWrittenDoesNotFailOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := writing()
		d.bad = "b"
		a, b, c := d.submit(t.Context(), r, "a"), d.submit(t.Context(), r, "b"), d.submit(t.Context(), r, "c")
		close(d.writing)
		if errA, errB, errC := <-a, <-b, <-c; errA != nil || errB == nil || errC != nil {
			t.Errorf("got %v, %v, %v", errA, errB, errC)
		}
	})
}

func TestWhoLeavesTheLineIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := writing()
		ctx, leave := context.WithCancel(t.Context())
		a, b, c := d.submit(ctx, r, "a"), d.submit(ctx, r, "b"), d.submit(t.Context(), r, "c")
		leave()
		if err := <-b; !errors.Is(err, context.Canceled) {
			t.Errorf("one in line: %v", err)
		}
		close(d.writing)
		if errA, errC := <-a, <-c; errA != nil || errC != nil {
			t.Errorf("the one being written: %v, the one behind: %v", errA, errC)
		}
		if diff := cmp.Diff([][]task.ID{{"a"}, {"c"}}, d.batches); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhoLeavesWhenItsTurnHasComePassesItOn(t *testing.T) {
	w := &writer{}
	mine := &pendingCommit{turn: make(chan struct{}, 1)}
	next := &pendingCommit{turn: make(chan struct{}, 1)}
	w.joinQueue(&pendingCommit{})
	w.joinQueue(mine)
	w.joinQueue(next)
	w.queue = w.queue[1:] // the first is being written
	w.passTurn()
	if !w.withdrawCommit(mine) || len(next.turn) != 1 {
		t.Error("nobody has the turn")
	}
	if !w.withdrawCommit(next) || w.writing {
		t.Error("nobody is there and somebody writes")
	}
}

func TestAStoreThatPanicsLeavesNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := writing()
		d.broken = true
		a := d.submit(t.Context(), r, "a")
		b, c := d.submit(t.Context(), r, "b"), d.submit(t.Context(), r, "c")
		close(d.writing)
		if errA, errB, errC := <-a, <-b, <-c; errA == nil || errB == nil || errC == nil {
			t.Errorf("got %v, %v, %v", errA, errB, errC)
		}
		d.broken = false
		if err := <-d.submit(t.Context(), r, "d"); err != nil {
			t.Errorf("and then: %v", err)
		}
	})
}
