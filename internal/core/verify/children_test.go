package verify_test

import (
	"strings"
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
)

// parted parts a task in two or more, or works on it whole.
const parted = `
name: parted
version: 1
roles: {worker: {prompt: work, session: visit}}
counters: {crashes: {max: 2, per: state, counts: crashes}}
gates:
  plan: {section: Plan}
  parts: {children: [done]}
states:
  planning: {kind: agent, role: worker, deadline: {wall: 1h}}
  working: {kind: agent, role: worker, deadline: {wall: 1h}}
  coordinating: {kind: waiting}
  halted: {kind: halt}
  done: {kind: terminal}
  dropped: {kind: terminal}
edges:
  - {from: new, to: planning, on: create, by: [human]}
  - {from: planning, to: coordinating, on: [request, exit], by: [worker, human], gate: plan, when: children >= 2}
  - {from: planning, to: working, on: [request, exit], by: [worker, human], gate: plan, when: children < 2}
  - {from: working, to: done, on: [request, exit], by: [worker, human], gate: plan}
  - {from: coordinating, to: done, on: [request, {tracker: child}], as: complete, by: [human, engine], gate: parts}
  - {from: [planning, working], to: halted, on: crash-limit}
  - {from: halted, to: planning, as: resume, by: [human]}
  - {from: [planning, working, coordinating, halted], to: dropped, as: cancel, by: [human]}
prompts: {work: "Write ## Plan."}
`

func TestGuardsCountChildren(t *testing.T) {
	def, err := workflow.Parse("parted.yaml", parted)
	if err != nil {
		t.Fatal(err)
	}
	if found := def.Check(); len(found) > 0 {
		t.Errorf("%v", found)
	}
	if r := verify.Verify(def, verify.SearchOptions{}); !r.OK {
		t.Errorf("%s", story(r))
	}
	// An edge that waits for more children than there are was not missed at an agent's end. With as many it was.
	def, err = workflow.Parse("parted.yaml", strings.Replace(parted, "to: coordinating, on: [request, exit]", "to: coordinating, on: [request]", 1))
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Verify(def, verify.SearchOptions{})
	if !found(r, "covered planning > coordinating") || !strings.Contains(story(r), "2 children that are ") {
		t.Errorf("%s", story(r))
	}
	def, err = workflow.Parse("parted.yaml", strings.NewReplacer(
		"to: coordinating, on: [request, exit]", "to: coordinating, on: [request]", "children >= 2", "children >= 2 and crashes > 5",
	).Replace(parted))
	if err != nil {
		t.Fatal(err)
	}
	if r := verify.Verify(def, verify.SearchOptions{}); found(r, "covered planning > coordinating") {
		t.Errorf("an edge that is closed is missed:\n%s", story(r))
	}
}

// Orange itself reports to a parent that a child moved, also when the parent begins to wait.
// This needs no person, and no tracker reports it.
func TestAChildThatMovedIsNoPerson(t *testing.T) {
	const waits = "to: done, on: [request, {tracker: child}], as: complete, by: [human, engine], gate: parts}"
	verified := func(by string) *verify.Report {
		text := strings.Replace(parted, waits, "to: working, on: {tracker: child}"+by+", gate: parts}", 1)
		text = strings.Replace(text, "working, to: done, on: [request, exit], by: [worker, human], gate: plan}",
			"working, to: done, as: complete, by: [human]}\n  - {from: working, to: coordinating, on: [request, exit], by: [worker, human], gate: plan}", 1)
		def, err := workflow.Parse("parted.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		r := verify.Verify(def, verify.SearchOptions{})
		return &r
	}
	for _, by := range []string{"", ", by: [engine]"} {
		if r := verified(by); !strings.Contains(story(*r), "forever in working, coordinating") {
			t.Errorf("by %q: a loop over children needs a counter:\n%s", by, story(*r))
		}
	}
	if r := verified(", by: [human, tracker]"); !strings.Contains(story(*r), "nothing ever takes the edge coordinating -> working") {
		t.Errorf("no tracker says that a child moved:\n%s", story(*r))
	}
}

func TestAMergeByOrangeIsReportedByTheEngine(t *testing.T) {
	text := strings.NewReplacer("done: {kind: terminal}", "ready: {kind: human}\n  done: {kind: terminal}",
		"to: done, on: [request, exit], by: [worker, human], gate: plan}", "to: ready, on: [request, exit], by: [worker, human], gate: plan}\n  - {from: ready, to: done, on: {pr: merged}, by: [engine]}",
		"coordinating, halted], to: dropped", "coordinating, halted, ready], to: dropped").Replace(parted)
	def, err := workflow.Parse("parted.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if r := verify.Verify(def, verify.SearchOptions{}); !r.OK {
		t.Errorf("%s", story(r))
	}
}

func TestAScenarioComparesCounters(t *testing.T) {
	def, err := workflow.Parse("parted.yaml", strings.Replace(parted, "  - {from: [planning, working], to: halted, on: crash-limit}\n", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Verify(def, verify.SearchOptions{First: true})
	if len(r.Violations) == 0 {
		t.Fatal("nothing is found")
	}
	s := verify.ScenarioOf(def, r.Violations[0], nil)
	counted := false
	for _, st := range s.Steps {
		counted = counted || st.Counters["crashes"] > 0
	}
	if _, differs := s.Play(def); differs != nil || !counted {
		t.Fatalf("%v, counted %v", differs, counted)
	}
	other, err := workflow.Parse("other.yaml", strings.NewReplacer("counters: {", "counters: {rounds: {max: 3}, ", "on: create, by: [human]", "on: create, by: [human], count: {rounds: +1}").Replace(def.Text))
	if err != nil {
		t.Fatal(err)
	}
	if _, differs := s.Play(other); differs == nil || !strings.Contains(differs.Error(), "step 1 (a person creates the task) leaves rounds at 1, and the scenario recorded 0") {
		t.Errorf("%v", differs)
	}
	for i := range s.Steps { // as an earlier version wrote it
		s.Steps[i].Counters = nil
	}
	if _, differs := s.Play(other); differs != nil {
		t.Errorf("%v", differs)
	}
}
