package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// merges is a task in review whose merge a person has requested.
func merges(t *testing.T, checks task.Checks) *world {
	t.Helper()
	w := handsOver(t, checks)
	w.turnEnds(1, "done")
	for range checks {
		w.checkEnds(task.CheckPassed)
	}
	w.perform()
	w.asksMerge()
	return w
}

func (w *world) asksMerge() {
	w.t.Helper()
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge})
	if p := w.task.MergeEffect(); p == nil || !p.Since.Equal(w.task.UpdatedAt) || w.next() != workflow.MergeBranch {
		w.t.Fatalf("%s, %+v", w.task.Status, w.task.Pending)
	}
}

// lands is a step of the landing, as its effect reports it.
func (w *world) lands(r signal.Receipt) engine.Decision {
	w.t.Helper()
	r.Effect, r.Do = w.task.MergeEffect().ID, workflow.MergeBranch
	return w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &r})
}

var (
	candidate = &task.Candidate{Target: "main", Tip: "tip", Head: "head", Commit: "commit", Tree: "tree", Ref: "refs/orange/landing/x"}
	built     = signal.Receipt{OK: true, Landing: signal.LandingBuilt, Candidate: candidate}
	conflict  = signal.Receipt{Final: true, Error: "b and main conflict", Landing: task.LandingConflict, Candidate: candidate, Conflict: &task.Conflict{Onto: "main", Files: []string{"a.go"}}}
)

func (w *world) hasEffect(e journal.Entry, want func(task.Effect) bool) {
	w.t.Helper()
	if !slices.ContainsFunc(e.Effects, want) {
		w.t.Errorf("%+v", e.Effects)
	}
}

func TestACandidateIsCheckedBeforeTheTargetMoves(t *testing.T) {
	w := merges(t, twoChecks)
	w.lands(built)
	for _, name := range []string{"tests", "lint"} {
		if w.next() != workflow.RunCheck+" "+name || w.task.CheckRun.Name != name || w.task.CheckRun.Place != task.PlaceLanding {
			t.Fatalf("%s, %+v", w.next(), w.task.CheckRun)
		}
		w.checkEnds(task.CheckPassed)
	}
	if !w.task.Landing.Checked || w.task.CheckRun != nil || w.next() != workflow.MergeBranch || len(w.task.CheckResults) != 4 {
		t.Fatalf("%+v, %s", w.task.Landing, w.next())
	}
	w.lands(signal.Receipt{Error: "the target has moved", Landing: signal.LandingMoved})
	if w.task.Landing != nil || w.next() != workflow.MergeBranch {
		t.Fatalf("it does not start over: %+v, %s", w.task.Landing, w.next())
	}
	w.lands(built)
	w.checkEnds(task.CheckPassed)
	w.checkEnds(task.CheckPassed)
	w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PRMerged, Evidence: []signal.Evidence{{Name: workflow.Merged, Holds: true}}})
	if w.task.Status != "done" {
		t.Errorf("%s", w.task.Status)
	}
	w.decidedAgain()
}

func TestAConflictGoesBackToTheWorkerUntilItsBound(t *testing.T) {
	w := merges(t, nil)
	for round := 1; round <= 3; round++ {
		d := w.lands(conflict)
		if w.task.Status != "working" || w.task.CounterValue("landing_round") != round || w.task.MergeEffect() != nil || !w.task.Landing.Returned() {
			t.Fatalf("round %d: %s, %+v, %+v", round, w.task.Status, w.task.Counters, w.task.Landing)
		}
		w.hasEffect(d.Entries[0], func(f task.Effect) bool { return f.Prompt == "landing-failed" })
		w.hasEffect(d.Entries[0], func(f task.Effect) bool {
			return f.Do == workflow.WriteSection && f.Arg == "Landing" && strings.Contains(f.Text, "git merge main") && strings.Contains(f.Text, "a.go") && strings.Contains(f.Text, candidate.Ref)
		})
		w.perform()
		w.must(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing"})
		w.turnEnds(1, "done")
		w.perform()
		w.asksMerge()
	}
	w.lands(conflict)
	if w.task.Status != "stuck" || !strings.Contains(w.task.StateReason, "conflict") {
		t.Errorf("%s: %s", w.task.Status, w.task.StateReason)
	}
	w.decidedAgain()
}

func TestAFailedCheckOfACandidateGoesBackToTheWorker(t *testing.T) {
	w := merges(t, twoChecks[:1])
	w.lands(built)
	d := w.checkEnds(task.CheckFailed)
	if w.task.Status != "working" || w.task.Landing.Outcome != task.LandingFailed || w.task.CheckRun != nil {
		t.Fatalf("%s, %+v", w.task.Status, w.task.Landing)
	}
	for _, section := range []string{"Checks", "Landing"} {
		w.hasEffect(d.Entries[0], func(f task.Effect) bool { return f.Do == workflow.WriteSection && f.Arg == section })
	}
	if r, ok := w.task.CheckResultOf("tests"); !ok || r.Failed() {
		t.Errorf("the result in the workspace is %+v", r)
	}
	w.decidedAgain()
}

// A check that a restart of the machine ended counts neither in the workspace nor on a candidate.
func TestALostCheckOfACandidateIsRepeatedWithoutBeingCounted(t *testing.T) {
	w := merges(t, twoChecks[:1])
	w.lands(built)
	for range 2 {
		w.perform()
		a, _ := w.task.LiveAttempt(workflow.CheckRole)
		w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Code: -1, Mass: signal.MassReboot})
	}
	w.checkEnds(task.CheckBroken)
	if w.task.CheckRun == nil || w.next() != workflow.RunCheck+" tests" {
		t.Fatalf("it is not repeated: %+v, %q", w.task.Landing, w.task.Attention)
	}
	w.checkEnds(task.CheckBroken)
	if w.task.Landing.Outcome != task.LandingBlocked || !strings.Contains(w.task.Landing.Why, "twice") {
		t.Errorf("%+v", w.task.Landing)
	}
	w.decidedAgain()
}

func TestWhatIsInTheWayOfALandingWaitsForAPerson(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"local changes": func(w *world) {
			d := w.lands(signal.Receipt{Final: true, Error: "a.go is in the way", Landing: task.LandingBlocked, Files: []string{"a.go"}})
			if !slices.Equal(w.task.Landing.Files, []string{"a.go"}) {
				w.t.Errorf("%+v", w.task.Landing)
			}
			w.hasEffect(d.Entries[0], func(f task.Effect) bool {
				return f.Do == workflow.WriteSection && f.Arg == "Landing" && strings.Contains(f.Text, "Files: a.go")
			})
		},
		"a missing check": func(w *world) { w.lands(built); w.checkEnds(task.CheckMissing) },
		"a check that breaks off twice": func(w *world) {
			w.lands(built)
			w.checkEnds(task.CheckBroken)
			w.checkEnds(task.CheckBroken)
		},
		"a person's rebase that takes long": func(w *world) {
			since := w.now
			for w.task.MergeEffect() != nil {
				w.now = w.now.Add(30 * time.Second)
				w.lands(signal.Receipt{Error: "a rebase is in progress", Landing: signal.LandingBusy, Since: since})
			}
			if waited := w.now.Sub(since); waited < 5*time.Minute || waited > 6*time.Minute {
				w.t.Errorf("it waited %s", waited)
			}
		},
		"another task's wait for the same rebase": func(w *world) {
			w.lands(signal.Receipt{Error: "a rebase is in progress", Landing: signal.LandingBusy, Since: w.now.Add(-time.Hour)})
		},
		"a forge whose checks do not end": func(w *world) {
			since := w.now
			for w.task.MergeEffect() != nil {
				w.now = w.now.Add(5 * time.Minute)
				w.lands(signal.Receipt{Error: "waits for checks: build", Landing: signal.LandingWaits, Since: since})
			}
			if waited := w.now.Sub(since); waited < time.Hour || waited > 70*time.Minute {
				w.t.Errorf("it waited %s", waited)
			}
		},
		"people who move the target again and again": func(w *world) {
			moves := 0
			for ; w.task.MergeEffect() != nil; moves++ {
				w.lands(built)
				w.checkEnds(task.CheckPassed)
				w.lands(signal.Receipt{Error: "the target has moved", Landing: signal.LandingMoved})
			}
			if moves != 7 || !strings.Contains(w.task.Attention, "the target moved 7 times") {
				w.t.Errorf("%d, %q", moves, w.task.Attention)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := merges(t, twoChecks[:1])
			end(w)
			if w.task.Status != "reviewing" || w.task.Attention == "" || w.task.MergeEffect() != nil || w.task.Landing.Outcome != task.LandingBlocked || w.task.CheckRun != nil {
				t.Fatalf("%s, %q, %+v, %+v", w.task.Status, w.task.Attention, w.task.Landing, w.task.Pending)
			}
			w.perform()
			w.asksMerge()
			if w.task.Landing != nil || w.task.Attention != "" {
				t.Errorf("%+v, %q", w.task.Landing, w.task.Attention)
			}
			w.decidedAgain()
		})
	}
}

func TestAMoveEndsTheLanding(t *testing.T) {
	for name, move := range map[string]signal.Signal{
		"changes are requested": {Kind: signal.Request, Actor: task.Human, Verb: engine.RequestChanges, Note: "no"},
		"it is cancelled":       {Kind: signal.Request, Actor: task.Human, Verb: "cancel"},
		"it leaves the queue":   {Kind: signal.Request, Actor: task.Human, Verb: engine.VerbUnland},
	} {
		t.Run(name, func(t *testing.T) {
			w := merges(t, twoChecks[:1])
			w.lands(built)
			if done := w.perform(); !slices.Equal(done, []string{workflow.RunCheck}) {
				t.Fatal(done)
			}
			w.must(move)
			if w.task.Landing != nil || w.task.CheckRun != nil {
				t.Errorf("%+v, %+v", w.task.Landing, w.task.CheckRun)
			}
			if _, live := w.task.LiveAttempt(workflow.CheckRole); live {
				t.Error("its check is not ended")
			}
			if w.task.MergeEffect() != nil {
				t.Errorf("%+v", w.task.Pending)
			}
			w.decidedAgain()
		})
	}
}

func TestAnAgentTakesNothingOutOfTheLandingQueue(t *testing.T) {
	w := merges(t, nil)
	w.refused(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: engine.VerbUnland}, "only a person")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbUnland})
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbUnland}, "in no landing queue")
}

// A candidate that needs no check is recorded before the target moves, and stays known after it has: a squash has none of the
// commits of its branch.
func TestWorkWithoutChecksLandsByItsRecordedCandidate(t *testing.T) {
	w := merges(t, nil)
	w.lands(built)
	if !w.task.Landing.Checked || w.task.CheckRun != nil || w.next() != workflow.MergeBranch {
		t.Fatalf("%+v, %s", w.task.Landing, w.next())
	}
	w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PRMerged, Evidence: []signal.Evidence{{Name: workflow.Merged, Holds: true, Base: "base", Head: "head"}}})
	w.lands(signal.Receipt{OK: true, Commit: "commit", Candidate: candidate})
	if l := w.task.Landing; w.task.Status != "done" || l.Outcome != task.Landed || !l.BringsHead("head") || l.BringsHead("later") || l.InProgress() || !w.task.Work.Landed {
		t.Errorf("%s, %+v", w.task.Status, l)
	}
	w.decidedAgain()
}

// The forge merged the work while its own merge waited, from a target that does not have it yet. Nothing is left to land or to check.
func TestALandingOfWorkThatTheForgeMergedIsDropped(t *testing.T) {
	for name, r := range map[string]signal.Receipt{"a candidate": built, "a conflict": conflict} {
		t.Run(name, func(t *testing.T) {
			w := merges(t, twoChecks)
			w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRMerged, Evidence: []signal.Evidence{{Name: workflow.Merged, Holds: true, Base: "base", Head: "head"}}})
			if w.task.Status != "done" {
				t.Fatal(w.task.Status)
			}
			w.lands(r)
			if w.task.MergeEffect() != nil || w.task.CheckRun != nil || w.task.Attention != "" || w.task.Landing != nil {
				t.Errorf("%+v, %+v, %q", w.task.Pending, w.task.Landing, w.task.Attention)
			}
			w.perform()
			if len(w.task.Pending) > 0 {
				t.Errorf("it waits for %+v", w.task.Pending)
			}
			w.decidedAgain()
		})
	}
}

// A project may let results from the workspace count for a candidate with the same tree. A check that passed on another
// tree, or as it was defined before, still runs.
func TestResultsFromTheWorkspaceAreReusedOnRequest(t *testing.T) {
	for name, tt := range map[string]struct {
		reuse         bool
		tree, command string
		runs          int
	}{
		"the same tree":             {true, "tree", twoChecks[0].CommandDigest(), 1},
		"another tree":              {true, "other", twoChecks[0].CommandDigest(), 2},
		"another command":           {true, "tree", "other", 2},
		"a project that repeats it": {false, "tree", twoChecks[0].CommandDigest(), 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := handsOver(t, twoChecks)
			w.turnEnds(1, "done")
			w.perform()
			a, _ := w.task.LiveAttempt(workflow.CheckRole)
			w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Check: &task.CheckResult{
				Name: "tests", Outcome: task.CheckPassed, Tree: tt.tree, Command: tt.command, Environment: twoChecks[0].EnvironmentDigest(),
			}})
			w.checkEnds(task.CheckPassed)
			w.perform()
			w.asksMerge()
			r := built
			r.Reuse = tt.reuse
			w.lands(r)
			runs := 0
			for ; w.task.CheckRun != nil; runs++ {
				w.checkEnds(task.CheckPassed)
			}
			if runs != tt.runs || !w.task.Landing.Checked {
				t.Errorf("%d checks ran: %+v", runs, w.task.Landing)
			}
			w.decidedAgain()
		})
	}
}

// The checks of a candidate run in the landing worktree: a task that never had a workspace needs none for them.
func TestACandidateIsCheckedWithoutAWorkspaceOfThePool(t *testing.T) {
	w := &world{t: t, def: loadChecked(t, "orange"), now: start}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: "0123456789abcdefghijk", Project: "p", Branch: "b", Summary: "s", Status: "reviewing", Checks: twoChecks}})
	w.perform()
	w.asksMerge()
	e := w.lands(built).Entries[0]
	if e.BindWorkspace != "" || len(e.Effects) != 1 || e.Effects[0].Do != workflow.RunCheck {
		t.Fatalf("%q, %+v", e.BindWorkspace, e.Effects)
	}
	w.checkEnds(task.CheckPassed)
	w.checkEnds(task.CheckPassed)
	if !w.task.Landing.Checked || w.next() != workflow.MergeBranch || w.task.Workspace != "" {
		t.Fatalf("%+v, %s, workspace %q", w.task.Landing, w.next(), w.task.Workspace)
	}
}

// beingMerged is the present fact that the merge of the task is performed.
func (w *world) beingMerged() *signal.Performing {
	w.t.Helper()
	return &signal.Performing{Effect: w.task.MergeEffect().ID, Target: "main"}
}

// A merge that is performed cannot be called back. What would drop it is refused, and everything else is decided as ever.
func TestAMergeThatIsPerformedIsNotTakenBack(t *testing.T) {
	const said = "the work is being merged into main at this moment: wait for it (orange task history 0123456789abcdefghijk), then decide"
	person := func(verb string) signal.Signal {
		return signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb, Note: "no"}
	}
	for name, tt := range map[string]struct {
		begin   func(t *testing.T) *world
		asks    signal.Signal
		refused bool
	}{
		"it leaves the queue":                   {asks: person(engine.VerbUnland), refused: true},
		"changes are requested":                 {asks: person(engine.RequestChanges), refused: true},
		"it is cancelled":                       {asks: person("cancel"), refused: true},
		"a person moves it":                     {asks: signal.Signal{Kind: signal.Request, Actor: task.Human, To: "working", Note: "no"}, refused: true},
		"a person moves its issue":              {asks: signal.Signal{Kind: signal.Request, Actor: task.Tracker, To: "working", Note: "no"}, refused: true},
		"it is completed":                       {asks: signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Complete, Evidence: []signal.Evidence{{Name: workflow.Merged, Holds: true, Base: "base", Head: "head"}}}, refused: true},
		"a merge that the workflow asks for":    {begin: mergesByWorkflow, asks: person(engine.VerbUnland), refused: true},
		"its candidate was checked":             {begin: mergesChecked, asks: person(engine.RequestChanges), refused: true},
		"the branch is pushed":                  {asks: signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbPush}},
		"the task is paused":                    {asks: signal.Signal{Kind: signal.Pause, Actor: task.Human}},
		"a signal that nobody requests":         {asks: signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRMerged, Evidence: []signal.Evidence{{Name: workflow.Merged, Holds: true, Base: "base", Head: "head"}}}},
		"the pull request was closed meanwhile": {asks: signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRClosed, Evidence: []signal.Evidence{{Name: workflow.NothingLost, Holds: true}}}},
	} {
		t.Run(name, func(t *testing.T) {
			begin := tt.begin
			if begin == nil {
				begin = func(t *testing.T) *world { return merges(t, nil) }
			}
			w := begin(t)
			asks := tt.asks
			asks.Performing = w.beingMerged()
			if tt.refused {
				w.refused(asks, said)
			}
			if !tt.refused {
				w.must(asks)
				w.decidedAgain()
				return
			}
			asks.Performing = &signal.Performing{Effect: "another", Target: "main"}
			w.must(asks)
			if w.task.MergeEffect() != nil {
				t.Errorf("%+v", w.task.Pending)
			}
			if tt.begin == nil {
				w.decidedAgain()
			}
		})
	}
}

// mergesByWorkflow is a task whose workflow requested the merge, although its journal does not say so.
func mergesByWorkflow(t *testing.T) *world {
	t.Helper()
	w := merges(t, nil)
	for i := range w.task.Pending {
		if w.task.Pending[i].Do == workflow.MergeBranch {
			w.task.Pending[i].By = task.ByState
		}
	}
	return w
}

// mergesChecked is a task whose candidate has passed its checks, so that the target moves next.
func mergesChecked(t *testing.T) *world {
	t.Helper()
	w := merges(t, twoChecks[:1])
	w.lands(built)
	w.checkEnds(task.CheckPassed)
	return w
}

// What no request took back may land too late. The record says so: nobody else knows.
func TestAMergeThatLandsAfterItWasDroppedIsRecorded(t *testing.T) {
	cancel := signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"}
	for name, tt := range map[string]struct {
		then    signal.Signal
		receipt signal.Receipt
		want    string
	}{
		"the task is cancelled":        {cancel, signal.Receipt{Commit: "0123456789abcdef"}, "its branch was merged into main as 0123456 after the merge was taken back, and the task is cancelled: keep the work or revert it"},
		"the task is at work":          {signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.RequestChanges, Note: "no"}, signal.Receipt{Commit: "0123456789abcdef"}, "and the task is working: keep the work or revert it"},
		"by a candidate":               {cancel, signal.Receipt{Commit: candidate.Commit, Candidate: candidate}, "merged into main as commit after"},
		"the task moved because of it": {cancel, signal.Receipt{Commit: "0123456789abcdef", Moved: true}, ""},
		"the record knows it already": {signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Complete, Evidence: []signal.Evidence{
			{Name: workflow.Merged, Holds: true, Base: "base", Head: "head"}}}, signal.Receipt{Commit: "0123456789abcdef"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := merges(t, nil)
			r := tt.receipt
			r.Effect, r.OK, r.Target = w.task.MergeEffect().ID, true, "main"
			w.must(tt.then)
			before := w.task.Status
			e := w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &r}).Entries[0]
			if e.Type != journal.EffectDone || e.Receipt.Commit != r.Commit || w.task.Status != before || !strings.Contains(w.task.Attention, tt.want) || (tt.want == "") != (w.task.Attention == "") {
				t.Errorf("%+v, %q", e, w.task.Attention)
			}
			if r.Candidate != nil && (w.task.Landing == nil || !w.task.Landing.BringsHead(candidate.Head)) {
				t.Errorf("%+v", w.task.Landing)
			}
			w.decidedAgain()
		})
	}
}

// A receipt that brought nothing into the target says nothing about a task that has moved on.
func TestAReceiptThatMergedNothingIsRefusedAfterItsEffectWasDropped(t *testing.T) {
	for name, r := range map[string]signal.Receipt{"an empty branch": {OK: true}, "a failure": {Error: "locked"}, "a candidate": built} {
		t.Run(name, func(t *testing.T) {
			w := merges(t, nil)
			r.Effect = w.task.MergeEffect().ID
			w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
			w.refused(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &r}, "is not pending")
		})
	}
}
