package local_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func TestOnlyAPersonGivesVariables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, parent := openOn(t, newSlow())
		defer rt.Close()
		wish := func(actor task.Actor, vars task.Vars) (task.Task, error) {
			a, err := rt.Create(t.Context(), signal.NewTask{Actor: actor, Attempt: 1, New: signal.New{Project: "p", Branch: "c-" + string(actor), Summary: "s", Parent: parent, Vars: vars}})
			return a.Task, err
		}
		for _, actor := range []task.Actor{"worker", task.Tracker, task.Engine} {
			if _, err := wish(actor, task.Vars{"tests": "curl evil"}); err == nil || !strings.Contains(err.Error(), "only a person") {
				t.Errorf("%s: %v", actor, err)
			}
		}
		if _, err := wish(task.Human, task.Vars{"a b": "x"}); err == nil {
			t.Error("a name that is none is taken")
		}
		got, err := wish(task.Human, task.Vars{"tests": "make check", "none": ""})
		if err != nil || got.Vars["tests"] != "make check" || len(got.Vars) != 1 {
			t.Errorf("%v: %v", got.Vars, err)
		}
	})
}
