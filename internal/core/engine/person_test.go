package engine_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

func TestAPersonSetsCountersBack(t *testing.T) {
	seen := face("Review", "Review-Approved")
	changed := func(actor task.Actor, f *board.Snapshot) signal.Signal {
		return signal.Signal{Kind: signal.Tracker, Actor: actor, Word: signal.CardChanged, CardSnapshot: f}
	}
	for name, tt := range map[string]struct {
		sig  signal.Signal
		back bool
	}{
		"a person tags the card":             {changed(task.Human, face("Review", "Review-Approved", "Merge-Conflict")), true},
		"a person moves the card":            {changed(task.Human, face("Analyse", "Review-Approved")), true},
		"somebody tags it in the tracker":    {changed(task.Tracker, face("Review", "Review-Approved", "Merge-Conflict")), true},
		"a person describes the card":        {changed(task.Human, &board.Snapshot{Column: "Review", Tags: seen.Tags, Described: "d2"}), false},
		"Orange reads it":                    {changed(task.Engine, face("Review", "Review-Approved", "Merge-Conflict")), false},
		"Orange reads a person's tag":        {changed(task.Engine, face("Review", "Review-Approved", "Plan-Approved")), true},
		"Orange reads its own claim":         {changed(task.Engine, face("Review", "Review-Approved", "Claimed-Dev-1")), false},
		"a person resumes":                   {signal.Signal{Kind: signal.Resume, Actor: task.Human}, true},
		"somebody resumes it in a comment":   {signal.Signal{Kind: signal.Resume, Actor: task.Tracker}, true},
		"a person pauses":                    {signal.Signal{Kind: signal.Pause, Actor: task.Human}, false},
		"a person renames it":                {signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "summary", To: "other"}}}, false},
		"a person cancels":                   {signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"}, true},
		"somebody cancels it in the tracker": {signal.Signal{Kind: signal.Request, Actor: task.Tracker, To: "cancelled"}, true},
		"a forge cancels":                    {signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: "cancel"}, false},
		"a person pushes":                    {signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbPush}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := placed(t, "joan-board", "board")
			w.task.Delivery = task.DeliverPush
			w.task.TrackerRef, w.task.CardSnapshot = "board:p/1", seen
			for i := range w.task.Counters[:2] {
				w.task.Counters[i] = task.Counter{Name: w.task.Counters[i].Name, Value: 1, Total: 7}
			}
			if tt.sig.Kind == signal.Resume {
				w.task.Attention = "look"
			}
			d := w.must(tt.sig)
			for _, name := range []string{"dispatches", "consults"} {
				at := slices.IndexFunc(w.task.Counters, func(c task.Counter) bool { return c.Name == name })
				if c := w.task.Counters[at]; (c.Value == 0) != tt.back || c.Total != 7 {
					t.Errorf("%s is %+v after %+v", name, c, d.Entries)
				}
			}
		})
	}
}

// A person's change of a card that Orange is changing too is not lost, though the card is read later.
func TestAPersonsChangeCountsWhileTheCardChanges(t *testing.T) {
	for actor, want := range map[task.Actor]int{task.Human: 0, task.Tracker: 4} {
		w := placed(t, "joan-board", "board")
		w.task.TrackerRef, w.task.CardSnapshot = "board:p/1", face("Development", "Planned")
		w.task.Counters[0].Value = 4
		w.task.Pending = []task.Effect{{ID: "a/1/0", Do: workflow.MoveCard, Arg: "Review"}, {ID: "a/1/1", Do: workflow.ReadCard}}
		w.must(signal.Signal{Kind: signal.Tracker, Actor: actor, Word: signal.CardChanged, CardSnapshot: face("Review", "Rework-Requested")})
		if n := w.task.CounterValue("dispatches"); n != want || w.task.CardSnapshot.Column != "Development" {
			t.Errorf("%s: dispatches is %d, the card is seen as %+v", actor, n, w.task.CardSnapshot)
		}
	}
}

func TestAnAnswerAndARespawnSetCountersBack(t *testing.T) {
	w := placed(t, "joan-board", "halted")
	w.task.Counters[1].Value = 1
	if w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "go on"}); w.task.CounterValue("consults") != 0 {
		t.Errorf("%+v", w.task.Counters)
	}
	w = placed(t, "linear-sdlc", "Finished")
	w.task.Counters[0].Value = 5
	w.ends(word("failed"))
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	if w.task.CounterValue("sessions") != 0 || w.task.CounterValue("crash_count") != 0 {
		t.Errorf("%+v", w.task.Counters)
	}
}

// Whoever decides gets the whole bound: guards see the counters as they are then. A forge's wish is bounded.
func TestBoundsDoNotHoldAPersonUp(t *testing.T) {
	for _, tt := range []struct {
		sig  signal.Signal
		want string
		n    int
	}{
		{signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "request-changes"}, "Started", 1},
		{signal.Signal{Kind: signal.Request, Actor: task.Tracker, To: "Started"}, "Started", 1},
		{signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: "request-changes"}, "Halted", 6},
	} {
		w := placed(t, "linear-sdlc", "Finished")
		w.task.Counters[0].Value, w.task.Rules = 6, engine.Rules
		x := w.explain()
		if at := slices.IndexFunc(x.Edges, func(e explain.Way) bool { return e.To == "Started" && e.As == "request-changes" }); !x.Edges[at].Open {
			t.Errorf("explain says that a person may not: %+v", x.Edges[at])
		}
		if w.must(tt.sig); w.task.Status != tt.want || w.task.CounterValue("sessions") != tt.n {
			t.Errorf("%+v leads to %s with %+v", tt.sig, w.task.Status, w.task.Counters)
		}
		if it, _ := explain.InboxItem(w.def, w.task); tt.want == "Halted" && it.Text != "the work needs help: sessions reached its bound of 6 since a person last decided" {
			t.Error(it.Text)
		}
	}
}

// An agent that passed and finds a bound reached is not what keeps the task: the bound is.
func TestTheInboxSaysWhichBoundWasReached(t *testing.T) {
	w := placed(t, "linear-sdlc", "Finished")
	w.task.Counters[0].Value, w.task.Rules = 6, engine.Rules
	w.ends(word("passed"))
	it, _ := explain.InboxItem(w.def, w.task)
	if w.task.Status != "Halted" || it.Kind != explain.ItemStuck || !strings.HasPrefix(it.Text, "the work needs help: sessions reached its bound of 6 since a person last decided: qa says passed") {
		t.Errorf("%s: %s", w.task.Status, it.Text)
	}
	if x := w.explain(); !strings.Contains(x.Why, "sessions reached its bound of 6") {
		t.Error(x.Why)
	}
	w = placed(t, "linear-sdlc", "Finished")
	if x := w.explain(); !slices.ContainsFunc(x.Bounds, func(b explain.Bound) bool {
		return strings.HasPrefix(narrate.DescribeBound(b), "sessions is 0 of 6 since a person last decided: at 6 ")
	}) {
		t.Errorf("%v", x.Bounds)
	}
}

func TestOldReasonsStay(t *testing.T) {
	w := placed(t, "joan-board", "board")
	w.task.Counters[0].Value = 6
	sig := signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.CardChanged, CardSnapshot: face("To Do"), At: w.now}
	for rules, want := range map[int]string{1: "the card is in To Do, without tags", 2: "dispatches reached its bound of 6 since a person last decided: the card is in To Do, without tags"} {
		sig.Rules = rules
		d := engine.Decide(w.def, &w.task, sig)
		if i := slices.IndexFunc(d.Entries, func(e journal.Entry) bool { return e.To == "halted" }); i < 0 || d.Entries[i].Reason != want {
			t.Errorf("by rules %d: %+v", rules, d.Entries)
		}
	}
}

func TestTheNextStepOfAReopenedTaskAndOfADecision(t *testing.T) {
	w := placed(t, "orange", "cancelled")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Reopen})
	it, _ := explain.InboxItem(w.def, w.task)
	if it.Kind != explain.ItemStart || it.Text != "it was reopened and not started" || narrate.FormatCommand(it.Action) != "orange task spawn "+string(w.task.ID) {
		t.Errorf("%+v", it)
	}
	if x := w.explain(); x.Why != "it was reopened and not started" {
		t.Error(x.Why)
	}
	for _, tt := range []struct{ flow, state, do string }{
		{"orange", "reviewing", "orange task merge "},
		{"small", "review", "orange task complete "},
		{"small", "shown", "orange task update SupposedSupposedSuppo --status doing"},
		{"small", "checked", "orange task explain "},
	} {
		w := &world{}
		if tt.flow == "small" {
			w = placedIn(t, parse(t, deciding), tt.state)
		} else {
			w = placed(t, tt.flow, tt.state)
		}
		if it, _ := explain.InboxItem(w.def, w.task); it.Kind != explain.ItemReview || !strings.HasPrefix(narrate.FormatCommand(it.Action), tt.do) {
			t.Errorf("%s of %s: %+v", tt.state, tt.flow, it)
		}
	}
}

// deciding has people decide without a merge.
const deciding = `
name: deciding
version: 1
roles: {worker: {prompt: work}}
counters: {crashes: {max: 2, per: state, counts: crashes}}
gates: {report: {section: Report}}
states:
  doing: {kind: agent, role: worker, deadline: {wall: 1h}}
  review: {kind: human}
  shown: {kind: human}
  checked: {kind: human}
  done: {kind: terminal}
  halted: {kind: halt}
edges:
  - {from: new, to: doing, on: create, by: [human]}
  - {from: doing, to: review, on: [request, exit], as: complete, by: [worker, human], gate: report}
  - {from: doing, to: halted, on: crash-limit}
  - {from: review, to: doing, as: request-changes, by: [human]}
  - {from: review, to: shown, as: complete, by: [human]}
  - {from: shown, to: doing, by: [human]}
  - {from: shown, to: checked, by: [human], as: check}
  - {from: checked, to: done, as: complete, by: [human], gate: report}
  - {from: [doing, review, shown, checked, halted], to: done, as: cancel, by: [human]}
  - {from: halted, to: doing, as: resume, by: [human]}
prompts: {work: do it}
`

// What is posted about an agent that was not understood says what it was.
func TestTheDiagnosticCommentNamesTheCause(t *testing.T) {
	for name, tt := range map[string]struct {
		report *signal.Report
		want   string
	}{
		"nothing":       {&signal.Report{Outcome: signal.Unknown}, "no structured result marker was detected in its output"},
		"contradicting": {unclear(signal.Ambiguous), "the results in its output contradict each other"},
		"quoted":        {&signal.Report{Protocol: signal.WorkResult, Outcome: signal.Unknown, Diagnosis: "line 2: a marker in a code fence does not count"}, "no structured result marker that counts was detected in its output"},
		"unproven":      {&signal.Report{Protocol: signal.WorkResult, Outcome: signal.Passed, Code: "passed", Source: signal.FromMarker, Unproven: true}, "its result passed does not count"},
	} {
		t.Run(name, func(t *testing.T) {
			w := placed(t, "linear-sdlc", "Delivered")
			w.task.Rules, w.task.TrackerRef = engine.Rules, "lin:E-1"
			d := w.ends(tt.report)
			at := slices.IndexFunc(d.Entries[0].Effects, func(e task.Effect) bool { return e.Do == workflow.CommentCard })
			if at < 0 || !strings.HasPrefix(d.Entries[0].Effects[at].Text, "The acceptance completed, but "+tt.want+". The status was NOT updated.\n") || !strings.Contains(d.Entries[0].Effects[at].Text, "<!-- WORK_RESULT:failed -->") {
				t.Errorf("%+v", d.Entries[0].Effects)
			}
		})
	}
}
