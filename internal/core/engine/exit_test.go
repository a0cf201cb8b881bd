package engine_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// end is the exit of a role's living attempt.
func (w *world) end(role string) engine.Decision {
	w.t.Helper()
	return w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: role, Code: 3})
}

// fires lets the task's timer of that name fire when it is due.
func (w *world) fires(name string) engine.Decision {
	w.t.Helper()
	for _, tm := range engine.Timers(w.def, &w.task) {
		if tm.Name == name {
			w.now = tm.At
			return w.must(signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: name, Visit: tm.Visit})
		}
	}
	w.t.Fatalf("no timer %s: %+v", name, engine.Timers(w.def, &w.task))
	return engine.Decision{}
}

// respawning is a workflow with one agent state, replaced as the test says.
func respawning(mode string) string {
	return `
name: one
version: 1
describe: one agent
roles:
  worker: {describe: works, harness: task, session: visit, window: w, prompt: go, respawn_prompt: again}
counters:
  crash_count: {max: 3, per: state, counts: crashes}
gates:
  handed: {section: Handoff, fresh: unused}
states:
  working: {kind: agent, role: worker, deadline: {wall: 1h, idle: 10m}, respawn: ` + mode + `}
  halted: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: working, on: create, by: [human], do: [acquire_workspace, {spawn_agent: worker}]}
  - {from: working, to: done, on: [request, exit], as: complete, by: [worker, human], gate: handed}
  - {from: working, to: halted, on: crash-limit}
  - {from: halted, to: working, as: resume, by: [human]}
  - {from: halted, to: done, as: complete, by: [human]}
prompts:
  go: do it
  again: do it again
`
}

func TestACrashedAgentIsReplacedAsItsStateSays(t *testing.T) {
	tests := []struct {
		mode    string
		effects string
		delay   time.Duration // 0: no respawn is waited for
	}{
		{"now", "spawn_agent:worker+", 0},
		{"auto", "", 10 * time.Second},
		{"manual", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			w := beginWith(t, respawning(tt.mode))
			w.perform()
			d := w.end("worker")
			e := d.Entries[0]
			if d.Verdict != engine.Crash || effects(d.Entries) != tt.effects || w.task.CounterValue("crash_count") != 1 {
				t.Fatalf("%s, effects %q, %+v", d.Verdict, effects(d.Entries), w.task.Counters)
			}
			if want := "the worker ended (code 3): TASK.md has no ## Handoff: write it, with some text"; e.Reason != want || e.Role != "worker" || e.From != "working" {
				t.Errorf("%+v", e)
			}
			if got := e.RespawnAt.Sub(w.now); tt.delay == 0 != e.RespawnAt.IsZero() || tt.delay > 0 && got != tt.delay {
				t.Errorf("respawn %s", e.RespawnAt)
			}
			_, lives := w.task.LiveAttempt("worker")
			if crashed := w.task.Crashed == "worker"; crashed == lives {
				t.Errorf("crashed %q, lives %v", w.task.Crashed, lives)
			}
			if timers := engine.Timers(w.def, &w.task); tt.mode == "manual" != (len(timers) == 0) {
				t.Errorf("timers %+v", timers)
			}
			if tt.mode == "now" {
				if p := w.task.Pending[0]; p.Prompt != "again" || p.Attempt != 2 {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

func TestARespawnIsLaterAfterEveryCrashAndTheLimitEndsIt(t *testing.T) {
	w := beginWith(t, respawning("auto"))
	w.perform()
	for n, delay := range []time.Duration{10 * time.Second, 20 * time.Second} {
		w.end("worker")
		if got := w.task.RespawnAt.Sub(w.now); got != delay {
			t.Errorf("crash %d: again after %s, want %s", n+1, got, delay)
		}
		d := w.fires(engine.Respawn)
		if effects(d.Entries) != "spawn_agent:worker+" || !w.task.RespawnAt.IsZero() || w.task.Crashed != "" {
			t.Fatalf("%q, %+v", effects(d.Entries), w.task)
		}
		w.perform()
	}
	d := w.end("worker")
	if d.Verdict != engine.Advance || w.task.Status != "halted" || len(d.Entries) != 2 || d.Entries[0].Type != journal.AgentCrashed {
		t.Fatalf("%s, %s, %+v", d.Verdict, w.task.Status, d.Entries)
	}
	if c := w.task.Counters[0]; c.Value != 0 || c.Total != 3 {
		t.Errorf("%+v", c)
	}
	if want := "crash 3 of 3 in working: the worker ended (code 3)"; !strings.HasPrefix(d.Entries[1].Reason, want) {
		t.Errorf("%q", d.Entries[1].Reason)
	}
	w.to(task.Human, "working")
	w.perform()
	w.end("worker")
	if w.task.Status != "working" || w.task.CounterValue("crash_count") != 1 {
		t.Errorf("the count goes on in a new visit: %s, %+v", w.task.Status, w.task.Counters)
	}
}

func TestWithoutABoundOrAWayOutACrashAsksForAttention(t *testing.T) {
	edges := "  - {from: working, to: halted, on: crash-limit}\n"
	counter := "counters:\n  crash_count: {max: 3, per: state, counts: crashes}\n"
	tests := []struct {
		name, text string
		crashes    int
		want       string
	}{
		{"no counter", strings.Replace(strings.Replace(respawning("now"), counter, "", 1), edges, "", 1), 1,
			"the agent of working crashed and no counter bounds that: respawn or cancel it"},
		{"no edge", strings.Replace(respawning("now"), edges, "", 1), 3,
			"crash 3 of 3 in working, and no edge answers to crash-limit: respawn or cancel it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := beginWith(t, tt.text)
			w.perform()
			for range tt.crashes {
				w.end("worker")
				w.perform()
			}
			if w.task.Attention != tt.want || len(engine.Timers(w.def, &w.task)) > 0 {
				t.Errorf("%q, timers %+v", w.task.Attention, engine.Timers(w.def, &w.task))
			}
		})
	}
}

func TestTheEndOfAnotherRoleMovesNothing(t *testing.T) {
	w := underReview(t)
	d := w.end("worker")
	if d.Verdict != engine.Stay || w.task.CounterValue("crash_count") != 0 || w.task.Crashed != "" {
		t.Errorf("%s, %+v", d.Verdict, w.task)
	}
	if got := d.Entries[0]; got.Type != journal.AgentExited || got.Reason != "agent-review goes on without it: agent-review is the reviewer's" {
		t.Errorf("%+v", got)
	}
	w.refused(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker"}, `no attempt 0 of "worker" is alive: its end is known already`)
	w.refused(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker"}, `no attempt 1 of "worker" is alive`)
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.end("reviewer")
	if w.task.Status != "reviewing" || len(w.task.Attempts) != 0 {
		t.Errorf("%s, %+v", w.task.Status, w.task.Attempts)
	}
}

func TestAnEndThatWasOrderedIsNoCrash(t *testing.T) {
	w := underReview(t)
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.to("reviewer", "reviewing")
	d := w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 2, Role: "reviewer", Code: 137})
	if d.Verdict != engine.Stay || d.Entries[0].Reason != "as ordered" || d.Entries[0].Ended[0].Code != 137 {
		t.Errorf("%s: %+v", d.Verdict, d.Entries)
	}
}

func TestADeadlineEndsTheAgentAndWhatItLeftIsJudged(t *testing.T) {
	for name, tt := range map[string]struct{ body, status, reason string }{
		"nothing":   {"", "planning", "the worker was ended at its deadline: TASK.md has no ## Plan"},
		"its plan":  {"## Plan\n\nAPPROACH: x\n", "working", "the worker was ended at its deadline, and ## Plan"},
		"a half":    {"## Plan\n", "planning", "the worker was ended at its deadline: ## Plan (line 1) has nothing behind"},
		"its words": {"## Plan\n\nTOUCHING: x\n", "working", "the worker was ended at its deadline, and ## Plan"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, "orange", true)
			w.perform()
			w.refused(signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: engine.Deadline, Visit: w.task.Visit}, `no timer "deadline" is due`)
			w.refused(signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: engine.Deadline, Visit: 1}, "the timer belongs to visit 1 and this is visit 2")
			d := w.fires(engine.Deadline)
			if d.Entries[0].Type != journal.AgentOverdue || effects(d.Entries) != "kill_agent:worker" || d.Entries[0].Reason != "the worker had 30m0s" {
				t.Fatalf("%+v", d.Entries)
			}
			if _, lives := w.task.LiveAttempt("worker"); !lives || len(engine.Timers(w.def, &w.task)) != 0 {
				t.Error("it is dead before it ended, or the deadline comes twice")
			}
			w.body = tt.body
			d = w.end("worker")
			if w.task.Status != tt.status || !strings.HasPrefix(d.Entries[0].Reason, tt.reason) {
				t.Errorf("%s: %q", w.task.Status, d.Entries[0].Reason)
			}
		})
	}
}

func TestAStateThatNeedsAnAgentAndHasNoneIsRepairedByItsDeadline(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start}
	w.must(signal.Signal{Kind: signal.Import, Actor: task.Human, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Status: "agent-review",
	}})
	d := w.fires(engine.Deadline)
	if d.Verdict != engine.Crash || w.task.CounterValue("crash_count") != 1 || len(w.task.Attempts) > 0 {
		t.Fatalf("%s, %+v", d.Verdict, w.task)
	}
	if want := "agent-review has no reviewer and its deadline passed; no workspace is free to start it again"; d.Entries[0].Reason != want {
		t.Errorf("%q", d.Entries[0].Reason)
	}
	for range 3 {
		at := w.now
		w.fires(engine.Respawn)
		if w.task.CounterValue("crash_count") != 1 || len(w.task.Pending) > 0 || !w.task.RespawnAt.After(at) {
			t.Fatalf("waiting counts, or starts without a workspace: %+v", w.task)
		}
	}
	w.free = []string{"p--1"}
	d = w.fires(engine.Respawn)
	if effects(d.Entries) != "acquire_workspace spawn_reviewer:reviewer+" || w.task.Workspace != "p--1" || w.task.CounterValue("review_round") != 0 {
		t.Errorf("%q, %+v", effects(d.Entries), w.task)
	}
}

func TestATransitionResetsTheDeadline(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.now = w.now.Add(29 * time.Minute)
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	timers := engine.Timers(w.def, &w.task)
	if len(timers) != 2 || !timers[0].At.Equal(w.now.Add(4*time.Hour)) || !timers[1].At.Equal(w.now.Add(30*time.Minute)) {
		t.Errorf("%+v at %s", timers, w.now)
	}
	w.must(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	if timers := engine.Timers(w.def, &w.task); len(timers) > 0 {
		t.Errorf("a paused task waits for %+v", timers)
	}
}

// TestAnAgentThatWasNotToldAnswersNothing sends work back to a worker that reported its result and still lives. What opened
// the gate is from before, so only the end of a worker that received the message answers it.
func TestAnAgentThatWasNotToldAnswersNothing(t *testing.T) {
	done := []signal.Evidence{{Name: workflow.Commits, Holds: true, Base: "a", Head: "b"}, {Name: workflow.Clean, Holds: true}}
	exit := func(rules int) signal.Signal {
		return signal.Signal{Kind: signal.Exit, Rules: rules, Actor: task.Engine, Attempt: 1, Role: "worker", Evidence: done}
	}
	sentBack := func(t *testing.T, rules int) *world {
		w := begin(t, "solo", true)
		w.perform()
		w.must(signal.Signal{Kind: signal.Request, Rules: rules, Actor: "worker", Attempt: 1, To: "reviewing", Evidence: done})
		w.perform()
		w.must(signal.Signal{Kind: signal.Request, Rules: rules, Actor: task.Human, Verb: "request-changes", Note: "rounder"})
		return w
	}
	t.Run("not told", func(t *testing.T) {
		w := sentBack(t, engine.Rules)
		d := w.must(exit(engine.Rules))
		if d.Verdict != engine.Stay || d.Entries[0].Type != journal.AgentRespawn || w.task.Status != "working" || w.task.CounterValue("crash_count") != 0 {
			t.Fatalf("%s %s: %+v", d.Verdict, w.task.Status, d.Entries)
		}
		if p := w.task.Pending[len(w.task.Pending)-1]; !p.Start || p.Attempt != 2 || p.Message != "changes-requested" || p.Text != "rounder" {
			t.Errorf("the next worker: %+v", p)
		}
		w.perform()
		w.decidedAgain()
	})
	t.Run("not told of the answer", func(t *testing.T) {
		w := workingNow(t)
		w.body += "\n## Handoff\n\nDONE: a red form\n"
		w.to("worker", "clarification")
		w.perform()
		w.answer("Take blue")
		if d := w.must(exit(engine.Rules)); w.task.Status != "working" || d.Entries[0].Type != journal.AgentRespawn {
			t.Errorf("%s %s: %+v", d.Verdict, w.task.Status, d.Entries)
		}
	})
	t.Run("told", func(t *testing.T) {
		w := sentBack(t, engine.Rules)
		w.perform()
		if w.must(exit(engine.Rules)); w.task.Status != "reviewing" {
			t.Errorf("it is %s", w.task.Status)
		}
	})
	t.Run("decided before", func(t *testing.T) {
		const older = engine.RulesOfUndelivered - 1
		w := sentBack(t, older)
		if w.must(exit(older)); w.task.Status != "reviewing" {
			t.Errorf("it is %s", w.task.Status)
		}
	})
}
