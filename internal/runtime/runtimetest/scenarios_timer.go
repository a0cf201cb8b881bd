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

// timed is a workflow whose task goes on by itself after an hour, if it has notes.
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

func library(name string) (text string, ok bool) { return timed, name == "timed" }

func (r *rig) timed() task.ID {
	r.t.Helper()
	w := wish("a")
	w.Workflow = "timed"
	a, err := r.Create(r.t.Context(), w)
	if err != nil || a.Decision.Refused != "" {
		r.t.Fatal(err, a.Decision.Refused)
	}
	return a.Task.ID
}

func timerOpens(r *rig) {
	id := r.timed()
	r.write(id, "## Notes\n\nx\n")
	r.pass(59 * time.Minute)
	if got := r.task(id); got.Status != "waiting" {
		r.t.Fatalf("too early: %s", got.Status)
	}
	r.pass(time.Minute)
	if got := r.task(id); got.Status != "done" {
		r.t.Errorf("after an hour: %s", got.Status)
	}
}

func timerClosed(r *rig) {
	id := r.timed()
	r.pass(2 * time.Hour)
	if got := r.task(id); got.Status != "waiting" || len(r.entries(id)) != 1 {
		r.t.Fatalf("%s, entries %v", got.Status, r.entries(id))
	}
	r.write(id, "## Notes\n\nx\n")
	r.pass(time.Minute)
	if got := r.task(id); got.Status != "done" {
		r.t.Errorf("a minute after it opened: %s", got.Status)
	}
}

func timerNotStored(r *rig) {
	id := r.timed()
	r.write(id, "## Notes\n\nx\n")
	tries := 0
	r.disk.do(func([]journal.Commit) error {
		tries++
		return errDisk
	})
	r.pass(time.Hour + 31*time.Second)
	if got := r.task(id); got.Status != "waiting" || tries != 3 {
		r.t.Fatalf("%s after %d tries", got.Status, tries)
	}
	r.disk.do(nil)
	r.pass(15 * time.Second)
	if got := r.task(id); got.Status != "done" {
		r.t.Errorf("the disk works again: %s", got.Status)
	}
}

func deadlineAway(r *rig) {
	id := r.create("a")
	synctest.Wait()
	r.Close()
	r.pass(24 * time.Hour)
	r.start()
	synctest.Wait()
	if got := r.task(id); got.Counter("crash_count") != 1 {
		r.t.Errorf("crashes %d, %s", got.Counter("crash_count"), got.Status)
	}
	if r.count(id, journal.AgentOverdue) != 1 {
		r.t.Errorf("entries %v", r.entries(id))
	}
	r.must(id, signal.Signal{Kind: signal.Request, Verb: "cancel"})
}
