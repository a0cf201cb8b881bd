package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// choosing has a reviewer with a fallback order, and a worker with what the task says.
const choosing = `
name: choosing
version: 1
roles:
  worker: {prompt: work, session: visit}
  reviewer:
    prompt: work
    session: visit
    harness: [claude, {harness: codex, model: gpt, effort: high}, pi]
    fallback_after: 10m
counters: {crashes: {max: 2, per: state, counts: crashes}}
gates: {report: {section: Report}}
states:
  working: {kind: agent, role: worker, deadline: {wall: 1h}}
  review: {kind: agent, role: reviewer, deadline: {wall: 1h}}
  halted: {kind: halt}
  done: {kind: terminal}
edges:
  - {from: new, to: working, on: create, by: [human]}
  - {from: working, to: review, on: [request, exit], as: complete, by: [worker, human], gate: report}
  - {from: review, to: done, on: [request, exit], as: complete, by: [reviewer, human], gate: report}
  - {from: review, to: working, as: request-changes, by: [human]}
  - {from: [working, review], to: halted, on: crash-limit}
  - {from: halted, to: working, as: resume, by: [human]}
prompts: {work: do it}
`

// atReview brings a task to its review, on a machine that lacks some agents.
func atReview(t *testing.T, missing ...string) *world {
	t.Helper()
	w := beginWith(t, choosing)
	w.perform()
	w.body = "## Report\n\nx\n"
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "complete", Missing: missing})
	return w
}

func (w *world) reviewer() task.Attempt {
	w.t.Helper()
	a, ok := w.task.LiveAttempt("reviewer")
	if !ok {
		w.t.Fatalf("no reviewer: %+v, again at %s", w.task.Attempts, w.task.RespawnAt)
	}
	return a
}

// same makes sure that the journal says all that the choices were made by.
func (w *world) same() {
	w.t.Helper()
	again, err := engine.Redecide(w.def, w.log)
	if first, n := again.FirstDivergence(); err != nil || n > 0 {
		w.t.Errorf("%v: %d decisions differ, the first %+v", err, n, first)
	}
}

func TestARoleHasTheFirstAgentThatIsInstalled(t *testing.T) {
	for _, tt := range []struct {
		missing []string
		want    task.Choice
		why     string
	}{
		{nil, task.Choice{Harness: "claude"}, ""},
		{[]string{"claude"}, task.Choice{Harness: "codex", Model: "gpt", Effort: "high"}, "claude is not installed"},
		{[]string{"claude", "codex"}, task.Choice{Harness: "pi"}, "claude is not installed; codex:gpt is not installed"},
		{[]string{"claude", "codex", "pi"}, task.Choice{Harness: "claude"}, "claude is not installed; codex:gpt is not installed; pi is not installed"},
	} {
		w := atReview(t, tt.missing...)
		at := slices.IndexFunc(w.task.Pending, func(e task.Effect) bool { return e.Start })
		if a := w.reviewer(); *w.task.Pending[at].Choice != tt.want || a.Harness != tt.want.String() || a.Why != tt.why {
			t.Errorf("without %v: %+v, %+v", tt.missing, w.task.Pending[at].Choice, a)
		}
		w.perform()
		var spawned journal.Entry
		for _, e := range w.log {
			if e.Type == journal.AgentSpawned {
				spawned = e
			}
		}
		want := tt.want.String()
		if tt.why != "" {
			want += ", because " + tt.why
		}
		if event := journal.HistoryEvents(spawned)[0]; spawned.ChosenHarness != want || !slices.ContainsFunc(event.Fields, func(f journal.EventField) bool { return f.Name == "harness" && f.Value == want }) {
			t.Errorf("%q, %+v", spawned.ChosenHarness, event)
		}
		if x := w.explain(); tt.why != "" && !strings.Contains(x.Why, tt.want.String()+", because "+tt.why) {
			t.Error(x.Why)
		}
		w.same()
	}
	w := beginWith(t, choosing)
	if a, _ := w.task.LiveAttempt("worker"); a.Harness != "" || w.task.Pending[len(w.task.Pending)-1].Choice != nil {
		t.Errorf("a role without a choice is written down with one: %+v", a)
	}
}

// limitedAt ends the reviewer at its limit.
func (w *world) limitedAt(until time.Time) engine.Decision {
	w.t.Helper()
	a := w.reviewer()
	return w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "reviewer", Attempt: a.Number, Condition: &task.Condition{Name: task.Limited, Until: until}})
}

func TestTheNextAgentReplacesOneAtItsLimit(t *testing.T) {
	w := atReview(t)
	w.perform()
	d := w.limitedAt(w.now.Add(5 * time.Minute))
	if _, lives := w.task.LiveAttempt("reviewer"); lives || w.task.RespawnAt.IsZero() || d.Entries[0].Type != journal.AgentLimited {
		t.Fatalf("for a short limit nobody waits: %+v", d.Entries)
	}
	w.fires(engine.Respawn)
	if a := w.reviewer(); a.Harness != "claude" || a.Tried != "" {
		t.Errorf("%+v", a)
	}
	w.perform()
	until := w.now.Add(2 * time.Hour)
	d = w.limitedAt(until)
	a := w.reviewer()
	if a.Harness != "codex:gpt" || a.Tried != "claude" || !strings.HasPrefix(a.Why, "claude is at its limit until ") || !w.task.RespawnAt.IsZero() ||
		!strings.HasSuffix(d.Entries[0].Reason, "the reviewer reached its usage limit; codex:gpt goes on") || w.task.CounterValue("crashes") != 0 {
		t.Fatalf("%+v\n%+v", a, d.Entries)
	}
	w.perform()
	w.limitedAt(w.now.Add(time.Hour))
	if a = w.reviewer(); a.Harness != "pi" || a.Tried != "claude\ncodex:gpt" {
		t.Fatalf("%+v", a)
	}
	w.perform()
	last := w.now.Add(3 * time.Hour)
	w.limitedAt(last)
	if _, lives := w.task.LiveAttempt("reviewer"); lives || !w.task.RespawnAt.Equal(last) {
		t.Fatalf("none is left: again at %s, %+v", w.task.RespawnAt, w.task.Attempts)
	}
	w.now = last
	w.fires(engine.Respawn)
	if a = w.reviewer(); a.Harness != "claude" || a.Tried != "" || a.Why != "" {
		t.Errorf("a new start begins anew: %+v", a)
	}
	w.same()
}

// A limit that is known is not run into again by the next visit.
func TestAKnownLimitIsPassedOver(t *testing.T) {
	w := atReview(t)
	w.perform()
	w.limitedAt(w.now.Add(2 * time.Hour))
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "request-changes"})
	w.perform()
	w.body = "## Report\n\ny\n"
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "complete"})
	if a := w.reviewer(); a.Harness != "codex:gpt" || !strings.HasPrefix(a.Why, "claude is at its limit until ") {
		t.Errorf("%+v", a)
	}
	w.same()
}

func TestALivingAgentAtItsLimitGivesWay(t *testing.T) {
	w := atReview(t)
	w.perform()
	a := w.reviewer()
	w.notices(a.Number, &task.Condition{Name: task.Limited, Until: w.now.Add(time.Hour)}, nil)
	d := w.fires(engine.Fallback)
	if effects(d.Entries) != "kill_reviewer:reviewer" {
		t.Fatalf("%s: %+v", effects(d.Entries), d.Entries)
	}
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "reviewer", Attempt: a.Number, Code: 1})
	if a = w.reviewer(); a.Harness != "codex:gpt" {
		t.Errorf("%+v", a)
	}
	w = atReview(t)
	w.perform()
	w.notices(w.reviewer().Number, &task.Condition{Name: task.Limited, Until: w.now.Add(5 * time.Minute)}, nil)
	if slices.ContainsFunc(engine.Timers(w.def, &w.task), func(tm engine.Timer) bool { return tm.Name == engine.Fallback }) {
		t.Error("a short limit is not waited for")
	}
}

// What the task says about a role wins over the workflow, and --harness is for roles that name none.
func TestATaskChoosesForItsRoles(t *testing.T) {
	def := parse(t, choosing)
	reviewer, _ := def.RoleNamed("reviewer")
	worker, _ := def.RoleNamed("worker")
	tk := task.Task{Setup: task.Setup{Harness: "gemini", Effort: "low", ReviewHarness: "pi", Roles: []task.RoleChoice{
		{Role: "reviewer", Harness: "opencode", Model: "m"}, {Role: "reviewer", Harness: "claude", Effort: "max"},
	}}}
	if got := engine.HarnessChoices(&tk, reviewer); !slices.Equal(got, []task.Choice{{Harness: "opencode", Model: "m", Effort: "low"}, {Harness: "claude", Effort: "max"}}) {
		t.Errorf("%+v", got)
	}
	if got := engine.HarnessChoices(&tk, worker); !slices.Equal(got, []task.Choice{{Harness: "gemini", Effort: "low"}}) {
		t.Errorf("%+v", got)
	}
	w := &world{t: t, def: def, now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true, Harness: "gemini",
		Roles: []task.RoleChoice{{Role: "worker", Harness: "codex"}, {Role: "worker", Harness: "pi"}},
	}, Missing: []string{"codex"}})
	if a, _ := w.task.LiveAttempt("worker"); a.Harness != "pi" || a.Why != "codex is not installed" || len(w.task.Roles) != 2 {
		t.Errorf("%+v", w.task)
	}
	w.same()
}

func TestTheNextAgentReplacesOneThatCouldNotStart(t *testing.T) {
	w := atReview(t)
	breaks := func() engine.Decision {
		w.t.Helper()
		w.perform()
		return w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "reviewer", Code: 1, Unstarted: true, Last: "no key"})
	}
	for _, want := range [][3]string{{"codex:gpt", "claude could not start", "claude"}, {"pi", "codex:gpt could not start", "claude\ncodex:gpt"}} {
		e := breaks().Entries[0]
		a := w.reviewer()
		if e.Type != journal.AgentNotBegun || e.Reason != "no key (code 1); "+want[0]+" goes on" || !w.task.RespawnAt.IsZero() || w.task.Unstarted != nil {
			t.Fatalf("%+v, %+v", e, w.task)
		}
		if got := [3]string{a.Harness, a.Why, a.Tried}; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if e := breaks().Entries[0]; !e.RespawnAt.Equal(e.At.Add(time.Minute)) || w.task.Unstarted.Count != 1 {
		t.Errorf("all were tried: %+v, %+v", e, w.task.Unstarted)
	}
	w.fires(engine.Respawn)
	if a := w.reviewer(); a.Harness != "claude" || a.Tried != "" {
		t.Errorf("the next start begins with %+v", a)
	}
	if w.task.CounterValue("crashes") != 0 {
		t.Errorf("%+v", w.task.Counters)
	}
	w.same()
}
