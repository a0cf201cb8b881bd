package tui

import (
	"testing"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// checked gives the task at review two checks, of which the first failed.
func checked(t *task.Task) {
	t.Checks, t.Workspace = task.Checks{{Name: "tests", Run: "make"}, {Name: "lint", Run: "make lint"}}, "shop--1"
	t.CheckResults = []task.CheckResult{{Name: "tests", Outcome: task.CheckFailed, Detail: "exit code 1", Duration: 3 * time.Second, Tree: "0123456789abcdef", At: noon, Last: "cart.go:12:\x1b[31m no"}}
}

func TestChecksAreShownAndRunAgain(t *testing.T) {
	r := newEnv(t, 120, 40)
	r.change("id0login", checked)
	r.on("login")
	r.shows("CHECKS", "✗ tests", "✗ tests failed: exit code 1, in 3s · · lint has not run", "C check")
	r.press("7")
	r.shows("✗ tests failed: exit code 1, in 3s (tree 0123456789ab, 0s ago)", "  cart.go:12: no", "· lint has not run")
	r.press("C")
	r.shows("Run which check of login?", "1 tests (failed: exit code 1, in 3s)", "2 lint (has not run)")
	r.press("2")
	r.heard("request id0login check lint human")

	r.change("id0login", func(t *task.Task) {
		t.CheckRun = &task.CheckRun{Name: "lint", Since: noon, ByHand: true}
		t.Attempts = append(t.Attempts, task.Attempt{Number: 9, Role: workflow.CheckRole, Running: true, Since: noon.Add(-7 * time.Second)})
	})
	r.shows("… lint", "… lint runs for 7s", "4 follows its output")
	r.hides("C check")
}

func TestATaskWithoutChecksSaysHowToDefineThem(t *testing.T) {
	r := newEnv(t, 120, 40)
	r.on("login")
	r.hides("CHECKS", "C check")
	r.press("C")
	r.shows("login has no checks: orange project update shop --check NAME=COMMAND defines them for new tasks")
	r.heard()
}

func TestADiffWithoutTheWorkspaceSaysSo(t *testing.T) {
	r := newEnv(t, 160, 40)
	r.api.diffProblem = "w1 is no longer a worktree"
	r.on("login")
	r.press("6")
	r.shows("w1 is no longer a worktree; only what is committed on the branch is shown", "two")
}
