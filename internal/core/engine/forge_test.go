package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// closes says that the pull request was closed, with what is known about what is lost.
func closes(actor task.Actor, evidence ...signal.Evidence) signal.Signal {
	return signal.Signal{Kind: signal.Tracker, Actor: actor, Word: signal.PRClosed, Arg: "c0ffee", Evidence: evidence}
}

func TestAClosedPullRequest(t *testing.T) {
	const closed = "its pull request was closed without a merge"
	safe := signal.Evidence{Name: workflow.NothingLost, Holds: true}
	tests := map[string]struct {
		from      string
		sig       signal.Signal
		verdict   engine.Verdict
		to        string
		attention string
	}{
		"nothing would be lost":         {"Finished", closes(task.Tracker, safe), engine.Advance, "Canceled", ""},
		"while a merge is waited for":   {"Merging", closes(task.Tracker, safe), engine.Advance, "Canceled", ""},
		"before it was begun":           {"Backlog", closes(task.Tracker, safe), engine.Advance, "Canceled", ""},
		"a parent that waits":           {"Coordinating", closes(task.Tracker, safe), engine.Advance, "Canceled", ""},
		"work would be lost":            {"Started", closes(task.Tracker, signal.Evidence{Name: workflow.NothingLost, Detail: "its branch is ahead"}), engine.Record, "Started", closed + ": reopen it, or cancel the task; it is not cancelled by itself, because its branch is ahead"},
		"nobody looked":                 {"Started", closes(task.Tracker), engine.Record, "Started", closed + ": reopen it, or cancel the task; it is not cancelled by itself, because nobody could tell what would be lost"},
		"another fact":                  {"Started", closes(task.Tracker, signal.Evidence{Name: workflow.Merged, Holds: true}), engine.Record, "Started", "nobody could tell"},
		"the engine may not cancel":     {"Started", closes(task.Engine, safe), engine.Record, "Started", closed + ": reopen it, or cancel the task"},
		"the task is done":              {"Accepted", closes(task.Tracker, safe), engine.Stay, "Accepted", ""},
		"the task is cancelled":         {"Canceled", closes(task.Tracker), engine.Stay, "Canceled", ""},
		"an agent says so":              {"Started", closes("development", safe), engine.Refuse, "Started", ""},
		"an agent says so of lost work": {"Started", closes("development"), engine.Refuse, "Started", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := placedIn(t, load(t, "linear-sdlc"), tt.from)
			if a, ok := w.task.LiveAttempt("development"); ok && tt.sig.Actor == "development" {
				tt.sig.Attempt = a.Number
			}
			d := w.send(tt.sig)
			if d.Verdict != tt.verdict || w.task.Status != tt.to {
				t.Fatalf("%s to %s: %s\n%s", d.Verdict, w.task.Status, d.Refused, why(d))
			}
			if !strings.HasPrefix(w.task.Attention, tt.attention) && !strings.Contains(w.task.Attention, tt.attention) || (tt.attention == "") != (w.task.Attention == "") {
				t.Errorf("attention %q, want %q", w.task.Attention, tt.attention)
			}
			if tt.verdict == engine.Advance && d.Entries[0].Reason != closed {
				t.Errorf("reason %q", d.Entries[0].Reason)
			}
			if tt.verdict == engine.Record && d.Entries[0].Type != journal.PRClosed {
				t.Errorf("type %s", d.Entries[0].Type)
			}
			if it, ok := explain.InboxItem(w.def, w.task); tt.attention != "" && (!ok || it.Kind != explain.ItemAttention) {
				t.Errorf("inbox: %v, %+v", ok, it)
			}
		})
	}
}

const closingFlow = `
name: closing
version: 1
describe: x
roles:
  worker: {describe: d, harness: task, session: visit, window: worker, prompt: worker}
counters:
  crash_count: {max: 2, per: state, counts: crashes}
states:
  pending: {kind: queued}
  working: {kind: agent, role: worker, deadline: {wall: 1h, idle: 20m}}
  waiting: {kind: human}
  stuck: {kind: halt}
  dropped: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine]}
  - {from: working, to: waiting, on: exit, by: [worker]}
  - {from: waiting, to: working, on: {pr: closed}, by: [tracker]}
  - {from: working, to: stuck, on: crash-limit}
  - {from: stuck, to: working, as: resume, by: [human]}
  - {from: [pending, working, waiting, stuck], to: dropped, as: cancel, by: [human, tracker]}
prompts:
  worker: do it
`

// A task that waits for the merge takes its edge, even if work would be lost.
func TestAWorkflowMayWaitForAPullRequestToBeClosed(t *testing.T) {
	for name, sig := range map[string]signal.Signal{
		"nothing lost": closes(task.Tracker, signal.Evidence{Name: workflow.NothingLost, Holds: true}), "something lost": closes(task.Tracker),
	} {
		t.Run(name, func(t *testing.T) {
			w := placedIn(t, parse(t, closingFlow), "waiting")
			if d := w.send(sig); d.Verdict != engine.Advance || w.task.Status != "working" {
				t.Errorf("%s to %s: %s", d.Verdict, w.task.Status, why(d))
			}
		})
	}
	w := placedIn(t, parse(t, closingFlow), "waiting")
	w.refused(closes("worker"), "an agent may not report")
}

// What the journal keeps of it is enough to decide it again.
func TestAClosedPullRequestIsDecidedTheSameAgain(t *testing.T) {
	for _, safe := range []bool{true, false} {
		w := tracked(t, "linear-sdlc")
		w.perform()
		w.send(closes(task.Tracker, signal.Evidence{Name: workflow.NothingLost, Holds: safe, Detail: "d"}))
		got, err := engine.Redecide(w.def, w.log)
		if err != nil {
			t.Fatal(err)
		}
		if first, n := got.FirstDivergence(); n > 0 {
			t.Errorf("safe %v: %d decisions differ, first %+v", safe, n, first)
		}
	}
}
