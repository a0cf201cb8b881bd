package overview

import (
	"testing"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func TestChecksOf(t *testing.T) {
	result := func(outcome, detail string, took time.Duration) []task.CheckResult {
		return []task.CheckResult{{Name: "tests", Outcome: outcome, Detail: detail, Duration: took, Tree: "t", At: noon, Attempt: 2}}
	}
	running := task.Agents{Attempts: []task.Attempt{{Number: 3, Role: workflow.CheckRole, Running: true, Since: noon.Add(-5 * time.Second)}}}
	run := task.CurrentVisit{CheckRun: &task.CheckRun{Name: "tests", Since: noon.Add(-time.Minute)}}
	for name, tt := range map[string]struct {
		task  task.Task
		words string
		may   bool
	}{
		"it never ran":              {task.Task{}, "has not run", true},
		"it passed":                 {task.Task{Results: task.Results{CheckResults: result(task.CheckPassed, "", 1234*time.Millisecond)}}, "passed in 1.2s", true},
		"it failed":                 {task.Task{Results: task.Results{CheckResults: result(task.CheckFailed, "exit code 1", 40*time.Millisecond)}}, "failed: exit code 1, in 40ms", true},
		"it took long":              {task.Task{Results: task.Results{CheckResults: result(task.CheckTimeout, "it did not end within 2m", 2*time.Minute+400*time.Millisecond)}}, "failed: it did not end within 2m, in 2m0s", true},
		"its text has two lines":    {task.Task{Results: task.Results{CheckResults: result(task.CheckMissing, "a\x1b[31m\nb", 0)}}, "could not run: a b", true},
		"it waits":                  {task.Task{CurrentVisit: run}, "waits until no agent is in a turn", false},
		"it runs":                   {task.Task{CurrentVisit: run, Agents: running}, "runs for 5s", false},
		"it runs after a result":    {task.Task{CurrentVisit: run, Agents: running, Results: task.Results{CheckResults: result(task.CheckFailed, "no", 1)}}, "runs for 5s", false},
		"it is held after a result": {task.Task{CurrentVisit: run, Waiting: task.Waiting{WorkFailed: "no"}, Results: task.Results{CheckResults: result(task.CheckMissing, "no", 0)}}, "could not run: no", true},
	} {
		t.Run(name, func(t *testing.T) {
			tt.task.Checks, tt.task.Workspace = task.Checks{{Name: "tests", Run: "make"}}, "p--1"
			list := ChecksOf(&tt.task)
			if len(list) != 1 || list[0].Name != "tests" || list[0].Describe(noon) != tt.words {
				t.Errorf("%+v: %q, want %q", list, list[0].Describe(noon), tt.words)
			}
			r := Row{Kind: workflow.HumanDo, Workspace: "p--1", Checks: list}
			if r.MayCheck() != tt.may {
				t.Errorf("MayCheck is %t", r.MayCheck())
			}
			if r.Kind = workflow.Agent; r.MayCheck() {
				t.Error("a check may be asked for while an agent works")
			}
		})
	}
}

func TestNotableCheck(t *testing.T) {
	passed, failed, running := CheckStatus{Name: "a", State: task.CheckPassed}, CheckStatus{Name: "b", State: task.CheckFailed}, CheckStatus{Name: "c", State: CheckRunning}
	for want, list := range map[string][]CheckStatus{"": {passed}, "b": {passed, failed}, "c": {failed, running}} {
		r := Row{Checks: list}
		got := ""
		if c := r.NotableCheck(); c != nil {
			got = c.Name
		}
		if got != want || r.ChecksPassed() != (want == "") {
			t.Errorf("%+v: %q, passed %t", list, got, r.ChecksPassed())
		}
	}
	if (&Row{}).ChecksPassed() {
		t.Error("a task without checks passed them")
	}
}
