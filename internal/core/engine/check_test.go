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
)

var twoChecks = task.Checks{{Name: "tests", Run: "make test"}, {Name: "lint", Run: "make lint", Retries: 1}}

// handsOver is what the worker asks for when its work is done.
func handsOver(t *testing.T, checks task.Checks) *world {
	t.Helper()
	return handsOverBy(t, checks, "claude", engine.Rules)
}

// handsOverBy is handsOver of a harness, under a version of the rules.
func handsOverBy(t *testing.T, checks task.Checks, harness string, rules int) *world {
	t.Helper()
	w := &world{t: t, def: loadChecked(t, "solo"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: "0123456789abcdefghijk", Project: "p", Branch: "b", Summary: "s", Harness: harness, Spawn: true, Checks: checks}, Rules: rules})
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing"})
	return w
}

// checkEnds is the end of the check that runs.
func (w *world) checkEnds(outcome string) engine.Decision {
	w.t.Helper()
	w.perform()
	a, ok := w.task.LiveAttempt(workflow.CheckRole)
	if !ok {
		w.t.Fatalf("no check runs in %s: %+v", w.task.Status, w.task.CheckRun)
	}
	sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role}
	if outcome != task.CheckBroken {
		sig.Check = &task.CheckResult{Name: w.task.CheckRun.Name, Outcome: outcome, Detail: "exit code 1", Tree: "t", Last: "boom"}
	}
	return w.must(sig)
}

func TestWithoutChecksTheCheckStateIsSkipped(t *testing.T) {
	w := handsOver(t, nil)
	if w.task.Status != "reviewing" || len(w.task.Counters) != 3 {
		t.Errorf("%s, %+v", w.task.Status, w.task.Counters)
	}
}

func TestAPassedCheckMovesTheTaskOn(t *testing.T) {
	w := handsOver(t, twoChecks)
	if w.task.Status != "checking" || len(w.task.Pending) != 0 || !strings.Contains(w.timers(), engine.CheckWait) {
		t.Fatalf("%s, %v, %s: a check runs beside a turn", w.task.Status, w.task.Pending, w.timers())
	}
	w.turnEnds(1, "done")
	if a, ok := w.task.LiveAttempt(workflow.CheckRole); !ok || w.task.CheckRun.Name != "tests" {
		t.Fatalf("%+v, %+v", a, w.task.CheckRun)
	}
	w.checkEnds(task.CheckPassed)
	if w.task.Status != "checking" || w.task.CheckRun.Name != "lint" {
		t.Fatalf("%s, %+v", w.task.Status, w.task.CheckRun)
	}
	w.checkEnds(task.CheckPassed)
	if w.task.Status != "reviewing" || len(w.task.CheckResults) != 2 || w.task.CheckRun != nil {
		t.Errorf("%s, %+v", w.task.Status, w.task.CheckResults)
	}
	w.decidedAgain()
}

func TestAFailedCheckSendsTheWorkBackUntilItsBound(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	for round := 1; round <= 3; round++ {
		w.turnEnds(1, "done")
		d := w.checkEnds(task.CheckFailed)
		if w.task.Status != "working" || w.task.CounterValue("check_round") != round {
			t.Fatalf("round %d: %s, %+v", round, w.task.Status, w.task.Counters)
		}
		if e := d.Entries[0]; !slices.ContainsFunc(e.Effects, func(f task.Effect) bool {
			return f.Do == workflow.WriteSection && f.Arg == "Checks" && strings.Contains(f.Text, "> boom")
		}) ||
			!slices.ContainsFunc(e.Effects, func(f task.Effect) bool { return f.Prompt == "check-failed" }) {
			t.Fatalf("%+v", e.Effects)
		}
		w.perform()
		w.must(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing"})
	}
	w.turnEnds(1, "done")
	w.checkEnds(task.CheckTimeout)
	if w.task.Status != "stuck" || !strings.Contains(w.task.StateReason, "check tests failed") {
		t.Errorf("%s: %s", w.task.Status, w.task.StateReason)
	}
	w.decidedAgain()
}

func TestAFailedCheckIsRunAgainAsItsRetriesSay(t *testing.T) {
	w := handsOver(t, twoChecks[1:])
	w.turnEnds(1, "done")
	w.checkEnds(task.CheckFailed)
	if w.task.Status != "checking" || w.task.CheckRun.Tries != 1 {
		t.Fatalf("%s, %+v", w.task.Status, w.task.CheckRun)
	}
	w.checkEnds(task.CheckPassed)
	if w.task.Status != "reviewing" {
		t.Error(w.task.Status)
	}
}

func TestARunWithoutAResultIsRepeatedOnceAndThenHeld(t *testing.T) {
	for _, outcome := range []string{task.CheckInvalid, task.CheckBroken} {
		w := handsOver(t, twoChecks[:1])
		w.turnEnds(1, "done")
		w.checkEnds(outcome)
		if w.task.WorkFailed != "" || w.task.CheckRun.Again != 1 {
			t.Fatalf("%s: %q, %+v", outcome, w.task.WorkFailed, w.task.CheckRun)
		}
		w.checkEnds(outcome)
		if w.task.Status != "checking" || !strings.HasSuffix(w.task.WorkFailed, "twice") || w.inboxKind() != explain.ItemFailed {
			t.Fatalf("%s: %s, %q, %s", outcome, w.task.Status, w.task.WorkFailed, w.inboxKind())
		}
		if notice := w.inboxKind().Info().Notice; strings.Contains(notice, "agent") { // Orange ran it
			t.Errorf("%s: a notification without details says that %s", outcome, notice)
		}
		w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbCheck})
		w.checkEnds(task.CheckPassed)
		if w.task.Status != "reviewing" {
			t.Errorf("%s: %s", outcome, w.task.Status)
		}
		w.decidedAgain()
	}
}

func TestACommandThatIsNotFoundHoldsTheTask(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.turnEnds(1, "done")
	w.checkEnds(task.CheckMissing)
	if w.task.Status != "checking" || w.task.WorkFailed == "" || w.task.CounterValue("check_round") != 0 {
		t.Errorf("%s, %q, %+v", w.task.Status, w.task.WorkFailed, w.task.Counters)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "accept"})
	if e := w.log[len(w.log)-1]; w.task.Status != "reviewing" || !e.Override {
		t.Errorf("%s, %+v", w.task.Status, e.Move)
	}
}

func TestARebootDuringACheckCountsForNothing(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.turnEnds(1, "done")
	for range 3 {
		w.perform()
		a, _ := w.task.LiveAttempt(workflow.CheckRole)
		w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Code: -1, Mass: signal.MassReboot})
		if w.task.WorkFailed != "" || w.task.CheckRun.Again != 0 {
			t.Fatalf("%q, %+v", w.task.WorkFailed, w.task.CheckRun)
		}
	}
}

func TestACheckWaitsForTheTurnAndNotForever(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.fires(engine.CheckWait)
	if w.task.WorkFailed != "check tests waited 30m for the turn of the worker to end" {
		t.Errorf("%q", w.task.WorkFailed)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	if w.task.WorkFailed != "" || w.task.CheckRun == nil {
		t.Fatalf("%q, %+v", w.task.WorkFailed, w.task.CheckRun)
	}
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker"})
	w.checkEnds(task.CheckPassed)
	if w.task.Status != "reviewing" {
		t.Error(w.task.Status)
	}
}

// Nobody hears when the turn of a command ends. A check that waited for that would be held in every round.
func TestACheckDoesNotWaitForACommandThatReportsNoTurns(t *testing.T) {
	w := handsOverBy(t, twoChecks[:1], "command:aider --yes", engine.Rules)
	if _, runs := w.task.LiveAttempt(workflow.CheckRole); !runs {
		t.Fatalf("%s, %s: the check does not run", w.task.Status, w.timers())
	}
	w.checkEnds(task.CheckFailed)
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing"})
	w.checkEnds(task.CheckPassed)
	if w.task.Status != "reviewing" {
		t.Error(w.task.Status)
	}
	w.decidedAgain()

	w = handsOverBy(t, twoChecks[:1], "command:aider --yes", engine.RulesOfTurns-1)
	if _, runs := w.task.LiveAttempt(workflow.CheckRole); runs {
		t.Error("a journal of older rules is decided in another way")
	}
}

// A message begins another turn: a check that started before it would run beside that turn.
func TestACheckWaitsForAnAgentThatIsOwedAMessage(t *testing.T) {
	rests := func(rules int) *world {
		w := handsOverBy(t, twoChecks[:1], "claude", rules)
		w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbSend, Role: "worker", Note: "one more thing"})
		w.turnEnds(1, "done")
		return w
	}
	w := rests(engine.Rules)
	if _, runs := w.task.LiveAttempt(workflow.CheckRole); runs || !strings.Contains(w.timers(), engine.CheckWait) {
		t.Fatalf("%+v, %s: the check is ordered behind the message", w.task.Pending, w.timers())
	}
	w.runs(1)
	w.perform()
	w.turnEnds(1, "that too")
	w.checkEnds(task.CheckPassed)
	if w.task.Status != "reviewing" {
		t.Error(w.task.Status)
	}
	w.decidedAgain()

	w = rests(engine.RulesOfMessages - 1)
	if _, runs := w.task.LiveAttempt(workflow.CheckRole); !runs {
		t.Error("a journal of older rules is decided in another way")
	}
}

func TestNobodyLeavesARunningCheckExceptByCancelling(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.turnEnds(1, "done")
	w.perform()
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "accept"}, "check tests is in progress")
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbCheck}, "check tests is in progress already")
	w.refused(signal.Signal{Kind: signal.Request, Actor: workflow.CheckRole, Attempt: 2, To: "reviewing"}, `actor "check" is not known`)
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	w.perform()
	if w.task.Status != "cancelled" || len(w.task.Attempts) != 0 || w.task.Workspace != "" {
		t.Errorf("%s, %+v, %q", w.task.Status, w.task.Attempts, w.task.Workspace)
	}
}

func TestMessagesStayPendingWhileACheckRuns(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.turnEnds(1, "done")
	w.perform()
	w.task.Pending = append(w.task.Pending, task.Effect{ID: "0123456789abcdefghijk/99/0", Do: "notify_worker", Role: "worker", Attempt: 1, Prompt: "resumed"})
	if e, ok := engine.NextEffect(&w.task); ok {
		t.Errorf("%s is done beside a check", e.Do)
	}
	w.task.Attempts = w.task.Attempts[:1]
	if e, ok := engine.NextEffect(&w.task); !ok || e.Do != "notify_worker" {
		t.Errorf("%+v", e)
	}
}

func TestACheckByHandMovesNothing(t *testing.T) {
	w := handsOver(t, twoChecks)
	w.turnEnds(1, "done")
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbCheck, Arg: "lnt"}, `check "lnt" is not known: the task has tests, lint`)
	w.checkEnds(task.CheckPassed)
	w.checkEnds(task.CheckPassed)
	w.perform()
	w.refused(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: engine.VerbCheck}, "only a person may ask for a check")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbCheck, Arg: "lint"})
	w.checkEnds(task.CheckFailed)
	r, _ := w.task.CheckResultOf("lint")
	if w.task.Status != "reviewing" || !r.Failed() || w.task.CheckRun != nil || w.task.WorkFailed != "" {
		t.Errorf("%s, %+v, %+v", w.task.Status, r, w.task.CheckRun)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbCheck})
	w.perform()
	d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "request-changes", Note: "no"})
	if e := d.Entries[0]; e.Effects[0].Do != "kill_agent" || e.Effects[0].Role != workflow.CheckRole {
		t.Errorf("%+v: the worker is told before the check is gone", e.Effects)
	}
	w.decidedAgain()
}

func TestAHungCheckIsEndedAndFails(t *testing.T) {
	w := handsOver(t, task.Checks{{Name: "tests", Run: "x", Timeout: time.Hour}})
	w.turnEnds(1, "done")
	w.perform()
	began := w.now
	w.fires(engine.CheckDeadline)
	if w.now.Sub(began) < time.Hour {
		t.Errorf("after %s", w.now.Sub(began))
	}
	w.perform()
	if r, _ := w.task.CheckResultOf("tests"); w.task.Status != "working" || r.Outcome != task.CheckTimeout {
		t.Errorf("%s, %+v", w.task.Status, r)
	}
}

func TestAHungCheckIsEndedWhileAMessageIsPending(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.turnEnds(1, "done")
	w.perform()
	w.must(messageTo("worker", "Use the blue one"))
	if e, ok := engine.NextEffect(&w.task); ok {
		t.Errorf("%s is done beside a check", e.Do)
	}
	w.fires(engine.CheckDeadline)
	w.perform()
	if w.task.Status != "working" || len(w.task.Pending) != 0 {
		t.Errorf("%s, pending %+v: nothing ends the check", w.task.Status, w.task.Pending)
	}
	w.decidedAgain()
}

func TestTheOrderToEndAHungCheckOutlivesTheCheck(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.turnEnds(1, "done")
	w.perform()
	w.fires(engine.CheckDeadline)
	order := w.task.Pending[0]
	a, _ := w.task.AttemptByNumber(order.Attempt)
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role})
	w.must(receipt(order.ID, ""))
	if w.task.Status != "working" {
		t.Errorf("%s", w.task.Status)
	}
	w.decidedAgain()
}

func TestACheckTakesNoMessages(t *testing.T) {
	w := handsOver(t, twoChecks[:1])
	w.turnEnds(1, "done")
	w.perform()
	const refusal = "a check is a command and takes no messages: wait until it has ended, or name an agent with --role"
	w.refused(messageTo("", "hello"), refusal)
	w.refused(messageTo(workflow.CheckRole, "hello"), refusal)
	w.checkEnds(task.CheckPassed)
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbCheck})
	w.perform()
	w.must(messageTo("", "hello")) // a person decides in this state, and the worker is the only agent
	if p := w.task.Pending; len(p) != 1 || p[0].Role != "worker" {
		t.Errorf("pending %+v", p)
	}
}

func TestAHypotheticalTaskWithoutChecksIsDecidedLikeOne(t *testing.T) {
	w := handsOver(t, twoChecks)
	w.task.Status = "working"
	w.task.CheckRun = nil
	d := w.must(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing", Unchecked: true})
	if d.Entries[0].To != "reviewing" || d.Entries[0].Type != journal.StatusChanged {
		t.Errorf("%+v", d.Entries[0].Move)
	}
}
