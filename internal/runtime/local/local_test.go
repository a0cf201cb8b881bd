package local_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
)

// stage is a performer that writes down what it was asked, and fails when told to.
type stage struct {
	mu    sync.Mutex
	done  []string
	times []time.Time
	fail  func(task.Effect) error
}

func (s *stage) Perform(_ context.Context, t task.Task, e task.Effect) (local.Done, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, time.Now())
	if s.fail != nil {
		if err := s.fail(e); err != nil {
			return local.Done{}, err
		}
	}
	s.done = append(s.done, e.Do)
	var d local.Done
	info, _ := workflow.EffectNamed(e.Do)
	for _, a := range t.Attempts {
		if info.Kills && (a.Ending && (e.Role == "" || e.Role == a.Role) || a.Number == e.Attempt) {
			d.Ended = append(d.Ended, a.Number)
		}
	}
	return d, nil
}

func (s *stage) did() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.done, " ")
}

// page is a TASK.md that tests write.
type page struct {
	mu   sync.Mutex
	body map[task.ID]string
}

func (p *page) Create(_ string, id task.ID, body []byte) error {
	p.write(id, string(body))
	return nil
}

func (p *page) write(id task.ID, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.body[id] = body
}

func (p *page) Read(_ string, id task.ID) (taskfile.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return taskfile.Parse([]byte(p.body[id]))
}

func (p *page) Project(t task.Task, _ []journal.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	doc, err := taskfile.Parse([]byte(p.body[t.ID]))
	if err != nil {
		return err
	}
	doc, err = doc.With(journal.Frontmatter(t))
	p.body[t.ID] = string(doc.Bytes())
	return err
}
func (p *page) LastSeq(string, task.ID) (int, error) { return 0, nil }
func (p *page) Remove(string, task.ID) error         { return nil }

type noFiles struct{}

func (noFiles) Find(string, string) (string, string, bool, error) { return "", "", false, nil }

type rig struct {
	t     *testing.T
	store *runtimetest.Memory
	stage *stage
	page  *page
	*local.Runtime
}

func open(t *testing.T, pool int) *rig {
	r := &rig{
		t: t, store: runtimetest.NewMemory(task.Project{Name: "p", Path: "/p", PoolSize: pool}),
		stage: &stage{}, page: &page{body: map[task.ID]string{}},
	}
	r.start()
	return r
}

func (r *rig) start() {
	r.t.Helper()
	rt, err := local.Open(local.Options{
		Store: r.store, Files: r.page, Library: noFiles{}, Performer: r.stage, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Runtime = rt
}

func (r *rig) create(branch string) task.ID {
	r.t.Helper()
	a, err := r.Create(r.t.Context(), signal.Wish{Actor: task.Human, New: signal.New{Project: "p", Branch: branch, Summary: "s", Spawn: true}})
	if err != nil || a.Decision.Refused != "" {
		r.t.Fatal(err, a.Decision.Refused)
	}
	return a.Task.ID
}

func (r *rig) send(id task.ID, sig signal.Signal) engine.Decision {
	r.t.Helper()
	if sig.Actor == "" {
		sig.Actor = task.Human
	}
	a, err := r.Submit(r.t.Context(), id, sig)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.Decision
}

func (r *rig) task(id task.ID) task.Task {
	r.t.Helper()
	t, ok, err := r.store.Task(id)
	if err != nil || !ok {
		r.t.Fatal(ok, err)
	}
	return t
}

func TestEffectsRunInOrderAndLeaveReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		id := r.create("a")
		synctest.Wait()
		got := r.task(id)
		if r.stage.did() != "acquire_workspace spawn_agent" || len(got.Pending) != 0 || got.Status != "planning" {
			t.Fatalf("did %q, pending %v, status %s", r.stage.did(), got.Pending, got.Status)
		}
		if a, ok := got.Live("worker"); !ok || !a.Running {
			t.Errorf("the worker does not run: %+v", got.Attempts)
		}
	})
}

func TestAQueuedTaskStartsWhenAWorkspaceIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		first, second := r.create("a"), r.create("b")
		synctest.Wait()
		if got := r.task(second); got.Status != "pending" || !got.Queued {
			t.Fatalf("the second task is %s, queued %v", got.Status, got.Queued)
		}
		if d := r.send(first, signal.Signal{Kind: signal.Request, Verb: "cancel"}); d.Verdict != engine.Advance {
			t.Fatal(d.Refused)
		}
		synctest.Wait()
		if got := r.task(second); got.Status != "planning" || got.Workspace != "p--1" {
			t.Fatalf("the second task is %s in %q", got.Status, got.Workspace)
		}
		if got := r.task(first); got.Workspace != "" || len(got.Attempts) != 0 {
			t.Errorf("the first task keeps %q and %v", got.Workspace, got.Attempts)
		}
	})
}

func TestAFailedEffectIsTriedLaterAndLaterAndThenAsksForAttention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		broken := true
		r.stage.fail = func(e task.Effect) error {
			if broken && e.Do == "spawn_agent" {
				return errors.New("no such program")
			}
			return nil
		}
		id := r.create("a")
		time.Sleep(time.Hour)
		synctest.Wait()
		got := r.task(id)
		if !strings.Contains(got.Attention, "no such program") || got.Pending[0].Tries != engine.MaxTries {
			t.Fatalf("attention %q, pending %+v", got.Attention, got.Pending)
		}
		var gaps []time.Duration
		for i := 2; i < len(r.stage.times); i++ {
			gaps = append(gaps, r.stage.times[i].Sub(r.stage.times[i-1]).Round(time.Second))
		}
		if want := []time.Duration{1, 2, 4, 8, 16}; !slices.EqualFunc(gaps, want, func(a, b time.Duration) bool { return a == b*time.Second }) {
			t.Errorf("gaps between tries: %v", gaps)
		}
		broken = false
		r.send(id, signal.Signal{Kind: signal.Resume})
		synctest.Wait()
		if got := r.task(id); got.Attention != "" || len(got.Pending) != 0 {
			t.Errorf("after resume: %q, %v", got.Attention, got.Pending)
		}
	})
}

func TestARestartDrivesThePendingEffectUnderTheSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		var ids []string
		r.stage.fail = func(e task.Effect) error {
			ids = append(ids, e.ID)
			if len(ids) == 2 {
				return errors.New("the machine is tired")
			}
			return nil
		}
		id := r.create("a")
		synctest.Wait()
		r.Close()
		r.start()
		defer r.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(ids) != 3 || ids[1] != ids[2] {
			t.Errorf("effects tried: %v", ids)
		}
		if got := r.task(id); len(got.Pending) != 0 {
			t.Errorf("pending: %v", got.Pending)
		}
	})
}

func TestADeadlineEndsTheAgentAndASecondOneMakesTheTaskStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		id := r.create("a")
		time.Sleep(30*time.Minute + time.Second)
		synctest.Wait()
		got := r.task(id)
		if got.Counter("crash_count") != 1 || got.RespawnAt.IsZero() {
			t.Fatalf("after the first deadline: %+v", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		got = r.task(id)
		if _, ok := got.Live("worker"); !ok {
			t.Fatal("no worker was started again")
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		got = r.task(id)
		if got.Status != "stuck" || got.Counter("crash_count") != 0 {
			t.Fatalf("status %s, crashes %d", got.Status, got.Counter("crash_count"))
		}
		if _, ok := got.Live("fixer"); !ok {
			t.Errorf("stuck has no fixer: %+v", got.Attempts)
		}
	})
}

func TestAPausedTaskStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		if err := r.SetPaused(true); err != nil {
			t.Fatal(err)
		}
		id := r.create("a")
		time.Sleep(time.Hour)
		synctest.Wait()
		if r.stage.did() != "" {
			t.Fatalf("did %q while paused", r.stage.did())
		}
		if err := r.SetPaused(false); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if r.stage.did() == "" || r.task(id).Status != "planning" {
			t.Errorf("did %q after resume", r.stage.did())
		}
	})
}

func TestAStoreThatFailsChangesNothingAndFreesTheWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		r.store.Fail = func() error { return errors.New("disk full: free some space") }
		_, err := r.Create(t.Context(), signal.Wish{Actor: task.Human, New: signal.New{Project: "p", Branch: "a", Summary: "s", Spawn: true}})
		if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Fatalf("Create on a full disk: %v", err)
		}
		r.store.Fail = nil
		if id := r.create("b"); r.task(id).Workspace != "p--1" {
			t.Error("the workspace of the failed task is not free")
		}
		synctest.Wait()
	})
}

func TestAFrontmatterChangedByHandIsWrittenDownAndPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		id := r.create("a")
		synctest.Wait()
		r.page.mu.Lock()
		r.page.body[id] = strings.Replace(r.page.body[id], "status: planning", "status: done", 1) + "\n## Plan\n\nAPPROACH: x\n"
		r.page.mu.Unlock()
		if d := r.send(id, signal.Signal{Kind: signal.Request, To: "working"}); d.Verdict != engine.Advance {
			t.Fatal(d.Refused)
		}
		entries, _ := r.store.Journal(id, 0)
		if !slices.ContainsFunc(entries, func(e journal.Entry) bool { return e.Type == journal.TaskTampered }) {
			t.Error("the tampering is not in the journal")
		}
		if body := r.page.body[id]; !strings.Contains(body, "status: working") || !strings.Contains(body, "APPROACH: x") {
			t.Errorf("TASK.md:\n%s", body)
		}
	})
}

func TestOfTwoWhoAskForTheSameMoveOneWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 1)
		defer r.Close()
		id := r.create("a")
		synctest.Wait()
		r.page.write(id, r.page.body[id]+"\n## Plan\n\nAPPROACH: x\n")
		var wait sync.WaitGroup
		verdicts := make([]engine.Verdict, 8)
		for i := range verdicts {
			wait.Go(func() {
				verdicts[i] = r.send(id, signal.Signal{Kind: signal.Request, To: "working"}).Verdict
			})
		}
		wait.Wait()
		won := 0
		for _, v := range verdicts {
			if v == engine.Advance {
				won++
			}
		}
		if won != 1 {
			t.Errorf("%d of %d won: %v", won, len(verdicts), verdicts)
		}
	})
}

func TestManyTasksAtOnceShareWritesAndKeepTheirJournals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, 200)
		defer r.Close()
		ids := make([]task.ID, 64)
		var wait sync.WaitGroup
		for i := range ids {
			wait.Go(func() { ids[i] = r.create(fmt.Sprintf("b%d", i)) })
		}
		wait.Wait()
		synctest.Wait()
		seen := map[string]bool{}
		for _, id := range ids {
			got := r.task(id)
			entries, _ := r.store.Journal(id, 0)
			folded, err := journal.Fold(task.Task{}, entries)
			if err != nil || folded.Seq != got.Seq || got.Status != "planning" {
				t.Fatalf("task %s: %v, %s", id, err, got.Status)
			}
			if seen[got.Workspace] {
				t.Fatalf("workspace %s is bound twice", got.Workspace)
			}
			seen[got.Workspace] = true
		}
	})
}
