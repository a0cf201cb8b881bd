package main

import (
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/selftest"
)

// TestCrashAtEveryBoundary kills real server processes. The program is built without
// the race detector: it is run some hundred times.
func TestCrashAtEveryBoundary(t *testing.T) {
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			text, _ := builtin.Text(name)
			def, err := workflow.Parse(name+".yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			limit := 0
			if testing.Short() || name != "orange" && name != "orange-direct" { // their cards and reports are killed in board_effects_test.go
				limit = 20
			}
			report, err := selftest.RunCrashes(t.Context(), selftest.Options{Program: program, Dir: t.TempDir(), Workflow: def, Parallel: 2, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d crash points tried, %d divergences; path %v", name, report.Points, len(report.Divergences), report.Path)
			for _, d := range report.Divergences {
				t.Error(d)
			}
			if report.Points < 20 {
				t.Errorf("only %d crash points: the walk is too short to prove anything", report.Points)
			}
		})
	}
}
