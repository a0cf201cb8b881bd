package engine_test

import (
	"reflect"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// TestWhereAnActionCameFromIsCarriedThrough makes sure that the first entry of a decision
// says it, and that nothing else depends on it.
func TestWhereAnActionCameFromIsCarriedThrough(t *testing.T) {
	text, _ := builtin.Text("orange-direct")
	def, err := workflow.Parse("orange-direct.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	via := &signal.Via{Kind: signal.ViaSocket, PID: 4711, Program: "orange"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	create := signal.Signal{Kind: signal.Create, At: at, Actor: task.Human, New: &signal.New{ID: "A0000000000000000000a", Project: "p", Branch: "b", Summary: "s", Spawn: true}, Free: []string{"p--1"}}
	born, err := journal.Fold(task.Task{}, engine.Decide(def, &task.Task{}, create).Entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		t    task.Task
		sig  signal.Signal
	}{
		{"create", task.Task{}, create},
		{"pause", born, signal.Signal{Kind: signal.Pause, At: at, Actor: task.Human}},
		{"update", born, signal.Signal{Kind: signal.Update, At: at, Actor: task.Human, Fields: []signal.Field{{Name: "summary", To: "x"}}}},
		{"cancel", born, signal.Signal{Kind: signal.Request, Verb: "cancel", At: at, Actor: task.Human}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			without := engine.Decide(def, &tt.t, tt.sig)
			tt.sig.Via = via
			with := engine.Decide(def, &tt.t, tt.sig)
			if len(with.Entries) == 0 || with.Entries[0].Via != via {
				t.Fatalf("it is lost: %+v", with)
			}
			first := with.Entries[0]
			if got := first.Signal(0); got.Via != via {
				t.Error("the signal of the entry does not say it")
			}
			if events := journal.HistoryEvents(first); !said(events) {
				t.Errorf("history does not say it: %+v", events)
			}
			with.Entries[0].Via = nil
			if !reflect.DeepEqual(with, without) {
				t.Errorf("it changes the decision:\n%+v\n%+v", with, without)
			}
		})
	}
}

func said(events []journal.Event) bool {
	for _, ev := range events {
		for _, f := range ev.Fields {
			if f.Name == "via" {
				return true
			}
		}
	}
	return false
}
