package engine_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/narrate"
)

// workingNow is a world whose worker is at work, decided by the newest rules.
func workingNow(t *testing.T) *world {
	t.Helper()
	return workingBy(t, load(t, "orange"))
}

func workingBy(t *testing.T, def *workflow.Definition) *world {
	t.Helper()
	w := &world{t: t, def: def, now: start, free: []string{"p--1"}}
	w.send(signal.Signal{Kind: signal.Create, Rules: engine.Rules, Actor: task.Human, New: &signal.New{ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true}})
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	w.perform()
	return w
}

// turnEnds is the end of a turn of an attempt, with a message.
func (w *world) turnEnds(attempt int, message string) engine.Decision {
	w.t.Helper()
	return w.send(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: attempt, Condition: &task.Condition{Name: task.Idle}, Final: message})
}

// runs is an attempt that takes a prompt in.
func (w *world) runs(attempt int) {
	w.t.Helper()
	w.send(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: attempt, Condition: &task.Condition{Name: task.Running}})
}

func (w *world) answer(words string) engine.Decision {
	w.t.Helper()
	return w.send(signal.Signal{
		Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: words, Via: &signal.Via{Kind: signal.ViaSocket, Program: "orange", PID: 7},
	})
}

// inboxKind is what the task wants of a person, "" for nothing.
func (w *world) inboxKind() explain.ItemKind {
	it, _ := explain.InboxItem(w.def, w.task)
	return it.Kind
}

// timers lists the names of the timers that run.
func (w *world) timers() string {
	var names []string
	for _, tm := range engine.Timers(w.def, &w.task) {
		names = append(names, tm.Name)
	}
	return strings.Join(names, " ")
}

// decidedAgain makes sure that every decision of the journal is the same again.
func (w *world) decidedAgain() {
	w.t.Helper()
	again, err := engine.Redecide(w.def, w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	if first, n := again.FirstDivergence(); n > 0 {
		w.t.Errorf("%d decisions are not the same again, the first: %+v", n, first)
	}
}

const asks = "I see two ways.\n\nWhich one should I take?"

func TestAnAgentThatEndsItsTurnInItsOwnStateWaitsForAPerson(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     func(w *world)
		kind   explain.ItemKind
		text   string
		timers string
	}{
		{"it asks", func(w *world) { w.turnEnds(1, asks) }, explain.ItemIdle, "the worker asks something", ""},
		{"it stopped", func(w *world) { w.turnEnds(1, "I looked around.") }, explain.ItemIdle, "ended its turn without moving the task", "idle"},
		{"it said nothing", func(w *world) { w.turnEnds(1, "") }, explain.ItemIdle, "ended its turn without moving the task", "idle"},
		{"it runs again", func(w *world) { w.turnEnds(1, asks); w.runs(1) }, "", "", "deadline idle"},
		{"a program says once more that it is idle", func(w *world) {
			w.turnEnds(1, asks)
			seq := w.task.Seq
			w.send(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Condition: &task.Condition{Name: task.Idle, Detail: "waiting for your input"}})
			w.turnEnds(1, asks)
			if w.task.Seq != seq {
				w.t.Errorf("%d entries more", w.task.Seq-seq)
			}
		}, explain.ItemIdle, "the worker asks something", ""},
		{"its turn ended before the task came back to it", func(w *world) {
			w.body += "\n## Handoff\n\nDONE: x\n"
			w.to("worker", "agent-review")
			w.perform()
			w.turnEnds(1, asks)
			if kind := w.inboxKind(); kind != "" {
				w.t.Errorf("an idle worker during the review is %s", kind)
			}
			w.body += "\n## Review\n\nVerdict: FAIL\n"
			w.to("reviewer", "working")
			w.perform()
		}, "", "", "deadline idle"},
		{"a message to it is owed", func(w *world) {
			w.turnEnds(1, asks)
			w.to(task.Human, "clarification")
			w.to(task.Human, "working")
			w.turnEnds(1, asks)
		}, "", "", ""},
		{"the task waits itself", func(w *world) { w.to("worker", "clarification"); w.turnEnds(1, asks) }, explain.ItemQuestion, "questions wait", ""},
		{"it is ended at its deadline", func(w *world) { w.fires(engine.Deadline); w.turnEnds(1, asks) }, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workingNow(t)
			c.do(w)
			it, _ := explain.InboxItem(w.def, w.task)
			if it.Kind != c.kind || !strings.Contains(it.Text, c.text) || w.timers() != c.timers {
				t.Errorf("%+v, timers %q", it, w.timers())
			}
			if c.kind == explain.ItemIdle {
				x := explain.Task(w.def, w.task, signal.Signal{At: w.now})
				narrate.AddCommands(&x)
				if x.Owner != explain.APerson || !strings.HasPrefix(x.Do, "orange task answer") || !strings.Contains(x.Why, c.text) || narrate.FormatCommand(it.Action) != x.Do {
					t.Errorf("%s: %s, %s", x.Owner, x.Why, x.Do)
				}
			}
			w.decidedAgain()
		})
	}
}

func TestTheTimeAPersonTakesIsNotTheAgents(t *testing.T) {
	w := workingNow(t)
	entered := w.task.Since
	w.turnEnds(1, asks)
	asked := w.now
	w.now = w.now.Add(9 * time.Hour)
	w.answer("the first")
	if got := w.timers(); got != "" {
		t.Errorf("while the answer is delivered: %s", got)
	}
	w.runs(1)
	waited := w.now.Sub(asked)
	w.perform()
	for _, tm := range engine.Timers(w.def, &w.task) {
		if tm.Name == engine.Deadline && !tm.At.Equal(entered.Add(4*time.Hour+waited)) {
			t.Errorf("deadline %s, want %s", tm.At, entered.Add(4*time.Hour+waited))
		}
		if tm.Name == engine.Idle && tm.At.Before(w.now) {
			t.Errorf("it is silent since %s", tm.At)
		}
	}
	w.decidedAgain()
}

func TestAnAnswerIsSentAndMovesNothing(t *testing.T) {
	w := workingNow(t)
	w.turnEnds(1, asks)
	d := w.answer("the first")
	if got := effects(d.Entries); got != "write_section notify_worker:worker" || w.task.Status != "working" || d.Entries[0].Type != journal.AgentAnswered {
		t.Fatalf("%s: %q, %s", d.Refused, got, w.task.Status)
	}
	write, tell := w.task.Pending[0], w.task.Pending[1]
	if write.Arg != "Answer" || write.Text != "the first" || tell.Prompt != workflow.MessageReply || tell.Text != "the first" || tell.Attempt != 1 {
		t.Errorf("%+v\n%+v", write, tell)
	}
	second := signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "the second"}
	w.refused(second, "a person (orange, pid 7) answered at 2026-01-02T")
	w.runs(1)
	w.perform()
	w.refused(second, "a person (orange, pid 7) answered at 2026-01-02T")
	w.turnEnds(1, "And the colour?")
	if d := w.answer("blue"); d.Verdict != engine.Record {
		t.Errorf("another question: %s %s", d.Verdict, d.Refused)
	}
	w.decidedAgain()
}

func TestOnlyAPersonAnswers(t *testing.T) {
	w := workingNow(t)
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "x"}, "working waits for no answer")
	w.turnEnds(1, asks)
	w.refused(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: engine.VerbAnswer, Note: "x"}, "only a person may answer")
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: engine.VerbAnswer, Note: "x"}, "only a person may answer")
}

func TestASecondAnswerToAQuestionOfAWaitingStateSaysWhoAnswered(t *testing.T) {
	w := workingNow(t)
	w.to("worker", "clarification")
	if d := w.answer("the first"); d.Verdict != engine.Advance {
		t.Fatal(d.Refused)
	}
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "x"}, "a person (orange, pid 7) answered at")
	w.decidedAgain()
}

func TestAnAnswerToAnAgentThatDiedMeanwhileStartsAnother(t *testing.T) {
	for _, c := range []struct {
		name string
		die  func(w *world)
		kind explain.ItemKind
	}{
		{"it was killed, hours ago", func(w *world) {
			w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Code: 137})
			if w.task.Crashed != "worker" || w.timers() != "" || w.task.CounterValue("crash_count") != 1 {
				w.t.Errorf("%s, %+v", w.timers(), w.task)
			}
			w.now = w.now.Add(9 * time.Hour)
		}, explain.ItemIdle},
		{"the machine was restarted", func(w *world) {
			d := w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Mass: signal.MassReboot})
			if effects(d.Entries) != "" || w.timers() != "" || w.task.CounterValue("crash_count") != 0 {
				w.t.Errorf("%s, %+v", w.timers(), w.task)
			}
		}, explain.ItemIdle},
		{"it reached its limit", func(w *world) {
			w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Code: 1, Condition: &task.Condition{Name: task.Limited, Until: w.now.Add(time.Hour)}})
		}, explain.ItemIdle},
		{"a person ended it", func(w *world) {
			w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Final: asks})
		}, explain.ItemIdle},
		{"it ended when the answer was on its way", func(w *world) {
			w.answer("the first")
			w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Code: 137})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workingNow(t)
			w.turnEnds(1, asks)
			c.die(w)
			if kind := w.inboxKind(); kind != c.kind {
				t.Errorf("the item is %q", kind)
			}
			if c.kind != "" {
				if d := w.answer("the first"); d.Verdict != engine.Record {
					t.Fatalf("%s %s", d.Verdict, d.Refused)
				}
			}
			p := w.task.Pending[len(w.task.Pending)-1]
			if !p.Start || p.Attempt != 2 || p.Message != workflow.MessageReply || p.Text != "the first" || w.task.Status != "working" {
				t.Errorf("%+v", p)
			}
			if w.task.Crashed != "" || w.task.WorkFailed != "" || !w.task.RespawnAt.IsZero() || w.task.Unanswered != nil {
				t.Errorf("%+v", w.task)
			}
			w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "again"}, "answered at")
			w.decidedAgain()
		})
	}
}

func TestAnAgentThatIsReplacedIsNotAnswered(t *testing.T) {
	w := workingNow(t)
	w.turnEnds(1, asks)
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Code: 137})
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "x"}, "working waits for no answer")
	w.decidedAgain()
}

// One that died and asked nothing is started again by itself, as any other.
func TestAnAgentThatStoppedAndDiedIsReplaced(t *testing.T) {
	w := workingNow(t)
	w.turnEnds(1, "I looked around.")
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Code: 137})
	if w.timers() != "respawn" || w.inboxKind() != explain.ItemCrashed {
		t.Errorf("%s, %s", w.timers(), w.inboxKind())
	}
	if d := w.answer("the first"); d.Verdict != engine.Record || w.timers() == "respawn" {
		t.Errorf("%s %s, %s", d.Verdict, d.Refused, w.timers())
	}
}

func TestAnIdleAgentOfATaskThatIsHeldSaysWhy(t *testing.T) {
	w := workingNow(t)
	w.turnEnds(1, "I looked around.")
	w.task.WorkFailed = "the worker handed over twice, and its work is incomplete: no commits"
	it, _ := explain.InboxItem(w.def, w.task)
	if it.Kind != explain.ItemIdle || it.Text != w.task.WorkFailed+"; the worker waits" {
		t.Errorf("%+v", it)
	}
}

func TestAnAgentThatEndsByItself(t *testing.T) {
	for _, c := range []struct {
		name    string
		exit    signal.Signal
		held    string
		silence int
		crashes int
		effects string
	}{
		{"with a question", signal.Signal{Final: asks}, "ended with a question", 0, 0, ""},
		{"with words", signal.Signal{Final: "I looked around."}, "", 1, 0, "spawn_agent:worker+"},
		{"without a word", signal.Signal{}, "", 0, 1, ""},
		{"with blanks", signal.Signal{Final: " \n"}, "", 0, 1, ""},
		{"with a question and another code", signal.Signal{Final: asks, Code: 1}, "", 0, 1, ""},
		{"with words and another code", signal.Signal{Final: "I looked around.", Code: 143}, "", 0, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workingNow(t)
			c.exit.Kind, c.exit.Actor, c.exit.Attempt, c.exit.Role = signal.Exit, task.Engine, 1, "worker"
			d := w.must(c.exit)
			if !strings.Contains(w.task.WorkFailed, c.held) || (w.task.WorkFailed == "") != (c.held == "") || effects(d.Entries) != c.effects {
				t.Errorf("held %q, effects %q", w.task.WorkFailed, effects(d.Entries))
			}
			if w.task.CounterValue("no_answer") != c.silence || w.task.CounterValue("crash_count") != c.crashes || w.task.Status != "working" {
				t.Errorf("%+v in %s", w.task.Counters, w.task.Status)
			}
			if d.Entries[0].Snapshot.Final != "" {
				t.Error("the journal keeps the message")
			}
			if (c.held != "") != (w.inboxKind() == explain.ItemIdle) {
				t.Errorf("the item is %s", w.inboxKind())
			}
			w.decidedAgain()
		})
	}
}

func TestEndsWithoutAnAnswerAreBounded(t *testing.T) {
	w := workingNow(t)
	for range 9 {
		if a, ok := w.task.LiveAttempt("worker"); ok {
			w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: "worker", Final: "I looked around."})
		} else if w.timers() != "" && w.task.Status == "working" {
			w.fires(engine.Respawn)
		}
		if w.task.Status == "working" {
			w.perform()
		}
	}
	if w.task.Status != "stuck" || !strings.Contains(w.task.StateReason, "no answer") {
		t.Errorf("it is %s: %s", w.task.Status, w.task.StateReason)
	}
	w.decidedAgain()
}

func TestWhatFollowsWhenAnAgentStops(t *testing.T) {
	for _, on := range []workflow.OnIdle{workflow.IdleNudge, workflow.IdleAsk} {
		text, _ := builtin.Text("orange")
		def, err := workflow.Parse("orange.yaml", strings.Replace(text, "{wall: 4h, idle: 30m}", "{wall: 4h, idle: 30m}, on_idle: "+string(on), 1))
		if err != nil {
			t.Fatal(err)
		}
		w := workingBy(t, def)
		w.turnEnds(1, "I looked around.")
		if on == workflow.IdleAsk {
			if got := w.timers(); got != "" {
				t.Errorf("%s: %s", on, got)
			}
			continue
		}
		d := w.fires(engine.Idle)
		if got := effects(d.Entries); got != "notify_worker:worker" || d.Entries[0].Type != journal.AgentNudged || w.inboxKind() != "" {
			t.Fatalf("%q, %s", got, w.inboxKind())
		}
		w.runs(1)
		w.perform()
		if got := w.timers(); got != "deadline idle" {
			t.Errorf("a running agent may be silent for ever: %s", got)
		}
		w.turnEnds(1, "I looked around once more.")
		if got := w.timers(); got != "" || w.inboxKind() != explain.ItemIdle {
			t.Errorf("it is nudged twice, or ended: %s, %s", got, w.inboxKind())
		}
		w.decidedAgain()
	}
}

// An agent whose turn ended under earlier rules is asked and ended, as it was.
func TestAJournalOfEarlierRulesKnowsNoIdleAgents(t *testing.T) {
	w := working(t)
	w.turnEnds(1, asks)
	if w.inboxKind() != "" || w.timers() != "deadline idle" || w.task.Attempts[0].Condition.Left != "" {
		t.Errorf("%s, %s, %+v", w.inboxKind(), w.timers(), w.task.Attempts[0])
	}
	w.fires(engine.Idle)
	w.perform()
	w.fires(engine.Idle)
	w.perform()
	if w.task.Crashed != "worker" || w.task.Attempts != nil || w.task.CounterValue("crash_count") != 1 {
		t.Errorf("%+v", w.task)
	}
	w.decidedAgain()
}

func TestTheLastMessageIsAReason(t *testing.T) {
	message := func(attempt int) string { return map[int]string{1: asks}[attempt] }
	reasons := func(w *world) []explain.WaitReason {
		return explain.WaitReasons(w.def, w.task, explain.Records{Entries: w.log, Message: message})
	}
	want := explain.WaitReason{Kind: explain.BecauseOfMessage, By: "worker", Text: asks}
	w := workingNow(t)
	w.turnEnds(1, asks)
	got := reasons(w)
	if len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	it, _ := explain.InboxItem(w.def, w.task)
	it.SetReasons(got)
	if it.Text != "the worker asks something and waits for an answer: I see two ways. Which one should I take?" {
		t.Error(it.Text)
	}
	dead := workingNow(t)
	dead.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Final: asks})
	if got := reasons(dead); len(got) == 0 || got[0] != want {
		t.Errorf("of one that ended: %+v", got)
	}
	for _, state := range []string{"clarification", "stuck"} {
		w := workingNow(t)
		w.to("worker", state)
		w.perform()
		w.turnEnds(1, asks)
		if got := reasons(w); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v", state, got)
		}
		w.runs(1)
		if got := reasons(w); len(got) != 0 {
			t.Errorf("%s, while it is at work: %+v", state, got)
		}
	}
}

func TestAHypotheticalMessage(t *testing.T) {
	for left, want := range map[task.Left]engine.Verdict{"": engine.Crash, task.LeftWords: engine.Stay, task.LeftQuestion: engine.Stay} {
		record, sig, err := engine.Hypothetical(load(t, "orange"), engine.Assumptions{From: "working", Exit: true, Left: left})
		if err != nil {
			t.Fatal(err)
		}
		d := engine.Decide(load(t, "orange"), &record, sig)
		if d.Verdict != want || (d.Entries[0].WorkFailed != "") != (left == task.LeftQuestion) {
			t.Errorf("%q: %s %+v", left, d.Verdict, d.Entries)
		}
	}
	for _, s := range []engine.Assumptions{{From: "working", To: "agent-review", Left: task.LeftWords}, {From: "working", Exit: true, Left: "junk"}} {
		if _, _, err := engine.Hypothetical(load(t, "orange"), s); err == nil {
			t.Errorf("%+v can be supposed", s)
		}
	}
}

func TestTheLastMessageBeforeALimitIsAReason(t *testing.T) {
	w := beginWith(t, strings.Replace(speaking, "silent: {kind: human}", "silent: {kind: halt}", 1))
	w.perform()
	w.must(signal.Signal{Kind: signal.Exit, Rules: engine.Rules, Actor: task.Engine, Attempt: 1, Role: "worker", Final: "I looked around."})
	if w.task.Status != "silent" {
		t.Fatalf("%s", w.task.Status)
	}
	got := explain.WaitReasons(w.def, w.task, explain.Records{Entries: w.log, Message: func(attempt int) string {
		return map[int]string{1: "I looked around."}[attempt]
	}})
	if last := got[len(got)-1]; last != (explain.WaitReason{Kind: explain.BecauseOfMessage, By: "worker", Text: "I looked around."}) {
		t.Errorf("%+v", got)
	}
}

func TestAMessageThatATerminalKeepsWaitsForAPerson(t *testing.T) {
	w := workingNow(t)
	w.turnEnds(1, asks)
	w.answer("blue")
	if x := w.explain(); x.Owner != "the engine" {
		t.Errorf("%s: %s", x.Owner, x.Why)
	}
	for len(w.task.Pending) > 1 { // up to the message
		e, _ := engine.NextEffect(&w.task)
		w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: true}})
	}
	w.must(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Condition: &task.Condition{Name: task.WaitingInput, Detail: "a line is half typed"}})
	x := w.explain()
	if w.inboxKind() != explain.ItemInput || x.Owner != "a person" || !strings.Contains(x.Why, "half typed") {
		t.Errorf("%s: %s: %s", w.inboxKind(), x.Owner, x.Why)
	}
	if narrate.FormatCommand(x.Cheapest.Action) != "orange task attach "+string(w.task.ID) || !strings.Contains(x.Cheapest.Opens, "the message that waits") {
		t.Errorf("%+v", x.Cheapest)
	}
	w.decidedAgain()
}

func TestAnAgentWhoseTurnFailedTakesAnAnswer(t *testing.T) {
	w := workingNow(t)
	w.must(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Condition: &task.Condition{Name: task.TurnFailed, Detail: "API Error: 400"}})
	if x := w.explain(); w.inboxKind() != explain.ItemTurnFailed || x.Owner != "a person" || !strings.Contains(x.Why, "API Error: 400") {
		t.Errorf("%s: %s: %s", w.inboxKind(), x.Owner, x.Why)
	}
	if len(explain.WaitReasons(w.def, w.task, explain.Records{Entries: w.log, Message: func(int) string { return "an older message" }})) > 0 {
		t.Error("an older message is shown")
	}
	if d := w.answer("the provider is back, go on"); d.Verdict != engine.Record || d.Entries[0].Type != journal.AgentAnswered || len(d.Entries[0].Effects) == 0 {
		t.Errorf("%+v", d)
	}
	if timers := engine.Timers(w.def, &w.task); len(timers) > 0 {
		t.Errorf("%+v", timers)
	}
	w.decidedAgain()
}
