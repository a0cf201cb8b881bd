package prompt_test

import (
	"strings"
	"testing"

	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func TestVariablesOfPeopleAreFilledInOnce(t *testing.T) {
	f := facts(t, "orange")
	f.Task.Vars = task.Vars{"tests": "make {summary} ${vars.lint} {vars.lint}"}
	f.Project.Vars = task.Vars{"tests": "of the project", "lint": "make lint"}
	def, err := f.Def.WithEdits(func(d *workflow.Definition) {
		d.Vars = []workflow.Var{{Name: "lint", Default: "none"}, {Name: "style", Default: "plain"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Def = def
	f.Words = func(string) (string, bool) {
		return "Run {vars.tests}, then ${vars.lint}, in {vars.style} words and {vars.none}.", true
	}
	const want = "Run make {summary} ${vars.lint} {vars.lint}, then make lint, in plain words and (vars.none is not set)."
	if got := prompt.MessageText(f); !strings.Contains(got, want) {
		t.Error(got)
	}
}
