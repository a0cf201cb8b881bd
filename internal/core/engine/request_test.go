package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func TestWhatNoSignalMayBe(t *testing.T) {
	def := load(t, "orange")
	tk, ok, err := engine.Hypothetical(def, engine.Assumptions{From: "working", To: "stuck"})
	if err != nil {
		t.Fatal(err)
	}
	gone := tk
	gone.Deleted = true
	tests := []struct {
		name string
		task task.Task
		sig  func(*signal.Signal)
		want string
	}{
		{"without a time", tk, func(s *signal.Signal) { *s = signal.Signal{Kind: s.Kind} }, "the signal carries no time"},
		{"about no task", task.Task{}, func(*signal.Signal) {}, "there is no such task"},
		{"about a deleted task", gone, func(*signal.Signal) {}, "was deleted"},
		{"creating what is there", tk, func(s *signal.Signal) { s.Kind = signal.Create }, "exists already"},
		{"importing what is there", tk, func(s *signal.Signal) { s.Kind = signal.Import }, "exists already"},
		{"by nobody we know", tk, func(s *signal.Signal) { s.Actor = "boss" }, `actor "boss" is not known: use human, engine, tracker or a role of workflow orange`},
		{"of an unknown kind", tk, func(s *signal.Signal) { s.Kind = "junk" }, `signal kind "junk" is not known`},
		{"asking for nothing", tk, func(s *signal.Signal) { s.To = "" }, "a request names a status or a verb"},
		{"asking for no status of ours", tk, func(s *signal.Signal) { s.To = "junk" }, `status "junk" is not known: workflow orange has pending, planning, `},
		{"asking for no verb of ours", tk, func(s *signal.Signal) { s.To, s.Verb = "", "junk" }, `not in map: working has no "junk": from working a task may go to `},
		{"a receipt of nothing", tk, func(s *signal.Signal) { s.Kind = signal.Effect }, "does not say which effect"},
		{"a turn in no queue", tk, func(s *signal.Signal) { s.Kind = signal.Ready }, "the task is working: it waits in no queue"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig := ok
			tt.sig(&sig)
			if d := engine.Decide(def, &tt.task, sig); d.Verdict != engine.Refuse || !strings.Contains(d.Refused, tt.want) || len(d.Entries) > 0 {
				t.Errorf("%s: %q", d.Verdict, d.Refused)
			}
		})
	}
}

func TestAVerbSelectsTheEdgeOfThatName(t *testing.T) {
	tests := []struct{ workflow, from, verb, to string }{
		{"orange", "pending", "complete", "planning"},
		{"orange", "planning", "complete", "working"},
		{"orange", "planning", "clarify", "clarification"},
		{"orange", "clarification", "complete", "planning"},
		{"orange", "working", "complete", "agent-review"},
		{"orange", "working", "stuck", "stuck"},
		{"orange", "agent-review", "complete", "reviewing"},
		{"orange", "agent-review", "cancel", "cancelled"},
		{"orange", "reviewing", "complete", "done"},
		{"orange", "reviewing", "request-changes", "working"},
		{"orange", "stuck", "resume", "working"},
		{"orange", "stuck", "accept", "reviewing"},
		{"orange", "stuck", "complete", "agent-review"},
		{"orange", "cancelled", "reopen", "pending"},
		{"orange-direct", "pending", "complete", "working"},
		{"orange-direct", "clarification", "complete", "working"},
		{"orange-direct", "stuck", "resume", "working"},
	}
	for _, tt := range tests {
		def := load(t, tt.workflow)
		tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: tt.from, To: tt.to})
		if err != nil {
			t.Fatal(err)
		}
		sig.To, sig.Verb = "", tt.verb
		sig.Artifacts.Sections = sectionsOf(t, everything("PASS"))
		d := engine.Decide(def, &tk, sig)
		if d.Verdict != engine.Advance || d.Entries[0].To != tt.to || d.Entries[0].Verb != tt.verb {
			t.Errorf("%s: %s %s: %s to %v: %s", tt.workflow, tt.from, tt.verb, d.Verdict, d.Entries, d.Refused)
		}
	}
}

func TestOfSeveralEdgesForOneVerbTheFirstOpenOneIsTaken(t *testing.T) {
	for verdict, want := range map[string][]string{"PASS": {"reviewing", "reviewing"}, "FAIL": {"working", "stuck"}} {
		for round, to := range want {
			def := load(t, "orange")
			tk, sig, err := engine.Hypothetical(def, engine.Assumptions{
				From: "agent-review", To: "reviewing", Actor: "reviewer", Counters: []task.Counter{{Name: "review_round", Value: round + 1}},
			})
			if err != nil {
				t.Fatal(err)
			}
			sig.To, sig.Verb = "", "complete"
			sig.Artifacts.Sections = sectionsOf(t, everything(verdict))
			if d := engine.Decide(def, &tk, sig); d.Verdict != engine.Advance || d.Entries[0].To != to {
				t.Errorf("%s in round %d: %s: %s", verdict, round+1, d.Verdict, d.Refused)
			}
		}
	}
}

// stuckTask is one whose worker lives and whose handoff was not used.
func stuckTask(t *testing.T) *world {
	t.Helper()
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	w.to("worker", "stuck")
	w.perform()
	w.body += "\n## Handoff\n\nDONE: x\n"
	return w
}

func TestARequestThatNeedsConfirmationWaitsForAPerson(t *testing.T) {
	w := stuckTask(t)
	sig := w.asks("worker", "reviewing")
	sig.Note = "it is mended"
	d := w.must(sig)
	if d.Verdict != engine.Stay || w.task.Status != "stuck" || w.task.Asked == nil {
		t.Fatalf("%s, %s, %+v", d.Verdict, w.task.Status, w.task.Asked)
	}
	if got := *w.task.Asked; got.To != "reviewing" || got.By != "worker" || got.Note != "it is mended" || !got.At.Equal(w.now) {
		t.Errorf("asked: %+v", got)
	}
	w.refused(w.asks("worker", "reviewing"), "reviewing was asked for already, and waits for a person: orange task update 000000000000000000001 --status reviewing")
	w.to("worker", "agent-review")
	if w.task.Asked.To != "agent-review" {
		t.Errorf("the newer request does not count: %+v", w.task.Asked)
	}
	d = w.to(task.Human, "reviewing")
	if !d.Entries[0].Override || w.task.Asked != nil {
		t.Errorf("override %v, asked %+v", d.Entries[0].Override, w.task.Asked)
	}
}

func TestAskingNeedsTheGateToo(t *testing.T) {
	w := stuckTask(t)
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.refused(w.asks("worker", "agent-review"), "stuck -> agent-review: gate: TASK.md has no ## Handoff")
}

func TestOnlyAnOverrideIsRecordedAsOne(t *testing.T) {
	for to, want := range map[string]bool{"reviewing": true, "agent-review": false, "working": false, "cancelled": false} {
		w := stuckTask(t)
		if d := w.to(task.Human, to); d.Entries[0].Override != want {
			t.Errorf("stuck -> %s: override %v", to, d.Entries[0].Override)
		}
	}
}

func TestReopeningWaitsForTheCleanUp(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.to(task.Human, "cancelled")
	reopen := signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Reopen}
	w.refused(reopen, "the clean-up of the task is still in progress: try again in a moment")
	w.refused(w.asks(task.Human, "pending"), "clean-up")
	w.refused(signal.Signal{Kind: signal.Delete, Actor: task.Human}, "effects of the task are still to be done")
	w.perform()
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: engine.Reopen}, "actor: tracker may not")
	w.must(reopen)
	if w.task.Status != "pending" || w.task.Workspace != "" || w.task.Queued {
		t.Errorf("%+v", w.task)
	}
}

func TestACleanUpThatWasGivenUpIsMendedByAPersonFirst(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.to(task.Human, "cancelled")
	w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: w.task.Pending[0].ID, Error: "no", Final: true}})
	if w.task.Attention != "kill_session failed: no" {
		t.Fatalf("attention %q", w.task.Attention)
	}
	if e, ok := engine.NextEffect(&w.task); ok {
		t.Errorf("%s runs behind one that was given up", e.Do)
	}
	reopen := signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Reopen}
	w.refused(reopen, "clean-up")
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	w.perform()
	w.must(reopen)
}

func TestATaskWithoutAWorkspaceWaitsInItsQueueAndIsRefusedElsewhere(t *testing.T) {
	w := begin(t, "orange", false)
	w.free = nil
	d := w.to(task.Human, "planning")
	if d.Verdict != engine.Stay || !w.task.Queued || d.Entries[0].Type != journal.TaskQueued {
		t.Fatalf("%s: %+v", d.Verdict, d.Entries)
	}
	if d := w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine}); d.Verdict != engine.Stay || len(d.Entries) > 0 {
		t.Errorf("a second turn is written down: %+v", d.Entries)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "clarify"})
	w.refused(w.asks(task.Human, "planning"),
		"clarification -> planning: workspace: no workspace of project p is free: wait for a task to end, or raise the pool: orange project update p --pool-size N")
}
