package runtimetest

import (
	"testing/synctest"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func timerScenarios() []scenario {
	return []scenario{
		{"an edge opens when its time has come", 1, true, timerOpens},
		{"an edge that is closed when its time comes is looked at again", 1, true, timerClosed},
		{"a timer that cannot be stored is tried again", 1, true, timerNotStored},
		{"a deadline that passed while the server was away is seen when it is back", 1, true, deadlineAway},
	}
}

// timed is a workflow whose task continues by itself after an hour, if it has notes.
const timed = `
name: timed
version: 1
describe: a task that goes on by itself
gates:
  noted: {section: Notes}
states:
  waiting: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: waiting, on: create, by: [human]}
  - {from: waiting, to: done, on: [{timer: 1h}], gate: noted}
  - {from: waiting, to: done, on: request, as: complete, by: [human]}
`

func ownWorkflows(name string) (text string, ok bool) { return timed, name == "timed" }

func (r *env) createTimed() task.ID {
	r.t.Helper()
	w := newTask("a")
	w.Workflow = "timed"
	a, err := r.Create(r.t.Context(), w)
	if err != nil || a.Decision.Refused != "" {
		r.t.Fatal(err, a.Decision.Refused)
	}
	return a.Task.ID
}

func timerOpens(r *env) {
	id := r.createTimed()
	r.appendBody(id, "## Notes\n\nx\n")
	r.passTime(59 * time.Minute)
	if got := r.storedTask(id); got.Status != "waiting" {
		r.t.Fatalf("too early: %s", got.Status)
	}
	r.passTime(time.Minute)
	if got := r.storedTask(id); got.Status != "done" {
		r.t.Errorf("after an hour: %s", got.Status)
	}
}

func timerClosed(r *env) {
	id := r.createTimed()
	r.passTime(2 * time.Hour)
	if got := r.storedTask(id); got.Status != "waiting" || len(r.storedEntries(id)) != 1 {
		r.t.Fatalf("%s, entries %v", got.Status, r.storedEntries(id))
	}
	r.appendBody(id, "## Notes\n\nx\n")
	r.passTime(time.Minute)
	if got := r.storedTask(id); got.Status != "done" {
		r.t.Errorf("a minute after it opened: %s", got.Status)
	}
}

func timerNotStored(r *env) {
	id := r.createTimed()
	r.appendBody(id, "## Notes\n\nx\n")
	tries := 0
	r.store.beforeCommit(func([]journal.Commit) error {
		tries++
		return errDisk
	})
	r.passTime(time.Hour + 31*time.Second)
	if got := r.storedTask(id); got.Status != "waiting" || tries != 3 {
		r.t.Fatalf("%s after %d tries", got.Status, tries)
	}
	r.store.beforeCommit(nil)
	r.passTime(15 * time.Second)
	if got := r.storedTask(id); got.Status != "done" {
		r.t.Errorf("the disk works again: %s", got.Status)
	}
}

func deadlineAway(r *env) {
	id := r.createTask("a")
	synctest.Wait()
	r.Close()
	r.passTime(24 * time.Hour)
	r.openRuntime()
	synctest.Wait()
	if got := r.storedTask(id); got.CounterValue("crash_count") != 1 {
		r.t.Errorf("crashes %d, %s", got.CounterValue("crash_count"), got.Status)
	}
	if r.countEntries(id, journal.AgentOverdue) != 1 {
		r.t.Errorf("entries %v", r.storedEntries(id))
	}
	r.mustSend(id, signal.Signal{Kind: signal.Request, Verb: "cancel"})
}
