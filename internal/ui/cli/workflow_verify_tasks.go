package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// readTasks returns the arguments of workflow verify without the number of tasks. --tasks alone has a default, so the flag
// parser leaves a number that follows it among the arguments.
func (f *verifyFlags) readTasks(cmd *cobra.Command, args []string) ([]string, error) {
	given := cmd.Flags().Changed("tasks")
	if given && len(args) == 2 {
		for i, text := range args {
			if n, err := strconv.Atoi(text); err == nil {
				f.tasks, args = n, []string{args[1-i]}
				break
			}
		}
	}
	switch {
	case len(args) != 1:
		return nil, requireArguments(1, 1)(cmd, args)
	case !given:
		return args, nil
	case f.tasks < 1 || f.tasks > verify.MaxTasks:
		return nil, usageError("--tasks %d: give a number from 1 to %d", f.tasks, verify.MaxTasks)
	}
	for _, name := range []string{"dot", "emit-test", "budget"} {
		if cmd.Flags().Changed(name) {
			return nil, usageError("--%s is about one task: leave out --tasks, or --%s", name, name)
		}
	}
	return args, nil
}

// knowProtection returns an error if a protection cannot be left out of the search.
func (f *verifyFlags) knowProtection(name string) error {
	known, others, advice := verify.Protections(), verify.TaskProtections(), "add --tasks N"
	if f.tasks > 0 {
		known, others, advice = others, known, "leave out --tasks"
	}
	for _, p := range known {
		if string(p) == name {
			return nil
		}
	}
	for _, p := range others {
		if string(p) == name {
			return usageError("protection %q is not in this search: %s, or use %s", name, advice, joinWords(known))
		}
	}
	return usageError("protection %q is not known: use %s", name, joinWords(known))
}

// runVerifyTasks searches what several tasks of a workflow can do together.
func runVerifyTasks(cmd *cobra.Command, deps Deps, def *workflow.Definition, f verifyFlags) error {
	o, err := f.searchOptions()
	if err != nil {
		return err
	}
	o.Stop = func() bool { return cmd.Context().Err() != nil }
	progress := newSearchProgress(deps.Stderr, deps.IsTerminal, time.Now)
	if !wantsJSON(cmd) {
		o.Progress = progress.showProgress
	}
	debug.SetGCPercent(verify.GCPercent)
	debug.SetMemoryLimit(verify.MemoryLimit)
	r, err := verify.VerifyTasks(def, f.tasks, o)
	progress.clearLine()
	if stopped := cmd.Context().Err(); stopped != nil {
		return fmt.Errorf("the search was broken off: %w", stopped)
	}
	if err != nil {
		return err
	}
	if wantsJSON(cmd) {
		err = printJSON(deps.Stdout, r)
	} else {
		printVerifyTasks(deps.Stdout, r)
	}
	if err != nil || r.OK {
		return err
	}
	return exitError{code: exitFailed, shown: true, err: errors.New("the workflow is not proved")}
}

func printVerifyTasks(w io.Writer, r verify.TasksReport) {
	parts := []string{fmt.Sprintf("%d states alone", r.States)}
	if r.Classes > 0 {
		parts = append(parts, fmt.Sprintf("%d minimized", r.Classes))
	}
	for _, t := range r.Together {
		parts = append(parts, fmt.Sprintf("%d with a pool of %d", t.States, t.Pool))
	}
	fmt.Fprintf(w, "%s, %s: %s\n", r.Workflow, humanize.Plural(r.Tasks, "task"), strings.Join(parts, ", "))
	for _, p := range verify.TaskProperties() {
		state := "holds"
		if !r.Complete || r.Condition != "" {
			state = "not proved"
		}
		for _, v := range r.Violations {
			if v.Property == p {
				state = "VIOLATED"
			}
		}
		fmt.Fprintf(w, "  %-18s  %s\n", p, state)
	}
	switch {
	case r.Condition != "":
		fmt.Fprintf(w, "Not proved: tasks are put together only if each ends by itself, and %s. Leave out --tasks to see how.\n", cleanLine(r.Condition))
	case !r.Complete:
		fmt.Fprintln(w, "Not proved: there are more states than were searched. Raise --max-states, lower the bounds of the counters, or lower --tasks.")
	}
	for i, v := range r.Violations {
		fmt.Fprintf(w, "\n%d. %s, with a pool of %d: %s\n", i+1, v.Property, v.Pool, cleanLine(v.Message))
		for k, st := range v.Trace {
			printTaskStep(w, k+1, st)
		}
	}
}

func printTaskStep(w io.Writer, number int, st verify.TaskStep) {
	who, move := fmt.Sprintf("task %d", st.Task), st.To
	if st.Task == 0 {
		who = ""
	}
	if st.From != st.To {
		move = st.From + " -> " + st.To
	}
	fmt.Fprintf(w, "   %2d  %-6s  %-10s  %-28s  %s\n", number, who, st.Label, move, cleanLine(st.What))
}
