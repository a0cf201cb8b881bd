package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
)

const chainFlow = `
name: chain
version: 1
describe: x
roles:
  dev: {describe: d, harness: task, session: visit, window: dev, prompt: dev, protocol: work-result}
counters:
  crash_count: {max: 2, per: state, counts: crashes}
states:
  pending: {kind: queued}
  working: {kind: agent, role: dev, deadline: {wall: 1h, idle: 20m}}
  stuck: {kind: halt}
  done: {kind: terminal, reopen: working}
  cancelled: {kind: terminal, reopen: working}
edges:
  - {from: new, to: pending, on: create, by: [human, engine, tracker]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine, tracker]}
  - {from: working, to: done, on: [request, {outcome: passed}], as: complete, by: [dev, human], do: [kill_session, release_workspace, spawn_next]}
  - {from: working, to: stuck, on: crash-limit}
  - {from: stuck, to: working, as: resume, by: [human]}
  - {from: [pending, working, stuck], to: cancelled, as: cancel, by: [human], do: [kill_session, release_workspace, spawn_next]}
prompts:
  dev: do it
`

// newChainEnv is an environment whose tasks follow chainFlow, with as many workspaces as given.
func newChainEnv(t *testing.T, size int) *relationsEnv {
	t.Helper()
	f := newRelationsEnv(t, "chain")
	f.openChain()
	p, _ := f.Project("p")
	p.PoolSize = size
	if err := f.UpdateProject(p); err != nil {
		t.Fatal(err)
	}
	return f
}

// openChain opens the runtime again, on the same store.
func (f *relationsEnv) openChain() {
	f.t.Helper()
	f.anew(func(o *local.RuntimeOptions) {
		o.Library = library(func(n string) (string, bool) { return chainFlow, n == "chain" })
	})
}

// later creates a task that is after others.
func (f *relationsEnv) later(branch string, after ...task.ID) task.ID {
	f.t.Helper()
	return f.begin(signal.New{Branch: branch, After: after})
}

func (f *relationsEnv) record(id task.ID) task.Task {
	f.t.Helper()
	t, ok, err := f.store.Task(id)
	if err != nil || !ok {
		f.t.Fatal(ok, err)
	}
	return t
}

// changeAfter asks that a task be after another, or no longer.
func (f *relationsEnv) changeAfter(id task.ID, field string, other task.ID) error {
	f.t.Helper()
	a, err := f.Submit(f.t.Context(), id, signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: field, To: string(other)}}})
	synctest.Wait()
	if err == nil && a.Decision.Refused != "" {
		err = errors.New(a.Decision.Refused)
	}
	return err
}

func TestAChainOfTasksStartsOneByOne(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newChainEnv(t, 4)
			one := f.later("one")
			two := f.later("two", one)
			three := f.later("three", two)
			if f.status(one) != "working" || f.status(two) != "pending" || f.status(three) != "pending" {
				t.Fatalf("%s, %s, %s", f.status(one), f.status(two), f.status(three))
			}
			if restart {
				f.openChain()
				synctest.Wait()
			}
			f.to(one, "done") // nothing of it was left to merge
			if f.status(two) != "working" || f.status(three) != "pending" {
				t.Errorf("%s, %s after the first", f.status(two), f.status(three))
			}
			f.to(two, "cancelled")
			if got := f.record(three); got.Status != "pending" || len(task.DroppedOf(got.Predecessors)) != 1 {
				t.Errorf("%s, %+v after the second was cancelled", got.Status, got.Predecessors)
			}
			f.to(two, "working")
			if got := f.record(three); len(task.DroppedOf(got.Predecessors)) != 0 {
				t.Errorf("%+v after the second was reopened", got.Predecessors)
			}
			if err := f.changeAfter(three, engine.FieldDropAfter, two); err != nil || f.status(three) != "working" {
				t.Errorf("%v, %s without its dependency", err, f.status(three))
			}
			f.Close()
		})
	}
}

// A server may end between the end of a task and its news to those that are after it.
func TestATaskLearnsAfterARestartThatAnotherLanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newChainEnv(t, 4)
		one := f.later("one")
		two := f.later("two", one)
		f.to(one, "done")
		stored := f.record(two)
		f.Close()
		stored.Status, stored.Queued, stored.Workspace, stored.Attempts, stored.AttemptCounts, stored.Pending = "pending", true, "", nil, nil, nil
		stored.Predecessors = []task.Predecessor{{ID: one, Branch: "one", State: task.PredecessorOpen}}
		if _, err := f.store.Commit(t.Context(), []journal.Commit{{Task: stored}}); err != nil {
			t.Fatal(err)
		}
		f.openChain()
		synctest.Wait()
		if f.status(two) != "working" {
			t.Errorf("%s", f.status(two))
		}
		f.Close()
	})
}

func TestWhatATaskCannotBeAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newChainEnv(t, 4)
		one := f.later("one")
		two := f.later("two", one)
		three := f.later("three", two)
		gone := f.later("gone")
		f.to(gone, "cancelled")
		unknown := task.ID("zzzzzzzzzzzzzzzzzzzzz")
		for name, tt := range map[string]struct {
			id, other task.ID
			want      string
		}{
			"itself":      {one, one, "a task cannot be after itself"},
			"the last":    {one, three, "that would be a cycle, in which each task waits for the next: one -> three -> two -> one: leave one of these dependencies out"},
			"the next":    {one, two, "one -> two -> one"},
			"nobody":      {one, unknown, "there is no task zzzzzzzzzzzzzzzzzzzzz to be after: see orange task list"},
			"a cancelled": {one, gone, "task " + string(gone) + " is cancelled and did not land, so nothing can be after it: reopen it"},
		} {
			if err := f.changeAfter(tt.id, engine.FieldAddAfter, tt.other); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := f.record(one); len(got.After) > 0 {
			t.Errorf("%v", got.After)
		}
		a, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "s", After: []task.ID{unknown}}})
		var mistake *task.Mistake
		if !errors.As(err, &mistake) {
			t.Errorf("created after nobody: %v, %+v", err, a.Task)
		}
		f.Close()
	})
}

// A parent waits for its children, so a child that waited for its parent would never start.
func TestAChildIsNotAfterAParentThatWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "linear-sdlc")
		a, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "whole", Branch: "whole"}})
		if err != nil {
			t.Fatal(err)
		}
		beside := f.later("beside")
		child := f.begin(signal.New{Parent: a.Task.ID, Branch: "child", After: []task.ID{beside}})
		if err := f.changeAfter(child, engine.FieldAddAfter, a.Task.ID); err == nil || !strings.Contains(err.Error(), "child -> whole -> child") {
			t.Errorf("%v", err)
		}
		if err := f.changeAfter(beside, engine.FieldAddAfter, a.Task.ID); err == nil || !strings.Contains(err.Error(), "beside -> whole -> child -> beside") {
			t.Errorf("%v", err)
		}
		if _, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "part", Branch: "part", Parent: a.Task.ID, After: []task.ID{a.Task.ID}}}); err == nil || !strings.Contains(err.Error(), "part -> whole -> part") {
			t.Errorf("%v", err)
		}
		f.Close()
	})
}

// Two changes that are a cycle only together are made one after the other.
func TestTwoChangesMakeNoCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newChainEnv(t, 4)
		one, two := f.later("one"), f.later("two")
		failed := make(chan error, 2)
		for _, pair := range [][2]task.ID{{one, two}, {two, one}} {
			go func() {
				_, err := f.Submit(t.Context(), pair[0], signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: engine.FieldAddAfter, To: string(pair[1])}}})
				failed <- err
			}()
		}
		first, second := <-failed, <-failed
		if (first == nil) == (second == nil) {
			t.Errorf("%v, %v", first, second)
		}
		f.Close()
	})
}

func TestTheQueueIsOrderedByPriorityThenByWhatATaskUnblocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newChainEnv(t, 1)
		urgent := map[string]int{"linear:URGENT": 1, "linear:LOW": 4}
		f.anew(func(o *local.RuntimeOptions) {
			o.Library = library(func(n string) (string, bool) { return chainFlow, n == "chain" })
			o.Priority = func(t *task.Task) int { return urgent[t.TrackerRef] }
		})
		first := f.later("first")
		old := f.later("old")
		wanted := f.later("wanted")
		f.later("later", wanted)
		f.later("later-still", wanted)
		low := f.begin(signal.New{Branch: "low", TrackerRef: "linear:LOW"})
		high := f.begin(signal.New{Branch: "high", TrackerRef: "linear:URGENT"})
		for at, next := range []task.ID{high, low, wanted, old} {
			f.to(first, "done")
			if f.status(next) != "working" {
				t.Fatalf("place %d: %s is %s", at, f.record(next).Branch, f.status(next))
			}
			first = next
		}
		f.Close()
	})
}

func TestATaskIsStackedOnAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "solo")
		facts := &commitsOf{}
		f.anew(func(o *local.RuntimeOptions) { o.EvidenceSource = facts })
		below, beside := f.later("below"), f.later("beside")
		for name, tt := range map[string]struct {
			new  signal.New
			by   task.Actor
			want string
		}{
			"on nobody":            {signal.New{Stack: true}, task.Human, "a task is stacked on one other"},
			"on two":               {signal.New{Stack: true, After: []task.ID{below, beside}}, task.Human, "a task is stacked on one other"},
			"by an agent":          {signal.New{Stack: true, After: []task.ID{below}}, "worker", "only a person stacks a task"},
			"with another base":    {signal.New{Stack: true, After: []task.ID{below}, BaseBranch: "release"}, task.Human, "lands on main, not on release"},
			"on a task unheard of": {signal.New{Stack: true, After: []task.ID{"zzzzzzzzzzzzzzzzzzzzz"}}, task.Human, "there is no task"},
		} {
			tt.new.Project, tt.new.Summary = "p", "s"
			if _, err := f.Create(t.Context(), signal.NewTask{Actor: tt.by, New: tt.new}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		above := f.begin(signal.New{Branch: "above", After: []task.ID{below}, Stack: true})
		if got := f.record(above); got.Status != "pending" || got.StackOn != below || got.BaseBranch != "main" {
			t.Fatalf("%s, %+v", got.Status, got.Setup)
		}
		f.to(below, "reviewing") // it hands over its commits
		if got := f.record(above); got.Status != "working" || got.Base != "head-of-below" {
			t.Errorf("%s at %q: %+v", got.Status, got.Base, got.Predecessors)
		}
		f.Close()
	})
}

// commitsOf is a source of evidence that finds commits on every branch.
type commitsOf struct{}

func (commitsOf) Probe(_ context.Context, q local.Question) signal.Evidence {
	return signal.Evidence{Name: q.Name, Holds: true, Base: "base", Head: "head-of-" + q.Task.Branch}
}
