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
	"orange/internal/view/narrate"
)

const (
	otherID = task.ID("000000000000000000002")
	thirdID = task.ID("000000000000000000003")
)

// pred is a predecessor on branch other.
func pred(state task.PredecessorState) []task.Predecessor {
	return []task.Predecessor{{ID: otherID, Branch: "other", State: state}}
}

// beginAfter creates a task that is after another one, which is open.
func beginAfter(t *testing.T, name string, spawn bool) *world {
	t.Helper()
	w := &world{t: t, def: load(t, name), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, Predecessors: pred(task.PredecessorOpen), New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: spawn, After: []task.ID{otherID},
	}})
	return w
}

// predecessorMoved tells the task what became of its predecessor, and gives it its turn if it waits in its queue.
func (w *world) predecessorMoved(state task.PredecessorState) engine.Decision {
	w.t.Helper()
	d := w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PredecessorMoved, Predecessors: pred(state)})
	if w.task.Queued {
		w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine, Predecessors: pred(state)})
	}
	return d
}

func TestWhatBecameOfAPredecessor(t *testing.T) {
	work := func(head string, landed bool) *task.Work { return &task.Work{Base: "a", Head: head, Landed: landed} }
	for name, tt := range map[string]struct {
		flow, status string
		work         *task.Work
		want         task.PredecessorState
	}{
		"at work":                                 {"orange", "working", work("b", false), task.PredecessorOpen},
		"merged, and over":                        {"orange", "done", work("b", true), task.PredecessorLanded},
		"merged, not over yet":                    {"linear-sdlc", "Merging", work("b", true), task.PredecessorLanded},
		"over with nothing to merge":              {"orange", "done", work("", false), task.PredecessorLanded},
		"over, and nobody knows its commits":      {"orange", "done", nil, task.PredecessorLanded},
		"over, and its commits were not merged":   {"orange", "done", work("b", false), task.PredecessorDropped},
		"cancelled":                               {"orange", "cancelled", work("b", false), task.PredecessorDropped},
		"merged before it was cancelled":          {"orange", "cancelled", work("b", true), task.PredecessorLanded},
		"in a state that its workflow lost":       {"orange", "gone", nil, task.PredecessorDropped},
		"a parent that is accepted":               {"linear-sdlc", "Accepted", nil, task.PredecessorLanded},
		"done, in a workflow that merges nothing": {"deciding", "done", work("b", false), task.PredecessorLanded},
	} {
		t.Run(name, func(t *testing.T) {
			def := parse(t, deciding)
			if tt.flow != "deciding" {
				def = load(t, tt.flow)
			}
			if got := engine.PredecessorStateOf(def, &task.Task{Status: tt.status, Results: task.Results{Work: tt.work}}); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestATaskStartsWhenItsPredecessorsHaveLanded(t *testing.T) {
	w := beginAfter(t, "orange", true)
	if w.task.Status != "pending" || !w.task.Queued || len(w.task.Attempts) > 0 || w.task.Workspace != "" {
		t.Fatalf("it did not wait: %+v", w.task)
	}
	if x := w.explain(); x.Owner != "the engine" || x.Why != "it waits for other (00000000) to land" {
		t.Errorf("%s: %s", x.Owner, x.Why)
	}
	if it, ok := explain.InboxItem(w.def, w.task); ok {
		t.Errorf("a person is asked: %+v", it)
	}
	for _, sig := range []signal.Signal{
		{Kind: signal.Ready, Actor: task.Engine},
		{Kind: signal.Request, Actor: task.Human, Verb: "complete"},
		{Kind: signal.Request, Actor: task.Human, To: "planning"},
	} {
		sig.Predecessors = pred(task.PredecessorOpen)
		if d := w.must(sig); len(d.Entries) > 0 || w.task.Status != "pending" {
			t.Errorf("%+v: %+v", sig, d.Entries)
		}
	}
	d := w.predecessorMoved(task.PredecessorLanded)
	if w.task.Status != "planning" || len(d.Entries) != 1 || d.Entries[0].Type != journal.PredecessorMoved || d.Entries[0].Reason != "other (00000000) landed" {
		t.Errorf("%s, %+v", w.task.Status, d.Entries)
	}
	if again := w.predecessorMoved(task.PredecessorLanded); len(again.Entries) > 0 {
		t.Errorf("the same news is recorded twice: %+v", again.Entries)
	}
	if r, err := engine.Redecide(w.def, stored(t, w.log)); err != nil {
		t.Error(err)
	} else if first, n := r.FirstDivergence(); n > 0 {
		t.Errorf("%s", asJSON(t, first))
	}
}

func TestATaskWaitsForAWorkspaceAfterItsPredecessors(t *testing.T) {
	w := beginAfter(t, "orange", true)
	w.free = nil
	w.predecessorMoved(task.PredecessorLanded)
	if w.task.Status != "pending" || !w.task.Queued || len(task.UnmetOf(w.task.Predecessors)) > 0 {
		t.Errorf("%+v", w.task.Waiting)
	}
	if x := w.explain(); !strings.Contains(x.Why, "free workspace") {
		t.Error(x.Why)
	}
}

func TestATaskThatWasNotStartedStaysWhenItsPredecessorLands(t *testing.T) {
	w := beginAfter(t, "orange", false)
	w.predecessorMoved(task.PredecessorLanded)
	if w.task.Status != "pending" || w.task.Queued {
		t.Errorf("%s, %+v", w.task.Status, w.task.Waiting)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "complete", Predecessors: pred(task.PredecessorLanded)})
	if w.task.Status != "planning" {
		t.Error(w.task.Status)
	}
}

func TestAPausedTaskDoesNotStartWhenItsPredecessorLands(t *testing.T) {
	w := beginAfter(t, "orange", true)
	w.must(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	w.predecessorMoved(task.PredecessorLanded)
	if w.task.Status != "pending" || len(task.UnmetOf(w.task.Predecessors)) > 0 {
		t.Errorf("%s, %+v", w.task.Status, w.task.Waiting)
	}
}

// A card that would start an agent waits too, and a parent stays in its queue.
func TestEveryFirstStartWaits(t *testing.T) {
	w := beginAfter(t, "joan-board", true)
	w.task.TrackerRef = "board:p/1"
	w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.CardChanged, CardSnapshot: face("To Do"), Predecessors: pred(task.PredecessorOpen)})
	if w.task.Status != "board" || !w.task.Queued {
		t.Fatalf("%s, %+v", w.task.Status, w.task.Waiting)
	}
	if w.predecessorMoved(task.PredecessorLanded); w.sent() != "ba/evaluate" {
		t.Errorf("%s", w.task.Status)
	}
	w = beginAfter(t, "linear-sdlc", true)
	w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine, Children: kids("Backlog"), Predecessors: pred(task.PredecessorOpen)})
	if w.task.Status != "Backlog" {
		t.Error(w.task.Status)
	}
}

func TestATaskThatCannotWaitIsNotCreated(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.refused(signal.Signal{Kind: signal.Create, Actor: task.Human, Predecessors: pred(task.PredecessorOpen), New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Status: "agent-review", After: []task.ID{otherID},
	}}, "new -> agent-review: after: it waits for other (00000000) to land, and a task waits only in a queue: create it in one, or without --after")
}

func TestAQuestionDoesNotStartAnAgentBeforeItsPredecessors(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, Predecessors: pred(task.PredecessorOpen), New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Status: "clarification", Spawn: true, After: []task.ID{otherID},
	}})
	if w.task.Status != "clarification" || len(w.task.Attempts) > 0 {
		t.Fatalf("%+v", w.task)
	}
	for _, verb := range []string{"complete", engine.Respawn} {
		w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb, Predecessors: pred(task.PredecessorOpen)},
			"it waits for other (00000000) to land: wait for that, or remove a dependency with orange task update 000000000000000000001 --not-after "+string(otherID))
	}
}

// A dependency that comes after the start holds back the merge and nothing else.
func TestALaterDependencyHoldsBackTheMerge(t *testing.T) {
	w := placed(t, "orange", "reviewing")
	add := signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: engine.FieldAddAfter, To: string(otherID)}}, Predecessors: pred(task.PredecessorOpen)}
	if d := w.must(add); len(w.task.After) != 1 || len(w.task.Predecessors) != 1 || d.Entries[0].Fields[0].Name != journal.FieldAfter || d.Entries[0].Fields[0].To != string(otherID) {
		t.Fatalf("%+v, %+v", w.task.After, d.Entries)
	}
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge, Predecessors: pred(task.PredecessorOpen)}, "after: the task waits for other (00000000) to land: wait for that")
	it, _ := explain.InboxItem(w.def, w.task)
	if it.Kind != explain.ItemReview || it.Verb == engine.VerbMerge || !strings.Contains(it.Text, "its merge waits for other (00000000) to land") {
		t.Errorf("%+v", it)
	}
	w.predecessorMoved(task.PredecessorLanded)
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge, Predecessors: pred(task.PredecessorLanded)})
	if w.next() != workflow.MergeBranch {
		t.Errorf("next is %q", w.next())
	}
	w.refused(signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: engine.FieldAddAfter, To: string(thirdID)}}}, "the task is being merged")
}

func TestAnAutomaticMergeWaits(t *testing.T) {
	w := placed(t, "linear-sdlc", "Delivered")
	w.task.After = []task.ID{otherID}
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "complete", Predecessors: pred(task.PredecessorOpen)})
	w.perform()
	if w.task.Status != "Merging" || w.next() != "" || !strings.Contains(w.owed(), workflow.MergeBranch) {
		t.Fatalf("%s: next %q of %s", w.task.Status, w.next(), w.owed())
	}
	if x := w.explain(); x.Why != "it waits for other (00000000) to land" {
		t.Error(x.Why)
	}
	if w.predecessorMoved(task.PredecessorLanded); w.next() != workflow.MergeBranch+" auto" {
		t.Errorf("next is %q", w.next())
	}
}

func TestACancelledPredecessorIsAskedAbout(t *testing.T) {
	w := beginAfter(t, "orange", true)
	w.predecessorMoved(task.PredecessorDropped)
	it, ok := explain.InboxItem(w.def, w.task)
	if !ok || it.Kind != explain.ItemBlocked || !strings.Contains(it.Text, "it is after other (00000000), which ended without landing: remove the dependency, cancel the task, or reopen the other one with orange task reopen "+string(otherID)) {
		t.Errorf("%+v", it)
	}
	if do := narrate.FormatCommand(it.Action); do != "orange task update 000000000000000000001 --not-after "+string(otherID) {
		t.Error(do)
	}
	if x := w.explain(); x.Owner != explain.APerson || !strings.Contains(x.Why, "ended without landing") {
		t.Errorf("%s: %s", x.Owner, x.Why)
	}
	if w.task.Status != "pending" {
		t.Error(w.task.Status)
	}
	w.predecessorMoved(task.PredecessorOpen) // it was reopened
	if it, ok := explain.InboxItem(w.def, w.task); ok {
		t.Errorf("%+v", it)
	}
	w.predecessorMoved(task.PredecessorDropped)
	w.must(signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: engine.FieldDropAfter, To: string(otherID)}}, Predecessors: []task.Predecessor{}})
	if len(w.task.After)+len(w.task.Predecessors) > 0 {
		t.Fatalf("%+v %+v", w.task.After, w.task.Predecessors)
	}
	if w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine}); w.task.Status != "planning" {
		t.Error(w.task.Status)
	}
}

// A task at work is not in the inbox for what only its merge must wait for.
func TestATaskAtWorkIsNotAskedAboutItsPredecessor(t *testing.T) {
	w := placed(t, "orange", "working")
	w.task.After, w.task.Predecessors = []task.ID{otherID}, pred(task.PredecessorDropped)
	if it, ok := explain.InboxItem(w.def, w.task); ok {
		t.Errorf("%+v", it)
	}
}

func TestWhoMayChangeWhatATaskIsAfter(t *testing.T) {
	update := func(name, to string, by task.Actor, attempt int) signal.Signal {
		return signal.Signal{Kind: signal.Update, Actor: by, Attempt: attempt, Fields: []signal.Field{{Name: name, To: to}}}
	}
	w := placed(t, "orange", "working")
	w.refused(update(engine.FieldAddAfter, string(otherID), "worker", w.own().Number), "worker may not change the after")
	w.refused(update(engine.FieldAddAfter, string(w.task.ID), task.Human, 0), "a task cannot be after itself")
	w.refused(update(engine.FieldAddAfter, "../x", task.Human, 0), `"../x" is not a task id`)
	w.refused(update(engine.FieldDropAfter, string(otherID), task.Human, 0), "the task is not after 00000000")
	if d := w.must(update(engine.FieldAddAfter, string(otherID), task.Tracker, 0)); d.Verdict != engine.Record {
		t.Error(d.Verdict)
	}
	if d := w.must(update(engine.FieldAddAfter, string(otherID), task.Human, 0)); len(d.Entries) > 0 {
		t.Errorf("what is so already is recorded: %+v", d.Entries)
	}
}

// A stacked task starts at the work of its predecessor, and lands after it.
func TestAStackedTaskStartsWhenItsPredecessorHasWork(t *testing.T) {
	stacked := func(state task.PredecessorState, head string) []task.Predecessor {
		return []task.Predecessor{{ID: otherID, Branch: "other", State: state, Stack: true, Head: head}}
	}
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, Predecessors: stacked(task.PredecessorOpen, ""), New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true, After: []task.ID{otherID}, StackOn: otherID,
	}})
	if w.task.Status != "pending" || !w.task.Queued || w.task.Base != "" {
		t.Fatalf("%+v", w.task)
	}
	if x := w.explain(); x.Why != "it waits for other (00000000) to hand over work" {
		t.Error(x.Why)
	}
	d := w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PredecessorMoved, Predecessors: stacked(task.PredecessorOpen, "c1")})
	if len(d.Entries) != 1 || d.Entries[0].Reason != "other (00000000) has work" {
		t.Fatalf("%+v", d.Entries)
	}
	w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine, Predecessors: stacked(task.PredecessorOpen, "c1")})
	if w.task.Status != "planning" || w.task.Base != "c1" || w.task.StackBase() != "c1" {
		t.Errorf("%s at %q", w.task.Status, w.task.Base)
	}
	if unmet := task.UnmetOf(w.task.Predecessors); len(unmet) != 1 {
		t.Error("its merge does not wait")
	}
	if r, err := engine.Redecide(w.def, stored(t, w.log)); err != nil {
		t.Error(err)
	} else if first, n := r.FirstDivergence(); n > 0 {
		t.Errorf("%s", asJSON(t, first))
	}
	if w.task.LandsFrom() != "" {
		t.Error("it is merged without the work that it is stacked on, which has not landed")
	}
	w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PredecessorMoved, Predecessors: stacked(task.PredecessorLanded, "c1")})
	if w.task.LandsFrom() != "c1" {
		t.Errorf("it is merged from %q", w.task.LandsFrom())
	}
	w.must(signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: engine.FieldDropAfter, To: string(otherID)}}})
	if w.task.LandsFrom()+w.task.StackBase() != "" {
		t.Error("without its dependency, it is merged without the work that it is stacked on")
	}

	w = &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, Predecessors: stacked(task.PredecessorLanded, "c1"), New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true, After: []task.ID{otherID}, StackOn: otherID,
	}})
	if w.task.Status != "planning" || w.task.StackBase() != "" {
		t.Errorf("after its predecessor landed: %s at %q", w.task.Status, w.task.Base)
	}
}

func TestAWorkerIsToldHowToMoveAStackedBranch(t *testing.T) {
	l := task.Landing{Candidate: task.Candidate{Target: "main", StackBase: "c1", Ref: "refs/x"}, Outcome: task.LandingConflict, Why: "it conflicts"}
	text := strings.Join(l.Lines(), "\n")
	if !strings.Contains(text, "git rebase --onto main c1\n") || !strings.Contains(text, "git rebase --continue") || strings.Contains(text, "git merge") || !strings.Contains(text, "git reset --hard refs/x") {
		t.Error(text)
	}
}
