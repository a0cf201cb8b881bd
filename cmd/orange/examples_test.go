package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/workflowdir"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/testneeds"
)

const examples = "../../docs/examples"

// Every example of docs/examples is clean, advice included, and every property holds for it.
func TestTheExamplesAreCheckedAndVerified(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(examples + "/*.yaml")
	check(t, err)
	whole := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		if workflow.IsFragment(file, string(text)) {
			continue
		}
		whole++
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			expanded, err := workflowdir.ExpandIncludes(file, examples, string(text))
			check(t, err)
			def, err := workflow.Parse(file, expanded)
			check(t, err)
			for _, f := range def.Check() {
				t.Error(f)
			}
			if def.Name+".yaml" != filepath.Base(file) {
				t.Errorf("its name is %s", def.Name)
			}
			testneeds.ModelChecker(t)
			testneeds.OncePerSoak(t)
			program, err := built() // without the race detector
			check(t, err)
			cmd := exec.Command(program, "workflow", "verify", file)
			cmd.Env = []string{"HOME=" + t.TempDir()}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	if whole != 5 {
		t.Errorf("there are %d examples", whole)
	}
}

// openExample is a project whose repository has the examples.
func openExample(t *testing.T, flags ...string) *env {
	t.Helper()
	t.Parallel()
	s := openEnv(t, "headless", flags...)
	files, err := filepath.Glob(examples + "/*.yaml")
	check(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		s.write("shop/.orange/workflows/"+filepath.Base(file), string(text))
	}
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "workflows")
	return s
}

// handOver is a script that commits, writes a section and continues.
func handOver(file, section, text, status string) string {
	return "  - commit: {file: " + file + ", text: \"{attempt}\\n\", message: \"attempt {attempt}\"}\n" +
		"  - section: {name: " + section + ", text: \"" + text + " {attempt}\"}\n" +
		"  - run: orange task update --status " + status + "\n    must: true\n"
}

// says is a script that gives a verdict.
func says(verdict string) string {
	return "  - run: orange task verdict " + verdict + " -m \"see {attempt}\"\n    must: true\n"
}

func TestTheExampleOfAPlanWithApproval(t *testing.T) {
	s := openExample(t)
	s.orange("project", "update", "shop", "--var", "tests=make check", "--var", "other=x")
	id := s.create("login", "planner:\n  - section: {name: Plan, text: \"APPROACH: a form {attempt}\"}\n  - run: orange task update --status approval\n"+
		"worker:\n"+handOver("login.txt", "Handoff", "DONE: it", "review")+
		"reviewer:\n"+says("FAIL")+"reviewer#2:\n"+says("PASS"), "--workflow", "plan-approval", "--var", "tests={summary} && make login")
	s.rests(id, "approval")
	s.orange("task", "request-changes", string(id), "-m", "without a cookie")
	s.await(id, "the second plan", func(t task.Task) bool { return t.Visit == 5 && t.Status == "approval" && len(t.Attempts) == 0 })
	s.orange("task", "complete", string(id))
	s.rests(id, "accept")
	s.orange("task", "merge", string(id))
	s.rests(id, "done")
	s.wayIs(id, "todo", "planning", "approval", "planning", "approval", "working", "review", "working", "review", "accept", "done")
	// the task's own variable, as it was given: a variable in it stays a text
	hasAll(t, "what the worker is told", s.prompt(id, 3), "run {summary} && make login, commit")
	if text := s.orange("workflow", "show", "plan-approval"); text == "" || !strings.Contains(text, "--- # include shared.yaml\n") {
		t.Error("the expansion is not shown")
	}
	// the pinned text has the fragment: what becomes of the file does not matter
	s.write("shop/.orange/workflows/shared.yaml", "roles: {}\n")
	s.sound(id)
}

func TestTheExampleOfABugFix(t *testing.T) {
	s := openExample(t)
	id := s.create("crash", "finder:\n"+handOver("crash_test.txt", "Reproduction", "TEST: crash", "mending")+
		"worker:\n"+handOver("crash.txt", "Handoff", "DONE: it", "review")+
		"reviewer:\n"+says("PASS"), "--workflow", "bug-fix")
	s.rests(id, "accept")
	s.orange("task", "merge", string(id))
	s.rests(id, "fixed")
	s.wayIs(id, "reported", "reproducing", "mending", "review", "accept", "fixed")
	lost := s.create("odd", "finder:\n  - run: orange task update --status unclear --note \"it never happens\"\n", "--workflow", "bug-fix")
	s.rests(lost, "unclear")
	s.sound(id, lost)
}

func TestTheExampleOfDocuments(t *testing.T) {
	s := openExample(t)
	id := s.create("manual", "writer:\n"+handOver("manual.md", "Report", "CHANGED: the manual", "reading"), "--workflow", "docs-only")
	s.rests(id, "reading")
	s.orange("task", "request-changes", string(id), "-m", "shorter")
	s.await(id, "the second text", func(t task.Task) bool { return t.Visit == 5 && t.Status == "reading" && len(t.Attempts) == 0 })
	s.orange("task", "merge", string(id))
	s.rests(id, "published")
	s.wayIs(id, "todo", "writing", "reading", "writing", "reading", "published")
	s.sound(id)
}

func TestTheExampleOfThreeReviewers(t *testing.T) {
	s := openExample(t)
	script := func(verdicts ...string) string {
		out := "worker:\n" + handOver("a.txt", "Handoff", "DONE: it", "first")
		for i, v := range verdicts {
			out += "reviewer#" + string(rune('1'+i)) + ":\n" + says(v)
		}
		return out
	}
	split := s.create("split", script("PASS", "FAIL", "PASS"), "--workflow", "three-reviewers")
	s.rests(split, "accept")
	s.wayIs(split, "todo", "working", "first", "second", "third", "accept")
	s.orange("task", "cancel", string(split), "--yes")
	agreed := s.create("agreed", script("FAIL", "FAIL", "PASS", "PASS"), "--workflow", "three-reviewers")
	s.rests(agreed, "accept")
	s.wayIs(agreed, "todo", "working", "first", "second", "working", "first", "second", "accept")
	s.sound(split, agreed)
}

func TestTheExampleOfAParent(t *testing.T) {
	s := openExample(t, "--pool-size", "4")
	script := "worker:\n" + handOver("part.txt", "Handoff", "DONE: it", "review") + "reviewer:\n" + says("PASS")
	parent := s.create("whole", script, "--workflow", "parent", "--no-spawn")
	var children []task.ID
	for _, branch := range []string{"part-1", "part-2", "part-3"} {
		children = append(children, s.create(branch, script, "--workflow", "parent", "--parent", string(parent), "--no-spawn"))
	}
	s.orange("task", "complete", string(parent))
	s.reaches(parent, "divided")
	for _, id := range children {
		s.orange("task", "complete", string(id))
		s.rests(id, "accept")
	}
	s.rests(parent, "accept")
	s.wayIs(parent, "todo", "divided", "review", "accept")
	s.orange("task", "complete", string(parent))
	s.rests(parent, "done")
	s.sound(append(children, parent)...)
}
