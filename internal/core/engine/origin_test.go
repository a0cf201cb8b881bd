package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// inReview brings a task of a workflow to agent-review: attempt 1 is the worker, which asked
// for the review in the middle of a turn, attempt 2 the reviewer.
func inReview(t *testing.T, name string) *world {
	t.Helper()
	w := begin(t, name, true)
	w.perform()
	if w.task.Status == "planning" {
		w.body = "## Plan\n\nAPPROACH: x\n"
		w.must(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working"})
		w.perform()
	}
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.must(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "agent-review"})
	if name == "orange" {
		w.perform()
	}
	return w
}

// seen sends a signal with what the runtime adds about the origin of verdicts.
func (w *world) seen(sig signal.Signal) engine.Decision {
	w.t.Helper()
	sig.Artifacts.Sections = sectionsOf(w.t, w.body)
	engine.AddOrigin(w.def, &w.task, &sig)
	return w.send(sig)
}

func (w *world) turn(attempt int, condition string) {
	w.t.Helper()
	w.seen(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: attempt, Condition: &task.Condition{Name: condition}})
}

func (w *world) reviewerEnds(code int) engine.Decision {
	w.t.Helper()
	return w.seen(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: w.own().Number, Role: "reviewer", Code: code})
}

// Who wrote the verdict, and what becomes of the task when the reviewer ends.
func TestOnlyTheReviewersOwnVerdictOpensTheWayAtItsEnd(t *testing.T) {
	const pass, fail = "\n## Review\n\nVerdict: PASS\n", "\n## Review\n\nVerdict: FAIL\n\nno tests\n"
	write := func(text string) func(*world) { return func(w *world) { w.body += text } }
	turn := func(name string) func(*world) { return func(w *world) { w.turn(1, name) } }
	idle, works := turn(task.Idle), turn(task.Running)
	for name, tt := range map[string]struct {
		steps []func(*world)
		code  int
		want  string // the state, or the type of the entry that asks
	}{
		"the reviewer, beside an idle worker":                            {[]func(*world){idle, write(pass)}, 0, "reviewing"},
		"the reviewer objects":                                           {[]func(*world){idle, write(fail)}, 0, "working"},
		"the reviewer, and the worker is told more":                      {[]func(*world){idle, write(pass), works, idle}, 0, "reviewing"},
		"the reviewer, and then the worker waits for its provider":       {[]func(*world){idle, write(pass), turn(task.Limited)}, 0, "reviewing"},
		"the worker, before it is idle":                                  {[]func(*world){write(pass), idle}, 0, "agent.restate"},
		"the worker, and it works on":                                    {[]func(*world){write(pass)}, 0, "agent.restate"},
		"the worker, in another turn":                                    {[]func(*world){idle, works, write(pass), idle}, 0, "agent.restate"},
		"the worker turns FAIL into PASS":                                {[]func(*world){idle, write(fail), works, func(w *world) { w.body = strings.Replace(w.body, "FAIL", "PASS", 1) }, idle}, 0, "agent.restate"},
		"the worker waits for leave to write":                            {[]func(*world){idle, turn(task.WaitingPermission), write(pass)}, 0, "agent.restate"},
		"the worker, and the reviewer adds to it":                        {[]func(*world){write(pass), idle, func(w *world) { w.body += "\nlooks good\n" }}, 0, "reviewing"},
		"the worker, and ends":                                           {[]func(*world){write(pass), func(w *world) { w.seen(exitOf(1, "worker", 0)) }}, 0, "agent.restate"},
		"the worker, and the file could not be read when its turn ended": {[]func(*world){func(w *world) { unreadable(w) }, write(pass)}, 0, "agent.restate"},
		"the reviewer broke off":                                         {[]func(*world){idle, write(pass)}, 1, "agent.restate"},
		"the reviewer was killed after it objected":                      {[]func(*world){idle, write(fail)}, 137, "agent.restate"},
		"nobody": {[]func(*world){idle}, 0, "agent.crashed"},
		"the reviewer, beside a worker that ended while it was idle before": {[]func(*world){idle, func(w *world) { w.seen(exitOf(1, "worker", 0)) }, write(pass)}, 0, "reviewing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := inReview(t, "orange")
			for _, step := range tt.steps {
				step(w)
			}
			d := w.reviewerEnds(tt.code)
			got := string(d.Entries[0].Type)
			if w.task.Status != "agent-review" {
				got = w.task.Status
			}
			if got != tt.want {
				t.Errorf("%s, want %s: %v", got, tt.want, d.Reasons)
			}
			again, err := engine.Redecide(w.def, stored(t, w.log))
			if err != nil {
				t.Fatal(err)
			}
			if first, n := again.FirstDivergence(); n > 0 {
				t.Errorf("decided again, %d differ: %+v", n, first)
			}
		})
	}
}

// In orange-direct the worker is ended when it hands over, and may write until then.
func TestAWorkerThatIsEndedWritesNoVerdict(t *testing.T) {
	w := inReview(t, "orange-direct")
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.seen(exitOf(1, "worker", 0))
	w.perform()
	if d := w.reviewerEnds(0); d.Entries[0].Type != journal.AgentRestate {
		t.Errorf("%+v", d.Entries[0])
	}
}

// Journals from before do not say where a verdict comes from.
func TestVerdictsOfOldJournalsCount(t *testing.T) {
	w := inReview(t, "orange")
	w.body += "\n## Review\n\nVerdict: PASS\n"
	if w.send(exitOf(2, "reviewer", 1)); w.task.Status != "reviewing" {
		t.Errorf("it is %s", w.task.Status)
	}
}

func exitOf(attempt int, role string, code int) signal.Signal {
	return signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: attempt, Role: role, Code: code}
}

// unreadable lets the worker's turn end while TASK.md cannot be read.
func unreadable(w *world) {
	sig := signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Condition: &task.Condition{Name: task.Idle}}
	sig.Artifacts.Problem = "it is a folder"
	engine.AddOrigin(w.def, &w.task, &sig)
	sig.Artifacts.Problem = ""
	w.send(sig)
}

func TestAReviewerIsAskedOnceForItsVerdictAndThenReplaced(t *testing.T) {
	w := inReview(t, "orange")
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.turn(1, task.Idle)
	asked := w.reviewerEnds(0).Entries[0]
	tell := asked.Effects[len(asked.Effects)-1]
	if asked.Type != journal.AgentRestate || !tell.Start || tell.Role != "reviewer" || tell.Message != workflow.MessageRule ||
		!strings.Contains(tell.Text, "it changed while the worker was at work") || w.task.CounterValue("crash_count") != 0 {
		t.Fatalf("%+v", asked)
	}
	w.perform()
	if d := w.reviewerEnds(0); d.Entries[0].Type != journal.AgentCrashed || w.task.CounterValue("crash_count") != 1 || w.own().Number != 4 {
		t.Fatalf("asked, and silent again: %+v", d.Entries[0])
	}
	w.perform()
	if w.reviewerEnds(0); w.task.Status != "stuck" {
		t.Errorf("at the limit of crashes it is %s", w.task.Status)
	}
}

func TestAReviewerThatIsAskedStatesItsVerdict(t *testing.T) {
	for verdict, want := range map[string]string{"PASS": "reviewing", "FAIL": "working"} {
		w := inReview(t, "orange")
		w.body += "\n## Review\n\nVerdict: PASS\n"
		w.turn(1, task.Idle)
		w.reviewerEnds(0)
		w.perform()
		w.body = strings.Replace(w.body, "Verdict: PASS", "Verdict: "+verdict+"\n\nmine", 1) // as the command writes it
		w.turn(1, task.Running)
		d := w.seen(signal.Signal{Kind: signal.Request, Actor: "reviewer", Attempt: w.own().Number, Verb: engine.VerbVerdict, Arg: verdict})
		if w.task.Status != want {
			t.Errorf("%s: %s, %s", verdict, w.task.Status, d.Refused)
		}
	}
}

func TestWhoMayStateAVerdict(t *testing.T) {
	const fail = "## Review\nVerdict: FAIL\n"
	for name, tt := range map[string]struct {
		state, arg string
		actor      task.Actor
		round      int
		want       string // the state, or what is refused
	}{
		"the reviewer":         {"agent-review", "FAIL", "reviewer", 1, "working"},
		"for the last time":    {"agent-review", "FAIL", "reviewer", 2, "stuck"},
		"not what is written":  {"agent-review", "PASS", "reviewer", 1, "says FAIL on line 2, and this needs PASS"},
		"something else":       {"agent-review", "MAYBE", "reviewer", 1, `"MAYBE" is not a verdict that agent-review accepts: use PASS or FAIL`},
		"nothing":              {"agent-review", "", "reviewer", 1, "use PASS or FAIL"},
		"the worker":           {"agent-review", "PASS", "worker", 1, "no gate of workflow orange asks the worker for a verdict: say that its part is done with orange task complete"},
		"a person":             {"agent-review", "PASS", task.Human, 1, "only an agent may give a verdict: a person uses orange task update SupposedSupposedSuppo --status cancelled"},
		"the reviewer, late":   {"reviewing", "PASS", "reviewer", 1, "the task is reviewing, and the reviewer gives a verdict when it is agent-review"},
		"the worker, at work":  {"working", "PASS", "worker", 1, "no gate of workflow orange asks the worker"},
		"a tracker":            {"agent-review", "PASS", task.Tracker, 1, "only an agent may give a verdict"},
		"a reviewer that left": {"agent-review", "FAIL", "reviewer", -1, "agent-review -> "},
	} {
		t.Run(name, func(t *testing.T) {
			w := placed(t, "orange", tt.state)
			w.body = fail
			a, _ := w.task.LiveAttempt(string(tt.actor))
			if tt.round < 0 {
				a.Number = 9
			}
			w.task.Counters[0].Value = max(tt.round, 1)
			sig := signal.Signal{Kind: signal.Request, Actor: tt.actor, Attempt: a.Number, Verb: engine.VerbVerdict, Arg: tt.arg}
			section := engine.VerdictSection(w.def, &w.task, &sig)
			d := w.send(sig)
			if got := w.task.Status; got != tt.want && !strings.Contains(d.Refused, tt.want) {
				t.Errorf("%s, %q", got, d.Refused)
			}
			if writes := tt.actor == "reviewer" && tt.state == "agent-review" && tt.round > 0 && (tt.arg == "PASS" || tt.arg == "FAIL"); writes != (section == "Review") {
				t.Errorf("the verdict is written into %q", section)
			}
		})
	}
}

// What a code of a report by command comes to depends on where it leads. Its words are kept as they are.
func TestWhatAReportByCommandComesTo(t *testing.T) {
	words := "no access\n\n" + strings.Repeat("to the database ", 100) + "at all"
	for name, tt := range map[string]struct {
		code  string
		rules int
		want  signal.Result
	}{
		"to a halt":              {"BLOCKED", engine.Rules, signal.Halted},
		"to a halt, before that": {"BLOCKED", 0, signal.Passed},
		"on":                     {"READY_FOR_TESTING", engine.Rules, signal.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			w := placed(t, "cmat-feature", "implementer")
			a, _ := w.task.LiveAttempt("implementer")
			d := w.send(signal.Signal{
				Kind: signal.Outcome, Actor: "implementer", Attempt: a.Number, Verb: engine.VerbReport, Word: tt.code + ": " + words, Rules: tt.rules,
				Evidence: []signal.Evidence{{Name: "file:implementer-output", Holds: true}},
			})
			if d.Refused != "" || w.task.LastReport == nil {
				t.Fatalf("%q, %+v", d.Refused, w.task.LastReport)
			}
			if got := w.task.LastReport; got.Outcome != string(tt.want) || got.Code != tt.code || len(got.Detail) > 500 {
				t.Errorf("%+v", got)
			}
			if got := d.Entries[0].Snapshot.AttemptWords(); got != words {
				t.Errorf("%q", got)
			}
		})
	}
}

// A report by command needs no nonce, and its agent gets the reason of a refusal.
func TestAReportByCommand(t *testing.T) {
	for name, tt := range map[string]struct {
		workflow, state, word string
		actor                 task.Actor
		want                  string // the state, or what is refused
	}{
		"it counts":        {"linear-sdlc", "Finished", "passed", "qa", "Delivered"},
		"with words":       {"linear-sdlc", "Finished", "PASSED: it works", "qa", "Delivered"},
		"unknown":          {"linear-sdlc", "Finished", "great", "qa", "no edge from Finished answers to outcome GREAT: declared are "},
		"not to halt":      {"cmat-feature", "implementer", "LUNCH", "implementer", "no edge from implementer answers to outcome LUNCH"},
		"another's":        {"linear-sdlc", "Finished", "passed", "acceptance", "acceptance may not: it takes qa"},
		"a person's":       {"linear-sdlc", "Finished", "passed", task.Human, "only an agent may report: a person "},
		"none is asked":    {"orange", "working", "passed", "worker", "no edge from working answers to outcome"},
		"an empty one":     {"linear-sdlc", "Finished", "", "qa", "the report is empty"},
		"not yet finished": {"linear-sdlc", "Started", "passed", "development", "commits: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := placed(t, tt.workflow, tt.state)
			a, _ := w.task.LiveAttempt(string(tt.actor))
			sig := signal.Signal{Kind: signal.Outcome, Actor: tt.actor, Attempt: a.Number, Verb: engine.VerbReport, Word: tt.word}
			if tt.state == "Started" {
				sig.Evidence = []signal.Evidence{{Name: workflow.Commits, Detail: "none"}}
			}
			d := w.send(sig)
			if got := w.task.Status; got != tt.want && (d.Refused == "" || !strings.Contains(d.Refused, tt.want)) {
				t.Errorf("%s, %q", got, d.Refused)
			}
			if w.task.Status == tt.want && (w.task.LastReport.Source != string(signal.FromVerb) || w.task.LastReport.Outcome != string(signal.Passed)) {
				t.Errorf("%+v", w.task.LastReport)
			}
		})
	}
}
