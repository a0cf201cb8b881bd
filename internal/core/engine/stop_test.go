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

// stopOf is a person's request to stop an agent, of a role or the one at work.
func stopOf(role, words string) signal.Signal {
	return signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbStop, Role: role, Note: words}
}

func restart() signal.Signal {
	return signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn}
}

func TestAPersonStopsAnAgentAndTheTaskStays(t *testing.T) {
	w := workingNow(t)
	visit, crashes := w.task.Visit, w.task.CounterValue("crash_count")
	d := w.must(stopOf("", "it reads\nthe wrong files"))
	if e := d.Entries[0]; d.Verdict != engine.Record || len(d.Entries) != 1 || e.Type != journal.AgentStopped || e.Role != "worker" || e.Note == "" || !slices.Equal(e.Ending, []int{1}) {
		t.Errorf("%s %+v", d.Verdict, d.Entries)
	}
	if w.task.WorkFailed != "a person stopped the worker: it reads the wrong files" || w.task.Stopped == nil || w.task.Stopped.Attempt != 1 || w.task.Stopped.Role != "worker" || !w.task.Stopped.At.Equal(d.Entries[0].At) {
		t.Errorf("held %q, stopped %+v", w.task.WorkFailed, w.task.Stopped)
	}
	w.refused(stopOf("", ""), "the worker is being ended already")
	if did := w.perform(); !slices.Equal(did, []string{"kill_agent"}) {
		t.Errorf("effects %v", did)
	}
	if got := w.timers(); got != "" || len(w.task.Attempts) > 0 {
		t.Errorf("timers %q, attempts %+v", got, w.task.Attempts)
	}
	if w.task.Status != "working" || w.task.Visit != visit || w.task.Workspace == "" || w.task.CounterValue("crash_count") != crashes || w.task.Crashed != "" || w.task.Attention != "" {
		t.Errorf("%s, visit %d, crashed %q, attention %q", w.task.Status, w.task.Visit, w.task.Crashed, w.task.Attention)
	}
	w.refused(stopOf("", ""), "no worker of the task lives, so there is nothing to stop")
	w.must(restart())
	if did := w.perform(); !slices.Equal(did, []string{"spawn_agent"}) {
		t.Errorf("effects %v", did)
	}
	if a, ok := w.task.LiveAttempt("worker"); !ok || a.Number != 2 || w.task.WorkFailed != "" || w.task.Stopped != nil {
		t.Errorf("%+v, held %q, stopped %+v", w.task.Attempts, w.task.WorkFailed, w.task.Stopped)
	}
	w.decidedAgain()
}

func TestAStoppedAgentThatEndsByItselfFirstIsNoCrash(t *testing.T) {
	w := workingNow(t)
	w.must(stopOf("", ""))
	w.body += "\n## Handoff\n\nDONE: x\n"
	d := w.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker", Code: 1})
	if len(d.Entries) != 1 || d.Entries[0].Type != journal.AgentExited || d.Entries[0].Reason != "as ordered" || w.task.Status != "working" {
		t.Errorf("%s %+v", w.task.Status, d.Entries)
	}
	own := signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "agent-review"}
	w.refused(own, "attempt 1 is over or never was")
	w.must(restart())
	if did := w.perform(); !slices.Equal(did, []string{"kill_agent", "spawn_agent"}) {
		t.Errorf("effects %v", did)
	}
	w.decidedAgain()
}

func TestWhoMayNotStopAndWhatCannotBeStopped(t *testing.T) {
	w := workingNow(t)
	own := stopOf("", "")
	own.Actor, own.Attempt = "worker", 1
	w.refused(own, "only a person may stop an agent")
	for _, who := range []task.Actor{task.Tracker, task.Engine} {
		other := stopOf("", "")
		other.Actor = who
		w.refused(other, "only a person may stop an agent")
	}
	w.refused(stopOf("painter", ""), `role "painter" is not known`)
	w.refused(stopOf("reviewer", ""), "no reviewer of the task lives")
	w.refused(stopOf("", "\xff"), "give UTF-8")
	w.send(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	w.refused(stopOf("", ""), "the task is paused, and nothing ends until it goes on: orange resume "+string(w.task.ID))
	w.send(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	w.now = w.now.Add(24 * time.Hour)
	w.fires(engine.Deadline)
	w.refused(stopOf("", ""), "attempt 1 of the worker is being ended at its deadline")

	w = workingNow(t)
	w.must(forceRespawn())
	w.refused(stopOf("", ""), "attempt 2 of the worker is still being started")
	w.perform()
	w.end("worker")
	w.refused(stopOf("", ""), "no worker of the task lives: keep Orange from starting one with orange pause")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	w.perform()
	w.refused(stopOf("", ""), "the task is over: it is cancelled")
}

func TestAStopHasAVerbThatAFileMayUse(t *testing.T) {
	def := parse(t, strings.Replace(speaking, "  - {from: silent, to: working, as: resume, by: [human]}", "  - {from: working, to: halted, as: stop, by: [human]}", 1))
	w := runningBy(t, def)
	if d := w.must(stopOf("", "")); d.Verdict != engine.Advance && d.Verdict != engine.Halt || w.task.Status != "halted" {
		t.Errorf("%s, in %s: the edge of the file comes first", d.Verdict, w.task.Status)
	}
}

// runningBy is a world of a workflow whose worker starts at once.
func runningBy(t *testing.T, def *workflow.Definition) *world {
	t.Helper()
	w := &world{t: t, def: def, now: start, free: []string{"p--1"}}
	w.send(signal.Signal{Kind: signal.Create, Rules: engine.Rules, Actor: task.Human, New: &signal.New{ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true}})
	w.perform()
	return w
}

func TestAMessageToAStoppedAgentReachesTheNextOne(t *testing.T) {
	for _, c := range []struct {
		name string
		owe  func(w *world)
		then func(w *world)
		want []string // the messages of the next worker, in order: of its prompt, and after it
	}{
		{"a message", func(w *world) { w.must(messageTo("", "Use the blue one")) }, nil, []string{"person-message: Use the blue one"}},
		{"two messages", func(w *world) { w.must(messageTo("", "Use the blue one")); w.must(messageTo("", "And hurry")) }, nil, []string{"person-message: Use the blue one\n\nAnd hurry"}},
		{"an edit and two messages", func(w *world) {
			w.must(editTo("do it better", ""))
			w.must(messageTo("", "Use the blue one"))
			w.must(editTo("do it well", ""))
		}, nil, []string{"person-message: Use the blue one"}},
		{"an answer", func(w *world) { w.turnEnds(1, "Red or blue?"); w.answer("Take blue") }, nil, []string{"replied: Take blue"}},
		{"an edit", func(w *world) { w.must(editTo("do it better", "")) }, nil, []string{"task-edited: "}},
		{"a reminder", func(w *world) { w.now = w.now.Add(time.Hour); w.fires(engine.Idle) }, nil, nil},
		{"a message, and the task moves", func(w *world) { w.must(messageTo("", "Use the blue one")) }, func(w *world) {
			w.to(task.Human, "clarification")
			w.perform()
			w.to(task.Human, "working")
		}, []string{"person-message: Use the blue one"}},
		{"an answer, and the task moves", func(w *world) { w.turnEnds(1, "Red or blue?"); w.answer("Take blue") }, func(w *world) {
			w.to(task.Human, "clarification")
			w.perform()
			w.to(task.Human, "working")
		}, nil},
		{"a message, and the task is reopened", func(w *world) { w.must(messageTo("", "Use the blue one")) }, func(w *world) {
			w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
			w.perform()
			w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Reopen})
			w.send(signal.Signal{Kind: signal.Ready, Actor: task.Engine})
		}, []string{"person-message: Use the blue one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workingNow(t)
			c.owe(w)
			w.must(stopOf("", ""))
			for _, p := range w.task.Pending {
				if p.Attempt == 1 && !strings.HasPrefix(p.Do, "kill") {
					t.Errorf("%s to the stopped agent is still pending, and delays its end", p.Do)
				}
			}
			w.perform()
			if c.then != nil {
				c.then(w)
			} else {
				w.must(restart())
			}
			var got []string
			for _, p := range w.task.Pending {
				switch info, _ := workflow.EffectNamed(p.Do); {
				case p.Attempt != 2:
				case p.Start && p.Message != "":
					got = append(got, p.Message+": "+p.Text)
				case info.Notifies && !p.Start:
					got = append(got, p.Prompt+": "+p.Text)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the next worker gets %q, want %q\n%+v", got, c.want, w.task.Pending)
			}
			if w.perform(); len(w.task.Undelivered) > 0 {
				t.Errorf("still kept: %+v", w.task.Undelivered)
			}
			w.decidedAgain()
		})
	}
}

func TestAnAgentThatIsNotNeededIsStoppedWithoutHoldingTheTask(t *testing.T) {
	w := workingNow(t)
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	w.must(stopOf("worker", ""))
	w.perform()
	if w.task.WorkFailed != "" || w.task.Stopped != nil {
		t.Errorf("held %q: the reviewer works", w.task.WorkFailed)
	}
	if _, lives := w.task.LiveAttempt("reviewer"); !lives || len(w.task.Attempts) != 1 {
		t.Errorf("attempts %+v", w.task.Attempts)
	}
	w.must(stopOf("", "")) // the one at work
	if w.perform(); w.task.WorkFailed == "" || w.task.Stopped == nil || w.task.Stopped.Role != "reviewer" {
		t.Errorf("held %q, stopped %+v", w.task.WorkFailed, w.task.Stopped)
	}
	w.refused(stopOf("", ""), "no reviewer of the task lives")
	w.must(restart())
	w.perform()
	w.body += "\n## Review\n\nVerdict: FAIL\n"
	w.to("reviewer", "working")
	w.perform()
	if _, lives := w.task.LiveAttempt("worker"); !lives || w.task.WorkFailed != "" || w.task.Stopped != nil {
		t.Errorf("attempts %+v, held %q", w.task.Attempts, w.task.WorkFailed)
	}
	w.decidedAgain()
}

func TestWhereAPersonDecidesTheOnlyAgentIsStopped(t *testing.T) {
	w := workingNow(t)
	w.to("worker", "clarification")
	w.perform()
	w.must(stopOf("", ""))
	w.perform()
	if w.task.WorkFailed != "" || len(w.task.Attempts) > 0 || w.task.Crashed != "" || w.inboxKind() != explain.ItemQuestion {
		t.Errorf("held %q, attempts %+v, crashed %q, %s", w.task.WorkFailed, w.task.Attempts, w.task.Crashed, w.inboxKind())
	}
	w.refused(stopOf("", ""), "no worker of the task lives")
	w.decidedAgain()
}

func TestAStopWaitsForWhatIsInItsWay(t *testing.T) {
	w := workingNow(t)
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbSend, Note: "hello"})
	e, _ := engine.NextEffect(&w.task)
	w.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, Final: true, Error: "it does not listen"}})
	if w.task.Attention == "" {
		t.Fatal("the message was not given up")
	}
	w.must(stopOf("", ""))
	if did := w.perform(); !slices.Equal(did, []string{"kill_agent"}) || w.task.Attention != "" {
		t.Errorf("effects %v, attention %q: a message that was given up keeps the agent alive", did, w.task.Attention)
	}

	w = workingNow(t)
	w.must(editTo("", "other requirements"))
	e, _ = engine.NextEffect(&w.task)
	w.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, Final: true, Error: "the disk is full"}})
	w.refused(stopOf("", ""), e.Do+" was given up, and what follows waits for it: orange resume "+string(w.task.ID))
}

func TestAStopThatFailsNeedsAttentionFirst(t *testing.T) {
	w := workingNow(t)
	w.must(stopOf("", ""))
	e, _ := engine.NextEffect(&w.task)
	w.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, Final: true, Error: "it does not end"}})
	if w.inboxKind() != explain.ItemAttention || w.task.WorkFailed == "" {
		t.Errorf("%s, held %q", w.inboxKind(), w.task.WorkFailed)
	}
	w.must(restart())
	if next, ok := engine.NextEffect(&w.task); ok {
		t.Errorf("%s runs although the old agent may live", next.Do)
	}
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	if did := w.perform(); !slices.Equal(did, []string{"kill_agent", "spawn_agent"}) {
		t.Errorf("effects %v", did)
	}
}

func TestAStoppedTaskWaitsForAPersonAndHasNotFailed(t *testing.T) {
	w := workingNow(t)
	w.send(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Condition: &task.Condition{Name: task.WaitingPermission, Detail: "rm -rf"}})
	w.must(stopOf("", "wrong way"))
	stopped := w.now
	for _, step := range []string{"ordered", "ended"} {
		it, ok := explain.InboxItem(w.def, w.task)
		if !ok || it.Kind != explain.ItemStopped || !strings.HasPrefix(it.Text, "you stopped the worker: wrong way") || it.Verb != engine.Respawn || !it.Since.Equal(w.task.Stopped.At) || it.Since.After(stopped) {
			t.Errorf("%s: %+v", step, it)
		}
		if cmd := narrate.FormatCommand(it.Action); cmd != "orange task respawn "+string(w.task.ID) {
			t.Errorf("%s: %s", step, cmd)
		}
		if info := it.Kind.Info(); info.Alarming || !it.Kind.WaitsForPerson() || strings.Contains(info.Badge+info.Notice+it.Text, "fail") {
			t.Errorf("%s: %+v", step, info)
		}
		w.perform()
	}
	x := explain.Task(w.def, w.task, signal.Signal{At: w.now})
	if x.Owner != explain.APerson || !strings.Contains(x.Why, "a person stopped the worker: wrong way") || x.Cheapest.Action.Verb != engine.Respawn {
		t.Errorf("%s: %s; %+v", x.Owner, x.Why, x.Cheapest)
	}
}
