package trackers_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
	"orange/internal/runtime/trackers"
)

// env is an office with a real store and a real runtime, whose agents only seem to work,
// and a tracker and a forge in memory. It lives in a bubble with a time of its own.
type env struct {
	t         *testing.T
	store     *sqlite.Store
	hub       *fakeTracker
	forge     *fakeForge
	performer *runtimetest.FakePerformer
	tasks     *recordingRuntime
	service   *trackers.Service

	mu      sync.Mutex
	facts   map[string]signal.Evidence
	fetched int
	opened  int
}

// recordingRuntime is the runtime, and writes down what is wished for.
type recordingRuntime struct {
	*local.Runtime
	mu     sync.Mutex
	wishes []signal.NewTask
	before func(w signal.NewTask) error // instead of making it, unless nil
	hears  func(sig signal.Signal) error
}

func (d *recordingRuntime) Create(ctx context.Context, w signal.NewTask) (engine.Answer, error) {
	d.mu.Lock()
	d.wishes = append(d.wishes, w)
	before := d.before
	d.mu.Unlock()
	if before != nil {
		if err := before(w); err != nil {
			return engine.Answer{}, err
		}
	}
	return d.Runtime.Create(ctx, w)
}

func (d *recordingRuntime) Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	d.mu.Lock()
	hears := d.hears
	d.mu.Unlock()
	if hears != nil {
		if err := hears(sig); err != nil {
			return engine.Answer{}, err
		}
	}
	return d.Runtime.Submit(ctx, id, sig)
}

type noLibrary struct{}

func (noLibrary) Find(string, string) (file, text string, ok bool, err error) {
	return "", "", false, nil
}

// linear returns how most tests configure the tracker.
func linear() tracker.Config {
	return tracker.Config{Name: "lin", Kind: tracker.Linear, Project: "p", Workflow: "linear-sdlc", Authors: []string{"alice"}, Max: 3}
}

// inBubble plays a test with a rig, and makes sure that nothing is left behind.
func inBubble(t *testing.T, cfg tracker.Config, play func(t *testing.T, r *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t, cfg)
		defer r.close()
		play(t, r)
	})
}

func newEnv(t *testing.T, cfg tracker.Config) *env {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "orange.db"))
	check(t, err)
	r := &env{t: t, store: store, hub: newFakeTracker(), forge: &fakeForge{}, performer: &runtimetest.FakePerformer{}, tasks: &recordingRuntime{}, facts: map[string]signal.Evidence{workflow.Commits: {Holds: true}}}
	check(t, store.SaveProject(task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: 20}))
	check(t, store.SetTracker(cfg))
	r.service = r.newOffice()
	r.tasks.Runtime, err = local.New(local.RuntimeOptions{
		Store: store, Library: noLibrary{}, EvidenceSource: r, Performer: r, Relations: store, Log: slog.New(slog.DiscardHandler), Defaults: func() local.Defaults { return local.Defaults{Harness: "claude"} },
	})
	check(t, err)
	check(t, r.tasks.Start())
	return r
}

func (r *env) newOffice() *trackers.Service {
	return &trackers.Service{
		Store: r.store, Tasks: r.tasks, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Connect: func(cfg tracker.Config) (trackers.Backend, error) {
			if cfg.Kind == tracker.Board {
				return r.store.ProjectTracker(cfg.Project, time.Now), nil
			}
			r.opened++
			return r.hub, nil
		},
		Forge: func(context.Context, task.Project) (trackers.Forge, error) { return r.forge, nil },
		Fetch: func(context.Context, task.Project) error { r.fetched++; return nil },
	}
}

func (r *env) close() {
	r.tasks.Close()
	r.service.Close()
	check(r.t, r.store.Close())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Perform implements local.Performer: cards are changed for real, all else seems done.
func (r *env) Perform(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	if info, _ := workflow.EffectNamed(e.Do); info.Card && e.Do != workflow.ReadCard {
		note, err := r.service.ChangeCard(ctx, t, e)
		return local.EffectResult{Note: note}, err
	}
	if e.Do == workflow.ReadCard {
		snapshot, err := r.service.ReadCard(ctx, t)
		return local.EffectResult{CardSnapshot: snapshot}, err
	}
	session, ended, err := r.performer.Perform(ctx, t, e)
	return local.EffectResult{Session: session, Ended: ended}, err
}

// tip is the last commit of every branch.
const tip = "c1"

// Probe implements local.EvidenceSource. What the forge has merged counts where it is all of the
// branch, and workers leave nothing uncommitted.
func (r *env) Probe(_ context.Context, q local.Question) signal.Evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.facts[q.Name]
	e.Name = q.Name
	if q.Name == workflow.Merged && q.Commit == tip || q.Name == workflow.Clean {
		e.Holds = true
	}
	return e
}

func (r *env) fact(name string, holds bool, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts[name] = signal.Evidence{Holds: holds, Detail: detail}
}

// sync reads the tracker and waits for everything that follows from it.
func (r *env) sync() tracker.Report {
	r.t.Helper()
	report, err := r.service.Sync(r.t.Context(), "lin", false)
	check(r.t, err)
	synctest.Wait()
	return report
}

// dispatch lets one round be made, and returns what became of each issue.
func (r *env) dispatch() map[string]tracker.Choice {
	r.t.Helper()
	round, err := r.service.Dispatch(r.t.Context(), "lin", false)
	check(r.t, err)
	synctest.Wait()
	out := map[string]tracker.Choice{}
	for _, c := range round.Choices {
		out[c.Key] = c
	}
	return out
}

// all returns the tasks of an issue, oldest first.
func (r *env) all(key string) (out []task.Task) {
	r.t.Helper()
	list, err := r.store.TrackedTasks("lin:")
	check(r.t, err)
	for _, t := range list {
		if t.TrackerRef == "lin:"+key {
			out = append(out, t)
		}
	}
	return out
}

// of returns the last task of an issue.
func (r *env) of(key string) task.Task {
	r.t.Helper()
	list := r.all(key)
	if len(list) == 0 {
		r.t.Fatalf("%s has no task", key)
	}
	return list[len(list)-1]
}

// submit is what a person does to the task of an issue.
func (r *env) submit(key string, sig signal.Signal) {
	r.t.Helper()
	if sig.Actor == "" {
		sig.Actor = task.Human
	}
	a, err := r.tasks.Runtime.Submit(r.t.Context(), r.of(key).ID, sig)
	check(r.t, err)
	if a.Decision.Refused != "" {
		r.t.Fatalf("%s: %s", key, a.Decision.Refused)
	}
	synctest.Wait()
}

// passes lets the agent at work say that its work passed.
func (r *env) passes(key string) {
	r.t.Helper()
	t := r.of(key)
	for _, a := range t.Attempts {
		if !a.Ending {
			r.submit(key, signal.Signal{Kind: signal.Outcome, Actor: task.Actor(a.Role), Attempt: a.Number, Final: "Done.",
				Report: &signal.Report{Outcome: signal.Passed, Code: "passed", Source: signal.FromMarker, Protocol: signal.WorkResult}})
			return
		}
	}
	r.t.Fatalf("nobody works on %s, it is %s: %+v", key, t.Status, t.Pending)
}

// begun files an issue and brings its task to a status of the usual way.
func (r *env) begun(key, status string) {
	r.t.Helper()
	r.hub.file(key, nil)
	if c := r.dispatch()[key]; !c.Dispatch {
		r.t.Fatalf("%s: %s", key, c.Reason)
	}
	for range 3 {
		if r.of(key).Status == status {
			r.sync()
			return
		}
		r.passes(key)
	}
	if r.of(key).Status != status {
		r.t.Fatalf("%s is %s", key, r.of(key).Status)
	}
	r.sync()
}

// is makes sure where a task and its issue are.
func (r *env) is(key, status, column string) {
	r.t.Helper()
	if t := r.of(key); t.Status != status || r.hub.column(key) != column {
		r.t.Errorf("%s is %s and shown in %s, want %s and %s", key, t.Status, r.hub.column(key), status, column)
	}
}

// heard reports whether a line of the report contains these words.
func heard(news []string, words string) bool {
	return strings.Contains(strings.Join(news, "\n"), words)
}
