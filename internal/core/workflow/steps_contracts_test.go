package workflow_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/workflow"
)

const contracts = `{
  "version": "1.0.0",
  "description": "Who does what",
  "agents": {
    "analyst": {
      "role": "analysis", "description": "finds out what is wanted",
      "inputs": {"required": [{"name": "spec", "pattern": "enhancements/{enhancement_name}/{enhancement_name}.md"}]},
      "outputs": {"root_document": "analysis.md", "output_directory": "analyst", "additional_required": []},
      "statuses": {
        "success": [{"code": "READY_TO_BUILD", "description": "it is clear", "next_agents": ["builder"]}],
        "failure": [{"code": "UNCLEAR", "pattern": "UNCLEAR: {reason}", "description": "nobody knows"}]
      },
      "metadata_required": true
    },
    "builder": {
      "inputs": {"required": [{"pattern": "enhancements/{enhancement_name}/analyst/analysis.md"}]},
      "outputs": {"root_document": "built.md"},
      "statuses": {
        "success": [{"code": "ALL_BUILT", "next_agents": []}, {"code": "AGAIN", "next_agents": ["analyst"]}],
        "failure": [{"code": "BLOCKED"}]
      }
    },
    "courier": {
      "inputs": {"required": [{"pattern": "enhancements/{enhancement_name}/{previous_agent}/{root_document}.md"}]},
      "statuses": {"success": [{"code": "SENT"}], "failure": [{"code": "LOST"}]}
    }
  },
  "metadata_fields": {"agent": {"type": "string", "required": true}}
}`

func TestContractsOfAgentsAreAWorkflow(t *testing.T) {
	if !workflow.HasContracts(contracts) || workflow.HasTemplates(contracts) || workflow.HasContracts(`{"steps": [], "agents": {"a": {"statuses": {}}}}`) || workflow.HasContracts(`{"agents": []}`) || workflow.HasContracts(`{`) {
		t.Fatal("contracts are not told from other files")
	}
	made, left, err := workflow.FromContracts(contracts)
	if err != nil || !slices.Equal(left, []string{"courier"}) {
		t.Fatalf("%v, left %v", err, left)
	}
	d, err := workflow.Parse("agent_contracts.json", made.Text)
	if err != nil || d.Name != "agent_contracts" || d.Describe != "Who does what" || !slices.Equal(d.Steps(), []string{"analyst", "builder"}) {
		t.Fatalf("%v: %+v\n%s", err, d, made.Text)
	}
	if found := d.Check(); len(found) > 0 {
		t.Errorf("%v", found)
	}
	for from, codes := range map[string]map[string]string{
		"analyst": {"READY_TO_BUILD": "builder", "UNCLEAR": "halted"},
		"builder": {"ALL_BUILT": "complete", "AGAIN": "analyst", "BLOCKED": "halted"},
	} {
		for code, want := range codes {
			var to []string
			plain := d.ForTask(nil)
			for _, i := range plain.EdgesFrom(from) {
				if e := &plain.Edges[i]; e.AnswersTo(workflow.OnOutcome, code) {
					to = append(to, e.To)
				}
			}
			if len(to) == 0 || to[0] != want {
				t.Errorf("%s of %s leads to %v, want %s", code, from, to, want)
			}
		}
	}
	analyst, _ := d.StateNamed("analyst")
	builder, _ := d.StateNamed("builder")
	if analyst.Input != "enhancements/{enhancement_name}/{enhancement_name}.md" || analyst.Output != "analysis.md" || builder.Input != "{previous_step}/required_output/analysis.md" {
		t.Errorf("%+v %+v", analyst, builder)
	}
	_, _, err = workflow.FromContracts(`{"agents": {"a": {"statuses": {"DONE": {}}}}}`)
	if err == nil || !strings.Contains(err.Error(), "agent a: statuses has no code") {
		t.Errorf("no codes: %v", err)
	}
	_, _, err = workflow.FromContracts(strings.Replace(contracts, `["builder"]`, `["builder", "courier"]`, 1))
	if err == nil || !strings.Contains(err.Error(), "agent analyst: READY_TO_BUILD leads to builder and courier, and a code leads to one step") {
		t.Errorf("%v", err)
	}
}
