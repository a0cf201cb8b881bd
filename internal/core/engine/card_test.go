package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

func face(column string, tags ...string) *board.Snapshot {
	return &board.Snapshot{Column: column, Tags: tags, Described: "d1"}
}

// looks lets Orange read the card.
func (w *world) looks(f *board.Snapshot, busy ...string) engine.Decision {
	w.t.Helper()
	return w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.CardChanged, CardSnapshot: f, Busy: busy})
}

// sent names the role and the mode of the agent state that a task is in, "" for none.
func (w *world) sent() string {
	s, _ := w.def.StateNamed(w.task.Status)
	if s.Kind != workflow.Agent {
		return ""
	}
	return s.Role + "/" + s.Mode
}

var dispatchTable = []struct {
	column, tags, want string
	person             bool // a person decided: counters start from 0
}{
	{"Review", "Invoke-Architect", "architect/advisory-conflict", false},
	{"Review", "Invoke-Architect Rework-Requested", "architect/advisory-conflict", false},
	{"Review", "Architect-Assist-Complete", "ops/merge-with-guidance", false},
	{"Review", "Architect-Assist-Complete Invoke-Architect", "ops/merge-with-guidance", false},
	{"Development", "Merge-Conflict", "dev/conflict", false},
	{"Development", "Merge-Conflict Rework-Requested Planned", "dev/conflict", false},
	{"Development", "Merge-Conflict Claimed-Dev-1", "", false},
	{"Development", "Rework-Requested", "dev/rework", false},
	{"Development", "Rework-Requested Planned", "dev/rework", false},
	{"Development", "Rework-Requested Claimed-Dev-1", "", false},
	{"Development", "Planned", "dev/implement", false},
	{"Development", "Planned Claimed-Dev-1", "", false},
	{"Development", "Planned Implementation-Failed", "", false},
	{"Development", "Planned Branch-Setup-Failed", "", false},
	{"Development", "", "", false},
	{"Analyse", "Plan-Pending-Approval Plan-Approved", "architect/finalize", true},
	{"Analyse", "Plan-Pending-Approval Plan-Rejected", "architect/revise", true},
	{"Analyse", "Plan-Pending-Approval Plan-Approved Plan-Rejected", "architect/revise", true},
	{"Analyse", "Plan-Pending-Approval", "", false},
	{"Analyse", "Plan-Approved", "", true},
	{"Analyse", "Ready", "architect/plan", false},
	{"Analyse", "Ready Plan-Pending-Approval", "", false},
	{"Analyse", "Needs-Clarification Clarification-Answered", "ba/reevaluate", true},
	{"Analyse", "Needs-Clarification", "", false},
	{"To Do", "", "ba/evaluate", false},
	{"To Do", "Needs-Clarification", "ba/evaluate", false},
	{"To Do", "nightly", "ba/evaluate", false},
	{"To Do", "Ready", "", false},
	{"Review", "Dev-Complete Design-Complete Test-Complete", "reviewer/review", false},
	{"Review", "Rework-Complete", "reviewer/review", false},
	{"Review", "Rework-Complete Dev-Complete Design-Complete Test-Complete", "reviewer/review", false},
	{"Review", "", "", false},
	{"Review", "Dev-Complete Test-Complete", "", false},
	{"Review", "Rework-Complete Review-In-Progress", "", false},
	{"Review", "Rework-Complete Review-Approved", "", false},
	{"Review", "Review-Approved", "", false},
	{"Review", "Review-Approved Ops-Ready", "ops/merge", true},
	{"Review", "Dev-Complete Design-Complete Test-Complete Ops-Ready Review-Approved", "ops/merge", true},
	{"Deploy", "Review-Approved Ops-Ready", "ops/merge", true},
	{"Review", "Ops-Ready", "", true},
	{"Review", "Rework-Requested", "ops/rework", false},
	{"Review", "Rework-Requested Rework-Complete", "ops/rework", false},
	{"Review", "Rework-Requested Review-Approved", "", false},
	{"Done", "", "", false},
}

func TestACardIsDispatchedByItsFace(t *testing.T) {
	for _, tt := range dispatchTable {
		for _, dispatches := range []int{0, 5, 6} {
			t.Run(tt.column+" "+tt.tags, func(t *testing.T) {
				w := placed(t, "joan-board", "board")
				w.task.Counters[0].Value, w.task.Rules = dispatches, engine.Rules
				d := w.looks(face(tt.column, strings.Fields(tt.tags)...))
				want, count := tt.want, dispatches+1
				if tt.person {
					count = 1
				}
				if dispatches == 6 && tt.want != "" && !tt.person { // too many rounds without a person
					want, count = "", 6
					if it, _ := explain.InboxItem(w.def, w.task); w.task.Status != "halted" || !strings.HasPrefix(it.Text, "the work needs help: dispatches reached its bound of 6 since a person last decided: the card is in "+tt.column) {
						t.Errorf("%s after %d dispatches: %s", w.task.Status, dispatches, it.Text)
					}
				}
				if tt.want == "" { // it waits for a person, however many rounds there were
					if count = dispatches; tt.person {
						count = 0
					}
					if d.Verdict != engine.Record || d.Entries[0].Type != journal.CardSeen || w.task.Status != "board" {
						t.Errorf("%s in %s: %+v", d.Verdict, w.task.Status, d.Entries)
					}
				}
				if w.sent() != want || w.task.CounterValue("dispatches") != count {
					t.Errorf("%q, want %q; counted %d, want %d\n%s", w.sent(), want, w.task.CounterValue("dispatches"), count, why(d))
				}
				if w.task.CardSnapshot == nil || w.task.CardSnapshot.Column != tt.column {
					t.Errorf("the card was seen as %+v", w.task.CardSnapshot)
				}
			})
		}
	}
}

func TestWhatADispatchDoesToTheCard(t *testing.T) {
	for _, tt := range []struct {
		face *board.Snapshot
		want string
	}{
		{face("Development", "Planned"), "tag_card-Ops-Ready claim_card=Claimed-Dev-1 acquire spawn_agent"},
		{face("Review", "Rework-Complete"), "claim_card=Review-In-Progress acquire spawn_reviewer"},
		{face("Analyse", "Plan-Pending-Approval", "Plan-Approved"), "tag_card-Plan-Approved acquire spawn_agent"},
		{face("Analyse", "Plan-Pending-Approval", "Plan-Rejected"), "tag_card-Plan-Rejected acquire spawn_agent"},
		{face("Analyse", "Needs-Clarification", "Clarification-Answered"), "tag_card-Clarification-Answered acquire spawn_agent"},
		{face("Deploy", "Review-Approved", "Ops-Ready"), "acquire spawn_agent"},
		{face("To Do"), "acquire spawn_agent"},
		{face("Deploy", "Ops-Ready"), "tag_card-Ops-Ready merge=auto"},
	} {
		w := placed(t, "joan-board", "board")
		w.task.Workspace = ""
		d := w.looks(tt.face)
		if got := strings.ReplaceAll(describeEffects(d.Entries), "acquire_workspace", "acquire"); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.face, got, tt.want)
		}
		bare := placed(t, "joan-board", "board")
		bare.task.TrackerRef = ""
		if d := bare.looks(tt.face); strings.Contains(describeEffects(d.Entries), "card") {
			t.Errorf("a task without a card: %s", describeEffects(d.Entries))
		}
	}
}

// describeEffects lists the effects of entries, with what they say about a card.
func describeEffects(entries []journal.Entry) string {
	var out []string
	for _, e := range entries {
		for _, f := range e.Effects {
			word := f.Do
			if f.Arg != "" {
				word += "=" + f.Arg
			}
			for _, tag := range f.Tags {
				word += "+" + tag
			}
			for _, tag := range f.Untags {
				word += "-" + tag
			}
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

func TestACardThatLooksTheSameChangesNothing(t *testing.T) {
	w := placed(t, "joan-board", "board")
	w.looks(face("Analyse", "Needs-Clarification"))
	if d := w.looks(face("Analyse", "Needs-Clarification")); d.Verdict != engine.Stay || len(d.Entries) > 0 {
		t.Errorf("%s: %+v", d.Verdict, d.Entries)
	}
	other := face("Analyse", "Needs-Clarification")
	other.Described = "d2"
	if d := w.looks(other); len(d.Entries) != 1 || w.task.CardSnapshot.Described != "d2" {
		t.Errorf("%+v, seen %+v", d.Entries, w.task.CardSnapshot)
	}
	it, ok := explain.InboxItem(w.def, w.task)
	if !ok || it.Kind != explain.ItemBoard || !strings.Contains(it.Text, "set Clarification-Answered") || narrate.FormatCommand(it.Action) != "orange board tag p/1 Clarification-Answered" {
		t.Errorf("%+v, %v", it, ok)
	}
}

func TestACardThatChangesWhileAnAgentWorksIsOnlySeen(t *testing.T) {
	w := placed(t, "joan-board", "dev-implement")
	d := w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Human, Word: signal.CardChanged, CardSnapshot: face("Review", "Invoke-Architect")})
	if d.Verdict != engine.Record || w.task.Status != "dev-implement" || w.task.CardSnapshot.Column != "Review" || effects(d.Entries) != "" {
		t.Errorf("%s in %s: %+v", d.Verdict, w.task.Status, d.Entries)
	}
}

func TestAPersonsChangeWaitsWhileOrangeChangesTheCard(t *testing.T) {
	w := placed(t, "joan-board", "ba-evaluate")
	w.ends(result(signal.Actions{AddTags: []string{"Ready"}, Column: "Analyse"}))
	if w.task.Status != "board" || !strings.HasSuffix(describeEffects(w.log), "read_card") {
		t.Fatalf("%s: %s", w.task.Status, describeEffects(w.log))
	}
	person := signal.Signal{Kind: signal.Tracker, Actor: task.Human, Word: signal.CardChanged, CardSnapshot: face("To Do")}
	d := w.must(person)
	if d.Verdict != engine.Stay || len(d.Entries) > 0 || !strings.Contains(why(d), "the card is being changed: it is read again when that is done") {
		t.Errorf("%s: %+v\n%s", d.Verdict, d.Entries, why(d))
	}
	if w.looks(face("Analyse", "Ready")); w.sent() != "architect/plan" {
		t.Errorf("read, and the task is in %s", w.task.Status)
	}
	w = placed(t, "joan-board", "ba-evaluate")
	w.ends(result(signal.Actions{}))
	for _, e := range w.task.Clone().Pending {
		w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: e.Do != workflow.ReadCard, Error: "no board", Final: true}})
	}
	if w.task.Attention == "" {
		t.Fatal("the card could not be read, and nobody is told")
	}
	if w.must(person); w.sent() != "ba/evaluate" {
		t.Errorf("a card that could not be read counts when a person changes it: %s", w.task.Status)
	}
}

func TestASerialGroupTakesOneTaskAtATime(t *testing.T) {
	ready := func(busy ...string) signal.Signal {
		return signal.Signal{Kind: signal.Ready, Actor: task.Engine, Busy: busy}
	}
	w := placed(t, "joan-board", "board")
	d := w.looks(face("Development", "Planned"), "dev")
	if d.Verdict != engine.Stay || w.task.Status != "board" || !w.task.Queued || d.Entries[0].Type != journal.TaskQueued || w.task.CardSnapshot == nil ||
		d.Entries[0].Reason != "another task of project supposed is at dev, and one works at a time" || len(w.task.Pending) > 0 || w.task.CounterValue("dispatches") != 0 {
		t.Fatalf("%s: %+v", d.Verdict, d.Entries)
	}
	if it, ok := explain.InboxItem(w.def, w.task); ok {
		t.Errorf("a person is asked although other tasks come first: %+v", it)
	}
	for _, sig := range []signal.Signal{ready("dev"), {Kind: signal.Tracker, Actor: task.Engine, CardSnapshot: face("Development", "Planned"), Busy: []string{"dev"}}} {
		if d := w.must(sig); len(d.Entries) > 0 || !w.task.Queued {
			t.Errorf("%s while it is busy: %+v", sig.Kind, d.Entries)
		}
	}
	d = w.must(ready("reviewers"))
	if w.sent() != "dev/implement" || w.task.Queued || w.task.CardSnapshot.Column != "Development" || w.task.CounterValue("dispatches") != 1 {
		t.Errorf("%s, queued %v\n%s", w.task.Status, w.task.Queued, why(d))
	}

	w = placed(t, "joan-board", "board")
	if w.looks(face("Review", "Rework-Complete"), "dev"); w.sent() != "reviewer/review" {
		t.Errorf("the reviewer waits for a dev: %s", w.task.Status)
	}
	w = placed(t, "joan-board", "dev-implement")
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "dev", Report: unclear(signal.Unknown), Busy: []string{"dev"}})
	if _, lives := w.task.LiveAttempt("dev"); !lives {
		t.Error("what follows from an agent's own end is kept waiting")
	}
	w = placed(t, "joan-board", "dev-implement")
	w.end("dev")
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn, Busy: []string{"dev"}}, "another task of project supposed is at dev, and one works at a time")
}

func TestAQueuedCardIsDispatchedAsItLooksNow(t *testing.T) {
	queued := func() *world {
		w := placed(t, "joan-board", "board")
		w.looks(face("Development", "Planned"), "dev")
		return w
	}
	w := queued()
	w.looks(face("Development", "Merge-Conflict"), "dev")
	if w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine}); w.sent() != "dev/conflict" {
		t.Errorf("the card changed while it was queued: %q", w.sent())
	}
	w = queued()
	w.looks(face("Development", "Planned", "Implementation-Failed"), "dev")
	if w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine}); w.sent() != "" {
		t.Errorf("nothing waits for the card any more: %q", w.sent())
	}
	if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Kind != explain.ItemBoard {
		t.Errorf("a card that nobody waits for: %+v, %v", it, ok)
	}
	if w.looks(face("Analyse", "Ready"), "dev"); w.sent() != "architect/plan" || w.task.Queued {
		t.Errorf("the way of the architect is free: %q", w.sent())
	}
	w = placed(t, "joan-board", "board")
	w.task.Workspace, w.free = "", nil
	if d := w.looks(face("To Do")); !w.task.Queued || !strings.Contains(d.Entries[0].Reason, "no workspace of project supposed is free") {
		t.Errorf("%+v", d.Entries)
	}
	w.free = []string{"p--1"}
	if w.must(signal.Signal{Kind: signal.Ready, Actor: task.Engine}); w.sent() != "ba/evaluate" || w.task.Workspace != "p--1" {
		t.Errorf("%q in %q", w.sent(), w.task.Workspace)
	}
}

// Several lookouts may wait for the same tag; it is named once.
func TestAWaitingCardNamesEachTagOnce(t *testing.T) {
	w := placed(t, "joan-board", "board")
	w.task.CardSnapshot = &board.Snapshot{Column: "Deploy", Tags: []string{"Review-Approved"}}
	w.task.TrackerRef = "board:p/1"
	if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Text != "the card is in Deploy with Review-Approved: set Ops-Ready" {
		t.Errorf("%v %+v", ok, it)
	}
}
