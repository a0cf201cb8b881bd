package local_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
)

// env is a runtime whose performer, pulse and ledger the test plays.
type env struct {
	*local.Runtime
	t     *testing.T
	store local.Store
	pages *runtimetest.MemoryFolders

	mu     sync.Mutex
	active time.Time
	did    []string
	answer func(task.Effect) (local.EffectResult, error)
	spent  int
	cost   int64
}

func newEnv(t *testing.T, p task.Project, more ...func(*local.RuntimeOptions)) *env {
	t.Helper()
	c := &env{t: t, store: runtimetest.NewMemoryStore(), pages: runtimetest.NewMemoryFolders()}
	p.Name, p.Path, p.DefaultBranch, p.PoolSize = "p", "/p", "main", 2
	if err := c.store.SaveProject(p); err != nil {
		t.Fatal(err)
	}
	o := local.RuntimeOptions{
		Store: c.store, Files: c.pages, Library: library(func(string) (string, bool) { return "", false }), Log: slog.New(slog.DiscardHandler),
		Performer: c, Activity: c, SpendQuery: c, TaskFileSync: c,
		Harnesses: func(t agent.Terms) error {
			if t.Harness == "odd" || t.Effort == "odd" {
				return errors.New("odd is not known")
			}
			return nil
		},
	}
	for _, change := range more {
		change(&o)
	}
	rt, err := local.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	c.Runtime = rt
	t.Cleanup(rt.Close)
	return c
}

func (c *env) SyncTaskFile(context.Context, *task.Task) (string, error) { return "c0ffee", nil }

func (c *env) Perform(_ context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, strings.TrimSpace(e.Do+" "+e.Prompt))
	var done local.EffectResult
	if info, _ := workflow.EffectNamed(e.Do); info.Kills {
		for _, a := range t.Attempts {
			done.Ended = append(done.Ended, a.Number)
		}
	}
	if c.answer != nil {
		return c.answer(e)
	}
	return done, nil
}

func (c *env) LastActive(*task.Task, int) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}

func (c *env) SpentOn(string, string) (int, int64, error) { return c.spent, c.cost, nil }

func (c *env) shows() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = time.Now()
}

func (c *env) count(word string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.did {
		if w == word {
			n++
		}
	}
	return n
}

func (c *env) begin(n signal.New) task.Task {
	c.t.Helper()
	n.Project, n.Summary, n.Spawn = "p", "s", true
	a, err := c.Create(c.t.Context(), signal.NewTask{Actor: task.Human, New: n})
	if err != nil || a.Decision.Refused != "" {
		c.t.Fatal(err, a.Decision.Refused)
	}
	synctest.Wait()
	return c.task(a.Task.ID)
}

func (c *env) task(id task.ID) task.Task {
	c.t.Helper()
	t, ok, err := c.store.Task(id)
	if !ok || err != nil {
		c.t.Fatal(ok, err)
	}
	return t
}

func (c *env) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestOnlyASilentAgentIsAskedAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, task.Project{})
		got := c.begin(signal.New{Branch: "b"})
		for range 2 { // planning allows 10 minutes of silence, and 30 in all
			c.pass(7 * time.Minute)
			c.shows()
		}
		if n := c.count("notify_worker nudge"); n != 0 {
			t.Fatalf("an agent that shows life was asked %d times", n)
		}
		c.pass(9*time.Minute + 59*time.Second)
		if n := c.count("notify_worker nudge"); n != 0 || c.task(got.ID).Crashed != "" {
			t.Fatalf("asked %d times a second too early", n)
		}
		c.pass(2 * time.Second)
		if n := c.count("notify_worker nudge"); n != 1 || c.count("kill_agent") != 0 {
			t.Fatalf("asked %d times: %q", n, c.did)
		}
		c.Close()
	})
}

func TestABudgetStopsTheNextAgentAndSaysSo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		budget task.Budget
		spent  int
		cost   int64
		want   string
	}{
		{"attempts of a day", task.Budget{DayAttempts: 3}, 4, 0, "project p has had 3 attempts of 3 today"},
		{"cost of a day", task.Budget{DayMicros: 2_000_000}, 0, 2_000_000, "project p has cost $2.00 of $2.00 today"},
		{"there is room", task.Budget{DayAttempts: 3, DayMicros: 5, TaskAttempts: 1}, 3, 4, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newEnv(t, task.Project{Policy: task.Policy{Budget: tt.budget}})
				c.spent, c.cost = tt.spent, tt.cost
				got := c.begin(signal.New{Branch: "b"})
				started := c.count("spawn_agent worker") == 1
				if started != (tt.want == "") || !strings.Contains(got.Attention, tt.want) {
					t.Errorf("started %t, attention %q", started, got.Attention)
				}
				if tt.want != "" {
					c.spent, c.cost = 0, 0
					if _, err := c.Submit(t.Context(), got.ID, signal.Signal{Kind: signal.Resume, Actor: task.Human}); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if c.count("spawn_agent worker") != 1 {
						t.Error("with a new budget the agent does not start")
					}
				}
				c.Close()
			})
		})
	}
}

func TestATaskHasSoManyAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, task.Project{Policy: task.Policy{Budget: task.Budget{TaskAttempts: 1}}})
		got := c.begin(signal.New{Branch: "b"})
		if _, err := c.Submit(t.Context(), got.ID, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker"}); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Minute)
		if got = c.task(got.ID); !strings.Contains(got.Attention, "the task has had 1 attempts of 1") || c.count("spawn_agent worker-respawn") != 0 {
			t.Errorf("%q, %q", got.Attention, c.did)
		}
		c.Close()
	})
}

func TestTheConsequenceOfAnEffectComesBeforeItsReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, task.Project{})
		c.answer = func(e task.Effect) (local.EffectResult, error) {
			if e.Do == "acquire_workspace" {
				return local.EffectResult{Fields: []signal.Field{{Name: "pr_url", To: "https://x/1"}}, Event: "nothing"}, nil
			}
			return local.EffectResult{}, nil
		}
		got := c.begin(signal.New{Branch: "b"})
		entries, err := c.store.Journal(got.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		order := func(typ journal.Type) int {
			return slices.IndexFunc(entries, func(e journal.Entry) bool { return e.Type == typ })
		}
		if got.PRURL != "https://x/1" || order(journal.TaskUpdated) < 0 || order(journal.TaskUpdated) > order(journal.EffectDone) {
			t.Errorf("%q, %+v", got.PRURL, entries)
		}
		c.Close()
	})
}

func TestAMistakeIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, task.Project{})
		c.answer = func(task.Effect) (local.EffectResult, error) {
			return local.EffectResult{}, task.Mistakef("no such branch")
		}
		got := c.begin(signal.New{Branch: "b"})
		c.pass(time.Hour)
		if got = c.task(got.ID); c.count("acquire_workspace") != 1 || got.Attention != "acquire_workspace failed: no such branch" {
			t.Errorf("%d tries, %q", c.count("acquire_workspace"), got.Attention)
		}
		c.Close()
	})
}

func TestAForkBeginsAtARecordedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, task.Project{Policy: task.Policy{Delivery: task.DeliverPR}})
		got := c.begin(signal.New{Branch: "b", Harness: "pi", Vars: task.Vars{"tests": "make check"}})
		if _, err := c.ForkTask(t.Context(), got.ID, 99, signal.NewTask{Actor: task.Human}); err == nil || !strings.Contains(err.Error(), "and no 99") {
			t.Errorf("entry 99: %v", err)
		}
		if _, err := c.ForkTask(t.Context(), got.ID, 1, signal.NewTask{Actor: task.Human}); err == nil || !strings.Contains(err.Error(), "no commit is recorded") {
			t.Errorf("entry 1: %v", err)
		}
		if err := c.pages.Edit("p", got.ID, func(have string) string { return have + "\n## Plan\n\nAPPROACH: x\n" }); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Submit(t.Context(), got.ID, signal.Signal{Kind: signal.Request, Actor: task.Human, To: "working"}); err != nil {
			t.Fatal(err)
		}
		a, err := c.ForkTask(t.Context(), got.ID, c.task(got.ID).Seq, signal.NewTask{Actor: task.Human})
		if err != nil || a.Decision.Verdict != engine.Advance {
			t.Fatal(err, a.Decision.Refused)
		}
		f := a.Task
		if f.Base != "c0ffee" || f.Branch != "b-fork-1" || f.Harness != "pi" || f.Delivery != task.DeliverPR || f.Vars["tests"] != "make check" || !strings.HasPrefix(f.ForkOf, string(got.ID)+"@") {
			t.Errorf("%+v", f)
		}
		c.Close()
	})
}

func TestAgentsOfSingleRolesAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, task.Project{})
		for want, roles := range map[string][]task.RoleChoice{
			`role "painter" is not known: workflow orange has worker, `: {{Role: "painter", Harness: "pi"}},
			"reviewer: odd is not known":                                {{Role: "reviewer", Harness: "odd"}},
			"worker: odd is not known":                                  {{Role: "worker", Harness: "odd"}, {Role: "worker", Harness: "pi", Effort: "odd"}},
		} {
			_, err := c.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: "b", Roles: roles}})
			var mistake *task.Mistake
			if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v", roles, err)
			}
		}
		roles := []task.RoleChoice{{Role: "worker", Harness: "odd"}, {Role: "worker", Harness: "pi", Model: "m"}}
		a, err := c.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: "b", Summary: "s", Roles: roles, Spawn: true}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got, _, err := c.store.Task(a.Task.ID)
		worker, ok := got.LiveAttempt("worker")
		if err != nil || !ok || worker.Harness != "pi:m" || worker.Why != "odd is not installed" {
			t.Errorf("%v, %+v", err, got.Attempts)
		}
		c.Close()
	})
}

func TestAnUnknownHarnessIsRefusedImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newEnv(t, task.Project{})
		for _, n := range []signal.New{{Harness: "odd"}, {ReviewHarness: "odd"}, {Effort: "odd"}} {
			n.Project, n.Branch = "p", "b"
			_, err := c.Create(t.Context(), signal.NewTask{Actor: task.Human, New: n})
			var mistake *task.Mistake
			if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "odd is not known") {
				t.Errorf("%+v: %v", n, err)
			}
		}
		c.Close()
	})
}
