package workflow_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func TestARoleNamesItsAgents(t *testing.T) {
	file := func(role string) string {
		return "name: x\nversion: 1\nroles:\n  worker: " + role + "\nstates:\n  a: {kind: human}\nedges:\n  - {from: new, to: a, on: create}\n"
	}
	for role, want := range map[string][]task.Choice{
		"{}":                                    nil,
		"{harness: task}":                       nil,
		"{harness: review}":                     nil,
		"{harness: codex}":                      {{Harness: "codex"}},
		"{harness: codex, model: m, effort: e}": {{Harness: "codex", Model: "m", Effort: "e"}},
		"{model: m}":                            {{Harness: "task", Model: "m"}},
		"{harness: [task, 'command:./x -y']}":   {{Harness: "task"}, {Harness: "command:./x -y"}},
		"{harness: [{harness: codex, model: m, effort: e}, pi], fallback_after: 5m}": {{Harness: "codex", Model: "m", Effort: "e"}, {Harness: "pi"}},
	} {
		d, err := workflow.Parse("x.yaml", file(role))
		if err != nil || !slices.Equal(d.Roles[0].Choices, want) || d.Roles[0].FallbackAfter == 0 {
			t.Errorf("%s: %v, %+v", role, err, d)
			continue
		}
		if first := d.Roles[0].Harness; len(want) > 0 && first != want[0].Harness {
			t.Errorf("%s: %s", role, first)
		}
	}
	for role, want := range map[string]string{
		"{harness: [codex, pi], model: m}":  "several harnesses with one model or effort",
		"{harness: {model: m}}":             "a choice names no harness",
		"{harness: ''}":                     "a choice names no harness",
		"{harness: []}":                     "the list is empty",
		"{harness: [pi, codex, pi]}":        "pi is named twice",
		"{harness: -x}":                     "begins with a dash",
		"{harness: {harness: codex, x: y}}": `has no key "x"`,
		"{harness: codex, model: '-m'}":     "begins with a dash",
	} {
		if _, err := workflow.Parse("x.yaml", file(role)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", role, err, want)
		}
	}
}
