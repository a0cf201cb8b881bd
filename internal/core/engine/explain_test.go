package engine_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

// explain accounts for the world's task as it is now.
func (w *world) explain(refused ...journal.Refusal) explain.Explanation {
	w.t.Helper()
	doc, err := taskfile.Parse([]byte(w.body))
	if err != nil {
		w.t.Fatal(err)
	}
	sig := signal.Signal{At: w.now, Artifacts: signal.Artifacts{Sections: doc.Sections()}}
	return explain.TaskWithPast(w.def, w.task, sig, explain.Past{Entries: stored(w.t, w.log), Refusals: refused})
}

func TestTheCheapestWayOn(t *testing.T) {
	const id = "000000000000000000001"
	request := func(to string) func(*world) {
		return func(w *world) { w.send(signal.Signal{Kind: signal.Request, Actor: task.Human, To: to}); w.perform() }
	}
	stuck := func(w *world) {
		w.body = "## Plan\n\nAPPROACH: x\n"
		request("working")(w)
		request("stuck")(w)
	}
	tests := []struct {
		name  string
		spawn bool
		do    func(*world)
		want  explain.Unblock // Until is not compared, but that it is there is
		wait  bool
	}{
		{"not started", false, func(*world) {}, explain.Unblock{Run: "orange task complete " + id, Opens: "pending -> planning"}, false},
		{"an effect is owed", true, func(*world) {}, explain.Unblock{Opens: "acquire_workspace to be done"}, false},
		{"the worker works", true, func(w *world) { w.perform() }, explain.Unblock{Opens: "the worker, which is at work"}, true},
		{"the worker died and comes again", true, func(w *world) {
			w.perform()
			w.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker"})
		}, explain.Unblock{Opens: "the worker to be started again"}, true},
		{"paused", true, func(w *world) { w.perform(); w.send(signal.Signal{Kind: signal.Pause, Actor: task.Human}) },
			explain.Unblock{Run: "orange resume " + id, Opens: "effects and timers of the task continue"}, false},
		{"a question", true, func(w *world) { w.perform(); request("clarification")(w) },
			explain.Unblock{Run: "orange task answer " + id + ` "..."`, Opens: "clarification -> planning"}, false},
		{"stuck with nothing new", true, func(w *world) { w.perform(); stuck(w) },
			explain.Unblock{Run: "orange task update " + id + " --status working", Opens: "stuck -> working"}, false},
		{"stuck with a new handoff", true, func(w *world) { w.perform(); stuck(w); w.body += "\n## Handoff\n\nDONE: y\n" },
			explain.Unblock{Run: "orange task complete " + id, Opens: "stuck -> agent-review"}, false},
		{"over", true, func(w *world) { w.perform(); request("cancelled")(w) }, explain.Unblock{Opens: "nothing: the task is over"}, false},
		{"no workspace", false, func(w *world) {
			w.free = nil
			w.send(signal.Signal{Kind: signal.Ready, Actor: task.Engine})
		}, explain.Unblock{Opens: "a workspace that another task gives back, or a larger pool: orange project update p --pool-size N"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := begin(t, "orange", tt.spawn)
			tt.do(w)
			got := w.explain().Cheapest
			if got.Until.IsZero() == tt.wait {
				t.Errorf("until %s", got.Until)
			}
			got.Until, got.Run, got.Action = time.Time{}, narrate.FormatCommand(got.Action), explain.Action{}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("- want, + got\n%s", diff)
			}
		})
	}
}

func TestAnEditComesBeforeTheCommandThatNeedsIt(t *testing.T) {
	def := load(t, "orange")
	tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "reviewing", To: "done", Without: []string{"merged"}})
	if err != nil {
		t.Fatal(err)
	}
	sig.Kind = ""
	got := explain.Task(def, tk, sig)
	narrate.AddCommands(&got)
	if got.Cheapest.Edit != "" || narrate.FormatCommand(got.Cheapest.Action) != "orange task merge "+string(tk.ID) || got.Do != narrate.FormatCommand(got.Cheapest.Action) {
		t.Errorf("%+v, do %q", got.Cheapest, got.Do) // what is missing here is a merge, and there is a command for it
	}
	tk, sig, err = engine.Hypothetical(def, engine.Assumptions{From: "stuck", To: "agent-review", Without: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	sig.Kind, sig.Artifacts.Sections = "", nil
	if got := explain.Task(def, tk, sig); narrate.FormatCommand(got.Cheapest.Action) == "" {
		t.Errorf("%+v", got.Cheapest)
	}
	tk, sig, err = engine.Hypothetical(def, engine.Assumptions{From: "reviewing", To: "done"})
	if err != nil {
		t.Fatal(err)
	}
	sig.Kind = ""
	if got := explain.Task(def, tk, sig); narrate.FormatCommand(got.Cheapest.Action) != "orange task complete "+string(tk.ID) {
		t.Errorf("merged already: %+v", got.Cheapest)
	}
	manual, err := workflow.Parse("manual.yaml", strings.ReplaceAll(def.Text, "respawn: auto", "respawn: manual"))
	if err != nil {
		t.Fatal(err)
	}
	tk, sig, err = engine.Hypothetical(manual, engine.Assumptions{From: "working", To: "stuck", Dead: []string{"worker"}})
	if err != nil {
		t.Fatal(err)
	}
	tk.Crashed, sig.Kind = "worker", ""
	got = explain.Task(manual, tk, sig)
	if !strings.Contains(got.Cheapest.Edit, "no ## Handoff: write it, with a line DONE:") || got.Cheapest.Opens != "working -> agent-review" {
		t.Errorf("%+v", got.Cheapest)
	}
}

// story is a task whose worker was started at the second try, planned, and works.
func story(t *testing.T) *world {
	w := begin(t, "orange", true)
	fail := func(id string, ok bool) {
		r := signal.Receipt{Effect: id, OK: ok}
		if !ok {
			r.Error = "no such program"
		}
		w.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &r})
	}
	fail(w.task.Pending[0].ID, true)
	fail(w.task.Pending[0].ID, false)
	fail(w.task.Pending[0].ID, true)
	w.now = w.now.Add(10 * time.Minute)
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working", Note: "off\nwe go"})
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: "complete"})
	w.perform()
	return w
}

func TestTheChainSaysWhatLedHere(t *testing.T) {
	w := story(t)
	x := w.explain()
	if len(x.Chain) != 4 {
		t.Fatalf("%d links: %s", len(x.Chain), asJSON(t, x.Chain))
	}
	started := x.Chain[1]
	want := []explain.EffectOutcome{{Do: "acquire_workspace", Ended: explain.EffectDone, Tries: 1},
		{Do: "spawn_agent", Role: "worker", Ended: explain.EffectDone, Tries: 2, Error: "no such program"}}
	if diff := cmp.Diff(want, started.Effects); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	planned := x.Chain[2]
	if planned.Signal != signal.Request || planned.Actor != "worker" || planned.From != "planning" || planned.To != "working" || planned.Line == 0 || planned.Reason != "## Plan" {
		t.Errorf("%+v", planned)
	}
	if diff := cmp.Diff([]explain.RoleCost{{Role: "worker", Attempts: 1, Living: 1, Seconds: 603}, {Role: "reviewer", Attempts: 1, Living: 1}}, x.Cost); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	if x.Deadline == nil || x.Deadline.Name != engine.Deadline || !x.Deadline.At.After(w.now) {
		t.Errorf("deadline %+v", x.Deadline)
	}
}

func TestTheChainIsBounded(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	for range 30 {
		w.send(signal.Signal{Kind: signal.Pause, Actor: task.Human})
		w.send(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	}
	if x := w.explain(); len(x.Chain) != 12 || x.Chain[11].Seq != w.task.Seq {
		t.Errorf("%d links", len(x.Chain))
	}
}

func TestAnExplanationAsText(t *testing.T) {
	w := story(t)
	x := w.explain(journal.Refusal{At: w.now, Actor: "worker", Attempt: 1, Kind: signal.Request, Asked: "done", Why: "not in map:\nthere is no edge"})
	x.Edges = nil
	const want = `00000000 is agent-review for 1s, since 2026-01-02 03:14:11 (visit 4)

Who must act: reviewer
  attempt 2 is at work
Wait for: the reviewer, which is at work
Deadline: in 1h (2026-01-02 04:14:11): end the reviewer of agent-review and
  judge what it left

Bounds
  review_round is 1 of 2: at 2 the way to working closes and the way to stuck
  opens
  crash_count is 0 of 2 in this state: at 2 the task goes to stuck
  no_answer is 0 of 2 in this state: at 2 the task goes to stuck

What the engine does next
  in 10m (2026-01-02 03:24:11): ask the reviewer to go on if it shows no life
  in 1h (2026-01-02 04:14:11): end the reviewer of agent-review and judge what
  it left

How it came here
  #1    2026-01-02 03:04:06 create by human: new -> pending
        line N
  #2    2026-01-02 03:04:06 create by human: pending -> planning
        line N
        do acquire_workspace: done
        do spawn_agent worker: done after 2 tries (no such program)
  #6    2026-01-02 03:14:10 request by worker (attempt 1): planning -> working
        line N: ## Plan: off we go
  #7    2026-01-02 03:14:11 request by worker (attempt 1): working ->
        agent-review
        line N: ## Handoff
        do spawn_reviewer reviewer: done

Cost so far
  worker: 1 attempt, 10m at work, 1 living
  reviewer: 1 attempt, 0s at work, 1 living

Refused so far: 1
  2026-01-02 03:14:12 request done by worker (attempt 1): not in map: there is
  no edge
`
	if diff := cmp.Diff(want, regexp.MustCompile(`line \d+`).ReplaceAllString(narrate.DescribeExplanation(x, w.now), "line N")); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
}

func TestATaskWithoutAJournalIsExplainedAllTheSame(t *testing.T) {
	w := begin(t, "orange", true)
	x := explain.TaskWithPast(w.def, w.task, signal.Signal{At: w.now}, explain.Past{Problem: "entry 2 does not parse"})
	if text := narrate.DescribeExplanation(x, w.now); !strings.Contains(text, "How it came here cannot be told\n  entry 2 does not parse") || x.Owner == "" {
		t.Error(text)
	}
}

func TestWhateverHappensTheExplanationNamesAWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &player{rt: rt, def: load(t, "orange"), now: start, ids: map[string]bool{}}
		p.play(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Spawn: true}})
		for range rapid.IntRange(1, 30).Draw(rt, "signals") {
			p.play(p.anySignal())
		}
		x := explain.TaskWithPast(p.def, p.task, signal.Signal{At: p.now}, explain.Past{Entries: p.log})
		if p.task.Seq == 0 {
			return
		}
		if x.Cheapest.Opens == "" || narrate.DescribeExplanation(x, p.now) == "" {
			rt.Fatalf("no way is named: %+v", x.Cheapest)
		}
		if strings.HasPrefix(narrate.FormatCommand(x.Cheapest.Action), "orange task complete") && x.Cheapest.Edit == "" {
			d := engine.Decide(p.def, &p.task, signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Complete, At: p.now, Free: []string{"p--1"}})
			if d.Verdict != engine.Advance {
				rt.Fatalf("%s was named and is refused: %s", narrate.FormatCommand(x.Cheapest.Action), d.Refused)
			}
		}
	})
}
