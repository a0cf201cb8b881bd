package task_test

import (
	"encoding/binary"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/handoff"
	"orange/internal/core/task"
)

func TestAnIDIs21LettersAndDigitsAndFollowsFromItsEntropy(t *testing.T) {
	seen := map[task.ID]bool{}
	for i := range uint64(2000) {
		entropy := binary.BigEndian.AppendUint64(nil, i)
		id := task.NewID(entropy)
		if !id.IsValid() || seen[id] || id != task.NewID(entropy) {
			t.Fatalf("id %q of %d: valid %v, seen %v", id, i, id.IsValid(), seen[id])
		}
		seen[id] = true
	}
}

func TestWhatIsAnIDAndWhatCouldBeginOne(t *testing.T) {
	for text, want := range map[string][2]bool{
		"abcdefghijklmnopqrstu":  {true, true},
		"abcdefghijklmnopqrstuv": {false, false},
		"abc":                    {false, true},
		"":                       {false, false},
		"-bcdefghijklmnopqrstu":  {false, false},
		"a/c":                    {false, false},
		"ä":                      {false, false},
	} {
		if got := [2]bool{task.ID(text).IsValid(), task.ValidPrefix(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestAProjectIsCheckedAndNamesItsWorkspaces(t *testing.T) {
	for name, ok := range map[string]bool{"web": true, "my.app_2-x": true, "": false, "..": false, "a b": false, "-x": false, "a/b": false} {
		if err := (task.Project{Name: name, PoolSize: 1}).Check(); (err == nil) != ok {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for size, ok := range map[int]bool{0: false, 1: true, task.MaxPoolSize: true, task.MaxPoolSize + 1: false, -1: false} {
		if err := (task.Project{Name: "p", PoolSize: size}).Check(); (err == nil) != ok {
			t.Errorf("pool %d: %v", size, err)
		}
	}
	if diff := cmp.Diff([]string{"p--1", "p--2"}, task.Project{Name: "p", PoolSize: 2}.WorkspaceNames()); diff != "" {
		t.Error(diff)
	}
}

// A clone that shares a slice would let one decision change the record of another.
func TestACloneSharesNoMemory(t *testing.T) {
	original := task.Task{
		Counters: []task.Counter{{Name: "a"}}, Pending: []task.Effect{{ID: "e"}},
		Setup: task.Setup{Roles: []task.RoleChoice{{Role: "r"}}},
		CurrentVisit: task.CurrentVisit{
			Seen: []task.Digest{{Section: "s"}}, Samples: []task.Sample{{Section: "s"}},
			Unstarted: &task.Unstarted{Count: 1}, Unanswered: &task.Unanswered{Attempt: 1}, Answered: &task.Answered{By: task.Human},
		},
		Waiting: task.Waiting{Asked: &task.Asked{To: "x"}, GaveUp: &task.GaveUp{Do: "merge"}},
		Agents: task.Agents{
			Attempts: []task.Attempt{{Number: 1}}, AttemptCounts: []task.AttemptTally{{Role: "w"}},
			Limits: []task.Limit{{Choice: "c"}}, Lost: []time.Time{{}}, Failed: []task.Moment{{State: "s"}},
		},
		Results: task.Results{
			LastReport: &task.LastReport{Role: "w"}, Handoffs: []handoff.Handoff{{From: "w"}}, Handover: &task.Handover{Visit: 1},
			Work: &task.Work{Base: "b"}, Salvages: []string{"r"}, SetAside: []string{"f"}, Opened: []task.Digest{{Section: "s"}}, CardSnapshot: &board.Snapshot{Column: "c"},
		},
	}
	clone := original.Clone()
	a, b := reflect.ValueOf(original), reflect.ValueOf(clone)
	for i := range a.NumField() {
		kind := a.Field(i).Kind()
		if (kind == reflect.Slice || kind == reflect.Pointer) && (a.Field(i).IsNil() || a.Field(i).Pointer() == b.Field(i).Pointer()) {
			t.Errorf("field %s is empty here, or shared", a.Type().Field(i).Name)
		}
	}
	if diff := cmp.Diff(original, clone); diff != "" {
		t.Error(diff)
	}
}

func TestAttemptsAreFoundByRoleAndNumber(t *testing.T) {
	x := task.Task{
		Agents: task.Agents{Attempts: []task.Attempt{{Number: 1, Role: "worker", Ending: true}, {Number: 3, Role: "worker"}, {Number: 4, Role: "reviewer"}},
			AttemptCounts: []task.AttemptTally{{Role: "worker", Count: 3}, {Role: "reviewer", Count: 1}}},
	}
	if a, ok := x.LiveAttempt("worker"); !ok || a.Number != 3 {
		t.Errorf("the living worker is %+v, %v", a, ok)
	}
	if _, ok := x.LiveAttempt("fixer"); ok {
		t.Error("a fixer lives")
	}
	if a, ok := x.AttemptByNumber(1); !ok || a.Role != "worker" {
		t.Errorf("attempt 1 is %+v, %v", a, ok)
	}
	if x.AttemptCount() != 4 || x.AttemptsOfRole("worker") != 3 || x.AttemptsOfRole("fixer") != 0 {
		t.Errorf("counts: %d, %d, %d", x.AttemptCount(), x.AttemptsOfRole("worker"), x.AttemptsOfRole("fixer"))
	}
}
