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
	"orange/internal/view/narrate"
)

// breaks is the exit of the worker before its first turn, with what it showed last.
func (w *world) breaks(last string) engine.Decision {
	w.t.Helper()
	return w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker", Code: 1, Unstarted: true, Last: last})
}

func TestAnAgentThatCouldNotStartIsTriedAgainLater(t *testing.T) {
	for _, mode := range []string{"now", "auto", "manual"} {
		t.Run(mode, func(t *testing.T) {
			w := beginWith(t, respawning(mode))
			for _, wait := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute} {
				w.perform()
				d := w.breaks("booting\n│ missing FOO │\n")
				e := d.Entries[0]
				if e.Type != journal.AgentNotBegun || e.Reason != "booting missing FOO (code 1)" || !e.RespawnAt.Equal(e.At.Add(wait)) || effects(d.Entries) != "" {
					t.Fatalf("%+v, effects %q", e, effects(d.Entries))
				}
				it, ok := explain.InboxItem(w.def, w.task)
				if !ok || it.Kind != explain.ItemNotStarted || !strings.Contains(it.Text, "missing FOO") || !strings.Contains(narrate.FormatCommand(it.Action), "task respawn") {
					t.Errorf("%+v", it)
				}
				if x := explain.Task(w.def, w.task, signal.Signal{At: w.now}); !strings.Contains(x.Why, "could not start and is started again later: booting missing FOO") {
					t.Errorf("%q", x.Why)
				}
				w.fires(engine.Respawn)
				if it, ok := explain.InboxItem(w.def, w.task); ok {
					t.Errorf("it is tried again, and the inbox says %+v", it)
				}
			}
			w.perform()
			d := w.breaks("missing FOO")
			if effects(d.Entries) != "" || !w.task.RespawnAt.IsZero() || !strings.Contains(w.task.WorkFailed, "could not start 4 times: missing FOO") {
				t.Fatalf("effects %q, %+v", effects(d.Entries), w.task)
			}
			if timers := engine.Timers(w.def, &w.task); len(timers) != 0 {
				t.Errorf("something goes on by itself: %+v", timers)
			}
			if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Kind != explain.ItemNotStarted || !strings.Contains(it.Text, "missing FOO") || !strings.Contains(narrate.FormatCommand(it.Action), "task respawn") {
				t.Errorf("%+v", it)
			}
			if w.task.Status != "working" || w.task.CounterValue("crash_count") != 0 || w.task.Crashed != "" {
				t.Errorf("it counts as a crash: %+v", w.task)
			}
			again, err := engine.Redecide(w.def, stored(t, w.log))
			if first, n := again.FirstDivergence(); err != nil || n != 0 {
				t.Errorf("%v, decided differently again: %+v", err, first)
			}
		})
	}
}

func TestAPersonResetsTheTries(t *testing.T) {
	w := beginWith(t, respawning("auto"))
	for range engine.StartTries {
		w.perform()
		w.breaks("missing FOO")
		w.fires(engine.Respawn)
	}
	w.perform()
	w.breaks("missing FOO")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	if w.task.WorkFailed != "" || w.task.Unstarted != nil {
		t.Fatalf("%+v", w.task)
	}
	w.perform()
	if d := w.breaks("missing FOO"); !d.Entries[0].RespawnAt.Equal(d.Entries[0].At.Add(time.Minute)) {
		t.Errorf("%+v", d.Entries[0])
	}
}

func TestTheResultOfAnAgentThatEndsImmediatelyCounts(t *testing.T) {
	w := beginWith(t, respawning("auto"))
	w.perform()
	w.body = "## Handoff\n\nDONE: all\n"
	if w.breaks(""); w.task.Status != "done" {
		t.Errorf("%+v", w.task)
	}
}

func TestAnAgentThatOrangeEndedDidNotFailToStart(t *testing.T) {
	w := beginWith(t, respawning("auto"))
	w.perform()
	w.fires(engine.Deadline)
	if d := w.breaks(""); d.Entries[0].Type != journal.AgentCrashed {
		t.Errorf("%+v", d.Entries[0])
	}
}

func TestACrashSaysFirstWhatTheAgentShowedLast(t *testing.T) {
	w := beginWith(t, respawning("auto"))
	w.perform()
	d := w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker", Code: 1, Last: "one\ntwo\nthree\n\x1b[31mout of memory\x1b[0m\n"})
	if e := d.Entries[0]; e.Type != journal.AgentCrashed || !strings.HasPrefix(e.Reason, "two three out of memory; the worker ended (code 1): TASK.md has no ## Handoff") {
		t.Errorf("%+v", e)
	}
	got := w.reasons("what the output says now")
	if len(got) != 1 || got[0].Kind != explain.BecauseOfCrash || !strings.HasPrefix(got[0].Text, "    one\n    two\n    three\n") {
		t.Errorf("%+v", got)
	}
	w = beginWith(t, respawning("auto"))
	w.perform()
	w.breaks("no key")
	if got := w.reasons(""); len(got) != 1 || got[0].Kind != explain.BecauseOfStart || got[0].Text != "    no key\n\nno key (code 1)" {
		t.Errorf("%+v", got)
	}
}

func TestALivingAgentThatNeedsAPerson(t *testing.T) {
	for name, want := range map[string]struct {
		kind explain.ItemKind
		text string
	}{
		task.NotStarted: {explain.ItemNotStarted, "the worker has not started and its screen does not change: Select login method"},
		task.TurnFailed: {explain.ItemTurnFailed, "the turn of the worker failed: Select login method"},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginWith(t, respawning("auto"))
			w.perform()
			w.notices(1, &task.Condition{Name: name, Detail: "Select login method"}, nil)
			it, ok := explain.InboxItem(w.def, w.task)
			if !ok || it.Kind != want.kind || it.Text != want.text || !strings.Contains(narrate.FormatCommand(it.Action), "task attach") {
				t.Errorf("%+v", it)
			}
			if timers := engine.Timers(w.def, &w.task); len(timers) != 0 {
				t.Errorf("it is ended or told to go on: %+v", timers)
			}
			x := explain.Task(w.def, w.task, signal.Signal{At: w.now})
			if x.Owner != explain.APerson || !strings.Contains(x.Why, want.text) || !strings.Contains(narrate.FormatCommand(x.Cheapest.Action), "task attach") {
				t.Errorf("%+v", x)
			}
			w.notices(1, &task.Condition{Name: task.Running}, nil)
			if it, ok := explain.InboxItem(w.def, w.task); ok {
				t.Errorf("it runs, and the inbox says %+v", it)
			}
		})
	}
}

// An agent that started after all is not said to have failed to.
func TestAnAgentThatStartedInTheEndCouldStart(t *testing.T) {
	for _, c := range []struct {
		name string
		exit signal.Signal
		kind explain.ItemKind
	}{
		{"it asks", signal.Signal{Final: asks}, explain.ItemIdle},
		{"it said nothing useful", signal.Signal{Final: "I looked around."}, explain.ItemNoAnswer},
		{"it crashed", signal.Signal{Code: 1}, explain.ItemCrashed},
		{"it ended with others", signal.Signal{Code: 1, Mass: signal.MassReboot}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workingNow(t)
			w.breaks("no key")
			w.fires(engine.Respawn)
			w.perform()
			c.exit.Kind, c.exit.Actor, c.exit.Role = signal.Exit, task.Engine, "worker"
			w.must(c.exit)
			if w.task.Unstarted != nil || w.inboxKind() != c.kind {
				t.Errorf("%+v, item %q", w.task.Unstarted, w.inboxKind())
			}
			w.decidedAgain()
		})
	}
}
