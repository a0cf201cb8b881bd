package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// Each mistake is a small edit of a built-in workflow, as people make them in a copy. Every edit is named
// as old and new text, in pairs.
func TestMistakesInCopiesOfTheBuiltInsAreFound(t *testing.T) {
	const (
		orange = "orange"
		direct = "orange-direct"
		linear = "linear-sdlc"
		joan   = "joan-board"
		cmat   = "cmat-feature"
	)
	tests := []struct {
		name, file, rule string
		edit             []string
	}{
		{"a code of another protocol", linear, workflow.RuleOutcomeCode, []string{"from: Finished, to: Delivered, on: {outcome: passed}", "from: Finished, to: Delivered, on: {outcome: approved}"}},
		{"a code of another protocol beside exit", linear, workflow.RuleOutcomeCode, []string{"to: Checking, on: [exit, {outcome: passed}]", "to: Checking, on: [exit, {outcome: done}]"}},
		{"a code of another protocol in a list of states", joan, workflow.RuleOutcomeCode, []string{"from: [ba-evaluate, ba-reevaluate], to: board, on: {outcome: success}", "from: [ba-evaluate, ba-reevaluate], to: board, on: {outcome: passed}"}},
		{"a code of another protocol without by", joan, workflow.RuleOutcomeCode, []string{`to: dev-implement, on: {outcome: success}, when`, `to: dev-implement, on: {outcome: answered}, when`}},
		{"another protocol for the same codes", linear, workflow.RuleOutcomeCode, []string{"window: dev-{sessions}", "window: dev-{sessions}\n    work_type: qa", "rework_prompt: rework\n    protocol: work-result", "rework_prompt: rework\n    protocol: worker-result"}},
		{"no protocol", linear, workflow.RuleOutcomeCode, []string{"window: qa-{sessions}\n    prompt: qa\n    respawn_prompt: again\n    access: read-only\n    protocol: work-result", "window: qa-{sessions}\n    prompt: qa\n    respawn_prompt: again\n    access: read-only"}},

		{"a section with another name", orange, workflow.RuleGateUntold, []string{"handoff: {section: Handoff", "handoff: {section: Summary"}},
		{"a section in another case", direct, workflow.RuleGateUntold, []string{"handoff: {section: Handoff", "handoff: {section: HANDOFF"}},
		{"a label that nobody is told", orange, workflow.RuleGateUntold, []string{"any_of: [APPROACH, TOUCHING]", "any_of: [APPROACH, STEPS]"}},
		{"a verdict in another section", orange, workflow.RuleGateUntold, []string{"passed: {section: Review", "passed: {section: Verdict", "failed: {section: Review", "failed: {section: Verdict"}},

		{"the author may say PASS", orange, workflow.RuleJudgesOwnWork, []string{"as: complete, by: [reviewer], gate: passed", "as: complete, by: [reviewer, worker], gate: passed"}},
		{"the author may say FAIL", direct, workflow.RuleJudgesOwnWork, []string{"by: [reviewer], gate: failed, when: review_round < 2", "by: [worker], gate: failed, when: review_round < 2"}},
		{"the author reviews", orange, workflow.RuleJudgesOwnWork, []string{"agent-review: {kind: agent, role: reviewer", "agent-review: {kind: agent, role: worker", "as: complete, by: [reviewer], gate: passed", "as: complete, by: [worker], gate: passed"}},
		{"a stand-in of the author may say PASS", direct, workflow.RuleJudgesOwnWork, []string{"as: complete, by: [reviewer], gate: passed", "as: complete, by: [reviewer, fixer], gate: passed"}},

		{"a reviewer with write access beside the worker", orange, workflow.RuleTwoWriters, []string{"prompt: reviewer\n    access: read-only", "prompt: reviewer"}},
		{"a fixer that stands in for nobody", orange, workflow.RuleTwoWriters, []string{"    stands_in_for: worker       # never a second worker in one workspace\n", ""}},
		{"an effect starts a second writer", joan, workflow.RuleTwoWriters, []string{"tags: [Rework-Requested], not: [Review-Approved]}}, when: dispatches < 6, count: {dispatches: +1}}", "tags: [Rework-Requested], not: [Review-Approved]}}, when: dispatches < 6, count: {dispatches: +1}, do: [{spawn_agent: dev}]}"}},

		{"an agent resumes itself", orange, workflow.RuleAgentDecides, []string{"to: working, as: resume, by: [human]", "to: working, as: resume, by: [human, fixer]"}},
		{"an agent accepts", orange, workflow.RuleAgentDecides, []string{"as: accept, by: [human], confirm: [fixer, worker]", "as: accept, by: [human, fixer], confirm: [worker]"}},
		{"an agent resumes one of several states", linear, workflow.RuleAgentDecides, []string{"from: [Checking, Finished, Delivered, Merging], to: Started, as: request-changes, by: [human, tracker]", "from: [Checking, Finished, Delivered, Merging], to: Started, as: request-changes, by: [human, tracker, qa]"}},
		{"an agent finishes", joan, workflow.RuleAgentDecides, []string{"from: merging, to: board, as: request-changes, by: [human]", "from: merging, to: board, as: request-changes, by: [human, ops]"}},

		{"an approval stays on the card", joan, workflow.RuleTagKept, []string{", do: [{untag_card: Plan-Approved}]", ""}},
		{"an answer stays on the card", joan, workflow.RuleTagKept, []string{", do: [{untag_card: Clarification-Answered}]", ", do: [{untag_card: Needs-Clarification}]"}},

		{"a role that is gone", orange, workflow.RuleRoleUnheard, []string{"to: working, as: request-changes, by: [human, tracker]", "to: working, as: request-changes, by: [human, tracker, reviewer]"}},
		{"a role that is not there yet", direct, workflow.RuleRoleUnheard, []string{"to: clarification, as: clarify, by: [human, tracker]", "to: clarification, as: clarify, by: [human, worker]"}},
		{"the word of another stage", linear, workflow.RuleRoleUnheard, []string{"from: Finished, to: Finished, on: {outcome: failed}, by: [qa]", "from: Finished, to: Finished, on: {outcome: failed}, by: [development]"}},
		{"the word of another role in a list of states", joan, workflow.RuleRoleUnheard, []string{"from: [ops-merge, ops-rework], to: board, on: {outcome: success}, by: [ops]", "from: [ops-merge, ops-rework], to: board, on: {outcome: success}, by: [reviewer]"}},

		{"a review fails and the worker does not hear of it", orange, workflow.RuleAgentUntold, []string{"do: [kill_reviewer, {notify_worker: review-failed}]", "do: [kill_reviewer]"}},
		{"a worker lives on", direct, workflow.RuleAgentUntold, []string{"session: visit\n    window: worker", "session: persistent\n    window: worker"}},
		{"a developer lives on", linear, workflow.RuleAgentUntold, []string{"session: visit\n    window: dev-", "session: persistent\n    window: dev-"}},
		{"a board's developer lives on", joan, workflow.RuleAgentUntold, []string{"session: visit\n    window: dev", "session: persistent\n    window: dev"}},

		{"a code with a space", cmat, "", []string{`"TESTING_COMPLETE": {`, `"TESTING COMPLETE": {`}},
		{"a step that nobody leaves by a good code", cmat, "", []string{`"next_step": "implementer"`, `"next_step": "implementor"`}},
	}
	for _, tt := range tests {
		t.Run(tt.file+"/"+tt.name, func(t *testing.T) {
			text, _ := builtin.Text(tt.file)
			for i := 0; i < len(tt.edit); i += 2 {
				next := strings.Replace(text, tt.edit[i], tt.edit[i+1], 1)
				if next == text {
					t.Fatalf("%q is not in %s", tt.edit[i], tt.file)
				}
				text = next
			}
			d, err := workflow.Parse(builtin.File(tt.file), text)
			if tt.rule == "" {
				if err == nil {
					t.Error("it is read")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			found := d.Check()
			if !slices.ContainsFunc(found, func(f workflow.Finding) bool { return f.Rule == tt.rule }) {
				t.Errorf("%s is not among what is found: %v", tt.rule, found)
			}
		})
	}
}
