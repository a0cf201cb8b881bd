package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/testneeds"
)

var updateReports = flag.Bool("update-reports", false, "write the reports of workflow verify --tasks to testdata")

// The reports of several tasks are those of testdata.
func TestTheReportOfSeveralTasks(t *testing.T) {
	testneeds.ModelChecker(t)
	testneeds.OncePerSoak(t)
	files, err := filepath.Abs("../../core/verify/testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"holds":      {"solo", "--tasks", "2"},
		"deadlock":   {filepath.Join(files, "tasks-deadlock.yaml"), "--tasks=2"},
		"landing":    {filepath.Join(files, "tasks-landing.yaml"), "--tasks", "2"},
		"starving":   {filepath.Join(files, "tasks-starving.yaml"), "--tasks", "2"},
		"shared":     {"solo", "--tasks", "2", "--without", "one-workspace"},
		"unchecked":  {"solo", "--tasks", "2", "--without", "checked-trees-only"},
		"endless":    {filepath.Join(files, "endless-steps.yaml"), "--tasks", "2"},
		"incomplete": {"solo", "--tasks", "2", "--max-states", "100"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, _ := orange(t, t.TempDir(), "", append([]string{"workflow", "verify"}, args...)...)
			if want := map[bool]int{true: 0, false: 1}[name == "holds"]; code != want {
				t.Errorf("exit %d, want %d", code, want)
			}
			golden := filepath.Join("testdata", "verify-tasks-"+name+".txt")
			if *updateReports {
				if err := os.WriteFile(golden, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), out); d != "" {
				t.Error(d)
			}
		})
	}
}
