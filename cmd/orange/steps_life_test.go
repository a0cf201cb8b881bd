package main

import (
	"fmt"
	"strings"
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// feature are the steps of cmat-feature: who, the file it writes, the code it ends with.
var feature = [...]struct{ agent, output, code string }{
	{"requirements-analyst", "analysis_summary.md", "READY_FOR_DEVELOPMENT"},
	{"architect", "implementation_plan.md", "READY_FOR_IMPLEMENTATION"},
	{"implementer", "implementation_summary.md", "READY_FOR_TESTING"},
	{"tester", "test_summary.md", "TESTING_COMPLETE"},
	{"documenter", "documentation_summary.md", "DOCUMENTATION_COMPLETE"},
}

// block is how an agent of a step says how it went.
func block(status string) string {
	return fmt.Sprintf("  - say: |\n      Done.\n\n      ---\n      agent: {role}\n      task_id: {task}\n      status: %s\n      ---\n", status)
}

// output writes the file that a step of a task on branch login has to write.
func output(agent, file string) string {
	dir := "enhancements/login/" + agent + "/required_output"
	return fmt.Sprintf("  - run: \"mkdir -p %[1]s && printf -- '---\\\\nenhancement: login\\\\nagent: %[2]s\\\\ntask_id: {task}\\\\ntimestamp: 2026-01-01T00:00:00Z\\\\nstatus: %%s\\\\n---\\\\nIt is so.\\\\n' DONE >%[1]s/%[3]s && git add -A && git commit -qm %[2]s\"\n    must: true\n", dir, agent, file)
}

// steps is a script in which every step does its part; those in other play that instead.
func steps(other map[string]string) string {
	var b strings.Builder
	for _, s := range feature {
		play, ok := other[s.agent]
		if !ok {
			play = output(s.agent, s.output) + block(s.code)
		}
		b.WriteString(s.agent + ":\n" + play)
	}
	for name, play := range other {
		if strings.Contains(name, "#") {
			b.WriteString(name + ":\n" + play)
		}
	}
	return b.String()
}

func TestAFeatureGoesThroughItsSteps(t *testing.T) {
	everywhere(t, "cmat-feature", func(t *testing.T, s *env) {
		id := s.create("feat/login", steps(map[string]string{
			"implementer": "  - commit: {file: login.txt, text: \"form\\n\", message: add the form}\n" + output("implementer", "implementation_summary.md") + block("ready_for_testing"),
		}))
		got := s.rests(id, "complete")
		s.wayIs(id, "pending", "requirements-analyst", "architect", "implementer", "tester", "documenter", "complete")
		if got.Workspace != "" || got.CounterValue("no_answer") != 0 {
			t.Errorf("%+v", got)
		}
		hasAll(t, "what the tester is told", s.prompt(id, 4), "enhancements/login/implementer/required_output/", "TESTING_COMPLETE", "task_id: "+string(id))
		if !strings.Contains(s.git(s.repo, "log", "--format=%s", "feat/login"), "add the form") {
			t.Error("the commit is not on the branch")
		}
		s.sound(id)
	})
}

func TestAStepThatDidNotWriteItsFileIsAsked(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "cmat-feature")
	id := s.create("feat/login", steps(map[string]string{
		"architect":   block("READY_FOR_IMPLEMENTATION"),
		"architect#2": "  - run: \"mkdir -p enhancements/login/architect/required_output && echo nothing >enhancements/login/architect/required_output/implementation_plan.md\"\n" + block("READY_FOR_IMPLEMENTATION"),
		"architect#3": output("architect", "implementation_plan.md") + block("READY_FOR_IMPLEMENTATION"),
	}))
	s.await(id, "the second did not write it well", func(t task.Task) bool { return t.CounterValue("no_answer") == 2 })
	if item := s.wanted(id); item.Kind != explain.ItemNoAnswer || item.Status != "architect" {
		t.Errorf("the inbox says %+v", item)
	}
	silent := s.entries(id, journal.AgentSilent)
	if len(silent) != 2 {
		t.Fatalf("%q", s.history(id))
	}
	hasAll(t, "the first", silent[0].Reason, "Required output not found: enhancements/login/architect/required_output/implementation_plan.md")
	hasAll(t, "the second", silent[1].Reason, "enhancement", "implementation_plan.md")
	s.orange("task", "respawn", string(id))
	s.rests(id, "complete")
	s.wayIs(id, "pending", "requirements-analyst", "architect", "implementer", "tester", "documenter", "complete")
	s.sound(id)
}

func TestABlockedStepContinuesWithAnAnswer(t *testing.T) {
	everywhere(t, "cmat-feature", func(t *testing.T, s *env) {
		id := s.create("feat/login", steps(map[string]string{
			"implementer":   block("BLOCKED: which port, and who may use it"),
			"implementer#2": "  - run: \"grep -q 'it is 8080' TASK.md && touch ../../../read\"\n" + output("implementer", "implementation_summary.md") + block("READY_FOR_INTEGRATION"),
		}))
		got := s.rests(id, "halted")
		if got.ReturnTo != "implementer" || got.CounterValue("no_answer") != 0 {
			t.Errorf("%+v", got)
		}
		item := s.wanted(id)
		if item.Kind != explain.ItemStuck {
			t.Errorf("the inbox says %+v", item)
		}
		hasAll(t, "the inbox", item.Text, "implementer", "BLOCKED", "which port, and who may use it")
		hasAll(t, "explain", s.orange("task", "explain", string(id)), "which port, and who may use it")
		s.orange("task", "answer", string(id), "it is 8080")
		s.rests(id, "complete")
		if !s.has("read") {
			t.Error("the answer was not in TASK.md when the step went on")
		}
		s.wayIs(id, "pending", "requirements-analyst", "architect", "implementer", "halted", "implementer", "tester", "documenter", "complete")
		s.sound(id)
	})
}

func TestACodeThatNobodyDeclaredHalts(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "cmat-feature", "--pool-size", "4")
	id := s.create("feat/login", steps(map[string]string{"architect": output("architect", "implementation_plan.md") + block("READY_FOR_LUNCH: now"), "architect#2": "  - idle:\n"}))
	foreign := s.create("foreign", steps(map[string]string{
		"requirements-analyst":   "  - say: |\n      ---\n      agent: requirements-analyst\n      task_id: 0123456789abcdefghijk\n      status: READY_FOR_DEVELOPMENT\n      ---\n",
		"requirements-analyst#2": "  - idle:\n",
	}))
	other := s.create("other", steps(map[string]string{
		"requirements-analyst":   "  - say: |\n      ---\n      agent: architect\n      task_id: {task}\n      status: READY_FOR_DEVELOPMENT\n      ---\n",
		"requirements-analyst#2": "  - idle:\n",
	}))
	s.rests(id, "halted")
	item := s.wanted(id)
	if item.Kind != explain.ItemStuck {
		t.Errorf("the inbox says %+v", item)
	}
	hasAll(t, "the inbox", item.Text, "UNEXPECTED", "READY_FOR_LUNCH", "READY_FOR_IMPLEMENTATION, BLOCKED, NEEDS_CLARIFICATION, NEEDS_RESEARCH")
	for id, why := range map[task.ID]string{foreign: "0123456789abcdefghijk", other: "architect"} {
		s.await(id, "it is asked", func(t task.Task) bool {
			a, ok := t.LiveAttempt("requirements-analyst")
			return ok && a.Number == 2 && a.Running
		})
		s.wayIs(id, "pending", "requirements-analyst")
		silent := s.entries(id, journal.AgentSilent)
		if len(silent) != 1 {
			t.Fatalf("%q", s.history(id))
		}
		hasAll(t, "the reason", silent[0].Reason, why)
		hasAll(t, "explain", s.orange("task", "explain", string(id)), why)
	}
	s.sound(id)
}

func TestAStepThatIsNotToBeginByItselfWaits(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	file := s.write("slowly.json", `{"id": "slowly", "steps": [
		{"agent": "maker", "on_status": {"MADE": {"next_step": "tester", "auto_start": false}}},
		{"agent": "tester", "on_status": {"TESTED": {"next_step": null}}}]}`)
	s.orange("workflow", "import", file)
	id := s.create("feat/login", "maker:\n  - commit: {file: a.txt, text: \"a\\n\", message: a}\n"+block("MADE")+"tester:\n"+block("TESTED"), "--workflow", "slowly")
	got := s.rests(id, "tester-ready")
	item := s.wanted(id)
	if got.AttemptsOfRole("tester") != 0 || item.Kind != explain.ItemReview {
		t.Errorf("%+v, the inbox says %+v", got, item)
	}
	s.orange("task", "complete", string(id))
	s.rests(id, "complete")
	s.wayIs(id, "pending", "maker", "tester-ready", "tester", "complete")
	s.sound(id)
}
