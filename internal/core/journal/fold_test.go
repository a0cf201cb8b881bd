package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// made is a task with one pending start and one counter.
func made(t *testing.T) task.Task {
	t.Helper()
	got, err := Fold(task.Task{}, []Entry{{
		Task: "t", Seq: 1, At: noon, Type: TaskCreated, Move: Move{From: "new", To: "working"},
		Creation:       Creation{New: &signal.New{Project: "p", Branch: "b", Summary: "s"}},
		RecordChanges:  RecordChanges{BindWorkspace: "p--1", Counters: []task.Counter{{Name: "n", Value: 1, Total: 1}}},
		AttemptChanges: AttemptChanges{Started: []task.Attempt{{Number: 1, Role: "worker", State: "working", Visit: 1, Since: noon}}},
		EffectChanges:  EffectChanges{Effects: []task.Effect{{ID: "t/1/0", Do: "spawn_agent", Role: "worker", Attempt: 1, Start: true}, {ID: "t/1/1", Do: "x"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAnEntryThatDoesNotFollowChangesNothing(t *testing.T) {
	for name, e := range map[string]Entry{
		"a gap":            {Task: "t", Seq: 3, Type: TaskPaused},
		"the same again":   {Task: "t", Seq: 1, Type: TaskPaused},
		"of another task":  {Task: "u", Seq: 2, Type: TaskPaused},
		"before the first": {Task: "t", Seq: 0, Type: TaskPaused},
	} {
		t.Run(name, func(t *testing.T) {
			got := made(t)
			err := Apply(&got, &e)
			if err == nil || !strings.Contains(err.Error(), "does not follow entry 1 of task t") {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(made(t), got); diff != "" {
				t.Errorf("- before, + after\n%s", diff)
			}
			if folded, err := Fold(made(t), []Entry{e}); err == nil || folded.ID != "" {
				t.Errorf("folded to %+v, %v", folded, err)
			}
		})
	}
	if _, err := Fold(task.Task{}, []Entry{{Task: "t", Seq: 2}}); err == nil {
		t.Error("a journal that begins with its second entry was folded")
	}
}

func TestFoldingLeavesTheRecordItWasGiven(t *testing.T) {
	before := made(t)
	if _, err := Fold(before, []Entry{
		{Task: "t", Seq: 2, At: noon, Type: EffectFailed, EffectChanges: EffectChanges{Tries: 1, Receipt: &signal.Receipt{Effect: "t/1/0", Error: "no"}}},
		{Task: "t", Seq: 3, At: noon, Type: StatusChanged, Move: Move{To: "done"}, RecordChanges: RecordChanges{Counters: []task.Counter{{Name: "n", Value: 9}}}, AttemptChanges: AttemptChanges{Ending: []int{1}}},
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made(t), before); diff != "" {
		t.Errorf("- before, + after\n%s", diff)
	}
}

func TestWhatEachEntryChanges(t *testing.T) {
	asked := &task.Asked{To: "done", By: "worker", At: noon}
	later := noon.Add(time.Hour)
	ok := func(id string) *signal.Receipt { return &signal.Receipt{Effect: id, OK: true, Session: "s"} }
	tests := []struct {
		name    string
		entries []Entry
		holds   func(t *task.Task) bool
	}{
		{"a pause", []Entry{{Type: TaskPaused}}, func(t *task.Task) bool { return t.Paused }},
		{"a resume", []Entry{{Type: TaskPaused}, {Type: TaskResumed}}, func(t *task.Task) bool { return !t.Paused }},
		{"a question to a person", []Entry{{Type: AskedPerson, RecordChanges: RecordChanges{Asked: asked}}}, func(t *task.Task) bool { return t.Asked.To == "done" }},
		{"a move answers it", []Entry{{Type: AskedPerson, RecordChanges: RecordChanges{Asked: asked}}, {Type: StatusChanged, Move: Move{To: "done"}}}, func(t *task.Task) bool { return t.Asked == nil && t.Visit == 2 }},
		{"a wait for a workspace", []Entry{{Type: TaskQueued}}, func(t *task.Task) bool { return t.Queued }},
		{"a move ends the wait", []Entry{{Type: TaskQueued}, {Type: AutoAdvanced, Move: Move{To: "done"}}}, func(t *task.Task) bool { return !t.Queued }},
		{"a deletion", []Entry{{Type: TaskDeleted}}, func(t *task.Task) bool { return t.Deleted }},
		{"a start that was confirmed", []Entry{{Type: AgentSpawned, EffectChanges: EffectChanges{Tries: 1, Receipt: ok("t/1/0")}}},
			func(t *task.Task) bool { return t.Attempts[0].Running && t.TmuxSession == "s" && len(t.Pending) == 1 }},
		{"the last receipt", []Entry{{Type: EffectDone, EffectChanges: EffectChanges{Receipt: ok("t/1/0")}}, {Type: EffectDone, EffectChanges: EffectChanges{Receipt: ok("t/1/1")}}},
			func(t *task.Task) bool { return t.Pending == nil }},
		{"a receipt nobody waits for", []Entry{{Type: EffectDone, EffectChanges: EffectChanges{Receipt: ok("t/9/9")}}}, func(t *task.Task) bool { return len(t.Pending) == 2 }},
		{"a failure", []Entry{{Type: EffectFailed, EffectChanges: EffectChanges{Tries: 1, RetryAt: later, Receipt: &signal.Receipt{Effect: "t/1/0", Error: "no"}}}},
			func(t *task.Task) bool {
				return t.Pending[0].Tries == 1 && t.Pending[0].NotBefore.Equal(later) && t.Pending[0].Error == "no"
			}},
		{"giving up", []Entry{{Type: EffectGaveUp, RecordChanges: RecordChanges{Attention: "look"}, EffectChanges: EffectChanges{Tries: 6, Receipt: &signal.Receipt{Effect: "t/1/0"}}}},
			func(t *task.Task) bool { return t.Pending[0].GivenUp && t.Attention == "look" }},
		{"trying again", []Entry{{Type: EffectGaveUp, RecordChanges: RecordChanges{Attention: "look"}, EffectChanges: EffectChanges{Tries: 6, Receipt: &signal.Receipt{Effect: "t/1/0"}}}, {Type: TaskResumed}},
			func(t *task.Task) bool { return !t.Pending[0].GivenUp && t.Pending[0].Tries == 0 && t.Attention == "" }},
		{"forgetting", []Entry{{Type: StatusChanged, Move: Move{To: "done"}, EffectChanges: EffectChanges{Dropped: []string{"t/1/0"}}}}, func(t *task.Task) bool { return len(t.Pending) == 1 && t.Pending[0].ID == "t/1/1" }},
		{"an order to end", []Entry{{Type: StatusChanged, Move: Move{To: "done"}, AttemptChanges: AttemptChanges{Ending: []int{1, 9}}}}, func(t *task.Task) bool { return t.Attempts[0].Ending }},
		{"a deadline", []Entry{{Type: AgentOverdue, AttemptChanges: AttemptChanges{Overdue: []int{1, 9}}}}, func(t *task.Task) bool { return t.Attempts[0].Overdue }},
		{"an end", []Entry{{Type: AgentExited, AttemptChanges: AttemptChanges{Ended: []Ended{{Number: 1, Role: "worker"}}}}}, func(t *task.Task) bool { return t.Attempts == nil && t.Crashed == "" }},
		{"a crash", []Entry{{Type: AgentCrashed, AttemptChanges: AttemptChanges{Role: "worker", RespawnAt: later, Ended: []Ended{{Number: 1}}}}},
			func(t *task.Task) bool { return t.Crashed == "worker" && t.RespawnAt.Equal(later) }},
		{"a start after a crash", []Entry{{Type: AgentCrashed, AttemptChanges: AttemptChanges{Role: "worker", RespawnAt: later, Ended: []Ended{{Number: 1}}}},
			{Type: AgentRespawn, AttemptChanges: AttemptChanges{Started: []task.Attempt{{Number: 2, Role: "worker"}}}}},
			func(t *task.Task) bool {
				return t.Crashed == "" && t.RespawnAt.IsZero() && t.AttemptsOfRole("worker") == 2 && t.AttemptCount() == 2
			}},
		{"a counter", []Entry{{Type: StatusChanged, Move: Move{To: "done"}, RecordChanges: RecordChanges{Counters: []task.Counter{{Name: "n", Value: 2, Total: 5}, {Name: "m", Value: 3}}}}},
			func(t *task.Task) bool {
				return t.CounterValue("n") == 2 && t.CounterValue("m") == 3 && t.CounterValue("none") == 0
			}},
		{"a workspace that is free again", []Entry{{Type: EffectDone, RecordChanges: RecordChanges{UnbindWorkspace: true}, EffectChanges: EffectChanges{Receipt: ok("t/1/0")}}}, func(t *task.Task) bool { return t.Workspace == "" }},
		{"a text that opened a gate", []Entry{{Type: StatusChanged, Move: Move{To: "done"}, RecordChanges: RecordChanges{Opened: []task.Digest{{Section: "Plan", Sum: "1"}}}}, {Type: StatusChanged, Move: Move{To: "x"}, RecordChanges: RecordChanges{Opened: []task.Digest{{Section: "Plan", Sum: "2"}}}}},
			func(t *task.Task) bool {
				return len(t.Opened) == 1 && task.SumOf(t.Opened, "Plan") == "2" && task.SumOf(t.Opened, "x") == ""
			}},
		{"an update", []Entry{{Type: TaskUpdated, RecordChanges: RecordChanges{Fields: []signal.Field{{Name: "summary", To: "new"}, {Name: "junk", To: "x"}}}}}, func(t *task.Task) bool { return t.Summary == "new" }},
		{"tampering", []Entry{{Type: TaskTampered, RecordChanges: RecordChanges{Fields: []signal.Field{{Name: "summary", To: "new"}}}}}, func(t *task.Task) bool { return t.Summary == "s" }},
		{"a type of a later version", []Entry{{Type: "agent.dreamt"}}, func(t *task.Task) bool { return t.Seq == 2 && t.Status == "working" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.entries {
				tt.entries[i].Task, tt.entries[i].Seq, tt.entries[i].At = "t", i+2, noon.Add(time.Minute)
			}
			got, err := Fold(made(t), tt.entries)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.holds(&got) || !got.UpdatedAt.Equal(noon.Add(time.Minute)) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestEveryFieldThatAnUpdateMaySetCanBeReadBack(t *testing.T) {
	r := made(t)
	for _, name := range []string{"branch", "summary", "harness", "review_harness", "effort", "review_effort", "pr_url", "pr_state", "tracker"} {
		r.Seq = 1
		if err := Apply(&r, &Entry{Task: "t", Seq: 2, At: noon, Type: TaskUpdated, RecordChanges: RecordChanges{Fields: []signal.Field{{Name: name, To: "v-" + name}}}}); err != nil {
			t.Fatal(err)
		}
		if got, ok := FieldValue(&r, name); !ok || got != "v-"+name {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	if _, ok := FieldValue(&r, "status"); ok {
		t.Error("a status can be updated")
	}
}

// What an agent was started with, and what it reports of itself later, is on its attempt.
func TestAnAttemptKnowsItsModelAndItsPrompt(t *testing.T) {
	receipt := &signal.Receipt{Effect: "t/1/0", OK: true, Harness: "codex", Model: "asked-for", PromptHash: "0123456789abcdef"}
	got, err := Fold(made(t), []Entry{{Task: "t", Seq: 2, At: noon, Type: AgentSpawned, EffectChanges: EffectChanges{Receipt: receipt}}})
	if err != nil {
		t.Fatal(err)
	}
	if a := got.Attempts[0]; !a.Running || a.Model != "asked-for" || a.PromptHash != "0123456789abcdef" {
		t.Errorf("after the start: %+v", a)
	}
	got, err = Fold(got, []Entry{{Task: "t", Seq: 3, At: noon, Type: AgentNotice, Attempt: 1, AttemptChanges: AttemptChanges{Model: "reported"}}})
	if err != nil {
		t.Fatal(err)
	}
	if a := got.Attempts[0]; a.Model != "reported" {
		t.Errorf("after its report: %+v", a)
	}
}
