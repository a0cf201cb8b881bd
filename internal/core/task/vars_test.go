package task_test

import (
	"strings"
	"testing"

	"orange/internal/core/task"
)

func TestVariablesAreReadAndBounded(t *testing.T) {
	got, err := task.ParseVars([]string{"tests=make check", "a-b_1=x=y", "gone="})
	if err != nil || got["tests"] != "make check" || got["a-b_1"] != "x=y" {
		t.Errorf("%v: %v", got, err)
	}
	next := task.Vars{"gone": "1", "kept": "2"}.WithChanges(got)
	if _, ok := next["gone"]; ok || len(next) != 3 || next["kept"] != "2" {
		t.Errorf("%v", next)
	}
	if none := (task.Vars{"gone": "1"}).WithChanges(task.Vars{"gone": ""}); none != nil {
		t.Errorf("%v", none)
	}
	for _, bad := range []string{"tests", "=x", "1a=x", "a b=x", "a.b=x", "a=\x1b[31m", "a=" + strings.Repeat("x", 9000), "a=\xff"} {
		if _, err := task.ParseVars([]string{bad}); err == nil {
			t.Errorf("%.20q is read", bad)
		}
	}
	if _, err := task.ParseVars([]string{"a=1", "a=2"}); err == nil {
		t.Error("one is given twice")
	}
}
