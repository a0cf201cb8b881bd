package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// talking is a workflow that listens to outcomes, trackers and time.
const talking = `
name: talking
version: 1
describe: an agent that says how it went
roles:
  worker: {describe: works, harness: task, session: visit, window: w, prompt: go}
  helper: {describe: helps, harness: task, session: visit, window: h, prompt: go}
states:
  queue: {kind: queued}
  working: {kind: agent, role: worker, deadline: {wall: 1h, idle: 10m}, respawn: manual}
  checked: {kind: human}
  broken: {kind: halt, role: helper}
  done: {kind: terminal}
edges:
  - {from: new, to: queue, on: create, by: [human]}
  - {from: queue, to: working, on: [ready], by: [engine], do: [acquire_workspace, {spawn_agent: worker}]}
  - {from: queue, to: working, on: request, as: complete, by: [human], do: [acquire_workspace, {spawn_agent: worker}]}
  - {from: working, to: checked, on: [{outcome: OK}], by: [worker]}
  - {from: working, to: broken, on: [{outcome: BAD}], by: [worker]}
  - {from: working, to: checked, on: request, as: complete, by: [human]}
  - {from: checked, to: done, on: [{tracker: accepted}], by: [tracker]}
  - {from: checked, to: working, on: [{timer: 2h}], do: [{spawn_agent: worker}]}
  - {from: checked, to: done, on: request, as: complete, by: [human]}
  - {from: broken, to: done, on: request, as: complete, by: [human]}
prompts:
  go: do it
`

func talkingAt(t *testing.T, status string) *world {
	t.Helper()
	w := &world{t: t, def: parse(t, talking), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: newTask(func(*signal.New) {})})
	if status == "queue" {
		return w
	}
	w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine})
	w.perform()
	if status == "checked" {
		w.to(task.Human, "checked")
		w.perform()
	}
	return w
}

func TestNewsCountsFromThoseWhoMayBringIt(t *testing.T) {
	ready := func(a task.Actor) signal.Signal { return signal.Signal{Kind: signal.Ready, Actor: a} }
	outcome := func(a task.Actor, n int, word string) signal.Signal {
		return signal.Signal{Kind: signal.Outcome, Actor: a, Attempt: n, Word: word}
	}
	tests := []struct {
		name, at string
		sig      signal.Signal
		verdict  engine.Verdict
		to, why  string
	}{
		{"a turn by the engine", "queue", ready(task.Engine), engine.Advance, "working", "taken"},
		{"a turn by a person", "queue", ready(task.Human), engine.Stay, "queue", "human may not: it takes engine"},
		{"a turn by a role", "queue", ready("worker"), engine.Stay, "queue", "worker may not: it takes engine"},
		{"the worker's own outcome", "working", outcome("worker", 1, "OK"), engine.Advance, "checked", "taken"},
		{"an outcome that halts", "working", outcome("worker", 1, "BAD"), engine.Halt, "broken", "taken"},
		{"an outcome nobody declared", "working", outcome("worker", 1, "HM"), engine.Stay, "working", "no edge from working answers to outcome HM: declared are OK, BAD"},
		{"an outcome by a person", "working", outcome(task.Human, 0, "OK"), engine.Stay, "working", "human may not: it takes worker"},
		{"an outcome by another role", "working", outcome("helper", 1, "OK"), engine.Stay, "working", "helper may not: it takes worker"},
		{"an outcome of an attempt that is over", "working", outcome("worker", 7, "OK"), engine.Stay, "working", "attempt 7 is over or never was"},
		{"a tracker's event", "checked", signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: "accepted"}, engine.Advance, "done", "taken"},
		{"a tracker's event by a worker", "checked", signal.Signal{Kind: signal.Tracker, Actor: "worker", Attempt: 1, Word: "accepted"}, engine.Stay, "checked", "worker may not: it takes tracker"},
		{"an event nobody listens to", "working", signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: "x"}, engine.Stay, "working", "no edge from working answers to tracker x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := talkingAt(t, tt.at)
			d := w.must(tt.sig)
			if d.Verdict != tt.verdict || w.task.Status != tt.to {
				t.Fatalf("%s to %s: %v", d.Verdict, w.task.Status, d.Reasons)
			}
			if last := d.Reasons[len(d.Reasons)-1].Text; !strings.Contains(last, tt.why) {
				t.Errorf("the last reason is %q", last)
			}
			if tt.verdict == engine.Stay && len(d.Entries) > 0 {
				t.Errorf("nothing moves, and %+v is written", d.Entries)
			}
		})
	}
}

func TestATimedEdgeIsTakenWhenItsTimeHasCome(t *testing.T) {
	w := talkingAt(t, "checked")
	w.refused(signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: "2h0m0s", Visit: w.task.Visit}, `no timer "2h0m0s" is due`)
	d := w.fires("2h0m0s")
	if d.Verdict != engine.Advance || w.task.Status != "working" || d.Entries[0].Type != journal.AutoAdvanced {
		t.Errorf("%s, %s", d.Verdict, w.task.Status)
	}
}

func TestAMergedPullRequestEndsATaskOfTheBuiltIns(t *testing.T) {
	for _, name := range []string{"orange", "orange-direct"} {
		for _, holds := range []bool{true, false} {
			def := load(t, name)
			without := []string{}
			if !holds {
				without = append(without, "merged")
			}
			tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "reviewing", To: "done", Without: without})
			if err != nil {
				t.Fatal(err)
			}
			sig.Kind, sig.To, sig.Word, sig.Actor = signal.Tracker, "", "pr:merged", task.Tracker
			d := engine.Decide(def, &tk, sig)
			if holds != (d.Verdict == engine.Advance) || holds && d.Entries[0].Type != journal.StatusChanged {
				t.Errorf("%s, merged %v: %s %v", name, holds, d.Verdict, d.Reasons)
			}
		}
	}
}
