package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/narrate"
)

// again makes sure that every decision of the journal is made the same way once more.
func again(t *testing.T, w *world) {
	t.Helper()
	replayed, err := engine.Redecide(w.def, w.log)
	if err != nil {
		t.Fatal(err)
	}
	if first, n := replayed.FirstDivergence(); n > 0 {
		t.Errorf("%d decisions differ, the first: %s", n, cmp.Diff(first.Want, first.Got))
	}
}

func TestATaskOlderThanItsFolderIsHeldAndUsesNoNumberTwice(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: newTask(func(n *signal.New) { n.Spawn = true })})
	owed, seq := len(w.task.Pending), w.task.Seq
	if owed == 0 || len(w.task.Attempts) != 1 {
		t.Fatalf("%+v", w.task)
	}
	w.must(signal.Signal{Kind: signal.Restore, Actor: task.Human, Lost: &signal.Lost{
		Events: []string{"effect.done", "status.changed planning -> working"}, Status: "working",
		AttemptCounts: []task.AttemptTally{{Role: "worker", Count: 3}},
	}})
	got := w.task
	if got.Seq != seq+4 || got.Status != "planning" || !got.Paused || len(got.Pending)+len(got.Attempts) > 0 || got.Workspace != "" {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(got.Attention, "the record says planning, history.jsonl says working") || got.AttemptCount() != 3 {
		t.Errorf("%q, %d", got.Attention, got.AttemptCount())
	}
	var types []journal.Type
	for _, e := range w.log[seq:] {
		types = append(types, e.Type)
	}
	if want := []journal.Type{journal.EntryLost, journal.EntryLost, journal.TaskRestored, journal.TaskPaused}; !slices.Equal(types, want) {
		t.Errorf("%q", types)
	}
	if n := len(engine.Timers(w.def, &w.task)); n > 0 {
		t.Errorf("%d timers", n)
	}
	for _, kind := range []signal.Kind{signal.Resume, signal.Request, signal.Tracker} { // signals from before the store was lost come again
		d := w.send(signal.Signal{Kind: kind, Actor: task.Tracker, To: "cancelled", Word: signal.PRMerged})
		if !strings.HasSuffix(d.Refused, "only a person may move or resume the task") {
			t.Errorf("%s: %q", kind, d.Refused)
		}
	}
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	again(t, w)
	d := w.send(signal.Signal{Kind: signal.Restore, Actor: task.Engine, Lost: &signal.Lost{Events: []string{"x"}}})
	if d.Refused != "only a person may restore a task" {
		t.Errorf("%q", d.Refused)
	}
}

func TestOnlyAPauseByARestoreKeepsTrackersAway(t *testing.T) {
	for name, tt := range map[string]struct {
		pause   signal.Signal
		refused bool
	}{
		"restore": {signal.Signal{Note: "its folder is gone", PauseCause: task.PausedByRestore}, true},
		"request": {signal.Signal{Note: "the store was restored, I look at it tomorrow"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
			w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: newTask(func(n *signal.New) { n.Spawn = true })})
			tt.pause.Kind, tt.pause.Actor = signal.Pause, task.Human
			w.must(tt.pause)
			d := w.send(signal.Signal{Kind: signal.Resume, Actor: task.Tracker})
			if (d.Refused != "") != tt.refused {
				t.Errorf("refused: %q", d.Refused)
			}
			if w.send(signal.Signal{Kind: signal.Resume, Actor: task.Human}); w.task.Paused || w.task.PauseCause != "" {
				t.Errorf("after a person resumed it: %+v", w.task.Waiting)
			}
			again(t, w)
		})
	}
}

func TestATaskThatIsOverIsNotHeldForItsLastReceipts(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: newTask(func(n *signal.New) { n.Spawn = true })})
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, To: "cancelled"})
	before := effects([]journal.Entry{{EffectChanges: journal.EffectChanges{Effects: w.task.Pending}}})
	w.must(signal.Signal{Kind: signal.Restore, Actor: task.Human, Lost: &signal.Lost{Events: []string{"effect.done"}, Status: "cancelled", Workspace: w.task.Workspace}})
	got := effects([]journal.Entry{{EffectChanges: journal.EffectChanges{Effects: w.task.Pending}}})
	if w.task.Paused || w.task.Attention != "" || !strings.Contains(got, "release_workspace") || strings.Contains(got, "spawn_agent") {
		t.Errorf("%+v: %q, was %q", w.task, got, before)
	}
	again(t, w)
}

func TestATaskRestoredInTheSameStateSaysWhatIsMissing(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: newTask(func(n *signal.New) { n.Spawn = true })})
	w.must(signal.Signal{Kind: signal.Restore, Actor: task.Human, Lost: &signal.Lost{Events: []string{"effect.done", "effect.done"}, Status: w.task.Status}})
	if !strings.Contains(w.task.Attention, "both the record and history.jsonl say planning, but the record lacks the last 2 lines") {
		t.Errorf("%q", w.task.Attention)
	}
	again(t, w)
}

func TestAStuckTaskWithoutAnAgentOffersToStartOne(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: newTask(func(n *signal.New) { n.Spawn = true })})
	w.task.Status, w.task.Pending = "stuck", nil
	it, _ := explain.InboxItem(w.def, w.task)
	if narrate.FormatCommand(it.Action) != "orange task attach "+string(w.task.ID) {
		t.Errorf("while the worker lives: %q", narrate.FormatCommand(it.Action))
	}
	w.task.Attempts = nil
	it, _ = explain.InboxItem(w.def, w.task)
	if narrate.FormatCommand(it.Action) != "orange task respawn "+string(w.task.ID) {
		t.Errorf("without an agent: %q", narrate.FormatCommand(it.Action))
	}
}

// A restore ends the agents of a task that it holds, and a resume starts none: the task asks for one until a person starts
// it.
func TestAResumedTaskWhoseAgentARestoreEndedAsksForOne(t *testing.T) {
	w := &world{t: t, def: load(t, "orange"), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: newTask(func(n *signal.New) { n.Spawn = true })})
	w.must(signal.Signal{Kind: signal.Restore, Actor: task.Human, Lost: &signal.Lost{
		Events: []string{"effect.done"}, Status: w.task.Status, AttemptCounts: []task.AttemptTally{{Role: "worker", Count: 1}},
	}})
	item := func() (string, string) {
		it, ok := explain.InboxItem(w.def, w.task)
		if !ok {
			return "", ""
		}
		return it.Text, narrate.FormatCommand(it.Action)
	}
	if _, do := item(); do != "orange resume "+string(w.task.ID) {
		t.Errorf("while it is held: %q", do)
	}
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	if text, do := item(); text != "no worker is at work" || do != "orange task respawn "+string(w.task.ID) {
		t.Errorf("when it is resumed: %q, %q", text, do)
	}
	if x := explain.Task(w.def, w.task, signal.Signal{At: w.now}); !strings.Contains(x.Why, "no worker lives") || x.Cheapest.Action.Verb != engine.Respawn {
		t.Errorf("%s owns it: %s; %+v", x.Owner, x.Why, x.Cheapest)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	if text, do := item(); text != "" {
		t.Errorf("when one is started: %q, %q", text, do)
	}
	again(t, w)
}

func TestATaskThatOnlyItsFolderKnowsIsImported(t *testing.T) {
	for name, tt := range map[string]struct {
		workflow, status, want string
		held                   bool
	}{
		"work":                     {"orange", "working", "stuck", false},
		"over":                     {"orange", "done", "done", false},
		"a state nobody knows":     {"orange", "junk", "stuck", false},
		"another name for stuck":   {"joan-board", "", "halted", false},
		"a workflow without halts": {"loose", "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{t: t, now: start}
			if tt.workflow == "loose" {
				w.def = parse(t, loose)
			} else {
				w.def = load(t, tt.workflow)
			}
			if tt.status == "" {
				tt.status = w.def.States[0].Name
			}
			if tt.want == "" {
				tt.want = tt.status
			}
			w.must(signal.Signal{Kind: signal.Import, Actor: task.Human, New: newTask(func(n *signal.New) { n.Status, n.Workspace = tt.status, "p--1" }),
				Lost: &signal.Lost{Events: []string{"agent.spawned"}, Status: tt.status, Workspace: "p--1", AttemptCounts: []task.AttemptTally{{Role: "worker", Count: 1}}}})
			got := w.task
			if got.Status != tt.want || got.Paused != tt.held || got.Workspace != "p--1" || got.AttemptCount() != 1 || len(got.Pending) > 0 {
				t.Errorf("%+v", got)
			}
			if !strings.Contains(got.StateReason, "its status was "+tt.status) {
				t.Errorf("%q", got.StateReason)
			}
			again(t, w)
		})
	}
}
