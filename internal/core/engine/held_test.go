package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

func TestCrashesAndSilenceAreCountedApart(t *testing.T) {
	w := placed(t, "linear-sdlc", "Finished")
	crash := func() engine.Decision { return w.end("qa") }
	w.ends(unclear(signal.Unknown))
	w.perform()
	crash()
	if w.task.CounterValue("no_answer") != 1 || w.task.CounterValue("crash_count") != 1 {
		t.Fatalf("%+v", w.task.Counters)
	}
	w.fires(engine.Respawn)
	w.perform()
	w.ends(unclear(signal.Unknown))
	if w.task.CounterValue("no_answer") != 2 || w.task.CounterValue("crash_count") != 1 || w.task.Status != "Finished" {
		t.Fatalf("%s, %+v", w.task.Status, w.task.Counters)
	}
	w.fires(engine.Respawn)
	w.perform()
	d := crash()
	if w.task.Status != "Halted" || ofType(d.Entries, journal.AgentCrashed) == nil || !strings.HasPrefix(d.Entries[1].Reason, "crash 2 of 2 in Finished") {
		t.Errorf("%s: %+v", w.task.Status, d.Entries)
	}
}

// speaking is a workflow with one role that has to say how it went.
const speaking = `
name: speaking
version: 1
describe: one agent that says how it went
roles:
  worker: {harness: task, session: visit, window: w, prompt: go, respawn_prompt: again, protocol: work-result}
counters:
  no_answer: {max: 1, per: state, counts: no-answers}
  crash_count: {max: 1, per: state, counts: crashes}
states:
  working: {kind: agent, role: worker, deadline: {wall: 1h, idle: 10m}}
  halted: {kind: halt, returns: true}
  silent: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: working, on: create, by: [human], do: [acquire_workspace]}
  - {from: working, to: done, on: {outcome: passed}, by: [worker]}
  - {from: working, to: halted, on: crash-limit}
  - {from: working, to: silent, on: no-answer-limit}
  - {from: halted, to: working, as: resume, by: [human]}
  - {from: silent, to: working, as: resume, by: [human]}
  - {from: [working, halted, silent], to: done, as: cancel, by: [human]}
prompts:
  go: "{report}"
  again: "{report}"
`

func TestEachLimitHasItsOwnEdge(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		report *signal.Report
		to     string
		asks   string
	}{
		"a crash":                    {speaking, nil, "halted", ""},
		"no answer":                  {speaking, unclear(signal.Unknown), "silent", ""},
		"no answer without an edge":  {strings.Replace(speaking, "on: no-answer-limit", "as: give-up, by: [human]", 1), unclear(signal.Unknown), "working", "no answer 1 of 1 in working, and no edge answers to no-answer-limit: respawn or cancel it"},
		"no answer without a count":  {strings.Replace(strings.Replace(speaking, "  no_answer: {max: 1, per: state, counts: no-answers}\n", "", 1), "on: no-answer-limit", "as: give-up, by: [human]", 1), unclear(signal.Unknown), "halted", ""},
		"no answer without protocol": {strings.Replace(speaking, ", protocol: work-result", "", 1), unclear(signal.Unknown), "halted", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginWith(t, tt.text)
			w.perform()
			w.ends(tt.report)
			if w.task.Status != tt.to || w.task.Attention != tt.asks {
				t.Errorf("%s, %q", w.task.Status, w.task.Attention)
			}
		})
	}
}

func TestGuessedReportsMergeNothing(t *testing.T) {
	for _, source := range []signal.Source{signal.FromHeuristic, signal.FromLegacy} {
		for state, to := range map[string]string{"Started": "Finished", "Finished": "Delivered", "Delivered": "Delivered"} {
			for _, gate := range []string{"committed", "merged"} {
				if state == "Started" && gate != "committed" {
					continue
				}
				w := placed(t, "linear-sdlc", state)
				r := word("passed")
				r.Source = source
				d := w.ends(r, facts(w.def, gate)...)
				if w.task.Status != to {
					t.Errorf("%s in %s (%s): %s\n%s", source, state, gate, w.task.Status, why(d))
				}
				if state == "Delivered" && (w.task.CounterValue("no_answer") != 1 || !strings.Contains(d.Entries[0].Reason, "words that usually mean it are not enough for a merge")) {
					t.Errorf("%+v", d.Entries[0])
				}
			}
		}
	}
	w := placed(t, "linear-sdlc", "Delivered")
	r := word("failed")
	r.Source = signal.FromHeuristic
	if w.ends(r); w.task.WorkFailed == "" {
		t.Error("a failure that is only likely does not hold the work")
	}
}

func TestACodeThatNobodyDeclaredHalts(t *testing.T) {
	for _, lives := range []bool{false, true} {
		w := placed(t, "cmat-feature", "architect")
		say := w.ends
		if lives {
			say = w.tells
		}
		d := say(word("ALMOST"), facts(w.def, "architect-output")...)
		want := "UNEXPECTED: architect says ALMOST, and no edge from architect answers to outcome ALMOST: declared are READY_FOR_IMPLEMENTATION, BLOCKED, NEEDS_CLARIFICATION, NEEDS_RESEARCH"
		if d.Verdict != engine.Halt || w.task.Status != "halted" || w.task.ReturnTo != "architect" || d.Entries[0].Reason != want || w.task.LastReport.Diagnosis != want {
			t.Errorf("%s in %s: %q", d.Verdict, w.task.Status, d.Entries[0].Reason)
		}
		if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Kind != explain.ItemStuck || !strings.Contains(it.Text, "declared are READY_FOR_IMPLEMENTATION") {
			t.Errorf("%+v, %v", it, ok)
		}
	}
	w := placed(t, "cmat-feature", "architect")
	d := w.ends(word(strings.Repeat("LONG\n", 10_000)))
	if e := d.Entries[0]; w.task.Status != "halted" || len(e.Reason) > 2000 || strings.Contains(e.Reason, "\n") {
		t.Errorf("%s: a reason of %d bytes", w.task.Status, len(e.Reason))
	}
}

func TestFailedWorkIsHeldForAPerson(t *testing.T) {
	for _, lives := range []bool{false, true} {
		w := placed(t, "linear-sdlc", "Finished")
		say, want := w.ends, "comment_card:qa"
		if lives {
			say, want = w.tells, "kill_agent:qa comment_card:qa"
		}
		d := say(&signal.Report{Outcome: signal.Failed, Code: "failed", Detail: "the button is dead", Source: signal.FromMarker})
		e := d.Entries[0]
		if d.Verdict != engine.Stay || e.Type != journal.WorkFailed || e.To != "" || effects(d.Entries) != want {
			t.Fatalf("%s: %s, %+v", d.Verdict, effects(d.Entries), e)
		}
		w.perform()
		if w.task.Status != "Finished" || w.task.Visit != 1 || w.task.WorkFailed != "qa says failed: the button is dead" || len(w.task.Attempts) > 0 {
			t.Fatalf("%+v", w.task)
		}
		if timers := engine.Timers(w.def, &w.task); len(timers) > 0 {
			t.Errorf("held, and it waits for %+v", timers)
		}
		if w.task.CounterValue("crash_count")+w.task.CounterValue("no_answer") > 0 || w.task.Crashed != "" {
			t.Errorf("%+v, crashed %q", w.task.Counters, w.task.Crashed)
		}
		it, ok := explain.InboxItem(w.def, w.task)
		if !ok || it.Kind != explain.ItemFailed || !strings.HasPrefix(it.Text, "qa says failed: the button is dead; it is your turn: send it back to the development, or let the qa check again with orange task respawn") ||
			!strings.HasSuffix(narrate.FormatCommand(it.Action), "--status Started") {
			t.Errorf("%+v, %v", it, ok)
		}
	}
}

func TestWhatHelpsHeldWork(t *testing.T) {
	for _, tt := range []struct {
		state    string
		sessions int
		text, do string
	}{
		{"Started", 1, "; it is your turn", "respawn"},
		{"Finished", 1, "send it back to the development", "--status Started"},
		{"Finished", 8, "send it back to the development", "--status Started"},
		{"Delivered", 1, "send it back to the development", "--status Started"},
		{"Finished-parent", 1, "send it back to Coordinating", "--status Coordinating"},
		{"Delivered-parent", 1, "send it back to Coordinating", "--status Coordinating"},
	} {
		w := placed(t, "linear-sdlc", tt.state)
		w.task.Counters[0].Value = tt.sessions
		w.ends(word("failed"))
		it, _ := explain.InboxItem(w.def, w.task)
		if it.Kind != explain.ItemFailed || !strings.Contains(it.Text, tt.text) || !strings.Contains(narrate.FormatCommand(it.Action), tt.do) || tt.do == "respawn" && strings.Contains(it.Text, "send it back") {
			t.Errorf("%s: %q: %s", tt.state, it.Text, narrate.FormatCommand(it.Action))
		}
	}
}

func TestHowHeldWorkContinues(t *testing.T) {
	held := func(t *testing.T) *world {
		w := placed(t, "linear-sdlc", "Finished")
		w.ends(word("failed"))
		w.perform()
		return w
	}
	t.Run("a person starts the agent again", func(t *testing.T) {
		w := held(t)
		d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
		if effects(d.Entries) != "spawn_agent:qa+" || w.task.WorkFailed != "" || w.task.Pending[0].Prompt != "again" || len(engine.Timers(w.def, &w.task)) == 0 {
			t.Errorf("%s, held %q, %+v", effects(d.Entries), w.task.WorkFailed, w.task.Pending)
		}
		w.perform()
		if w.ends(word("passed")); w.task.Status != "Delivered" {
			t.Error(w.task.Status)
		}
	})
	t.Run("a person sends it back", func(t *testing.T) {
		w := held(t)
		d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "request-changes", Note: "mend the button"})
		if w.task.Status != "Started" || w.task.WorkFailed != "" || !strings.Contains(effects(d.Entries), "spawn_agent:development+") {
			t.Errorf("%s: %s, held %q", w.task.Status, effects(d.Entries), w.task.WorkFailed)
		}
	})
	t.Run("nobody else starts it", func(t *testing.T) {
		w := held(t)
		w.refused(signal.Signal{Kind: signal.Request, Actor: task.Engine, Verb: engine.Respawn}, "only a person may start an agent again")
		w.refused(signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: engine.Deadline, Visit: w.task.Visit}, "no timer")
	})
	t.Run("the agent that was told to end has nothing more to say", func(t *testing.T) {
		w := placed(t, "linear-sdlc", "Finished")
		w.tells(word("failed"))
		d := w.must(signal.Signal{Kind: signal.Outcome, Actor: "qa", Attempt: 1, Report: word("passed")})
		if d.Verdict != engine.Stay || w.task.Status != "Finished" || w.task.WorkFailed == "" {
			t.Errorf("%s in %s", d.Verdict, w.task.Status)
		}
		d = w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "qa", Attempt: 1, Report: word("passed"), Code: 1})
		if d.Entries[0].Type != journal.AgentExited || w.task.WorkFailed == "" || w.task.CounterValue("crash_count") > 0 {
			t.Errorf("%+v", d.Entries)
		}
	})
}

func TestFailedWorkCoolsDown(t *testing.T) {
	w := placed(t, "linear-sdlc", "Finished")
	w.ends(word("failed"))
	failed := w.now
	w.perform()
	back := func() {
		w.must(signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: "request-changes"})
		w.perform()
		w.ends(word("passed"), facts(w.def, "committed")...)
		w.perform()
	}
	back()
	if w.task.Status != "Finished" || len(w.task.Attempts) > 0 || !w.task.RespawnAt.Equal(failed.Add(time.Hour)) {
		t.Fatalf("%s, %+v, again at %s", w.task.Status, w.task.Attempts, w.task.RespawnAt)
	}
	if e := ofType(w.log[slices.IndexFunc(w.log, func(e journal.Entry) bool { return e.To == "Finished" }):], journal.AutoAdvanced); !strings.HasSuffix(e.Reason, "; the qa starts at 04:04, because the work failed here lately") {
		t.Errorf("%q", e.Reason)
	}
	timers := engine.Timers(w.def, &w.task)
	if len(timers) != 1 || timers[0].Name != engine.Respawn || timers[0].What != "start the qa, when the cooldown of 1h is over" {
		t.Errorf("%+v", timers)
	}
	d := w.fires(engine.Respawn)
	if p := d.Entries[0].Effects[0]; effects(d.Entries) != "spawn_agent:qa+" || p.Prompt != "qa" || d.Entries[0].Reason != "it is 1h0m0s since the work failed in Finished" {
		t.Errorf("%q, %+v", d.Entries[0].Reason, p)
	}
	w.perform()
	w.end("qa")
	w.fires(engine.Respawn)
	if p := w.task.Pending[0]; p.Prompt != "again" {
		t.Errorf("a replacement is told %q", p.Prompt)
	}
	w.perform()
	w.ends(word("failed"))
	w.perform()
	back()
	d = w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	if effects(d.Entries) != "spawn_agent:qa+" || w.task.Pending[0].Prompt != "qa" || !w.task.RespawnAt.IsZero() {
		t.Errorf("a person waits for the cooldown: %s, %+v", effects(d.Entries), w.task.Pending)
	}
	w.perform()
	w.ends(word("failed"))
	w.perform()
	w.now = w.now.Add(2 * time.Hour)
	if back(); len(w.task.Attempts) != 1 {
		t.Errorf("long after the failure nobody works: again at %s", w.task.RespawnAt)
	}
}

// A person who moves the issue in the tracker has decided as one who moves the task here. A forge has not.
func TestAMoveInTheTrackerEndsTheCooldown(t *testing.T) {
	for name, tt := range map[string]struct {
		sig   signal.Signal
		rules int
		cools bool
	}{
		"a move in the tracker":          {signal.Signal{Kind: signal.Request, Actor: task.Tracker, To: "Started"}, engine.Rules, false},
		"a move in the tracker, as once": {signal.Signal{Kind: signal.Request, Actor: task.Tracker, To: "Started"}, 1, true},
		"a move here":                    {signal.Signal{Kind: signal.Request, Actor: task.Human, To: "Started"}, engine.Rules, false},
		"a forge's wish":                 {signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: "request-changes"}, engine.Rules, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := placed(t, "linear-sdlc", "Finished")
			w.task.Rules = tt.rules
			w.ends(word("failed"))
			w.perform()
			w.must(tt.sig)
			w.perform()
			w.ends(word("passed"), facts(w.def, "committed")...)
			if w.task.Status != "Finished" || w.task.RespawnAt.IsZero() == tt.cools || (len(w.task.Attempts) == 0) != tt.cools {
				t.Errorf("%s, again at %s, %+v", w.task.Status, w.task.RespawnAt, w.task.Attempts)
			}
		})
	}
	w := placed(t, "linear-sdlc", "Delivered")
	w.task.Rules, w.task.Failed = engine.Rules, []task.Moment{{State: "Finished", At: w.now}}
	d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Tracker, To: "Finished"})
	if d.Entries[0].Reason != "a person's move ends the cooldown of 1h in Finished" || !w.task.RespawnAt.IsZero() {
		t.Errorf("%+v", d.Entries)
	}
}

func TestAHoldCountsOnlyWhatItsEdgeCounts(t *testing.T) {
	text := strings.Replace(speaking, "no_answer: {max: 1,", "no_answer: {max: 3,", 1)
	text = strings.Replace(text, "counters:\n", "counters:\n  rounds: {max: 4}\n", 1)
	text = strings.Replace(text, "edges:\n", "edges:\n  - {from: working, to: working, on: {outcome: failed}, by: [worker], hold: true, count: {rounds: +1}}\n", 1)
	w := beginWith(t, text)
	w.perform()
	w.ends(unclear(signal.Unknown))
	w.perform()
	d := w.ends(word("failed"))
	if w.task.CounterValue("rounds") != 1 || w.task.CounterValue("no_answer") != 1 || len(d.Entries[0].Counters) != 1 {
		t.Errorf("%+v", w.task.Counters)
	}
	if s, _ := w.def.StateNamed("working"); s.Kind != workflow.Agent || w.task.WorkFailed == "" {
		t.Errorf("held %q", w.task.WorkFailed)
	}
}

// An agent at a terminal lives on after it said how it went. A word that does not count is
// answered, a bounded number of times.
func TestALivingAgentIsNotifiedWhyItsReportDoesNotCount(t *testing.T) {
	w := placed(t, "cmat-feature", "architect")
	a := w.own()
	says := func() engine.Decision {
		return w.must(signal.Signal{
			Kind: signal.Outcome, Actor: task.Actor(a.Role), Attempt: a.Number, Word: "READY_FOR_IMPLEMENTATION", Report: word("READY_FOR_IMPLEMENTATION"),
			Evidence: []signal.Evidence{{Name: "file:architect-output", Detail: "the plan is not there"}},
		})
	}
	for n := 1; n <= 2; n++ {
		d := says()
		if w.task.Status != "architect" || w.task.CounterValue("no_answer") != n || w.task.CounterValue("crash_count") != 0 || len(w.task.Attempts) != 1 {
			t.Fatalf("%s, %+v", w.task.Status, w.task.Counters)
		}
		tell := d.Entries[0].Effects[len(d.Entries[0].Effects)-1]
		if tell.Prompt != workflow.MessageState || tell.Start || tell.Attempt != a.Number || !strings.Contains(tell.Text, "the plan is not there") {
			t.Errorf("%+v", tell)
		}
		w.perform()
	}
	if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Kind != explain.ItemNoAnswer {
		t.Errorf("%+v, %v", it, ok)
	}
	says()
	if w.task.Status != "halted" {
		t.Errorf("%s", w.task.Status)
	}
}

func TestAnAgentThatStaysMayEndWhileItsWorkIsHeld(t *testing.T) {
	text := strings.Replace(speaking, "session: visit", "session: persistent", 1)
	text = strings.Replace(text, "edges:\n", "edges:\n  - {from: working, to: working, on: {outcome: failed}, by: [worker], hold: true}\n", 1)
	for rules, reason := range map[int]string{0: "its work failed, and a person looks", engine.Rules: "the task is held for a person: "} {
		w := beginWith(t, text)
		w.perform()
		if d := w.tells(word("failed")); effects(d.Entries) != "" || w.task.WorkFailed == "" {
			t.Fatalf("%s, held %q", effects(d.Entries), w.task.WorkFailed)
		}
		d := w.must(signal.Signal{Kind: signal.Exit, Rules: rules, Actor: task.Engine, Role: "worker", Code: 3})
		if e := d.Entries[0]; e.Type != journal.AgentExited || !strings.HasPrefix(e.Reason, reason) || w.task.CounterValue("crash_count") > 0 || w.task.Status != "working" || w.task.WorkFailed == "" {
			t.Errorf("rules %d: %+v in %s", rules, e, w.task.Status)
		}
		if timers := engine.Timers(w.def, &w.task); len(timers) > 0 {
			t.Errorf("%+v", timers)
		}
	}
}
