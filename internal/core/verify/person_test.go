package verify_test

import (
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
)

// A person who requests a move resets the bound, so a guard on it never blocks the task for
// good.
const heldByBound = `
name: bounded
version: 1
roles: {worker: {prompt: work, session: visit, harness: task}}
counters:
  crashes: {max: 2, per: state, counts: crashes}
  rounds: {max: 2, reset: person}
gates: {report: {section: Report}}
states:
  working: {kind: agent, role: worker, deadline: {wall: 1h}}
  looked: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: working, on: create, by: [human], do: [acquire_workspace]}
  - {from: working, to: working, on: request, as: again, by: [worker], when: "rounds < 2", count: {rounds: +1}}
  - {from: working, to: looked, on: [request, exit], as: complete, by: [worker, human], gate: report}
  - {from: working, to: looked, on: crash-limit}
  - {from: [working, looked], to: done, as: cancel, by: [human], when: "rounds < 2"}
prompts: {work: "do it, write ## Report"}
`

func TestABoundThatPeopleResetKeepsNoPersonFromGoingOn(t *testing.T) {
	def, err := workflow.Parse("bounded.yaml", heldByBound)
	if err != nil {
		t.Fatal(err)
	}
	report := verify.Verify(def, verify.SearchOptions{})
	for _, v := range report.Violations {
		t.Errorf("%s: %s", v.Property, v.Message)
	}
}
