package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
	"orange/internal/selftest"
)

func newSelftestCommand(deps Deps) *cobra.Command {
	return groupCommand("selftest", "Test on this machine that Orange survives crashes", newSelftestCrashCommand(deps))
}

func newSelftestCrashCommand(deps Deps) *cobra.Command {
	var o selftest.CrashOptions
	cmd := &cobra.Command{
		Use: "crash [NAME|FILE]", Short: "Kill a server at every commit and effect boundary and compare the results", Args: requireArguments(0, 1),
		Example: "  orange selftest crash orange --parallel 4",
		Long: "Walks a task through the workflow in an empty folder of its own, kills the server with\n" +
			"SIGKILL at the first commit or effect boundary, starts it again and compares the record,\n" +
			"the journal and the effects with an undisturbed walk; then at the second boundary, and so on.\n" +
			"Every walk also removes the server's socket and server.lock once, and continues.\n" +
			"Without --limit it then kills the server at every boundary of a task whose check fails once and\n" +
			"passes, with agents and checks that really run, and counts how often the check ran. At last it\n" +
			"lets scripted agents work on tasks of a repository of its own, removes, prunes and replaces their\n" +
			"workspaces, kills the server and a check, and looks whether all of their work is merged.",
		Annotations: map[string]string{needsNothing: "yes"},
	}
	cmd.Flags().IntVar(&o.Parallel, "parallel", 2, "walks at the same time")
	cmd.Flags().IntVar(&o.Limit, "limit", 0, "try no more crash points than this, and no other faults (default: all)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		def, err := selftestWorkflow(deps, args)
		if err != nil {
			return err
		}
		o.Workflow = def
		return runSelftest(cmd, deps, o)
	}
	return cmd
}

func selftestWorkflow(deps Deps, args []string) (*workflow.Definition, error) {
	name := "orange"
	if len(args) == 1 {
		name = args[0]
	}
	def, err := loadWorkflow(deps, name)
	if err != nil {
		return nil, err
	}
	if found := workflow.ErrorFindings(def.Check()); len(found) > 0 {
		return nil, fmt.Errorf("workflow %s has %d findings, the first is %s", name, len(found), found[0])
	}
	return def, nil
}

func runSelftest(cmd *cobra.Command, deps Deps, o selftest.CrashOptions) (err error) {
	if o.Program, err = os.Executable(); err != nil {
		return err
	}
	if o.Dir, err = os.MkdirTemp("", "orange-selftest-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.Dir) //nolint:errcheck // a temporary folder
	if deps.IsTerminal && !wantsJSON(cmd) {
		o.Progress = func(n int) { fmt.Fprintf(deps.Stderr, "\r%d crash points", n) }
		defer fmt.Fprintln(deps.Stderr)
	}
	report, err := selftest.RunCrashes(cmd.Context(), o)
	if err == nil && o.Limit == 0 {
		var wrong []string
		report.CheckPoints, wrong, err = selftest.CrashDuringChecks(cmd.Context(), o)
		report.Divergences = append(report.Divergences, wrong...)
	}
	if err == nil && o.Limit == 0 {
		var wrong []string
		report.Faults, wrong, err = selftest.RunFaults(cmd.Context(), o, faultSeed)
		report.Divergences = append(report.Divergences, wrong...)
	}
	if err != nil {
		return err
	}
	if wantsJSON(cmd) {
		err = printJSON(deps.Stdout, report)
	} else {
		printSelftest(deps, report)
	}
	if err == nil && len(report.Divergences) > 0 {
		err = fmt.Errorf("%d divergences: this is a defect of Orange, please report it", len(report.Divergences))
	}
	return err
}

// faultSeed determines the order of the faults, which is the same in every run.
const faultSeed = 1

func printSelftest(deps Deps, r selftest.CrashReport) {
	fmt.Fprintf(deps.Stdout, "workflow      %s\npath          %s\nundisturbed   %d entries, %d effects\ncrash points  %d, %d of checks\nfaults        %d\ndivergences   %d\n",
		r.Workflow, cleanLine(fmt.Sprint(r.Path)), r.Entries, r.Effects, r.Points, r.CheckPoints, len(r.Faults), len(r.Divergences))
	for _, d := range r.Divergences {
		fmt.Fprintln(deps.Stdout, "  "+cleanLine(d))
	}
}
