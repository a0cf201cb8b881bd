// Package verifytest writes workflows of any size, for tests and measurements of the
// search.
package verifytest

import (
	"fmt"
	"strings"

	"orange/internal/core/workflow"
)

// StagesWorkflow is a workflow with so many agent states in a row, each left with a new
// report, and a person at the end who can send the work back to the first. The
// first roles are persistent: their agents live on while others work.
func StagesWorkflow(stages, persistent int) (*workflow.Definition, error) {
	return workflow.Parse("stages.yaml", StagesText(stages, persistent))
}

// StagesText is the text of Stages.
func StagesText(stages, persistent int) string {
	var roles, states, edges strings.Builder
	for i := range persistent {
		fmt.Fprintf(&roles, "  keeper%d: {session: persistent, prompt: work}\n", i+1)
	}
	roles.WriteString("  visitor: {session: visit, prompt: work}\n")
	var names []string
	for i := 1; i <= stages; i++ {
		names = append(names, fmt.Sprintf("stage%d", i))
	}
	for i := 1; i <= stages; i++ {
		role, next := "visitor", "review"
		if n := (i - 1) % (persistent + 1); n < persistent {
			role = fmt.Sprintf("keeper%d", n+1)
		}
		if i < stages {
			next = names[i]
		}
		fmt.Fprintf(&states, "  %s: {kind: agent, role: %s, deadline: {wall: 1h}}\n", names[i-1], role)
		fmt.Fprintf(&edges, "  - {from: %s, to: %s, on: [request, exit], as: complete, by: [%s, human], gate: report}\n", names[i-1], next, role)
	}
	all := strings.Join(names, ", ")
	return fmt.Sprintf(`name: stages-%d-%d
version: 1
describe: Agents in a row and a person at the end.
roles:
%scounters:
  crashes: {max: 2, per: state, counts: crashes}
gates:
  report: {section: Report, any_of: [DONE]}
states:
  todo: {kind: queued}
%s  review: {kind: human}
  halted: {kind: halt}
  done: {kind: terminal}
  dropped: {kind: terminal}
edges:
  - {from: new, to: todo, on: create, by: [human]}
  - {from: todo, to: stage1, on: [request, ready], as: complete, by: [human, engine]}
%s  - {from: [%s], to: halted, on: crash-limit}
  - {from: halted, to: stage1, as: resume, by: [human]}
  - {from: review, to: done, as: complete, by: [human]}
  - {from: review, to: stage1, as: request-changes, by: [human]}
  - {from: [todo, %s, review, halted], to: dropped, as: cancel, by: [human]}
prompts:
  work: "{summary}"
`, stages, persistent, roles.String(), states.String(), edges.String(), all, all)
}
