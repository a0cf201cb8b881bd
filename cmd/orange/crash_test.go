package main

import (
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/selftest"
	"orange/internal/testneeds"
)

// TestCrashAtEveryBoundary kills real server processes: at every boundary of the workflow solo, and at the first 20 of the
// others. One round in ten of make soak kills them at every boundary of orange and orange-direct. The program is
// built without the race detector, because it runs some hundred times.
func TestCrashAtEveryBoundary(t *testing.T) {
	testneeds.Server(t)
	t.Parallel()
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
			seed, soak := testneeds.SoakSeed(t)
			long := name == "solo" || soak && seed%10 == 1 && (name == "orange" || name == "orange-direct")
			if !long { // board_effects_test.go kills the server at effects on cards and at reports
				limit = 20
			}
			report, err := selftest.RunCrashes(t.Context(), selftest.CrashOptions{Program: program, Dir: t.TempDir(), Workflow: def, Parallel: 2, Limit: limit})
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
