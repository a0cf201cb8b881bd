package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

func TestCommitKeepsEntriesAndRecord(t *testing.T) {
	s := open(t)
	one := created(t, 1)
	if row := commit(t, s, one); row != 1 {
		t.Errorf("first row is %d", row)
	}
	two := next(t, one.Task, journal.Entry{Type: journal.StatusChanged, Move: journal.Move{From: "pending", To: "planning"}, RecordChanges: journal.RecordChanges{BindWorkspace: "p--1"}})
	three := next(t, two.Task, pauseEntry())
	other := created(t, 2)
	if row := commit(t, s, two, other, three); row != 2 {
		t.Errorf("the batch begins at row %d, want 2", row)
	}
	got, ok, err := s.Task(id(1))
	if err != nil || !ok {
		t.Fatalf("%v %v", ok, err)
	}
	if diff := cmp.Diff(three.Task, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	entries, err := s.Journal(id(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]journal.Entry{two.Entries[0], three.Entries[0]}, entries); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if last, err := s.LastRow(); err != nil || last != 4 {
		t.Errorf("last row is %d (%v), want 4: rows are contiguous", last, err)
	}
}

func TestCommitIsAllOrNothing(t *testing.T) {
	s := open(t)
	one := created(t, 1)
	commit(t, s, one)
	paused := next(t, one.Task, pauseEntry())
	gap := next(t, paused.Task, journal.Entry{Type: journal.TaskResumed})
	orphan := next(t, created(t, 3).Task, pauseEntry())
	wrong := created(t, 4)
	wrong.Entries[0].Seq = 7
	for name, tc := range map[string]struct {
		bad  journal.Commit
		want string
	}{
		"a task that is there already":       {one, "there already"},
		"a gap":                              {gap, "is not at entry 2"},
		"a task that was never created":      {orphan, "is not at entry 1"},
		"entries that miss the record's seq": {wrong, "does not lead to entry 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Commit(context.Background(), []journal.Commit{created(t, 2), tc.bad})
			wantError(t, err, tc.want)
			if _, ok, _ := s.Task(id(2)); ok {
				t.Error("the good half of a failed batch was kept")
			}
			if last, _ := s.LastRow(); last != 1 {
				t.Errorf("last row is %d, want 1", last)
			}
		})
	}
	if row := commit(t, s, paused, created(t, 2)); row != 2 {
		t.Errorf("after failures the next row is %d, want 2", row)
	}
}

func TestCommitRefusesASecondEntryOfTheSameNumber(t *testing.T) {
	s := open(t)
	one := created(t, 1)
	commit(t, s, one)
	if _, err := s.write.ExecContext(context.Background(), insertRow, 9, string(id(1)), 2, "", "{}", nil); err != nil {
		t.Fatal(err)
	}
	_, err := s.Commit(context.Background(), []journal.Commit{next(t, one.Task, pauseEntry())})
	wantError(t, err, "entry 2 of task "+string(id(1))+" is there already")
	got, _, _ := s.Task(id(1))
	if got.Paused {
		t.Error("the record changed without its entry")
	}
}

func TestCommitWithoutEntriesMovesOnlyTheDueTime(t *testing.T) {
	s := open(t)
	c := created(t, 1)
	commit(t, s, c)
	if row := commit(t, s, journal.Commit{Task: c.Task, Due: start}); row != 0 {
		t.Errorf("row %d", row)
	}
	if tasks, err := s.UnsettledTasks(); err != nil || len(tasks) != 1 {
		t.Errorf("%v, %v", tasks, err)
	}
	if tasks, err := s.UnsettledFinished(); err != nil || len(tasks) != 0 {
		t.Errorf("an open task is finished: %v, %v", tasks, err)
	}
	over := created(t, 2)
	over.Over, over.Due = true, start
	commit(t, s, over)
	if tasks, err := s.UnsettledFinished(); err != nil || len(tasks) != 1 || tasks[0].ID != id(2) {
		t.Errorf("%v, %v", tasks, err)
	}
}

func TestCommitHeedsTheContextBeforeItBegins(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Commit(ctx, []journal.Commit{created(t, 1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCommitOnAFullDisk(t *testing.T) {
	s := open(t)
	commit(t, s, created(t, 1))
	ctx := context.Background()
	limit := func(pages int) {
		t.Helper()
		if _, err := s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // no page more than there are
	big := created(t, 2)
	big.Entries[0].Note = strings.Repeat("x", 1<<20)
	_, err := s.Commit(ctx, []journal.Commit{big})
	wantError(t, err, "disk is full", "free some space")
	if _, ok, err := s.Task(id(1)); !ok || err != nil {
		t.Errorf("what was there cannot be read (%v)", err)
	}
	if _, ok, _ := s.Task(id(2)); ok {
		t.Error("half a commit was kept")
	}
	limit(1 << 30)
	commit(t, s, big)
}

func TestReadersSeeWholeCommitsOnly(t *testing.T) {
	s := open(t)
	last := created(t, 1)
	commit(t, s, last)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range readers + 2 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got, ok, err := s.Task(id(1))
				if err != nil || !ok || got.Seq%2 == 0 {
					t.Errorf("seq %d, %v, %v", got.Seq, ok, err)
					return
				}
				entries, err := s.Journal(id(1), 0)
				if err != nil || len(entries)%2 == 0 || len(entries) < got.Seq {
					t.Errorf("%d entries, %v", len(entries), err)
					return
				}
			}
		})
	}
	for range 50 {
		paused := next(t, last.Task, pauseEntry())
		last = next(t, paused.Task, journal.Entry{Type: journal.TaskResumed})
		commit(t, s, paused, last)
	}
	close(stop)
	group.Wait()
}

func TestConcurrentCommits(t *testing.T) {
	s := open(t)
	var group sync.WaitGroup
	for n := range 8 {
		c := created(t, n)
		group.Go(func() {
			if _, err := s.Commit(context.Background(), []journal.Commit{c}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if last, err := s.LastRow(); err != nil || last != 8 {
		t.Errorf("last row %d, %v", last, err)
	}
}

// transition returns a commit of the usual size: a status change with its effects.
func transition(tb testing.TB, have task.Task) journal.Commit {
	seq := have.Seq + 1
	c := next(tb, have, journal.Entry{
		Type: journal.StatusChanged, Actor: "worker", Attempt: 1, Cause: "request", Move: journal.Move{From: "planning", To: "working"},
		Reason: "gate plan: ## Plan has APPROACH",
		RecordChanges: journal.RecordChanges{Opened: []task.Digest{{Section: "Plan", Sum: strings.Repeat("ab", 32)}},
			Counters: []task.Counter{{Name: "crash_count", Value: 0, Total: seq}}},
		EffectChanges: journal.EffectChanges{Dropped: []string{task.EffectID(have.ID, have.Seq, 0)},
			Effects: []task.Effect{{ID: task.EffectID(have.ID, seq, 0), Do: "notify_worker", By: "edge", Role: "worker", Attempt: 1, Window: "worker", Prompt: "p"}}},
	})
	c.Due = start.Add(time.Hour)
	return c
}
