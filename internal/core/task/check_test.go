package task_test

import (
	"strings"
	"testing"

	"orange/internal/core/task"
)

func TestChecksFromArguments(t *testing.T) {
	have, err := task.Checks(nil).WithChanges([]string{"tests=make test", "tests.timeout=5m", "tests.env=A=1", "tests.env=B=2", "lint=x"})
	if err != nil || len(have) != 2 || len(have[0].Env) != 2 || have[0].Timeout.Minutes() != 5 {
		t.Fatalf("%+v, %v", have, err)
	}
	if have, err = have.WithChanges([]string{"lint=", "tests.env=A="}); err != nil || len(have) != 1 || len(have[0].Env) != 1 {
		t.Errorf("%+v, %v", have, err)
	}
	for args, want := range map[string]string{
		"tests":                 "give NAME=COMMAND",
		"a=1,a=2":               "check a is given twice",
		"b.timeout=1m":          `check "b" is not defined`,
		"tests.timeout=soon":    "give a time such as 20m",
		"tests.timeout=100h":    "give 1s to 24h0m0s",
		"tests.retries=11":      "give 0 to 10",
		"tests.color=red":       `has no key "color"`,
		"tests.folder=/etc":     "leads out of the worktree",
		"tests.env=ORANGE_X=1":  "no name that begins with ORANGE_",
		"a b=c":                 "use letters, digits",
		"tests.retries=several": "give a number",
	} {
		if _, err := have.WithChanges(strings.Split(args, ",")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestAResultCoversOneTreeAndDefinition(t *testing.T) {
	c := task.CheckDefinition{Name: "tests", Run: "make test"}
	r := task.CheckResult{Name: "tests", Outcome: task.CheckPassed, Tree: "t", Command: c.CommandDigest(), Environment: c.EnvironmentDigest()}
	other, moved := c, c
	other.Run, moved.Folder = "make all", "x"
	if !r.Covers(&c, "t") || r.Covers(&c, "u") || r.Covers(&c, "") || r.Covers(&other, "t") || r.Covers(&moved, "t") {
		t.Error("it covers something else")
	}
	if r.Outcome = task.CheckInvalid; r.Covers(&c, "t") {
		t.Error("an invalid result counts")
	}
}

func TestTheProjectsDefinitionWins(t *testing.T) {
	got := task.MergeChecks(task.Checks{{Name: "a", Run: "1"}, {Name: "b", Run: "2"}}, task.Checks{{Name: "c", Run: "3"}, {Name: "b", Run: "4"}})
	if len(got) != 3 || got[0].Run != "1" || got[1].Run != "4" || got[2].Name != "c" {
		t.Errorf("%+v", got)
	}
}
