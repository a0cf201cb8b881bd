package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/tracker"
)

func newDispatchCommand(deps Deps) *cobra.Command {
	var once, watch, dry bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "dispatch [tracker]", Short: "Make tasks of the issues that are next", Args: arguments(0, 1),
		Long: "Look at a tracker and make tasks of the issues that are next, no more than it may have at work. An\n" +
			"issue becomes one task at most.",
		Example: "  orange dispatch lin --dry-run\n" +
			"  orange dispatch --watch --every 1m",
	}
	cmd.Flags().BoolVar(&once, "once", false, "one round (the default)")
	cmd.Flags().BoolVar(&watch, "watch", false, "go on until it is interrupted")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	cmd.Flags().DurationVar(&every, "every", 30*time.Second, "with --watch: how long between two rounds")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		switch {
		case once && watch:
			return usageError("--once and --watch do not go together: choose one")
		case every < time.Second:
			return usageError("--every %s: give at least 1s", every)
		}
		names, err := s.trackerNames(ctx, args)
		if err != nil {
			return err
		}
		if !watch {
			return s.dispatchRound(ctx, names, dry, nil)
		}
		told := map[string]string{}
		for {
			s.dispatchRound(ctx, names, dry, told) //nolint:errcheck // it is printed, and tried again
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(every):
			}
		}
	})
	return cmd
}

// dispatchRound has one round made at each tracker. told is what was printed before, nil
// to print all.
func (s session) dispatchRound(ctx context.Context, names []string, dry bool, told map[string]string) error {
	rounds := []tracker.Round{}
	var failed error
	for _, name := range names {
		r, err := s.Dispatch(ctx, name, dry)
		if err != nil {
			r = tracker.Round{Tracker: name, Choices: []tracker.Choice{}, Report: tracker.Report{Tracker: name, News: []string{}, Drift: []tracker.Drift{}}, Problem: err.Error()}
			failed = fail{code: exitFailed, told: true, err: fmt.Errorf("%s: %w", name, err)}
		}
		rounds = append(rounds, r)
	}
	if err := s.show(map[string]any{"rounds": rounds}, func(w io.Writer) error { return printRounds(w, rounds, told) }); err != nil {
		return err
	}
	return failed
}

// printRounds prints what became of each issue. What was printed before is left out.
func printRounds(w io.Writer, rounds []tracker.Round, told map[string]string) error {
	for _, r := range rounds {
		if r.Problem != "" {
			fmt.Fprintf(w, "%s: %s\n", cleanLine(r.Tracker), cleanLine(r.Problem))
		}
		for _, line := range r.Report.News {
			fmt.Fprintln(w, cleanLine(line))
		}
		rows := [][]string{}
		for _, c := range r.Choices {
			row := choiceRow(r.Tracker, c)
			line := strings.Join(row, "\x00")
			if told != nil && told[r.Tracker+":"+c.Key] == line {
				continue
			}
			if told != nil {
				told[r.Tracker+":"+c.Key] = line
			}
			rows = append(rows, row)
		}
		if len(r.Choices) == 0 && r.Problem == "" && told == nil {
			rows = [][]string{{cleanLine(r.Tracker) + ": no issue waits"}}
		}
		if err := printTable(w, 0, rows); err != nil {
			return err
		}
	}
	return nil
}

func choiceRow(name string, c tracker.Choice) []string {
	mark := "waits"
	switch {
	case c.Dispatch && c.Task == "":
		mark = "next" // it is only tried
	case c.Dispatch:
		mark = "begun"
	}
	why := c.Reason
	if c.Dispatch && c.Task != "" {
		why = "task " + c.Task
	}
	return []string{mark, cleanLine(cmp.Or(c.Ref, tracker.Ref(name, c.Key))), cleanLine(cut(c.Title, 40)), cleanLine(why)}
}
