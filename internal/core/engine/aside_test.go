package engine_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// tracked begins a task of an issue that a tracker shows.
func tracked(t *testing.T, name string) *world {
	t.Helper()
	w := &world{t: t, def: load(t, name), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Tracker, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true, TrackerRef: "lin:ENG-1",
	}})
	return w
}

// owed names what is owed, in order; asides in brackets.
func (w *world) owed() string {
	var out []string
	for _, p := range w.task.Pending {
		word := strings.TrimSpace(p.Do + " " + p.Arg)
		if p.NonBlocking {
			word = "[" + word + "]"
		}
		out = append(out, word)
	}
	return strings.Join(out, ", ")
}

// next names the effect to run, "" for none.
func (w *world) next() string {
	e, ok := engine.NextEffect(&w.task)
	if !ok {
		return ""
	}
	return strings.TrimSpace(e.Do + " " + e.Arg)
}

// fails lets the next effect fail, often enough to be given up if it says so.
func (w *world) fails(final bool) {
	w.t.Helper()
	e, ok := engine.NextEffect(&w.task)
	if !ok {
		w.t.Fatal("nothing is owed")
	}
	w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, Error: "no answer", Final: final}})
}

func (w *world) id(at int) string { return w.task.Pending[at].ID }

func TestAFailedTrackerWriteDoesNotBlock(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	if got, want := w.owed(), "[move_card Backlog], acquire_workspace, spawn_agent, [move_card Started]"; got != want {
		t.Fatalf("owed: %s", got)
	}
	if w.next() != "move_card Backlog" {
		t.Errorf("first: %s", w.next())
	}
	w.fails(false)
	for _, want := range []string{"acquire_workspace", "spawn_agent"} {
		if w.next() != want {
			t.Fatalf("%s, want %s", w.next(), want)
		}
		e, _ := engine.NextEffect(&w.task)
		w.must(receipt(e.ID, ""))
	}
	e, ok := engine.NextEffect(&w.task)
	if !ok || e.Arg != "Backlog" || !e.NotBefore.After(w.now.Add(-time.Minute)) || e.NotBefore.IsZero() {
		t.Fatalf("the one that failed is tried before the one behind it: %+v", e)
	}
	w.must(receipt(e.ID, ""))
	if w.next() != "move_card Started" {
		t.Errorf("then %s", w.next())
	}
	w.perform()
	if w.owed() != "" {
		t.Errorf("left: %s", w.owed())
	}
}

func TestReceiptsOfNonBlockingEffectsComeInAnyOrder(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	backlog, workspace, spawn, started := w.id(0), w.id(1), w.id(2), w.id(3)
	w.must(receipt(started, ""))
	w.refused(receipt(started, ""), "effect "+started+" is not pending: its result is known already")
	w.refused(receipt(spawn, ""), "effect "+spawn+" is not the next one: "+workspace+" comes first")
	w.must(receipt(workspace, "")) // although the aside before it is still owed
	w.must(receipt(backlog, "no answer"))
	w.must(receipt(spawn, ""))
	w.must(receipt(backlog, ""))
	if w.owed() != "" || w.task.Attention != "" {
		t.Errorf("left: %s, %q", w.owed(), w.task.Attention)
	}
}

func TestTheTrackerIsTriedTwentyTimesEachABitLater(t *testing.T) {
	play := func() (delays []time.Duration, w *world) {
		w = tracked(t, "linear-sdlc")
		id := w.id(0)
		for n := 1; n < 20; n++ {
			d := w.must(receipt(id, "no answer"))
			if e := d.Entries[0]; e.Type != journal.EffectFailed || e.Tries != n || w.task.Attention != "" {
				t.Fatalf("try %d: %+v", n, e)
			}
			delays = append(delays, d.Entries[0].RetryAt.Sub(w.now))
		}
		if d := w.must(receipt(id, "no answer")); d.Entries[0].Type != journal.EffectGaveUp {
			t.Errorf("the last: %+v", d.Entries[0])
		}
		return delays, w
	}
	delays, w := play()
	if want := "move_card failed 20 times: no answer"; w.task.Attention != want {
		t.Errorf("attention %q, want %q", w.task.Attention, want)
	}
	spread := false
	for i, got := range delays {
		plain := min(time.Second<<min(i, 10), time.Minute)
		if got < plain || got > plain+plain/4 {
			t.Errorf("try %d waits %s, and is to wait %s and up to a quarter more", i+1, got, plain)
		}
		if got%time.Microsecond != 0 {
			t.Errorf("try %d waits %s, more precisely than time is kept", i+1, got)
		}
		spread = spread || got != plain
	}
	if !spread {
		t.Error("nobody is spread")
	}
	if again, _ := play(); cmp.Diff(delays, again) != "" {
		t.Errorf("the same tries wait differently: %s", cmp.Diff(delays, again))
	}
}

func TestTwoIssuesDoNotComeBackAtTheSameMoment(t *testing.T) {
	seen := map[time.Duration]int{}
	for n := range 64 {
		w := &world{t: t, def: load(t, "linear-sdlc"), now: start, free: []string{"p--1"}}
		w.must(signal.Signal{Kind: signal.Create, Actor: task.Tracker, New: &signal.New{
			ID: task.ID(fmt.Sprintf("%021d", n+1)), Project: "p", Branch: "b", Summary: "s", TrackerRef: fmt.Sprint("lin:", n),
		}})
		d := w.must(receipt(w.id(0), "no answer"))
		seen[d.Entries[0].RetryAt.Sub(w.now)]++
	}
	if len(seen) < 32 {
		t.Errorf("64 tasks come back at %d moments", len(seen))
	}
}

func TestWhatWasGivenUpForTheTrackerHoldsUpNobodyElse(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	w.fails(true)
	if w.task.Attention != "move_card failed: no answer" || !w.task.Pending[0].GivenUp {
		t.Fatalf("%q, %+v", w.task.Attention, w.task.Pending[0])
	}
	if got := strings.Join(w.perform(), " "); got != "acquire_workspace spawn_agent" {
		t.Errorf("done: %s", got)
	}
	if w.owed() != "[move_card Backlog], [move_card Started]" || w.next() != "" {
		t.Errorf("owed %s, next %q: those for the tracker keep their order", w.owed(), w.next())
	}
}

func TestWritesToTheTrackerPassBlockedEffects(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	w.must(receipt(w.id(0), ""))
	w.fails(true) // the workspace
	if w.next() != "move_card Started" {
		t.Errorf("next %q of %s", w.next(), w.owed())
	}
	if w.perform(); w.owed() != "acquire_workspace, spawn_agent" || w.next() != "" {
		t.Errorf("next %q of %s: the others keep their order", w.next(), w.owed())
	}
}

func TestAReachableTrackerGetsWhatWasGivenUp(t *testing.T) {
	back := signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.Reachable}
	w := tracked(t, "linear-sdlc")
	if d := w.must(back); d.Verdict != engine.Stay || len(d.Entries) > 0 {
		t.Errorf("nothing was given up: %s", d.Verdict)
	}
	w.fails(true)
	w.perform()
	if w.task.GaveUp == nil || w.task.GaveUp.Do != workflow.MoveCard {
		t.Fatalf("the record does not name the effect that was given up: %+v", w.task.GaveUp)
	}
	w.task.Attention = "other words" // no decision depends on them
	d := w.must(back)
	if d.Verdict != engine.Record || w.task.Attention != "" || w.task.Pending[0].GivenUp || w.task.Pending[0].Tries != 0 {
		t.Errorf("%s, %q, %+v", d.Verdict, w.task.Attention, w.task.Pending[0])
	}
	if got := strings.Join(w.perform(), " "); got != "move_card move_card" || w.owed() != "" {
		t.Errorf("done %s, left %s", got, w.owed())
	}
}

func TestOnlyOrangeItselfFindsATrackerReachable(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	w.fails(true)
	w.perform()
	w.refused(signal.Signal{Kind: signal.Tracker, Actor: "development", Attempt: 1, Word: signal.Reachable}, "an agent may not report")
}

// What else waits for a person must not be swept away because a tracker answers.
func TestAReachableTrackerLeavesWhatAPersonMustSee(t *testing.T) {
	back := signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.Reachable}
	w := tracked(t, "linear-sdlc")
	w.fails(true)
	w.perform()
	w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRClosed, Evidence: []signal.Evidence{{Name: workflow.NothingLost, Detail: "its branch is ahead"}}})
	was := w.task.Attention
	if d := w.must(back); d.Verdict != engine.Stay || w.task.Attention != was {
		t.Errorf("%s, attention %q", d.Verdict, w.task.Attention)
	}
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	if w.perform(); w.owed() != "" {
		t.Errorf("a person resumed it, and %s is left", w.owed())
	}

	w = tracked(t, "linear-sdlc")
	w.fails(true) // the tracker
	w.fails(true) // the workspace
	if d := w.must(back); d.Verdict != engine.Stay || w.task.Attention != "acquire_workspace failed: no answer" {
		t.Errorf("%s, attention %q", d.Verdict, w.task.Attention)
	}
}

func TestAFinishedTaskStillWritesToTheTracker(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	w.fails(true)
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	if w.task.Status != "Canceled" || !strings.HasPrefix(w.owed(), "[move_card Backlog], [move_card Started], ") || !strings.Contains(w.owed(), "[move_card Canceled]") {
		t.Fatalf("%s owes %s", w.task.Status, w.owed())
	}
	if w.task.Pending[0].GivenUp {
		t.Error("the move gives it no new chance")
	}
	w.fails(false)
	w.perform()
	if w.owed() != "" || w.task.Workspace != "" {
		t.Errorf("left %s in %q", w.owed(), w.task.Workspace)
	}
}

func TestReopeningDoesNotWaitForTheTracker(t *testing.T) {
	for name, final := range map[string]bool{"it is away": false, "it was given up": true} {
		t.Run(name, func(t *testing.T) {
			w := tracked(t, "linear-sdlc")
			w.fails(final)
			w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
			w.fails(final)
			for w.next() != "" && !strings.HasPrefix(w.next(), workflow.MoveCard) {
				e, _ := engine.NextEffect(&w.task)
				for _, a := range w.task.Clone().Attempts {
					w.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role})
				}
				w.must(receipt(e.ID, ""))
			}
			w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Reopen})
			if w.task.Status != "Backlog" {
				t.Fatalf("%s", w.task.Status)
			}
			w.perform()
			var moves []string
			for _, e := range w.log {
				if r := e.Receipt; r != nil && r.OK && strings.HasPrefix(e.Reason, workflow.MoveCard) {
					moves = append(moves, strings.TrimPrefix(e.Reason, workflow.MoveCard+" "))
				}
			}
			if got := strings.Join(moves, " "); got != "Backlog Started Canceled Backlog" {
				t.Errorf("the tracker saw %s", got)
			}
		})
	}
}

func TestATrackerPausesAndResumesAnAgentDoesNot(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	for _, kind := range []signal.Kind{signal.Pause, signal.Resume} {
		w.refused(signal.Signal{Kind: kind, Actor: "development", Attempt: 1}, "only a person may pause or resume a task")
		w.refused(signal.Signal{Kind: kind, Actor: task.Engine}, "only a person may pause or resume a task")
	}
	w.must(signal.Signal{Kind: signal.Pause, Actor: task.Tracker, Note: "held by alice: wait"})
	if !w.task.Paused || w.next() != "" || w.log[len(w.log)-1].Reason != "held by alice: wait" {
		t.Errorf("%v, next %q, %+v", w.task.Paused, w.next(), w.log[len(w.log)-1])
	}
	w.refused(signal.Signal{Kind: signal.Pause, Actor: task.Tracker}, "paused already")
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Tracker})
	if w.task.Paused || w.next() != "move_card Backlog" {
		t.Errorf("%v, next %q", w.task.Paused, w.next())
	}
	w.refused(signal.Signal{Kind: signal.Resume, Actor: task.Tracker}, "not paused")
}

// moved lists the columns that the effects of entries move the issue to.
func moved(entries []journal.Entry) []string {
	out := []string{}
	for _, e := range entries {
		for _, f := range e.Effects {
			if f.Do == workflow.MoveCard {
				out = append(out, f.Arg)
			}
		}
	}
	return out
}

func TestTheTrackerShowsAStatusWhenItsColumnChanges(t *testing.T) {
	passed := &signal.Report{Outcome: signal.Passed, Code: "passed", Source: signal.FromMarker, Protocol: signal.WorkResult}
	commits := signal.Evidence{Name: workflow.Commits, Holds: true}
	w := tracked(t, "linear-sdlc")
	steps := []struct {
		name string
		do   func() engine.Decision
		to   string
		want []string
	}{
		{"developed", func() engine.Decision { return w.tells(passed, commits) }, "Finished", []string{"Finished"}},
		{"sent back", func() engine.Decision {
			return w.must(signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: "request-changes"})
		}, "Started", []string{"Started"}},
		{"crashed", func() engine.Decision {
			w.end("development")
			w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
			w.perform()
			return w.end("development")
		}, "Halted", []string{}},
		{"resumed", func() engine.Decision {
			return w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "resume"})
		}, "Started", []string{}},
		{"developed again", func() engine.Decision { return w.tells(passed, commits) }, "Finished", []string{"Finished"}},
		{"tested", func() engine.Decision { return w.tells(passed) }, "Delivered", []string{"Delivered"}},
		{"accepted", func() engine.Decision { return w.tells(passed) }, "Merging", []string{}},
		{"merged", func() engine.Decision {
			return w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRMerged, Evidence: []signal.Evidence{{Name: workflow.Merged, Holds: true}}})
		}, "Accepted", []string{"Accepted"}},
	}
	w.perform()
	for _, step := range steps {
		d := step.do()
		if w.task.Status != step.to {
			t.Fatalf("%s: %s, %s", step.name, w.task.Status, why(d))
		}
		if diff := cmp.Diff(step.want, moved(d.Entries)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step.name, diff)
		}
		for _, e := range d.Entries {
			for _, f := range e.Effects {
				if card := f.Do == workflow.MoveCard || f.Do == workflow.CommentCard; card != f.NonBlocking {
					t.Errorf("%s: %s stands aside: %v", step.name, f.Do, f.NonBlocking)
				}
			}
		}
		w.perform()
	}
	if got, err := engine.Redecide(w.def, w.log); err != nil {
		t.Error(err)
	} else if first, n := got.FirstDivergence(); n > 0 {
		t.Errorf("decided again it differs %d times, first %+v", n, first)
	}
}

func TestWithoutATrackerNothingIsShown(t *testing.T) {
	w := begin(t, "linear-sdlc", true)
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	for _, e := range w.log {
		for _, f := range e.Effects {
			if f.NonBlocking || f.Do == workflow.MoveCard {
				t.Errorf("entry %d: %+v", e.Seq, f)
			}
		}
	}
}

// A workflow that reads its cards moves them itself.
func TestABoardsOwnWorkflowProjectsNothing(t *testing.T) {
	w := placed(t, "joan-board", "board")
	w.task.TrackerRef = "joan:1"
	d := w.looks(face("To Do"))
	for _, e := range d.Entries {
		for _, f := range e.Effects {
			if f.NonBlocking {
				t.Errorf("%+v stands aside", f)
			}
		}
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	for _, p := range w.task.Pending {
		if p.NonBlocking || p.Do == workflow.MoveCard {
			t.Errorf("%+v", p)
		}
	}
}

// ledger plays receipts in any order and knows what became of every effect.
type ledger struct {
	rt   *rapid.T
	def  *workflow.Definition
	task task.Task
	log  []journal.Entry
	now  time.Time
	done map[string]int
}

func (l *ledger) send(sig signal.Signal) engine.Decision {
	l.now = l.now.Add(time.Duration(rapid.IntRange(1, 500).Draw(l.rt, "seconds")) * time.Second)
	sig.At, sig.Free = l.now, []string{"p--1"}
	d := engine.Decide(l.def, &l.task, sig)
	next, err := journal.Fold(l.task, d.Entries)
	must(l.rt, err)
	l.task, l.log = next, append(l.log, d.Entries...)
	if r := sig.Result; r != nil && r.OK && d.Verdict != engine.Refuse {
		l.done[r.Effect]++
	}
	return d
}

// settled makes sure that every effect is done once, was dropped, or is still owed, and
// that the journal says the same.
func (l *ledger) settled() {
	dropped := map[string]int{}
	var all []string
	for _, e := range l.log {
		for _, id := range e.Dropped {
			dropped[id]++
		}
		for _, f := range e.Effects {
			all = append(all, f.ID)
			if f.NonBlocking != (f.Do == workflow.MoveCard || f.Do == workflow.CommentCard) {
				l.rt.Fatalf("%+v", f)
			}
		}
	}
	for _, id := range all {
		owed := 0
		if slices.ContainsFunc(l.task.Pending, func(p task.Effect) bool { return p.ID == id }) {
			owed = 1
		}
		if l.done[id]+dropped[id]+owed != 1 {
			l.rt.Fatalf("effect %s: done %d times, dropped %d times, owed %d", id, l.done[id], dropped[id], owed)
		}
	}
	folded, err := journal.Fold(task.Task{}, l.log)
	must(l.rt, err)
	if a, b := asJSON(l.rt, folded), asJSON(l.rt, l.task); !bytes.Equal(a, b) {
		l.rt.Fatalf("the journal folds to something else:\n%s\n%s", a, b)
	}
}

// one is a receipt of some effect that is owed, or something that happens meanwhile.
func (l *ledger) one() {
	if n := len(l.task.Pending); n > 0 && rapid.IntRange(0, 4).Draw(l.rt, "receipt") > 0 {
		p := l.task.Pending[rapid.IntRange(0, n-1).Draw(l.rt, "which")]
		if e, ok := engine.NextEffect(&l.task); ok && rapid.Bool().Draw(l.rt, "next") {
			p = e
		}
		for range rapid.SampledFrom([]int{1, 1, 2, 11}).Draw(l.rt, "times") {
			l.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{
				Effect: p.ID, OK: rapid.Bool().Draw(l.rt, "ok"), Error: "no luck", Final: rapid.IntRange(0, 9).Draw(l.rt, "final") == 0,
			}})
		}
		return
	}
	word := rapid.SampledFrom([]string{signal.Reachable, signal.PRClosed, signal.PRMerged}).Draw(l.rt, "word")
	l.send(rapid.SampledFrom([]signal.Signal{
		{Kind: signal.Tracker, Actor: task.Engine, Word: word, Evidence: []signal.Evidence{{Name: workflow.NothingLost}}},
		{Kind: signal.Request, Actor: task.Human, Verb: "cancel"}, {Kind: signal.Request, Actor: task.Human, Verb: engine.Reopen},
		{Kind: signal.Request, Actor: task.Human, Verb: "complete"}, {Kind: signal.Request, Actor: task.Tracker, Verb: "request-changes"},
		{Kind: signal.Pause, Actor: task.Tracker}, {Kind: signal.Resume, Actor: task.Tracker}, {Kind: signal.Ready, Actor: task.Engine},
	}).Draw(l.rt, "meanwhile"))
}

// finish lets everything succeed at last.
func (l *ledger) finish() {
	l.send(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	for range 200 {
		e, ok := engine.NextEffect(&l.task)
		if !ok && !slices.ContainsFunc(l.task.Attempts, func(a task.Attempt) bool { return a.Ending }) {
			return
		}
		for _, a := range l.task.Clone().Attempts {
			if a.Ending {
				l.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role})
			}
		}
		if ok {
			l.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: true}})
		}
	}
	l.rt.Fatalf("effects do not end: %+v", l.task.Pending)
}

// columns are those that the tracker was told, in the order of the receipts.
func (l *ledger) columns() (told, asked []string) {
	for _, e := range l.log {
		for _, f := range e.Effects {
			if f.Do == workflow.MoveCard {
				asked = append(asked, f.Arg)
			}
		}
		if r := e.Receipt; r != nil && r.OK && strings.HasPrefix(e.Reason, workflow.MoveCard+" ") {
			told = append(told, strings.TrimPrefix(e.Reason, workflow.MoveCard+" "))
		}
	}
	return told, asked
}

func TestWhateverTheOrderOfReceiptsEveryEffectIsDoneOnce(t *testing.T) {
	def := load(t, "linear-sdlc")
	rapid.Check(t, func(rt *rapid.T) {
		l := &ledger{rt: rt, def: def, now: start, done: map[string]int{}}
		l.send(signal.Signal{Kind: signal.Create, Actor: task.Tracker, New: &signal.New{
			ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Spawn: true, TrackerRef: "lin:ENG-1",
		}})
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			l.one()
			l.settled()
		}
		l.finish()
		l.settled()
		if len(l.task.Pending) > 0 {
			rt.Fatalf("owed for ever: %+v", l.task.Pending)
		}
		told, asked := l.columns()
		slices.Sort(told)
		slices.Sort(asked)
		if diff := cmp.Diff(asked, told); diff != "" {
			rt.Fatalf("the tracker was told otherwise (-asked +told)\n%s", diff)
		}
	})
}

// In the order in which Next gives them, the tracker sees the columns in their order.
func TestTheTrackerSeesTheColumnsInTheirOrder(t *testing.T) {
	def := load(t, "linear-sdlc")
	rapid.Check(t, func(rt *rapid.T) {
		l := &ledger{rt: rt, def: def, now: start, done: map[string]int{}}
		l.send(signal.Signal{Kind: signal.Create, Actor: task.Tracker, New: &signal.New{
			ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Spawn: true, TrackerRef: "lin:ENG-1",
		}})
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			if e, ok := engine.NextEffect(&l.task); ok && rapid.IntRange(0, 3).Draw(rt, "runs") > 0 {
				l.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: rapid.Bool().Draw(rt, "ok"), Error: "no luck"}})
				continue
			}
			verb := rapid.SampledFrom([]string{"cancel", engine.Reopen, "complete", "request-changes"}).Draw(rt, "verb")
			l.send(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb})
		}
		l.finish()
		if told, asked := l.columns(); cmp.Diff(asked, told) != "" {
			rt.Fatalf("(-asked +told)\n%s", cmp.Diff(asked, told))
		}
	})
}

// The last message of an agent that reports nothing is posted on the issue, so the journal keeps it: the decision is
// the same again.
func TestALastMessageThatIsPostedIsKept(t *testing.T) {
	w := tracked(t, "linear-sdlc")
	w.perform()
	a, _ := w.task.LiveAttempt("development")
	w.must(signal.Signal{
		Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Final: "my last words", Rules: engine.Rules,
		Evidence: []signal.Evidence{{Name: "commits", Holds: true}, {Name: "clean", Holds: true}},
	})
	if w.task.Status != "Finished" || !slices.ContainsFunc(w.task.Pending, func(e task.Effect) bool {
		return e.Do == workflow.CommentCard && strings.Contains(e.Text, "my last words")
	}) {
		t.Fatalf("%s, owed: %s", w.task.Status, w.owed())
	}
	w.decidedAgain()
}
