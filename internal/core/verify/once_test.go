package verify_test

import (
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
)

// Two edges lead from doing to asking, and of the last edge there are two.
const twice = `name: twice
version: 1
roles:
  worker: {prompt: worker, session: visit}
counters:
  crashes: {max: 1, per: state, counts: crashes}
gates:
  report: {section: Report}
states:
  todo: {kind: queued}
  doing: {kind: agent, role: worker, deadline: {wall: 1h}}
  asking: {kind: waiting, returns: true}
  halted: {kind: halt}
  done: {kind: terminal}
edges:
  - {from: new, to: todo, on: create, by: [human]}
  - {from: todo, to: doing, on: [request, ready], by: [human, engine]}
  - {from: doing, to: asking, as: clarify, by: [worker]}
  - {from: doing, to: asking, on: {timer: 1d}}
  - {from: asking, to: done, as: complete, by: [human]}
  - {from: doing, to: done, on: [request, exit], as: complete, by: [worker, human], gate: report}
  - {from: [doing], to: halted, on: crash-limit}
  - {from: halted, to: doing, as: resume, by: [human]}
  - {from: [todo, asking, halted], to: done, as: cancel, by: [human]}
  - {from: doing, to: done, on: {tracker: never}, when: crashes > 1}
prompts:
  worker: Do it.
`

func TestOneFindingIsListedOnce(t *testing.T) {
	def, err := workflow.Parse("twice.yaml", twice)
	if err == nil {
		def, err = def.WithEdits(func(d *workflow.Definition) { // as steps do, which make several edges of one line
			d.Edges = append(d.Edges, d.Edges[len(d.Edges)-1])
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Verify(def, verify.SearchOptions{PendingLimit: 1})
	seen := map[string]int{}
	for _, v := range r.Violations {
		seen[string(v.Property)+": "+v.Message]++
	}
	for what, n := range seen {
		if n > 1 {
			t.Errorf("%d times: %s", n, what)
		}
	}
	if seen["covered: a task that comes to asking from doing cannot go back there"] != 1 || seen["reachable: nothing ever takes the edge doing -> done (line 25)"] != 1 {
		t.Errorf("not what was to be found:\n%s", story(r))
	}
}
