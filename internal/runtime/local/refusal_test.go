package local_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
)

// slowStore keeps refusals when it is let, or says no.
type slowStore struct {
	*runtimetest.MemoryStore
	let   chan struct{}
	fail  error
	saves atomic.Int64
}

func (s *slowStore) SaveRefusals(list []journal.Refusal) error {
	s.saves.Add(1)
	if s.let != nil {
		<-s.let
	}
	if s.fail != nil {
		return s.fail
	}
	return s.MemoryStore.SaveRefusals(list)
}

type done struct{}

func (done) Perform(context.Context, task.Task, task.Effect) (local.EffectResult, error) {
	return local.EffectResult{}, nil
}

func openOn(t *testing.T, store local.Store) (*local.Runtime, task.ID) {
	t.Helper()
	none := library(func(string) (string, bool) { return "", false })
	rt, err := local.Open(local.RuntimeOptions{Store: store, Library: none, Performer: done{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := rt.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: "b", Summary: "s", Spawn: true}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return rt, a.Task.ID
}

func newSlow() *slowStore {
	return &slowStore{MemoryStore: runtimetest.NewMemoryStore(task.Project{Name: "p", Path: "/p", PoolSize: 1})}
}

func submit(t *testing.T, rt *local.Runtime, id task.ID, sig signal.Signal) engine.Decision {
	t.Helper()
	a, err := rt.Submit(t.Context(), id, sig)
	if err != nil {
		t.Fatal(err)
	}
	return a.Decision
}

func TestARefusalIsKeptForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, id := openOn(t, newSlow())
		defer rt.Close()
		for _, sig := range []signal.Signal{
			{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "done", Note: strings.Repeat("x", 1<<16)},
			{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "status", To: "done"}}},
			{Kind: signal.Ready, Actor: task.Human},
			{Kind: signal.Delete, Actor: task.Human},
			{Kind: signal.Resume, Actor: task.Human},
			{Kind: signal.Ready, Actor: task.Engine},                                        // late
			{Kind: signal.Exit, Actor: task.Human, Attempt: 9},                              // late
			{Kind: signal.Timer, Actor: task.Engine, Timer: engine.Deadline},                // late
			{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: "x"}}, // late
		} {
			if d := submit(t, rt, id, sig); d.Refused == "" {
				t.Errorf("%s was not refused", sig.Kind)
			}
		}
		x, err := rt.Explain(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, r := range x.Refusals {
			kinds = append(kinds, string(r.Kind))
			if r.Why == "" || r.At.IsZero() || len(r.Why) > 1000 {
				t.Errorf("%+v", r)
			}
		}
		if got := strings.Join(kinds, " "); got != "request update ready delete resume" {
			t.Errorf("kept were %s", got)
		}
		if len(x.Chain) == 0 || len(x.Cost) != 1 || x.Cheapest.Opens == "" {
			t.Errorf("%+v", x)
		}
	})
}

func TestNobodyWaitsForARefusalToBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlow()
		store.let = make(chan struct{})
		rt, id := openOn(t, store)
		for range 2000 { // more than wait in line
			submit(t, rt, id, signal.Signal{Kind: signal.Request, Actor: task.Human, To: "done"})
		}
		if d := submit(t, rt, id, signal.Signal{Kind: signal.Pause, Actor: task.Human}); d.Refused != "" {
			t.Error(d.Refused)
		}
		close(store.let)
		rt.Close()
		kept, err := store.MemoryStore.Refusals(id)
		if err != nil || len(kept) != journal.MaxRefusals || store.saves.Load() > 3 {
			t.Errorf("%d kept in %d writes, %v", len(kept), store.saves.Load(), err)
		}
	})
}

func TestARefusalThatCannotBeWrittenHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlow()
		store.fail = errors.New("disk full")
		rt, id := openOn(t, store)
		defer rt.Close()
		if d := submit(t, rt, id, signal.Signal{Kind: signal.Request, Actor: task.Human, To: "done"}); !strings.Contains(d.Refused, "not in map") {
			t.Error(d.Refused)
		}
		if x, err := rt.Explain(t.Context(), id); err != nil || len(x.Refusals) != 0 {
			t.Errorf("%v, %v", x.Refusals, err)
		}
	})
}

// TestBranchesOfAgentsArePlain names branches as people, agents and trackers do.
func TestBranchesOfAgentsArePlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, id := openOn(t, runtimetest.NewMemoryStore(task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: 2}))
		update := func(actor task.Actor, branch string) error {
			_, err := r.Submit(t.Context(), id, signal.Signal{Kind: signal.Update, Actor: actor, Fields: []signal.Field{{Name: "branch", To: branch}}})
			return err
		}
		create := func(actor task.Actor, branch string) error {
			_, err := r.Create(t.Context(), signal.NewTask{Actor: actor, New: signal.New{Project: "p", Branch: branch, Summary: "s"}})
			return err
		}
		odd := []string{"größe", "a$b", "a'b", "a;b", "a|b", "a&b", "a`b", "a\"b", "a@b", "a%b", "a{b}", "raz\u200bor", "a b"}
		for _, branch := range odd {
			for _, actor := range []task.Actor{"worker", task.Tracker} {
				for how, err := range map[string]error{"update": update(actor, branch), "create": create(actor, branch)} {
					var mistake *task.Mistake
					if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "choose another name") {
						t.Errorf("%s by %s, branch %q: %v", how, actor, branch, err)
					}
				}
			}
		}
		for _, branch := range []string{"feature/A-1_b.c", "größe", "a@b"} {
			if err := create(task.Human, branch); err != nil {
				t.Errorf("a person, branch %q: %v", branch, err)
			}
		}
		for _, err := range []error{create(task.Tracker, "feature/A-2_b.c"), update("worker", "feature/A-3_b.c")} {
			if err != nil && strings.Contains(err.Error(), "choose another name") {
				t.Error(err)
			}
		}
		r.Close()
	})
}
