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
	clock bool // it needs a time of its own, or must know that nothing moves
	play  func(r *rig)
}

func scenarios() []scenario {
	return slices.Concat(effectScenarios(), queueScenarios(), agentScenarios(), storeScenarios(), timerScenarios(), folderScenarios(), transferScenarios())
}

// Run plays every scenario on a store in memory, each in a bubble with a time of its
// own. A bubble also sees to it that Close leaves no goroutine behind.
func Run(t *testing.T, open func(t *testing.T, s Setup) Runtime) {
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, sc, memory, open) })
		})
	}
}

// RunOn plays the scenarios that need no time of their own on worlds that are made
// for each of them.
func RunOn(t *testing.T, world func(t *testing.T) World, open func(t *testing.T, s Setup) Runtime) {
	for _, sc := range scenarios() {
		if sc.clock {
			continue
		}
		t.Run(sc.name, func(t *testing.T) { play(t, sc, world, open) })
	}
}

func memory(*testing.T) World {
	pages := NewPages()
	return World{Store: NewMemory(), Folders: pages, Edit: pages.Edit}
}

func play(t *testing.T, sc scenario, world func(*testing.T) World, open func(*testing.T, Setup) Runtime) {
	r := &rig{t: t, world: world, open: open}
	r.build(sc.pool)
	defer func() { r.Close() }()
	sc.play(r)
}

// rig is a runtime at work, and what it works on.
type rig struct {
	t     *testing.T
	world func(*testing.T) World
	open  func(*testing.T, Setup) Runtime
	edit  func(project string, id task.ID, change func(string) string) error
	disk  *disk
	shelf *shelf
	stage *Stage
	Runtime
}

// build opens a runtime on a world of its own.
func (r *rig) build(pool int) {
	r.t.Helper()
	w := r.world(r.t)
	r.disk, r.shelf, r.stage, r.edit = &disk{Store: w.Store}, &shelf{Folders: w.Folders}, &Stage{}, w.Edit
	r.check(w.Store.SaveProject(project(pool)))
	r.start()
}

func project(pool int) task.Project {
	return task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: pool}
}

func (r *rig) start() {
	r.t.Helper()
	r.Runtime = r.open(r.t, Setup{Store: r.disk, Folders: r.shelf, Stage: r.stage, Library: library})
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func wish(branch string) signal.Wish {
	return signal.Wish{Actor: task.Human, New: signal.New{Project: "p", Branch: branch, Summary: "s", Spawn: true}}
}

// create begins a task that starts as soon as it can.
func (r *rig) create(branch string) task.ID {
	r.t.Helper()
	a, err := r.Create(r.t.Context(), wish(branch))
	if err != nil || a.Decision.Refused != "" {
		r.t.Fatal(err, a.Decision.Refused)
	}
	return a.Task.ID
}

// send submits a signal, from a person if it does not say from whom.
func (r *rig) send(id task.ID, sig signal.Signal) engine.Answer {
	r.t.Helper()
	a, err := r.sendWith(r.t.Context(), id, sig)
	r.check(err)
	return a
}

func (r *rig) sendWith(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	if sig.Actor == "" {
		sig.Actor = task.Human
	}
	return r.Submit(ctx, id, sig)
}

// must submits a signal that is not refused.
func (r *rig) must(id task.ID, sig signal.Signal) engine.Answer {
	r.t.Helper()
	a := r.send(id, sig)
	if a.Decision.Refused != "" {
		r.t.Fatalf("%s %s%s: %s", sig.Kind, sig.To, sig.Verb, a.Decision.Refused)
	}
	return a
}

func (r *rig) to(id task.ID, status string) engine.Answer {
	r.t.Helper()
	return r.must(id, signal.Signal{Kind: signal.Request, To: status})
}

func (r *rig) exit(id task.ID, role string) engine.Answer {
	r.t.Helper()
	return r.must(id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: role, Code: 1})
}

// ends lets an agent end by itself, its work done.
func (r *rig) ends(id task.ID, role string) engine.Answer {
	r.t.Helper()
	return r.must(id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: role})
}

// task is the record as the store has it.
func (r *rig) task(id task.ID) task.Task {
	r.t.Helper()
	t, ok, err := r.disk.Task(id)
	if err != nil || !ok {
		r.t.Fatalf("task %s: %v, %v", id, ok, err)
	}
	return t
}

func (r *rig) entries(id task.ID) []journal.Entry {
	r.t.Helper()
	list, err := r.disk.Journal(id, 0)
	r.check(err)
	return list
}

// count counts the entries of a task by type.
func (r *rig) count(id task.ID, typ journal.Type) (n int) {
	r.t.Helper()
	for _, e := range r.entries(id) {
		if e.Type == typ {
			n++
		}
	}
	return n
}

// write adds to the body of TASK.md, as an agent does.
func (r *rig) write(id task.ID, text string) {
	r.t.Helper()
	r.check(r.edit("p", id, func(have string) string { return have + "\n" + text }))
}

// text is TASK.md.
func (r *rig) text(id task.ID) string {
	r.t.Helper()
	doc, err := r.shelf.Read("p", id)
	r.check(err)
	return string(doc.Bytes())
}

// patience is how long the suite waits for what must come.
const patience = 20 * time.Second

// until waits, commit by commit, for something that must come.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		_, more, err := r.Follow(0, "", 1)
		r.check(err)
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

// settled waits until nothing is owed to the task and its folder shows that. What is
// refused has waited until the news before it was shown.
func (r *rig) settled(id task.ID) task.Task {
	r.t.Helper()
	r.until("nothing is pending", func() bool { return len(r.task(id).Pending) == 0 })
	r.send(id, signal.Signal{Kind: signal.Request})
	return r.task(id)
}

// pass lets time go by, in a bubble.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// review brings a new task to agent-review.
func (r *rig) review(branch string) task.ID {
	r.t.Helper()
	id := r.create(branch)
	r.settled(id)
	r.write(id, "## Plan\n\nAPPROACH: x\n")
	r.to(id, "working")
	r.write(id, "## Handoff\n\nDONE: x\n")
	r.to(id, "agent-review")
	r.settled(id)
	return id
}
