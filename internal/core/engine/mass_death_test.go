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

// falls is the exit of a role's living attempt together with others.
func (w *world) falls(role, mass, note string) engine.Decision {
	w.t.Helper()
	return w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: role, Code: -1, Mass: mass, Note: note})
}

func TestAnAgentThatDiesWithOthersHasNotCrashed(t *testing.T) {
	for _, mode := range []string{"now", "auto", "manual"} {
		for mass, want := range map[string]string{
			signal.MassReboot: "the machine was restarted", signal.MassTmux: "tmux ended with several agents",
			signal.MassShims: "several agents and their attendants ended at the same time",
		} {
			t.Run(mode+" "+mass, func(t *testing.T) {
				w := beginWith(t, respawning(mode))
				w.perform()
				d := w.falls("worker", mass, "")
				e := d.Entries[0]
				if e.Type != journal.AgentLost || e.Reason != want || e.Snapshot.Mass != mass || effects(d.Entries) != "spawn_agent:worker+" {
					t.Fatalf("%+v, effects %q", e, effects(d.Entries))
				}
				if w.task.CounterValue("crash_count") != 0 || w.task.Crashed != "" || w.task.WorkFailed != "" || len(w.task.Attempts) != 1 {
					t.Errorf("%+v", w.task)
				}
			})
		}
	}
}

func TestWhatAnAgentLeftCountsEvenIfItDiedWithOthers(t *testing.T) {
	w := beginWith(t, respawning("auto"))
	w.perform()
	w.body = "## Handoff\n\nDONE: all\n"
	if w.falls("worker", signal.MassTmux, ""); w.task.Status != "done" {
		t.Errorf("%+v", w.task)
	}
}

func TestMassDeathsThatRepeatAreHeldForAPerson(t *testing.T) {
	const note = "tmux ended together with 3 other agents"
	w := beginWith(t, respawning("auto"))
	for range 2 {
		w.perform()
		w.now = w.now.Add(4 * time.Minute)
		w.falls("worker", signal.MassTmux, note)
	}
	w.perform()
	w.now = w.now.Add(time.Minute)
	d := w.falls("worker", signal.MassTmux, note)
	if effects(d.Entries) != "" || w.task.CounterValue("crash_count") != 0 || !strings.Contains(w.task.WorkFailed, "3 times within 10 minutes") || !strings.Contains(w.task.WorkFailed, note) {
		t.Fatalf("effects %q, %+v", effects(d.Entries), w.task)
	}
	if timers := engine.Timers(w.def, &w.task); len(timers) != 0 {
		t.Errorf("something goes on by itself: %+v", timers)
	}
	x := explain.Task(w.def, w.task, signal.Signal{At: w.now})
	if x.Owner != "a person" || !strings.Contains(x.Why, note) || !strings.Contains(narrate.FormatCommand(x.Cheapest.Action), "task respawn") {
		t.Errorf("%+v", x)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	w.perform()
	if d := w.falls("worker", signal.MassTmux, note); effects(d.Entries) != "spawn_agent:worker+" || w.task.WorkFailed != "" {
		t.Errorf("after a person looked: effects %q, held %q", effects(d.Entries), w.task.WorkFailed)
	}
}

func TestMassDeathsThatAreFarApartAreNotHeld(t *testing.T) {
	w := beginWith(t, respawning("auto"))
	for range 6 {
		w.perform()
		w.now = w.now.Add(6 * time.Minute)
		if w.falls("worker", signal.MassReboot, ""); w.task.WorkFailed != "" || len(w.task.Attempts) != 1 {
			t.Fatalf("%+v", w.task)
		}
	}
	w.task.WorkFailed = "the work failed"
	if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Kind != explain.ItemFailed {
		t.Errorf("held for another reason: %+v", it)
	}
}
