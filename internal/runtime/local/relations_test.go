package local_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"orange/internal/core/board"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
)

// relationsEnv is a runtime on a store in memory, whose tasks belong together, with a board
// of one card a task.
type relationsEnv struct {
	*local.Runtime
	t     *testing.T
	store *runtimetest.MemoryStore

	full  atomic.Bool
	mu    sync.Mutex
	cards map[string]board.Snapshot
	made  []task.ID
}

func newRelationsEnv(t *testing.T, workflow string) *relationsEnv {
	t.Helper()
	f := &relationsEnv{t: t, store: runtimetest.NewMemoryStore(task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: 4, Workflow: workflow}), cards: map[string]board.Snapshot{}}
	f.open()
	t.Cleanup(func() { f.Close() })
	return f
}

func (f *relationsEnv) open() {
	f.t.Helper()
	rt, err := local.Open(local.RuntimeOptions{
		Store: disk{f.store, f}, Files: runtimetest.NewMemoryFolders(), Library: library(func(string) (string, bool) { return "", false }),
		Log: slog.New(slog.DiscardHandler), Performer: f, Relations: f,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.Runtime = rt
}

// disk is the store with a Commit of the test's own.
type disk struct {
	*runtimetest.MemoryStore
	f *relationsEnv
}

func (d disk) Commit(ctx context.Context, commits []journal.Commit) (int64, error) {
	return d.f.Commit(ctx, commits)
}

// Perform changes cards and reads them; every other effect succeeds immediately.
func (f *relationsEnv) Perform(_ context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	snapshot := f.cards[t.TrackerRef]
	switch e.Do {
	case workflow.ReadCard:
		return local.EffectResult{CardSnapshot: &snapshot}, nil
	case workflow.TagCard:
		snapshot.Tags = slices.DeleteFunc(slices.Clone(snapshot.Tags), func(tag string) bool { return slices.Contains(e.Untags, tag) })
		snapshot.Tags = append(snapshot.Tags, e.Tags...)
	case workflow.MoveCard:
		snapshot.Column = e.Arg
	}
	f.cards[t.TrackerRef] = snapshot
	var done local.EffectResult
	if info, _ := workflow.EffectNamed(e.Do); info.Kills {
		for _, a := range t.Attempts {
			done.Ended = append(done.Ended, a.Number)
		}
	}
	return done, nil
}

func (f *relationsEnv) ChildTasks(parent task.ID) ([]signal.Child, error) {
	var out []signal.Child
	for _, t := range f.tasks() {
		if t.Parent == parent {
			out = append(out, signal.Child{ID: t.ID, Status: t.Status})
		}
	}
	return out, nil
}

func (f *relationsEnv) OnCard(ref string) ([]task.ID, error) {
	var out []task.ID
	for _, t := range f.tasks() {
		if t.TrackerRef == ref {
			out = append(out, t.ID)
		}
	}
	return out, nil
}

func (f *relationsEnv) tasks() []task.Task {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []task.Task
	for _, id := range f.made {
		if t, ok, _ := f.store.Task(id); ok {
			out = append(out, t)
		}
	}
	return out
}

func (f *relationsEnv) begin(n signal.New) task.ID {
	f.t.Helper()
	n.ID = task.NewID([]byte(fmt.Sprintf("%032d", len(f.made))))
	f.mu.Lock()
	f.made = append(f.made, n.ID)
	f.mu.Unlock()
	n.Project, n.Summary, n.Spawn = "p", "s", true
	a, err := f.Create(f.t.Context(), signal.NewTask{Actor: task.Human, New: n})
	if err != nil || a.Decision.Refused != "" {
		f.t.Fatal(err, a.Decision.Refused)
	}
	synctest.Wait()
	return a.Task.ID
}

func (f *relationsEnv) status(id task.ID) string {
	f.t.Helper()
	t, _, err := f.store.Task(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return t.Status
}

// ends lets the one agent of a task end with a word.
func (f *relationsEnv) ends(id task.ID, r signal.Report) {
	f.t.Helper()
	t, _, _ := f.store.Task(id)
	if len(t.Attempts) != 1 {
		f.t.Fatalf("%s has %d attempts", t.Status, len(t.Attempts))
	}
	a := t.Attempts[0]
	if _, err := f.Submit(f.t.Context(), id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Report: &r}); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

func TestOneAgentOfASerialGroupWorksAtATime(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newRelationsEnv(t, "joan-board")
			f.cards["board:p/1"] = board.Snapshot{Column: "Development", Tags: []string{"Planned"}}
			f.cards["board:p/2"] = board.Snapshot{Column: "Development", Tags: []string{"Planned"}}
			one, two := f.begin(signal.New{TrackerRef: "board:p/1"}), f.begin(signal.New{TrackerRef: "board:p/2"})
			if f.status(one) != "dev-implement" || f.status(two) != "board" {
				t.Fatalf("%s, %s", f.status(one), f.status(two))
			}
			if restart {
				f.Close()
				f.open()
				synctest.Wait()
			}
			if got, _, _ := f.store.Task(two); !got.Queued || got.Status != "board" {
				t.Fatalf("the second is %s, queued %v", got.Status, got.Queued)
			}
			f.ends(one, signal.Report{Protocol: signal.WorkerResult, Outcome: signal.Passed, Code: "success", Actions: &signal.Actions{
				AddTags: []string{"Dev-Complete", "Design-Complete", "Test-Complete"}, RemoveTags: []string{"Planned"},
			}})
			if f.status(two) != "dev-implement" {
				t.Errorf("the second is %s when the first is %s", f.status(two), f.status(one))
			}
			f.Close()
		})
	}
}

func TestACommitThatFailsHoldsNoSerialGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "joan-board")
		f.cards["board:p/1"] = board.Snapshot{Column: "Done"}
		f.cards["board:p/2"] = board.Snapshot{Column: "Done"}
		one, two := f.begin(signal.New{TrackerRef: "board:p/1"}), f.begin(signal.New{TrackerRef: "board:p/2"})
		ready := signal.Signal{Kind: signal.Tracker, Actor: task.Human, Word: signal.CardChanged, CardSnapshot: &board.Snapshot{Column: "Development", Tags: []string{"Planned"}}}
		f.full.Store(true)
		if _, err := f.Submit(t.Context(), one, ready); err == nil || f.status(one) != "board" {
			t.Fatalf("%v, the first is %s", err, f.status(one))
		}
		f.full.Store(false)
		if _, err := f.Submit(t.Context(), two, ready); err != nil || f.status(two) != "dev-implement" {
			t.Errorf("%v, the second is %s", err, f.status(two))
		}
		f.Close()
	})
}

// Commit fails while the disk is full.
func (f *relationsEnv) Commit(ctx context.Context, commits []journal.Commit) (int64, error) {
	if f.full.Load() {
		return 0, errors.New("the disk is full")
	}
	return f.store.Commit(ctx, commits)
}

func TestAParentContinuesWhenItsLastChildIsFarEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "linear-sdlc")
		parent := f.begin(signal.New{Status: "Backlog"})
		f.to(parent, "Canceled") // it has no children yet, so it was started: start over
		a, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "whole"}})
		if err != nil {
			t.Fatal(err)
		}
		parent = a.Task.ID
		one, two := f.begin(signal.New{Parent: parent}), f.begin(signal.New{Parent: parent})
		f.to(parent, "Coordinating")
		f.to(one, "Finished")
		if f.status(parent) != "Coordinating" {
			t.Fatalf("the parent is %s with one child of two", f.status(parent))
		}
		f.to(two, "Finished")
		if f.status(parent) != "Finished-parent" {
			t.Errorf("the parent is %s", f.status(parent))
		}
		if _, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "s", Parent: "000000000000000000000"}}); err == nil {
			t.Error("a child of nobody was made")
		}
		f.to(one, "Canceled")
		var mistake *task.Mistake
		if _, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "s", Parent: one}}); !errors.As(err, &mistake) ||
			err.Error() != "task "+string(one)+" is over, it is Canceled: name a parent that is still open" {
			t.Errorf("a child of a task that is over: %v", err)
		}
		f.Close()
	})
}

func (f *relationsEnv) to(id task.ID, state string) {
	f.t.Helper()
	a, err := f.Submit(f.t.Context(), id, signal.Signal{Kind: signal.Request, Actor: task.Human, To: state})
	if err != nil || a.Decision.Refused != "" {
		f.t.Fatal(err, a.Decision.Refused)
	}
	synctest.Wait()
}

func TestWhatAPersonDoesToACardReachesItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "joan-board")
		f.cards["board:p/3"] = board.Snapshot{Column: "Analyse", Tags: []string{"Plan-Pending-Approval"}}
		id := f.begin(signal.New{TrackerRef: "board:p/3"})
		if f.status(id) != "board" {
			t.Fatal(f.status(id))
		}
		f.CardChanged(board.Card{Project: "p", Number: 4, Column: "Analyse", Tags: []string{"Ready"}}, nil) // another one's
		synctest.Wait()
		if f.status(id) != "board" {
			t.Fatal(f.status(id))
		}
		f.CardChanged(board.Card{Project: "p", Number: 3, Column: "Analyse", Tags: []string{"Plan-Pending-Approval", "Plan-Approved"}}, nil)
		synctest.Wait()
		if f.status(id) != "architect-finalize" {
			t.Error(f.status(id))
		}
		f.Close()
		f.CardChanged(board.Card{Project: "p", Number: 3}, nil) // no task follows it any more
	})
}
