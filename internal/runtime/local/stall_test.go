package local_test

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
)

// An agency lets a test act right after an effect was carried out, before its receipt.
type agency struct {
	*relationsEnv
	after func(e task.Effect)
}

func (a *agency) Perform(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	d, err := a.relationsEnv.Perform(ctx, t, e)
	if a.after != nil {
		a.after(e)
	}
	return d, err
}

// holding is the store with a Commit of the test's own.
type holding struct {
	*runtimetest.MemoryStore
	commit func(context.Context, []journal.Commit) (int64, error)
}

func (h holding) Commit(ctx context.Context, c []journal.Commit) (int64, error) {
	return h.commit(ctx, c)
}

// anew opens the family's runtime again, with changes.
func (f *relationsEnv) anew(change func(*local.RuntimeOptions)) {
	f.t.Helper()
	f.Close()
	o := local.RuntimeOptions{
		Store: disk{f.store, f}, Files: runtimetest.NewMemoryFolders(), Library: library(func(string) (string, bool) { return "", false }),
		Log: slog.New(slog.DiscardHandler), Performer: f, Relations: f,
	}
	change(&o)
	rt, err := local.Open(o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Runtime = rt
}

func TestAChangeWhileTheCardIsReadIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "joan-board")
		var once atomic.Bool
		approved := []string{"Plan-Pending-Approval", "Plan-Approved"}
		f.anew(func(o *local.RuntimeOptions) {
			o.Performer = &agency{f, func(e task.Effect) {
				if e.Do != workflow.ReadCard || once.Swap(true) {
					return
				}
				f.mu.Lock()
				f.cards["board:p/3"] = board.Snapshot{Column: "Analyse", Tags: approved}
				f.mu.Unlock()
				f.CardChanged(board.Card{Project: "p", Number: 3, Column: "Analyse", Tags: approved}, nil)
			}}
		})
		f.cards["board:p/3"] = board.Snapshot{Column: "Analyse", Tags: approved[:1]}
		id := f.begin(signal.New{TrackerRef: "board:p/3"})
		if f.status(id) != "architect-finalize" {
			t.Errorf("%s", f.status(id))
		}
		f.Close()
	})
}

func TestATurnThatComesWhileItIsQueuedForIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "joan-board")
		exit, queued := make(chan struct{}), make(chan struct{})
		var holds atomic.Bool
		f.anew(func(o *local.RuntimeOptions) {
			o.Store = holding{f.store, func(ctx context.Context, c []journal.Commit) (int64, error) {
				for i := range c {
					if holds.Load() && slices.ContainsFunc(c[i].Entries, func(e journal.Entry) bool { return e.Cause == "exit" }) {
						<-exit
					}
					if holds.Load() && slices.ContainsFunc(c[i].Entries, func(e journal.Entry) bool { return e.Type == journal.TaskQueued }) {
						<-queued
					}
				}
				return f.store.Commit(ctx, c)
			}}
		})
		f.cards["board:p/1"] = board.Snapshot{Column: "Development", Tags: []string{"Planned"}}
		f.cards["board:p/2"] = board.Snapshot{Column: "Done"}
		one, two := f.begin(signal.New{TrackerRef: "board:p/1"}), f.begin(signal.New{TrackerRef: "board:p/2"})
		holds.Store(true)
		tk, _, _ := f.store.Task(one)
		a := tk.Attempts[0]
		r := signal.Report{Protocol: signal.WorkerResult, Outcome: signal.Passed, Code: "success", Actions: &signal.Actions{AddTags: []string{"Implementation-Failed"}}}
		go f.Submit(t.Context(), one, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Report: &r}) //nolint:errcheck // the outcome is seen below
		synctest.Wait()
		go f.CardChanged(board.Card{Project: "p", Number: 2, Column: "Development", Tags: []string{"Planned"}}, nil)
		synctest.Wait()
		close(exit)
		synctest.Wait()
		close(queued)
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.status(two) != "dev-implement" {
			t.Errorf("the first is %s, the second %s", f.status(one), f.status(two))
		}
		f.Close()
	})
}

func TestAParentThatBeginsToWaitLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "linear-sdlc")
		a, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "whole"}})
		if err != nil {
			t.Fatal(err)
		}
		f.to(f.begin(signal.New{Parent: a.Task.ID}), "Finished")
		f.to(a.Task.ID, "Coordinating")
		if f.status(a.Task.ID) != "Finished-parent" {
			t.Errorf("%s", f.status(a.Task.ID))
		}
		f.Close()
	})
}

type believer struct{}

func (believer) Probe(_ context.Context, q local.Question) signal.Evidence {
	return signal.Evidence{Name: q.Name, Holds: true, Detail: "yes"}
}

func TestAParentWaitsForTheOneWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "linear-sdlc")
		f.store = runtimetest.NewMemoryStore(task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: 1, Workflow: "linear-sdlc"})
		f.anew(func(o *local.RuntimeOptions) {
			o.Store, o.EvidenceSource = disk{f.store, f}, believer{}
			o.Performer = &agency{f, func(e task.Effect) {
				if e.Do == workflow.ReleaseWorkspace {
					time.Sleep(time.Second)
				}
			}}
		})
		a, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "whole"}})
		if err != nil {
			t.Fatal(err)
		}
		one := f.begin(signal.New{Parent: a.Task.ID})
		f.to(a.Task.ID, "Coordinating")
		for _, s := range []string{"Finished", "Delivered", "Merging", "Accepted"} {
			f.to(one, s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.status(a.Task.ID) != "Finished-parent" {
			t.Errorf("the child is %s, the parent %s", f.status(one), f.status(a.Task.ID))
		}
		f.Close()
	})
}

const serialFlow = `
name: one-by-one
version: 1
describe: x
roles:
  dev: {describe: d, harness: task, session: visit, window: dev, prompt: dev, protocol: work-result, serial: dev}
counters:
  crash_count: {max: 2, per: state, counts: crashes}
states:
  pending: {kind: queued}
  working: {kind: agent, role: dev, deadline: {wall: 1h, idle: 20m}}
  stuck: {kind: halt}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human, engine, tracker]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine, tracker]}
  - {from: working, to: done, on: {outcome: passed}, by: [dev]}
  - {from: working, to: stuck, on: crash-limit}
  - {from: stuck, to: working, as: resume, by: [human]}
  - {from: [pending, working, stuck], to: cancelled, as: cancel, by: [human]}
prompts:
  dev: do it
`

func TestASerialGroupHoldsAtCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "one-by-one")
		f.anew(func(o *local.RuntimeOptions) {
			o.Library = library(func(n string) (string, bool) { return serialFlow, n == "one-by-one" })
		})
		one, two := f.begin(signal.New{}), f.begin(signal.New{})
		if f.status(one) != "working" || f.status(two) != "pending" {
			t.Fatalf("%s, %s", f.status(one), f.status(two))
		}
		f.ends(one, signal.Report{Protocol: signal.WorkResult, Outcome: signal.Passed, Code: "passed"})
		if f.status(two) != "working" {
			t.Errorf("%s, %s", f.status(one), f.status(two))
		}
		f.Close()
	})
}

const gatedBoard = `
name: gated
version: 1
describe: x
roles:
  dev: {describe: d, harness: task, session: visit, window: dev, prompt: dev, protocol: work-result}
counters:
  crash_count: {max: 2, per: state, counts: crashes}
gates:
  committed: {evidence: commits}
board:
  columns: {To Do: [], Done: []}
  tags: {Go: [human]}
states:
  board: {kind: human}
  working: {kind: agent, role: dev, deadline: {wall: 1h, idle: 20m}}
  stuck: {kind: halt}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: board, on: create, by: [human, engine, tracker]}
  - {from: board, to: working, on: {board: {tags: [Go]}}, gate: committed}
  - {from: working, to: done, on: {outcome: passed}, by: [dev]}
  - {from: working, to: stuck, on: crash-limit}
  - {from: stuck, to: working, as: resume, by: [human]}
  - {from: [board, working, stuck], to: cancelled, as: cancel, by: [human]}
prompts:
  dev: do it
`

func TestTheGateOfACardTriggerIsEvaluated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "gated")
		f.anew(func(o *local.RuntimeOptions) {
			o.Library, o.EvidenceSource = library(func(n string) (string, bool) { return gatedBoard, n == "gated" }), believer{}
		})
		f.cards["board:p/1"] = board.Snapshot{Column: "To Do"}
		id := f.begin(signal.New{TrackerRef: "board:p/1"})
		f.CardChanged(board.Card{Project: "p", Number: 1, Column: "To Do", Tags: []string{"Go"}}, nil)
		synctest.Wait()
		if f.status(id) != "working" {
			t.Errorf("%s", f.status(id))
		}
		f.Close()
	})
}
