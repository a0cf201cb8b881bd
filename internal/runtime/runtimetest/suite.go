package runtimetest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// A scenario is one thing that every runtime does.
type scenario struct {
	name  string
	pool  int  // workspaces of project p
	clock bool // it needs a fake clock, or must know that nothing runs
	play  func(r *env)
}

func allScenarios() []scenario {
	return slices.Concat(effectScenarios(), queueScenarios(), agentScenarios(), storeScenarios(), timerScenarios(), folderScenarios(), transferScenarios())
}

// Run runs every scenario on a store in memory, each in a synctest bubble. The bubble also checks that Close leaves no
// goroutine behind.
func Run(t *testing.T, open func(t *testing.T, s Setup) Runtime) {
	for _, sc := range allScenarios() {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playScenario(t, sc, memoryWorld, open) })
		})
	}
}

// RunOn runs the scenarios that need no fake clock, each on a new world.
func RunOn(t *testing.T, world func(t *testing.T) World, open func(t *testing.T, s Setup) Runtime) {
	for _, sc := range allScenarios() {
		if sc.clock {
			continue
		}
		t.Run(sc.name, func(t *testing.T) { playScenario(t, sc, world, open) })
	}
}

func memoryWorld(*testing.T) World {
	pages := NewMemoryFolders()
	return World{Store: NewMemoryStore(), Folders: pages, Edit: pages.Edit}
}

func playScenario(t *testing.T, sc scenario, world func(*testing.T) World, open func(*testing.T, Setup) Runtime) {
	r := &env{t: t, world: world, open: open}
	r.openWorld(sc.pool)
	defer func() { r.Close() }()
	sc.play(r)
}

// env is a running runtime and what it works on.
type env struct {
	t         *testing.T
	world     func(*testing.T) World
	open      func(*testing.T, Setup) Runtime
	edit      func(project string, id task.ID, change func(string) string) error
	store     *failingStore
	folders   *failingFolders
	performer *FakePerformer
	Runtime
}

// openWorld opens a runtime on a new world.
func (r *env) openWorld(pool int) {
	r.t.Helper()
	w := r.world(r.t)
	r.store, r.folders, r.performer, r.edit = &failingStore{StorePort: w.Store}, &failingFolders{Folders: w.Folders}, &FakePerformer{}, w.Edit
	r.requireNoError(w.Store.SaveProject(testProject(pool)))
	r.openRuntime()
}

func testProject(pool int) task.Project {
	return task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: pool}
}

func (r *env) openRuntime() {
	r.t.Helper()
	r.Runtime = r.open(r.t, Setup{Store: r.store, Folders: r.folders, Performer: r.performer, Library: ownWorkflows})
}

func (r *env) requireNoError(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func newTask(branch string) signal.NewTask {
	return signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: branch, Summary: "s", Spawn: true}}
}

// createTask creates a task that starts as soon as it can.
func (r *env) createTask(branch string) task.ID {
	r.t.Helper()
	a, err := r.Create(r.t.Context(), newTask(branch))
	if err != nil || a.Decision.Refused != "" {
		r.t.Fatal(err, a.Decision.Refused)
	}
	return a.Task.ID
}

// sendSignal submits a signal, as a person unless the signal names an actor.
func (r *env) sendSignal(id task.ID, sig signal.Signal) engine.Answer {
	r.t.Helper()
	a, err := r.sendSignalWith(r.t.Context(), id, sig)
	r.requireNoError(err)
	return a
}

func (r *env) sendSignalWith(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	if sig.Actor == "" {
		sig.Actor = task.Human
	}
	return r.Submit(ctx, id, sig)
}

// mustSend submits a signal that must not be refused.
func (r *env) mustSend(id task.ID, sig signal.Signal) engine.Answer {
	r.t.Helper()
	a := r.sendSignal(id, sig)
	if a.Decision.Refused != "" {
		r.t.Fatalf("%s %s%s: %s", sig.Kind, sig.To, sig.Verb, a.Decision.Refused)
	}
	return a
}

func (r *env) moveTo(id task.ID, status string) engine.Answer {
	r.t.Helper()
	return r.mustSend(id, signal.Signal{Kind: signal.Request, To: status})
}

func (r *env) crashAgent(id task.ID, role string) engine.Answer {
	r.t.Helper()
	return r.mustSend(id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: role, Code: 1})
}

// endAgent ends an agent that has finished its work.
func (r *env) endAgent(id task.ID, role string) engine.Answer {
	r.t.Helper()
	return r.mustSend(id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: role})
}

// storedTask returns the record from the store.
func (r *env) storedTask(id task.ID) task.Task {
	r.t.Helper()
	t, ok, err := r.store.Task(id)
	if err != nil || !ok {
		r.t.Fatalf("task %s: %v, %v", id, ok, err)
	}
	return t
}

func (r *env) storedEntries(id task.ID) []journal.Entry {
	r.t.Helper()
	list, err := r.store.Journal(id, 0)
	r.requireNoError(err)
	return list
}

// countEntries counts the entries of a task by type.
func (r *env) countEntries(id task.ID, typ journal.Type) (n int) {
	r.t.Helper()
	for _, e := range r.storedEntries(id) {
		if e.Type == typ {
			n++
		}
	}
	return n
}

// appendBody adds to the body of TASK.md, as an agent does.
func (r *env) appendBody(id task.ID, text string) {
	r.t.Helper()
	r.requireNoError(r.edit("p", id, func(have string) string { return have + "\n" + text }))
}

// taskText returns the text of TASK.md.
func (r *env) taskText(id task.ID) string {
	r.t.Helper()
	doc, err := r.folders.ReadTaskFile("p", id)
	r.requireNoError(err)
	return string(doc.Bytes())
}

// waitTimeout is how long the suite waits for something that must happen.
const waitTimeout = 20 * time.Second

// waitUntil waits, commit by commit, for something that must happen.
func (r *env) waitUntil(what string, holds func() bool) {
	r.t.Helper()
	limit := time.NewTimer(waitTimeout)
	defer limit.Stop()
	for {
		_, more, err := r.FollowJournal(0, "", 1)
		r.requireNoError(err)
		if holds() {
			return
		}
		select {
		case <-more:
		case <-limit.C:
			r.t.Fatalf("it does not come: %s", what)
		}
	}
}

// waitSettled waits until the task has no pending effects and its folder shows that. A refused signal waits until the
// earlier entries are shown.
func (r *env) waitSettled(id task.ID) task.Task {
	r.t.Helper()
	r.waitUntil("nothing is pending", func() bool { return len(r.storedTask(id).Pending) == 0 })
	r.sendSignal(id, signal.Signal{Kind: signal.Request})
	return r.storedTask(id)
}

// passTime lets time pass in a bubble.
func (r *env) passTime(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// createInReview brings a new task to agent-review.
func (r *env) createInReview(branch string) task.ID {
	r.t.Helper()
	id := r.createTask(branch)
	r.waitSettled(id)
	r.appendBody(id, "## Plan\n\nAPPROACH: x\n")
	r.moveTo(id, "working")
	r.appendBody(id, "## Handoff\n\nDONE: x\n")
	r.moveTo(id, "agent-review")
	r.waitSettled(id)
	return id
}
