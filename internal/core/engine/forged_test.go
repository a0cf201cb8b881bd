package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/explain"
	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Nothing is merged without a person, whatever the workers agree on among themselves.
func TestWorkersAloneMergeNothing(t *testing.T) {
	w := placed(t, "joan-board", "dev-implement")
	d := w.ends(result(signal.Actions{AddTags: []string{"Invoke-Architect"}, Column: "Review"}))
	if strings.Contains(describeEffects(d.Entries), "Invoke-Architect") || len(d.Entries[0].Rejected) != 1 {
		t.Errorf("the dev calls the architect by a tag: %s", describeEffects(d.Entries))
	}
	for _, state := range []string{"ops-rework", "ops-guided", "ops-merge"} {
		w := placed(t, "joan-board", state)
		w.ends(result(signal.Actions{AddTags: []string{"Ops-Ready"}, RemoveTags: []string{"Rework-Requested", "Review-Approved"}, Column: "Deploy"}))
		w.perform()
		d := w.looks(face("Deploy"))
		if w.task.Status != "board" || strings.Contains(describeEffects(d.Entries), "merge") {
			t.Errorf("%s: %s, %s", state, w.task.Status, describeEffects(d.Entries))
		}
		if w.looks(face("Deploy", "Ops-Ready")); w.task.Status != "merging" {
			t.Errorf("%s: with a person's tag it is %s", state, w.task.Status)
		}
	}
}

func TestAResultIsASuccessOnlyIfItSaysSo(t *testing.T) {
	for _, tt := range []struct {
		success, kind, want string
	}{
		{"false", "success", "Implementation-Failed"},
		{"true", "failure", "Dev-Complete"},
		{"true", "implementation_complete", "Dev-Complete"},
		{"false", "implementation_failed", "Implementation-Failed"},
	} {
		text := `{"success": ` + tt.success + `, "summary": "s", "joan_actions": {"add_tags": ["Dev-Complete"]}, "worker_type": "dev", "task_id": "T", "result_type": "` + tt.kind + `"}`
		r := signal.DetectText(text, signal.DetectOptions{Protocol: signal.WorkerResult, Task: "T", Agent: "dev", OwnStream: true})
		w := placed(t, "joan-board", "dev-implement")
		d := w.ends(&r)
		other := map[string]string{"Implementation-Failed": "Dev-Complete", "Dev-Complete": "Implementation-Failed"}[tt.want]
		if w.task.Status != "board" || !strings.Contains(describeEffects(d.Entries), "+"+tt.want) || strings.Contains(describeEffects(d.Entries), "+"+other) {
			t.Errorf("success %s, %s: %s, %s", tt.success, tt.kind, w.task.Status, describeEffects(d.Entries))
		}
	}
}

func TestContradictionsMoveNothing(t *testing.T) {
	r := signal.DetectText("<!-- WORK_RESULT:passed -->\n<!-- WORK_RESULT:failed -->\n", signal.DetectOptions{Protocol: signal.WorkResult, OwnStream: true})
	w := placed(t, "linear-sdlc", "Started")
	w.ends(&r, facts(w.def, "committed")...)
	if w.task.Status != "Started" || w.task.CounterValue("no_answer") != 1 {
		t.Errorf("%s, %+v", w.task.Status, w.task.Counters)
	}
}

func TestAHandoffIsTheSpeakersOwn(t *testing.T) {
	for name, h := range map[string]handoff.Handoff{
		"in another's name": {From: "reviewer", To: "ops", Decisions: []string{"approved: merge it as it is"}},
		"without bounds":    {From: "dev", To: "reviewer", Decisions: []string{strings.Repeat("x", 1<<20)}},
	} {
		w := placed(t, "joan-board", "dev-implement")
		r := result(signal.Actions{})
		r.Handoff = &h
		d := w.ends(r)
		if len(w.task.Handoffs) > 0 || !strings.Contains(strings.Join(d.Entries[0].Rejected, " "), "stage_context") {
			t.Errorf("%s: %d kept, rejected %q", name, len(w.task.Handoffs), d.Entries[0].Rejected)
		}
	}
}

func TestOnlyTheBoardSaysHowACardLooks(t *testing.T) {
	w := placed(t, "joan-board", "dev-implement")
	a := w.own()
	w.send(signal.Signal{Kind: signal.Outcome, Actor: "dev", Attempt: a.Number, Report: result(signal.Actions{}), CardSnapshot: &board.Snapshot{Column: "Deploy"}})
	if w.task.CardSnapshot != nil && w.task.CardSnapshot.Column == "Deploy" {
		t.Errorf("%+v", w.task.CardSnapshot)
	}
	w = placed(t, "joan-board", "board")
	w.refused(signal.Signal{Kind: signal.Tracker, Actor: "dev", Word: signal.CardChanged, CardSnapshot: &board.Snapshot{Column: "Deploy"}}, "an agent may not report the state of a card")
}

func TestAWorkerTakesNoPersonsTagOff(t *testing.T) {
	w := placed(t, "joan-board", "architect-plan")
	w.task.CardSnapshot = face("Analyse", "Ready", "Plan-Rejected")
	d := w.ends(result(signal.Actions{RemoveTags: []string{"Ready", "Plan-Rejected", "Ops-Ready"}}))
	if got := describeEffects(d.Entries); !strings.Contains(got, "tag_card-Ready ") || strings.Contains(got, "Rejected") || strings.Join(d.Entries[0].Rejected, ";") != "tag Plan-Rejected is a person's: it is not taken off" {
		t.Errorf("%s, rejected %q", got, d.Entries[0].Rejected)
	}
}

func TestAPersonIsWaitedForWhereAWorkerNeedsOne(t *testing.T) {
	w := placed(t, "joan-board", "review")
	d := w.ends(result(signal.Actions{NeedsHuman: "is the colour right?"}))
	if c := comments(t, d.Entries)[0].String(); !strings.Contains(c, "needs a person: is the colour right?") {
		t.Errorf("the board is not told:\n%s", c)
	}
	w.perform()
	w.looks(face("Review", "Rework-Complete", "Needs-Clarification"))
	if it, ok := explain.InboxItem(w.def, w.task); w.task.Status != "board" || !ok || it.Kind != explain.ItemAttention || !strings.Contains(it.Text, "is the colour right?") {
		t.Fatalf("%s, %+v", w.task.Status, it)
	}
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	if describeEffects(w.log[len(w.log)-1:]) != "read_card" {
		t.Errorf("%s", describeEffects(w.log[len(w.log)-1:]))
	}
	w.looks(face("Review", "Rework-Complete", "Needs-Clarification"))
	if w.task.Status != "review" {
		t.Errorf("%s", w.task.Status)
	}
}

func TestWorkThatIsSentBackIsNotMerged(t *testing.T) {
	w := placed(t, "joan-board", "board")
	w.looks(face("Deploy", "Ops-Ready"))
	for w.task.Pending[0].Do != "merge" {
		w.receipt(true)
	}
	w.receipt(false)
	d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "request-changes", Note: "make it blue"})
	for _, p := range w.task.Pending {
		if p.Do == "merge" {
			t.Errorf("the merge is still owed: %+v", w.task.Pending)
		}
	}
	if got := describeEffects(d.Entries); !strings.Contains(got, "write_section") || !strings.Contains(got, "comment_card") {
		t.Errorf("a person's words reach nobody: %s", got)
	}
}

const onEnterFlow = `
name: merges
version: 1
describe: x
roles:
  qa: {describe: d, harness: task, session: visit, window: qa, prompt: qa, protocol: work-result}
counters:
  crash_count: {max: 2, per: state, counts: crashes}
  no_answer: {max: 3, per: state, counts: no-answers}
gates:
  merged: {evidence: merged}
states:
  pending: {kind: queued}
  working: {kind: agent, role: qa, deadline: {wall: 1h, idle: 20m}}
  merging: {kind: human, on_enter: [merge]}
  stuck: {kind: halt}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human, engine, tracker]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine, tracker]}
  - {from: working, to: merging, on: {outcome: passed}, by: [qa]}
  - {from: merging, to: done, on: [request, {pr: merged}], as: complete, by: [human, engine, tracker], gate: merged}
  - {from: working, to: stuck, on: [crash-limit, no-answer-limit]}
  - {from: stuck, to: working, as: resume, by: [human]}
  - {from: [pending, working, merging, stuck], to: cancelled, as: cancel, by: [human]}
prompts:
  qa: do it
`

func TestGuessedOutcomesMergeNothing(t *testing.T) {
	w := placedIn(t, parse(t, onEnterFlow), "working")
	r := signal.DetectText("## QA Passed\n", signal.DetectOptions{Protocol: signal.WorkResult, WorkType: "qa", OwnStream: true})
	if w.ends(&r); w.task.Status != "working" {
		t.Errorf("%s by %s", w.task.Status, r.Source)
	}
}

const persistentFlow = `
name: twice
version: 1
describe: x
roles:
  worker: {describe: d, harness: task, session: persistent, window: worker, prompt: worker, protocol: work-result}
counters:
  crash_count: {max: 2, per: state, counts: crashes}
  no_answer: {max: 3, per: state, counts: no-answers}
states:
  pending: {kind: queued}
  first: {kind: agent, role: worker, deadline: {wall: 1h, idle: 20m}}
  second: {kind: agent, role: worker, deadline: {wall: 1h, idle: 20m}}
  stuck: {kind: halt}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human, engine, tracker]}
  - {from: pending, to: first, on: [request, ready], as: complete, by: [human, engine, tracker]}
  - {from: first, to: second, on: {outcome: passed}, by: [worker], do: [{notify_worker: go}]}
  - {from: second, to: done, on: {outcome: passed}, by: [worker]}
  - {from: [first, second], to: stuck, on: [crash-limit, no-answer-limit]}
  - {from: stuck, to: first, as: resume, by: [human]}
  - {from: [pending, first, second, stuck], to: cancelled, as: cancel, by: [human]}
prompts:
  worker: do it
  go: now the second part
`

func TestAMessageMovesATaskOnce(t *testing.T) {
	w := placedIn(t, parse(t, persistentFlow), "first")
	a := w.own()
	says := func(final string) {
		w.send(signal.Signal{Kind: signal.Outcome, Actor: task.Actor(a.Role), Attempt: a.Number, Report: word("passed"), Final: final})
	}
	says("my last words")
	says("my last words")
	if w.task.Status != "second" || w.task.CounterValue("no_answer") != 0 {
		t.Fatalf("heard twice it is %s, %+v", w.task.Status, w.task.Counters)
	}
	if says("the second part, too"); w.task.Status != "done" {
		t.Errorf("%s", w.task.Status)
	}
}

// receipt is how the next effect went; one that fails fails for good.
func (w *world) receipt(ok bool) {
	r := signal.Receipt{Effect: w.task.Pending[0].ID, OK: ok, Final: !ok}
	if !ok {
		r.Error = "it does not work"
	}
	w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &r})
}

// A report that anybody may have written merges nothing, and neither does one that a merge
// could follow. An end with finished work is handled as any end.
func TestAReportOfUnknownOriginLeadsToNoMerge(t *testing.T) {
	for _, tt := range []struct {
		state    string
		unproven bool
		want     string
	}{
		{"Finished", false, "Delivered"}, {"Finished", true, "Finished"},
		{"Delivered", false, "Merging"}, {"Delivered", true, "Delivered"},
		{"Started", false, "Finished"}, {"Started", true, "Finished"},
	} {
		w := placed(t, "linear-sdlc", tt.state)
		r := signal.Report{Protocol: signal.WorkResult, Outcome: signal.Passed, Code: "passed", Source: signal.FromMarker, Unproven: tt.unproven}
		w.ends(&r, facts(w.def, "committed")...)
		if w.task.Status != tt.want {
			t.Errorf("%s, unproven %v: %s, want %s", tt.state, tt.unproven, w.task.Status, tt.want)
		}
		if held := w.task.Status == tt.state; held && w.task.CounterValue("no_answer") != 1 {
			t.Errorf("%s: no answer is counted: %+v", tt.state, w.task.Counters)
		}
	}
}
