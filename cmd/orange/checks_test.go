package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// good is a check that wants the worker to write good into cart.txt.
const good = `tests=test "$(cat cart.txt)" = good || { echo "expected good, got $(cat cart.txt)"; exit 1; }`

// Each built-in workflow has a life in which a check fails, the worker gets the failing lines, and the check passes.
func TestAFailedCheckSendsTheWorkBack(t *testing.T) {
	t.Parallel()
	bad, fine := "  - commit: {file: cart.txt, text: \"bad\\n\", message: first}\n", "  - commit: {file: cart.txt, text: \"good\\n\", message: second}\n"
	hand := "  - section: {name: Handoff, text: \"DONE: try {attempt}\"}\n"
	to := func(state string) string { return "  - run: orange task update --status " + state + "\n" }
	for _, life := range []struct {
		workflow, script, then string
	}{
		{"solo", "worker:\n" + bad + to("reviewing") + "worker#2:\n" + fine + to("reviewing"), "reviewing"},
		{"orange", "worker:\n  - section: {name: Plan, text: \"APPROACH: a file\"}\n" + to("working") + bad + hand + to("agent-review") + "worker#2:\n" + fine + hand + to("agent-review") +
			"reviewer:\n  - run: orange task verdict PASS -m ok\n", "reviewing"},
		{"orange-direct", "worker:\n" + bad + hand + to("agent-review") + "worker#2:\n" + fine + hand + to("agent-review") + "reviewer:\n  - run: orange task verdict PASS -m ok\n", "reviewing"},
		{"linear-sdlc", "development:\n" + bad + "development#2:\n" + fine + "qa:\n  - idle:\n", "Finished"},
	} {
		t.Run(life.workflow, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, "headless", "--workflow", life.workflow, "--check", good)
			id := s.create("feat/cart", life.script)
			got := s.reaches(id, life.then)
			var seen []string
			second := 0
			for _, e := range s.journal(id) {
				if e.Check != nil {
					seen = append(seen, e.Check.Outcome)
				}
				for _, a := range e.Started {
					if len(seen) == 1 && second == 0 && a.Role != "check" {
						second = a.Number
					}
				}
			}
			if !slices.Equal(seen, []string{task.CheckFailed, task.CheckPassed}) {
				t.Fatalf("the checks were %v", seen)
			}
			if text := s.prompt(id, second); !strings.Contains(text, "> expected good, got bad") {
				t.Errorf("the second worker is not told what failed:\n%s", text)
			}
			if text := s.taskText(id); strings.Count(text, "## Checks") != 2 || !strings.Contains(text, "> expected good, got bad") {
				t.Errorf("TASK.md has:\n%s", text)
			}
			if r, ok := got.CheckResultOf("tests"); !ok || r.Tree != strings.TrimSpace(s.git(s.repo, "rev-parse", "feat/cart^{tree}")) || r.Place != task.PlaceWorkspace {
				t.Errorf("the result is bound to %+v", r)
			}
		})
	}
}

// In cmat-feature a failed check halts the task, as failed tests do, and a person sends it to the implementer.
func TestAFailedCheckHaltsSteps(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "cmat-feature", "--check", good)
	commit := func(text string) string {
		return "  - commit: {file: cart.txt, text: \"" + text + "\\n\", message: " + text + "}\n" + output("implementer", "implementation_summary.md") + block("READY_FOR_TESTING")
	}
	script := steps(map[string]string{"implementer": commit("bad"), "implementer#2": commit("good")})
	id := s.create("feat/login", strings.ReplaceAll(script, "git commit -qm", "git commit -q --allow-empty -m")) // the second round writes the same files
	got := s.reaches(id, "halted")
	if r, ok := got.CheckResultOf("tests"); !ok || r.Outcome != task.CheckFailed {
		t.Errorf("%+v", got.CheckResults)
	}
	s.orange("task", "update", string(id), "--status", "implementer")
	s.rests(id, "complete")
	s.wayIs(id, "pending", "requirements-analyst", "architect", "implementer", "tester", "documenter", "checking", "halted",
		"implementer", "tester", "documenter", "checking", "complete")
	second := 0
	for _, e := range s.journal(id) {
		for _, a := range e.Started {
			if a.Role == "implementer" {
				second = a.Number
			}
		}
	}
	if text := s.prompt(id, second); !strings.Contains(text, "> expected good, got bad") {
		t.Errorf("the second implementer is not told what failed:\n%s", text)
	}
	s.sound(id)
}

// In joan-board a failed check sends the card back to a developer.
func TestAFailedCheckSendsTheCardBack(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "joan-board", "--check", good)
	commit := func(text string) string {
		return "  - commit: {file: cart.txt, text: \"" + text + "\\n\", message: " + text + "}\n"
	}
	id := s.addCard("do it", "ba:\n"+result(true, "Complete", `{"add_tags": ["Ready"], "move_to_column": "Analyse"}`, "")+
		"architect:\n"+result(true, "A plan", `{"add_tags": ["Plan-Pending-Approval"], "remove_tags": ["Ready"]}`, "")+
		"architect#2:\n"+result(true, "Final", `{"add_tags": ["Planned"], "remove_tags": ["Plan-Pending-Approval"], "move_to_column": "Development"}`, "")+
		"dev:\n"+commit("bad")+result(true, "The cart", `{"add_tags": ["Dev-Complete", "Design-Complete", "Test-Complete"], "remove_tags": ["Planned"], "move_to_column": "Review"}`, "")+
		"dev#2:\n"+commit("good")+result(true, "Better", `{"add_tags": ["Rework-Complete"], "remove_tags": ["Rework-Requested", "Planned"], "move_to_column": "Review"}`, "")+
		"reviewer:\n  - idle:\n")
	s.waitsFor(id, "1", "Plan-Pending-Approval")
	s.orange("board", "tag", "1", "Plan-Approved", "--project", "shop")
	s.reaches(id, "review")
	var seen []string
	second := 0
	for _, e := range s.journal(id) {
		if e.Check != nil {
			seen = append(seen, e.Check.Outcome)
		}
		for _, a := range e.Started {
			if a.Role == "dev" {
				second = a.Number
			}
		}
	}
	if !slices.Equal(seen, []string{task.CheckFailed, task.CheckPassed}) {
		t.Fatalf("the checks were %v", seen)
	}
	if text := s.prompt(id, second); !strings.Contains(text, "> expected good, got bad") {
		t.Errorf("the second dev is not told what failed:\n%s", text)
	}
}

// A cancel during a long check ends it, with everything that it started.
func TestACancelEndsACheck(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests=setsid sleep 601 & sleep 600")
	id := s.create("feat/a", "worker:\n  - commit: {file: a, text: a, message: a}\n  - run: orange task update --status reviewing\n")
	s.await(id, "the check runs", func(t task.Task) bool {
		return slices.ContainsFunc(t.Attempts, func(a task.Attempt) bool { return a.Role == "check" && a.Running })
	})
	s.refused("check tests is in progress", "task", "update", string(id), "--status", "reviewing")
	began := time.Now()
	s.orange("task", "cancel", string(id), "--yes")
	s.rests(id, "cancelled")
	t.Logf("cancelled after %s", time.Since(began).Round(time.Millisecond))
}

// A server that is killed while a check runs does not run it twice: the next one finds its result.
func TestAServerIsKilledDuringACheck(t *testing.T) {
	t.Parallel()
	runs := filepath.Join(t.TempDir(), "runs")
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests=echo run >>"+runs+"; while test ! -e "+runs+".go; do sleep 0.1; done")
	id := s.create("feat/a", "worker:\n  - commit: {file: a, text: a, message: a}\n  - run: orange task update --status reviewing\n")
	s.eventually("the check runs", func() bool { _, err := os.Stat(runs); return err == nil })
	s.killServer()
	check(t, os.WriteFile(runs+".go", nil, 0o600))
	s.reaches(id, "reviewing")
	if text, err := os.ReadFile(runs); err != nil || string(text) != "run\n" {
		t.Errorf("it ran %q, %v", text, err)
	}
	ended := 0
	for _, e := range s.journal(id) {
		if e.Check != nil {
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("%d results are in the journal", ended)
	}
}

// A command that does not exist, and a check that changes files, hold the task for a person, who runs the check again or
// continues without it.
func TestAHeldCheckIsForAPerson(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests=no-such-command")
	s.refused("given twice", "project", "update", "shop", "--check", "a=b", "--check", "a=c")
	s.refused("use letters, digits", "project", "update", "shop", "--check", "a b=c")
	script := "worker:\n  - commit: {file: a, text: a, message: a}\n  - run: orange task update --status reviewing\n"
	id := s.create("feat/a", script)
	held := s.await(id, "it is held", func(t task.Task) bool { return t.WorkFailed != "" })
	if held.Status != "checking" || !strings.Contains(held.WorkFailed, "not found") {
		t.Errorf("%s: %s", held.Status, held.WorkFailed)
	}
	if text := s.orange("inbox"); !strings.Contains(text, "run the check again") {
		t.Error(text)
	}
	s.refused(`check "lint" is not known: the task has tests`, "task", "check", string(id), "lint")
	s.orange("task", "check", string(id))
	s.await(id, "it is held again", func(t task.Task) bool { return t.WorkFailed != "" && t.AttemptsOfRole("check") == 2 })
	s.orange("task", "update", string(id), "--status", "reviewing")

	s.orange("project", "update", "shop", "--check", "tests=echo more >>a")
	id = s.create("feat/b", script)
	held = s.await(id, "it is held", func(t task.Task) bool { return t.WorkFailed != "" })
	if r, _ := held.CheckResultOf("tests"); r.Outcome != task.CheckInvalid || held.AttemptsOfRole("check") != 2 || !slices.Equal(r.Files, []string{"a"}) {
		t.Errorf("%+v", held.CheckResults)
	}
	if e := s.journal(id); e[len(e)-1].Type == journal.CheckEnded {
		t.Errorf("%+v", e[len(e)-1])
	}
}
