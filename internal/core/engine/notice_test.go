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
	"orange/internal/view/narrate"
)

// working is a world whose worker is at work.
func working(t *testing.T) *world {
	t.Helper()
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	return w
}

func (w *world) notices(attempt int, c *task.Condition, u *task.Usage) engine.Decision {
	w.t.Helper()
	return w.send(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: attempt, Condition: c, Usage: u})
}

func TestAConditionIsSeenAndMovesNothing(t *testing.T) {
	w := working(t)
	for _, name := range []string{task.Idle, task.WaitingInput, task.WaitingPermission, task.Limited, task.Running} {
		seq := w.task.Seq
		c := &task.Condition{Name: name, Detail: "may I\nrun rm?", Until: w.now.Add(time.Hour)}
		if d := w.notices(1, c, nil); d.Verdict != engine.Record {
			t.Fatalf("%s: %s %s", name, d.Verdict, d.Refused)
		}
		got := w.task.Attempts[0].Condition
		if w.task.Status != "working" || got.Name != name || got.Detail != "may I run rm?" || !got.Since.Equal(w.now) || w.task.Seq != seq+1 {
			t.Errorf("%s: %+v in %s", name, got, w.task.Status)
		}
		if d := w.notices(1, c, nil); d.Verdict != engine.Stay || w.task.Seq != seq+1 {
			t.Errorf("%s said again: %s, entry %d", name, d.Verdict, w.task.Seq)
		}
	}
	w.refused(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 9}, "attempt 9 is over or never was")
	w.refused(signal.Signal{Kind: signal.Notice, Actor: "worker", Attempt: 1}, "only the engine may report")
	w.refused(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Condition: &task.Condition{Name: "odd"}}, `condition "odd" is not known`)
}

func TestWaitingForOthersIsNotCountedAgainstTheDeadline(t *testing.T) {
	w := working(t)
	entered := w.task.Since
	w.now = w.now.Add(time.Hour)
	w.notices(1, &task.Condition{Name: task.WaitingPermission, Detail: "rm"}, nil)
	asked := w.now
	for _, tm := range engine.Timers(w.def, &w.task) {
		t.Errorf("timer %s while the agent waits for a person", tm.Name)
	}
	w.now = w.now.Add(9 * time.Hour)
	w.notices(1, &task.Condition{Name: task.Running}, nil)
	waited := w.now.Sub(asked)
	for _, tm := range engine.Timers(w.def, &w.task) {
		if tm.Name == engine.Deadline && !tm.At.Equal(entered.Add(4*time.Hour+waited)) {
			t.Errorf("deadline %s, want %s", tm.At, entered.Add(4*time.Hour+waited))
		}
	}
	d := w.fires(engine.Deadline)
	if effects(d.Entries) != "kill_agent:worker" || !w.task.Attempts[0].Overdue {
		t.Errorf("%q", effects(d.Entries))
	}
}

func TestASilentAgentIsAskedOnceAndThenEnded(t *testing.T) {
	w := working(t)
	w.now = w.task.Since.Add(30 * time.Minute)
	active := w.now.Add(-time.Minute)
	w.refused(signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: engine.Idle, Visit: w.task.Visit, Active: active}, "the worker showed life at")
	d := w.fires(engine.Idle)
	if got := effects(d.Entries); got != "notify_worker:worker" || d.Entries[0].Type != journal.AgentNudged {
		t.Fatalf("%q", got)
	}
	w.perform()
	d = w.fires(engine.Idle)
	if d.Entries[0].Type != journal.AgentOverdue || !w.task.Attempts[0].Overdue {
		t.Fatalf("%+v", d.Entries)
	}
	w.perform()
	if w.task.Crashed != "worker" || w.task.CounterValue("crash_count") != 1 {
		t.Errorf("%+v", w.task)
	}
}

func TestANewVisitGivesASilentAgentNewPatience(t *testing.T) {
	w := working(t)
	w.fires(engine.Idle)
	w.perform()
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	w.body += "\n## Review\n\nVerdict: FAIL\n"
	w.to("reviewer", "working")
	w.perform()
	if d := w.fires(engine.Idle); d.Entries[0].Type != journal.AgentNudged {
		t.Errorf("%+v", d.Entries)
	}
}

func TestAnAgentAtItsLimitIsNoCrash(t *testing.T) {
	for _, heard := range []string{"before the end", "with the end"} {
		t.Run(heard, func(t *testing.T) {
			w := working(t)
			reset := w.now.Add(3 * time.Hour)
			exit := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Code: 1}
			limit := &task.Condition{Name: task.Limited, Until: reset}
			if heard == "before the end" {
				w.notices(1, limit, nil)
			} else {
				exit.Condition = limit
			}
			w.must(exit)
			if w.task.CounterValue("crash_count") != 0 || w.task.Crashed != "" || !w.task.RespawnAt.Equal(reset) || len(w.task.Attempts) != 0 {
				t.Fatalf("%+v", w.task)
			}
			w.fires(engine.Respawn)
			if !w.now.Equal(reset.Add(time.Second)) || w.task.Attempts[0].Number != 2 {
				t.Errorf("at %s: %+v", w.now, w.task.Attempts)
			}
		})
	}
}

func TestAHandoffCountsEvenAtTheLimit(t *testing.T) {
	w := working(t)
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Condition: &task.Condition{Name: task.Limited, Until: w.now.Add(time.Hour)}})
	if w.task.Status != "agent-review" {
		t.Errorf("%+v", w.task)
	}
}

func TestALivingAgentIsNotifiedThatItsLimitEnded(t *testing.T) {
	w := working(t)
	w.notices(1, &task.Condition{Name: task.Limited, Until: w.now.Add(2 * time.Hour)}, nil)
	d := w.fires(engine.LimitEnd)
	if got := effects(d.Entries); got != "notify_worker:worker" || w.task.Attempts[0].Condition.Name != task.Running {
		t.Errorf("%q, %+v", got, w.task.Attempts)
	}
}

func TestWhatAttemptsConsumeIsAddedUpOnce(t *testing.T) {
	w := working(t)
	w.notices(1, nil, &task.Usage{InputTokens: 100, OutputTokens: 10, CostMicroUSD: 5000})
	w.notices(1, nil, &task.Usage{InputTokens: 150, OutputTokens: 30, CostMicroUSD: 9000})
	if d := w.notices(1, nil, &task.Usage{InputTokens: 120, OutputTokens: 10, CostMicroUSD: 1}); d.Verdict != engine.Stay {
		t.Errorf("less than before: %s", d.Verdict)
	}
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Usage: &task.Usage{InputTokens: 160, OutputTokens: 31, CostMicroUSD: 9500}})
	want := task.Spend{Usage: task.Usage{InputTokens: 160, OutputTokens: 31, CostMicroUSD: 9500}, Day: "2026-01-02", DayAttempts: 1, DayCostMicroUSD: 9500}
	if w.task.Spent != want {
		t.Errorf("%+v", w.task.Spent)
	}
}

func TestAnAgentThatEndsBeforeAMessageIsReplacedWithIt(t *testing.T) {
	w := working(t)
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	w.body += "\n## Review\n\nVerdict: FAIL\n"
	w.to("reviewer", "working")
	for len(w.task.Pending) > 0 && w.task.Pending[0].Do != "notify_worker" {
		next := w.task.Pending[0]
		w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 2, Role: "reviewer"})
		w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: next.ID, OK: true}})
	}
	d := w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker"})
	if d.Verdict != engine.Stay || w.task.CounterValue("crash_count") != 0 || w.task.Status != "working" || len(w.task.Pending) != 1 {
		t.Fatalf("%s: %+v", d.Verdict, w.task)
	}
	if p := w.task.Pending[0]; !p.Start || p.Prompt != "worker-respawn" || p.Message != "review-failed" || p.Attempt != 3 {
		t.Errorf("%+v", p)
	}
}

func TestActionsOfAPerson(t *testing.T) {
	w := working(t)
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge}, "a merge is for one that waits for it")
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.to("reviewer", "reviewing")
	w.perform()
	w.refused(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: engine.VerbMerge}, "only a person may ask for that")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge, Arg: "merge"})
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge}, "merge is already in progress")
	p := w.task.Pending[0]
	if p.Do != "merge" || p.Arg != "merge" || p.By != task.ByPerson {
		t.Errorf("%+v", p)
	}
	w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: p.ID, Error: "a conflict in x", Final: true}})
	if len(w.task.Pending) != 0 || w.task.Attention != "merge failed: a conflict in x" {
		t.Fatalf("%+v", w.task)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge})
	w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: "pr:merged", Evidence: []signal.Evidence{{Name: "merged", Holds: true}}})
	if w.task.Status != "done" || w.task.Pending[0].Do != "merge" {
		t.Errorf("%+v", w.task)
	}
}

func TestAnAnswerIsWrittenAndSent(t *testing.T) {
	w := working(t)
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "blue"}, "working waits for no answer")
	w.to("worker", "clarification")
	d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "blue"})
	if got := effects(d.Entries); got != "write_section notify_worker:worker" || w.task.Status != "working" {
		t.Fatalf("%s, %s", got, w.task.Status)
	}
	write, tell := w.task.Pending[0], w.task.Pending[1]
	if write.Arg != "Answer" || write.Text != "blue" || tell.Prompt != workflow.MessageAnswer || tell.Text != "blue" {
		t.Errorf("%+v\n%+v", write, tell)
	}
}

func TestTheNoteOfARequestForChangesReachesTheWorker(t *testing.T) {
	w := working(t)
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.to("reviewer", "reviewing")
	w.perform()
	d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "request-changes", Note: "make it blue"})
	if got := effects(d.Entries); got != "write_section notify_worker:worker" {
		t.Fatal(got)
	}
	if p := w.task.Pending; p[0].Arg != "Feedback" || p[0].Text != "make it blue" || p[1].Text != "make it blue" {
		t.Errorf("%+v", p)
	}
}

func TestANewBranchIsGivenToTheWorktreeToo(t *testing.T) {
	w := working(t)
	d := w.must(signal.Signal{Kind: signal.Update, Actor: "worker", Attempt: 1, Fields: []signal.Field{{Name: "branch", To: "better"}}})
	if got := effects(d.Entries); got != "rename_branch" || w.task.Pending[0].Arg != "b" {
		t.Errorf("%q %+v", got, w.task.Pending)
	}
	idle := begin(t, "orange", false)
	d = idle.must(signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "branch", To: "better"}}})
	if got := effects(d.Entries); got != "" {
		t.Errorf("without a workspace: %q", got)
	}
}

func TestDeliveryChoosesTheEffectsOfAPassedReview(t *testing.T) {
	for delivery, want := range map[task.Delivery]string{
		"": "kill_reviewer:reviewer", task.DeliverLocal: "kill_reviewer:reviewer", task.DeliverPush: "kill_reviewer:reviewer push", task.DeliverPR: "kill_reviewer:reviewer push create_pr",
	} {
		w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
		w.send(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
			ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true, Delivery: delivery,
		}})
		w.perform()
		w.body = "## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n"
		w.to("worker", "working")
		w.to("worker", "agent-review")
		w.perform()
		w.body += "\n## Review\n\nVerdict: PASS\n"
		d := w.to("reviewer", "reviewing")
		if got := effects(d.Entries); got != want {
			t.Errorf("%q: %s", delivery, got)
		}
	}
}

func TestATaskThatBeginsWithQuestionsHasSomebodyToTalkTo(t *testing.T) {
	for _, free := range []bool{true, false} {
		w := &world{t: t, def: load(t, "orange"), now: start}
		if free {
			w.free = []string{"p--1"}
		}
		w.send(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: "000000000000000000001", Project: "p", Branch: "b", Spawn: true}})
		if w.task.Status != "clarification" || (len(w.task.Attempts) == 1) != free {
			t.Fatalf("free %t: %+v", free, w.task)
		}
		if free && w.task.Pending[1].Prompt != "clarification" {
			t.Errorf("%+v", w.task.Pending)
		}
	}
}

func TestWhatWaitsForAPerson(t *testing.T) {
	w := working(t)
	none := func(what string) {
		t.Helper()
		if it, ok := explain.InboxItem(w.def, w.task); ok {
			t.Errorf("%s: %+v", what, it)
		}
	}
	item := func(kind explain.ItemKind, do string) {
		t.Helper()
		it, ok := explain.InboxItem(w.def, w.task)
		if !ok || it.Kind != kind || !strings.Contains(narrate.FormatCommand(it.Action), do) || it.Text == "" || it.Since.IsZero() {
			t.Errorf("want %s: %t %+v", kind, ok, it)
		}
	}
	none("an agent at work")
	w.notices(1, &task.Condition{Name: task.WaitingPermission, Detail: "rm -r"}, nil)
	item(explain.ItemPermission, "orange task attach")
	w.notices(1, &task.Condition{Name: task.WaitingInput}, nil)
	item(explain.ItemInput, "orange task attach")
	w.notices(1, &task.Condition{Name: task.Limited, Until: w.now.Add(time.Hour)}, nil)
	none("a limit")
	w.to("worker", "clarification")
	item(explain.ItemQuestion, "orange task answer")
	w.to("worker", "working")
	w.notices(1, &task.Condition{Name: task.Running}, nil)
	w.end("worker")
	item(explain.ItemCrashed, "orange task respawn")
}

func TestTheInboxPutsWhatFreesOthersFirst(t *testing.T) {
	items := []explain.Item{
		{Task: "a", Since: start.Add(time.Hour)}, {Task: "b", Since: start}, {Task: "c", Since: start.Add(2 * time.Hour), Frees: 2}, {Task: "d", Since: start.Add(3 * time.Hour), Frees: 1},
	}
	explain.SortInbox(items)
	var got string
	for _, it := range items {
		got += string(it.Task)
	}
	if got != "cdba" {
		t.Error(got)
	}
}

func TestAnExitAfterItsOwnRequestIsNormal(t *testing.T) {
	w := working(t)
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.to("reviewer", "reviewing")
	w.perform()
	d := w.end("worker")
	if d.Verdict != engine.Stay || w.task.Crashed != "" || d.Entries[0].Reason != "its part is done" {
		t.Fatalf("%s, %+v", d.Verdict, d.Entries)
	}
	told := working(t)
	told.to("worker", "clarification")
	told.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "blue"})
	told.perform()
	if told.task.Attempts[0].Done {
		t.Error("what it was told since does not count")
	}
	told.to(task.Human, "clarification")
	if d := told.end("worker"); d.Verdict != engine.Crash || told.task.Crashed != "worker" {
		t.Errorf("%s, %+v", d.Verdict, told.task)
	}
}

func TestADeliveryThatWasGivenUpHoldsUpNoOther(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start}
	w.send(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Status: "reviewing", Delivery: task.DeliverPR,
	}})
	w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: w.task.Pending[0].ID, OK: true}})
	w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: w.task.Pending[0].ID, Error: "not logged in", Final: true}})
	for _, verb := range []string{engine.VerbCreatePR, engine.VerbMerge} {
		again := *w
		again.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb})
		if e, ok := engine.NextEffect(&again.task); !ok || e.By != task.ByPerson || again.task.Attention != "" {
			t.Errorf("%s: %+v", verb, again.task)
		}
	}
}

func TestATaskThatIsOverIsNotPaused(t *testing.T) {
	w := working(t)
	w.must(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	w.to(task.Human, "cancelled")
	if e, ok := engine.NextEffect(&w.task); !ok || e.Do != "kill_session" || w.task.Paused {
		t.Errorf("%+v", w.task)
	}
}

// After a conflict the help is to send the work back; after another failure of a merge that a
// person asked for it is to ask again. Old journals do not say what it was.
func TestAfterAMergeFailedTheHelpFollowsFromWhatItWas(t *testing.T) {
	w := working(t)
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	w.body += "\n## Review\n\nVerdict: PASS\n"
	w.to("reviewer", "reviewing")
	w.perform()
	fail := func(conflict *task.Conflict) explain.Item {
		t.Helper()
		w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge})
		w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: w.task.Pending[0].ID, Error: "no", Final: true, Do: workflow.MergeBranch, Conflict: conflict}})
		it, _ := explain.InboxItem(w.def, w.task)
		x := explain.Task(w.def, w.task, signal.Signal{Kind: signal.Request, Actor: task.Human, At: w.task.UpdatedAt})
		if narrate.FormatCommand(x.Cheapest.Action) != narrate.FormatCommand(it.Action) {
			t.Errorf("explain says %q, the inbox %q", narrate.FormatCommand(x.Cheapest.Action), narrate.FormatCommand(it.Action))
		}
		return it
	}
	id := string(w.task.ID)
	it := fail(&task.Conflict{Onto: "main", Files: []string{"a", "it's $(b)"}})
	if want := "orange task request-changes " + id + ` 'The branch conflicts with main. Run git rebase main, resolve the conflicts in a, it'\''s $(b), and test again.'`; narrate.FormatCommand(it.Action) != want || it.Verb != "request-changes" || it.Kind != explain.ItemAttention {
		t.Errorf("%+v, want %s", it, want)
	}
	if it := fail(nil); narrate.FormatCommand(it.Action) != "orange task merge "+id || it.Verb != engine.VerbMerge {
		t.Errorf("%+v", it)
	}
	w.task.GaveUp = nil
	if it, _ := explain.InboxItem(w.def, w.task); narrate.FormatCommand(it.Action) != "orange resume "+id || it.Verb != explain.VerbResume {
		t.Errorf("%+v", it)
	}
	it = fail(&task.Conflict{Onto: "main", Files: []string{"a"}})
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: it.Verb, Note: it.Note})
	if w.task.Status != "working" || w.task.GaveUp != nil || w.task.Attention != "" {
		t.Errorf("%+v", w.task)
	}
}

// In orange-direct nobody sends work back from reviewing: a person rebases and merges again.
func TestAfterAConflictWhereWorkIsNotSentBackTheMergeIsAskedForAgain(t *testing.T) {
	w := placed(t, "orange-direct", "reviewing")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge})
	w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{
		Effect: w.task.Pending[0].ID, Error: "no", Final: true, Do: workflow.MergeBranch, Conflict: &task.Conflict{Onto: "main", Files: []string{"a"}},
	}})
	it, _ := explain.InboxItem(w.def, w.task)
	if narrate.FormatCommand(it.Action) != "orange task merge "+string(w.task.ID) || it.Verb != engine.VerbMerge {
		t.Errorf("%+v", it)
	}
}
