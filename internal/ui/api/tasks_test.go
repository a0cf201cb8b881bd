package api_test

import (
	"testing"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/api"
)

func TestWhoseOrdersAreCarriedOut(t *testing.T) {
	const parent, other = task.ID("parent"), task.ID("other")
	worker := func(id task.ID) *agent.Caller { return &agent.Caller{Task: id, Attempt: 1, Role: "worker"} }
	for name, tt := range map[string]struct {
		actor  task.Actor
		parent task.ID
		caller *agent.Caller
		want   bool
	}{
		"a person's":                      {actor: task.Human, want: true},
		"a tracker's":                     {actor: task.Tracker},
		"a tracker's, about a part":       {actor: task.Tracker, parent: parent},
		"of the parent's attempt":         {actor: "worker", parent: parent, caller: worker(parent), want: true},
		"of another task's attempt":       {actor: "worker", parent: parent, caller: worker(other)},
		"of an attempt, without a parent": {actor: "worker", caller: worker(parent)},
	} {
		w := signal.NewTask{Actor: tt.actor, Context: "do it"}
		w.Parent = tt.parent
		if got := api.CarriesOut(&w, tt.caller); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	w := signal.NewTask{Requirements: "first", Context: "second"}
	if w.ToRequirements(); w.Requirements != "first\n\nsecond" || w.Context != "" {
		t.Errorf("%+v", w)
	}
}
