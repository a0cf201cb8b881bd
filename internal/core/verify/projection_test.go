package verify

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// What the search does with each field of a record. A new field must be classified here:
// compared (it is in the key), forgotten (makeCanonical removes it, because nothing that can
// happen depends on it), follows (from what is compared) or fixed (nothing in the model changes
// it).
const (
	compared  = "compared"
	forgotten = "forgotten"
	follows   = "follows"
	fixed     = "fixed"
)

var taskFields = map[string]string{
	"ID": fixed, "Project": fixed, "Branch": fixed, "Harness": fixed, "ReviewHarness": fixed, "Effort": fixed, "ReviewEffort": fixed,
	"Summary": fixed, "Workflow": fixed, "WorkflowHash": fixed, "TrackerRef": fixed, "PRURL": fixed, "PRState": fixed, "PRReady": fixed, "Delivery": fixed,
	"Base": fixed, "BaseBranch": fixed, "Model": fixed, "ReviewModel": fixed, "AgentFlags": fixed, "Permissions": fixed, "ForkOf": fixed, "Parent": fixed, "TmuxSession": fixed, "EntryCommit": fixed, "Paused": fixed, "PauseReason": fixed, "PauseCause": fixed, "Deleted": fixed,
	"Salvages": fixed, "SetAside": fixed, "Rules": fixed, "Vars": fixed, "Roles": fixed, "Limits": fixed, "Checks": fixed, "Unchanged": fixed, "ProtectedChanges": fixed, "ApprovedChanges": fixed, "After": fixed, "StackOn": fixed, "Undelivered": fixed, // an agent is stopped where nothing is pending

	"Status": compared, "Counters": compared, "Workspace": compared, "ReturnTo": compared, "Queued": compared, "Attention": compared,
	"Asked": compared, "Crashed": compared, "WorkFailed": compared, "Attempts": compared, "RespawnAt": compared, "Pending": compared,
	"Restated": compared, "Handover": compared, "Unanswered": compared, "CheckRun": compared,

	"CreatedAt": forgotten, "UpdatedAt": forgotten, "Seq": forgotten, "Visit": forgotten, "Since": forgotten, "GaveUp": forgotten,
	"AttemptCounts": forgotten, "Samples": forgotten, "LastReport": forgotten, "Handoffs": forgotten, "Question": forgotten, "Advice": forgotten,
	"CardSnapshot": forgotten, "Work": forgotten, "Failed": forgotten, "Lost": forgotten, "Unstarted": forgotten, "CheckResults": forgotten, "Landing": forgotten, "Stopped": forgotten,
	"Predecessors": forgotten, // the search chooses where it is asked whether they landed

	"Opened":      follows, // from the texts of the world
	"Seen":        follows,
	"Answered":    follows, // forgetIdle takes it out after each decision
	"StateReason": follows, // it is only shown
	"Spent":       follows, // budgets are not in the model
}

var attemptFields = map[string]string{
	"Role": compared, "Running": compared, "Ending": compared, "Overdue": compared,
	"Number": forgotten, "State": forgotten, "Visit": forgotten, "Since": forgotten,
	"Done":      forgotten, // by the quotient; compared in full
	"Condition": compared,  // of an agent that waits for a person; forgotten otherwise
	"Credit":    forgotten, // it only moves a deadline
	"Nudged":    fixed, "Usage": fixed, "Model": fixed, "PromptHash": fixed,
	"Harness": follows, "Why": follows, "Tried": follows, // the first choice of a role always can be started, and nothing in the model falls back
}

var effectFields = map[string]string{
	"Do": compared, "Role": compared, "Attempt": compared, "Start": compared, "GivenUp": compared, "Turn": compared,
	"ID": forgotten, "Window": forgotten, "Prompt": forgotten, "Tries": forgotten, "NotBefore": forgotten, "Error": forgotten,
	"Moves": follows,                                     // in the model nobody moves the target while a candidate is checked
	"Since": forgotten, "By": follows, "Choice": follows, // no decision reads them
	"Head": follows, "Message": follows, "Workspace": follows, "Arg": follows, "Text": follows, "Tags": follows, "Untags": follows, "NonBlocking": follows,
}

// projectedWorld returns an agent at work whose end was ordered to be seen to.
func projectedWorld() world {
	return world{
		now: origin, procs: []process{alive}, texts: make([]text, 2),
		t: task.Task{
			Seq: 1, CurrentVisit: task.CurrentVisit{Visit: 1}, Status: "agent-review", Counters: []task.Counter{{Name: "review_round"}, {Name: "crash_count"}},
			Agents:  task.Agents{Attempts: []task.Attempt{{Number: 1, Role: "worker", Visit: 1}}},
			Pending: []task.Effect{{ID: "e0", Do: "spawn_reviewer", By: task.ByEdge, Role: "reviewer"}},
		},
	}
}

func TestEveryFieldOfARecordIsComparedOrForgotten(t *testing.T) {
	text, _ := builtin.Text("orange-direct")
	def, err := workflow.Parse("orange-direct.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	def, err = def.WithEdits(func(d *workflow.Definition) { // elsewhere it makes no difference who crashed
		for i := range d.States {
			d.States[i].Respawn = workflow.RespawnManual
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(def, SearchOptions{})
	for _, kind := range []struct {
		name   string
		fields map[string]string
		of     func(*world) reflect.Value
	}{
		{"Task", taskFields, func(w *world) reflect.Value { return reflect.ValueOf(&w.t).Elem() }},
		{"Attempt", attemptFields, func(w *world) reflect.Value { return reflect.ValueOf(&w.t.Attempts[0]).Elem() }},
		{"Effect", effectFields, func(w *world) reflect.Value { return reflect.ValueOf(&w.t.Pending[0]).Elem() }},
	} {
		typ := kind.of(ptr(projectedWorld())).Type()
		for _, field := range reflect.VisibleFields(typ) {
			if field.Anonymous {
				continue // a group: its fields follow
			}
			name := field.Name
			as, known := kind.fields[name]
			if !known {
				t.Errorf("task.%s.%s is new: say in this table whether worlds that differ in it are told apart", kind.name, name)
				continue
			}
			base, other := projectedWorld(), projectedWorld()
			change(kind.of(&other).FieldByIndex(field.Index), name)
			if kind.name == "Task" && name == "Attempts" { // every attempt has a process
				other.procs = nil
			}
			m.makeCanonical(&base)
			m.makeCanonical(&other)
			differs := string(m.appendKey(&base, nil)) != string(m.appendKey(&other, nil))
			left := !reflect.DeepEqual(base.t, other.t)
			switch {
			case as == compared && !differs:
				t.Errorf("task.%s.%s is not compared", kind.name, name)
			case as != compared && differs:
				t.Errorf("task.%s.%s is compared", kind.name, name)
			case as == forgotten && left:
				t.Errorf("task.%s.%s is not forgotten", kind.name, name)
			}
		}
		for name := range kind.fields {
			if _, there := typ.FieldByName(name); !there {
				t.Errorf("task.%s has no %s", kind.name, name)
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

// change gives a field another value that it can have.
func change(f reflect.Value, name string) {
	switch v := f.Addr().Interface().(type) {
	case *time.Time:
		*v = origin.Add(time.Hour)
		return
	case *[]task.Attempt:
		*v = nil
		return
	case *[]task.Effect:
		*v = nil
		return
	case *[]task.Counter:
		(*v)[0].Value = 1
		return
	case *[]task.Digest:
		*v = []task.Digest{{Section: "Review", Sum: "sum"}}
		return
	case *task.Condition:
		*v = task.Condition{Name: task.Idle, Since: origin}
		return
	case **task.Handover:
		*v = &task.Handover{Visit: 1}
		return
	}
	words := map[string]string{"Status": "working", "ReturnTo": "working", "Crashed": "reviewer", "Role": "fixer", "Do": "kill_reviewer", "By": task.ByState}
	switch f.Kind() {
	case reflect.String:
		if word, ok := words[name]; ok {
			f.SetString(word)
			return
		}
		f.SetString(strings.Repeat("x", 3))
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int, reflect.Int64:
		if f.SetInt(f.Int() + 6); name == "Attempt" || name == "Restated" { // of the attempt and the visit that are there
			f.SetInt(1)
		}
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Struct:
		change(f.Field(0), "")
	}
}
