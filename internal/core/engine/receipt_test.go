package engine_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// receipt is how an effect went; an empty text means well.
func receipt(id, problem string) signal.Signal {
	return signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: id, OK: problem == "", Error: problem}}
}

func TestReceiptsComeInTheOrderOfTheEffects(t *testing.T) {
	w := begin(t, "orange", true)
	first, second := w.task.Pending[0].ID, w.task.Pending[1].ID
	w.refused(receipt(second, ""), "effect "+second+" is not the next one: "+first+" comes first")
	w.must(receipt(first, ""))
	w.refused(receipt(first, ""), "effect "+first+" is not pending: its result is known already")
	w.refused(receipt("000000000000000000001/9/9", ""), "is not pending")
	d := w.must(receipt(second, ""))
	e := d.Entries[0]
	if e.Type != journal.AgentSpawned || e.Role != "worker" || e.Attempt != 1 || e.StartedIn != "p--1" || e.Reason != "spawn_agent" {
		t.Errorf("%+v", e)
	}
	if a, _ := w.task.LiveAttempt("worker"); !a.Running || len(w.task.Pending) != 0 {
		t.Errorf("%+v", w.task)
	}
}

func TestAFailedEffectIsTriedLaterAndLaterUntilItIsGivenUp(t *testing.T) {
	w := begin(t, "orange", true)
	id := w.task.Pending[0].ID
	for n, delay := range []time.Duration{1, 2, 4, 8, 16} {
		d := w.must(receipt(id, "no luck"))
		e := d.Entries[0]
		if e.Type != journal.EffectFailed || e.Tries != n+1 || e.RetryAt.Sub(w.now) != delay*time.Second {
			t.Errorf("try %d: %+v", n+1, e)
		}
		if p, ok := engine.NextEffect(&w.task); !ok || p.ID != id || !p.NotBefore.Equal(e.RetryAt) || p.Error != "no luck" {
			t.Errorf("next: %+v", p)
		}
	}
	d := w.must(receipt(id, "no luck"))
	if d.Entries[0].Type != journal.EffectGaveUp || w.task.Attention != "acquire_workspace failed 6 times: no luck" {
		t.Errorf("%+v", d.Entries[0])
	}
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	if p := w.task.Pending[0]; p.GivenUp || p.Tries != 0 || !p.NotBefore.IsZero() || w.task.Attention != "" {
		t.Errorf("after resume: %+v, %q", p, w.task.Attention)
	}
}

func TestAFinalFailureOfAnEffectIsGivenUpImmediately(t *testing.T) {
	w := begin(t, "orange", true)
	sig := receipt(w.task.Pending[0].ID, "no such branch")
	sig.Result.Final = true
	w.must(sig)
	if !w.task.Pending[0].GivenUp || w.task.Attention != "acquire_workspace failed: no such branch" {
		t.Errorf("%+v, %q", w.task.Pending[0], w.task.Attention)
	}
}

func TestAMoveForgetsWhatWasGivenUpAndTheAgentThatNeverStarted(t *testing.T) {
	w := begin(t, "orange", true)
	w.must(receipt(w.task.Pending[0].ID, ""))
	spawn := w.task.Pending[0]
	sig := receipt(spawn.ID, "no such program")
	sig.Result.Final = true
	w.must(sig)
	w.body = "## Plan\n\nAPPROACH: x\n"
	d := w.to(task.Human, "working")
	e := d.Entries[0]
	if len(e.Dropped) != 1 || e.Dropped[0] != spawn.ID || len(e.Ended) != 1 || e.Ended[0].Number != spawn.Attempt || e.Ended[0].Code != -1 {
		t.Errorf("dropped %v, ended %+v", e.Dropped, e.Ended)
	}
	if effects(d.Entries) != "spawn_agent:worker+" || w.task.Attention != "" || len(w.task.Attempts) != 1 || w.task.Attempts[0].Number != 2 {
		t.Errorf("%q, %+v", effects(d.Entries), w.task)
	}
	w.refused(receipt(spawn.ID, ""), "is not pending")
}

func TestTheEndOfATaskDropsWhatWouldHoldUpItsCleanUp(t *testing.T) {
	w := begin(t, "orange", true)
	w.must(receipt(w.task.Pending[0].ID, "not now"))
	w.to(task.Human, "cancelled")
	var names []string
	for _, p := range w.task.Pending {
		names = append(names, p.Do)
	}
	if got := strings.Join(names, " "); got != "kill_session release_workspace spawn_next" {
		t.Errorf("pending: %s", got)
	}
	if a := w.task.Attempts[0]; !a.Ending || a.Running {
		t.Errorf("%+v", a)
	}
}

func TestAWorkspaceIsReleasedWhenEveryAgentIsGone(t *testing.T) {
	w := underReview(t)
	w.to(task.Human, "cancelled")
	w.must(receipt(w.task.Pending[0].ID, ""))
	w.must(receipt(w.task.Pending[0].ID, ""))
	release := w.task.Pending[0]
	if _, ok := engine.NextEffect(&w.task); ok || release.Do != "release_workspace" || release.Workspace != "p--1" {
		t.Fatalf("next is open: %+v", release)
	}
	w.refused(receipt(release.ID, ""), "a workspace is not released while an agent of the task lives")
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1})
	w.refused(receipt(release.ID, ""), "while an agent of the task lives")
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 2})
	if e, ok := engine.NextEffect(&w.task); !ok || e.ID != release.ID {
		t.Fatalf("%+v", e)
	}
	if d := w.must(receipt(release.ID, "")); !d.Entries[0].UnbindWorkspace || w.task.Workspace != "" || w.task.TmuxSession != "" {
		t.Errorf("%+v", w.task)
	}
}

func TestNothingRunsWhilePausedOrDeleted(t *testing.T) {
	w := begin(t, "orange", true)
	w.must(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	if e, ok := engine.NextEffect(&w.task); ok {
		t.Errorf("%s runs while paused", e.Do)
	}
	w.must(receipt(w.task.Pending[0].ID, "")) // the result of what already ran counts
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	if _, ok := engine.NextEffect(&w.task); !ok {
		t.Error("nothing runs after resume")
	}
	gone := w.task
	gone.Deleted = true
	if e, ok := engine.NextEffect(&gone); ok {
		t.Errorf("%s runs for a deleted task", e.Do)
	}
}

func TestPendingTrackerWritesPassBlockedEffects(t *testing.T) {
	one := task.Task{Pending: []task.Effect{{ID: "a", Do: "create_pr", GivenUp: true}, {ID: "b", Do: "spawn_agent"}, {ID: "c", Do: "move_card", NonBlocking: true}}}
	if e, ok := engine.NextEffect(&one); !ok || e.ID != "c" {
		t.Errorf("%+v", e)
	}
	one.Pending[2].Tries = 1
	if e, ok := engine.NextEffect(&one); !ok || e.ID != "c" {
		t.Errorf("it is not tried again: %+v", e)
	}
	one.Pending[2].GivenUp = true
	if e, ok := engine.NextEffect(&one); ok {
		t.Errorf("%+v", e)
	}
}
