package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/stats"
	"orange/internal/view/chart"
	"orange/internal/wire"
)

func newStatsCommand(deps Deps) *cobra.Command {
	var by, project, since string
	cmd := &cobra.Command{
		Use: "stats", Short: "Summarize outcomes, cost and duration of tasks", Args: requireArguments(0, 0),
		Long: "Say what became of tasks, what they cost and how long they took, from their journals.\n" +
			"By harness, model, role or prompt, a task counts in the group of every such attempt that it had, and cost,\n" +
			"tokens and times are those of the attempts. By workflow or project they are those of the tasks.\n" +
			"What a harness does not report is not measured, and a sum with such a part says at least. Checks of a\n" +
			"project are listed by name: how often they ran, how often the work failed them, and how long they took.",
		Example: "  orange stats\n  orange stats --by workflow --since 7d\n  orange stats --by prompt --project shop --json",
	}
	cmd.Flags().StringVar(&by, "by", string(stats.ByHarness), "group tasks by "+stats.GroupingNames())
	cmd.Flags().StringVar(&project, "project", "", "only tasks of this project")
	cmd.Flags().StringVar(&since, "since", "", "only tasks created since a `time`: 24h, 7d, 2w, or a day such as 2026-11-01")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		q := wire.StatsQuery{By: stats.By(by), Project: project}
		if !q.By.Valid() {
			return usageError("--by %s is not known: use %s", by, stats.GroupingNames())
		}
		var err error
		if q.Since, err = parseSince(since, deps.Now()); err != nil {
			return err
		}
		if err := s.knowsProject(ctx, project); err != nil {
			return err
		}
		got, err := s.ReadStats(ctx, q)
		if err != nil {
			return err
		}
		return s.showResult(got, func(w io.Writer) error { return printStats(w, &got) })
	})
	return cmd
}

// parseSince returns the time that a person means: so long ago, or the beginning of a day. It returns the zero time for
// an empty text.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day, nil
	}
	unit := 24 * time.Hour
	number := strings.TrimSuffix(text, "d")
	if week, ok := strings.CutSuffix(text, "w"); ok {
		number, unit = week, 7*unit
	}
	if n, err := strconv.Atoi(number); err == nil && number != text && n > 0 && n <= 10_000 {
		return now.Add(-time.Duration(n) * unit), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usageError("--since %s is not a time: use 24h, 7d, 2w or a day such as 2026-11-01", text)
}

func printStats(w io.Writer, got *wire.Stats) error {
	if got.Total.Tasks == 0 {
		_, err := fmt.Fprintln(w, "There are no such tasks yet: create one with orange task create.")
		return err
	}
	groups := append(got.Groups, got.Total)
	outcomes := [][]string{{strings.ToUpper(string(got.By)), "TASKS"}}
	for _, o := range stats.Outcomes() {
		outcomes[0] = append(outcomes[0], strings.ToUpper(chart.OutcomeName(o)))
	}
	outcomes[0] = append(outcomes[0], "ROUNDS/TASK")
	figures := [][]string{{strings.ToUpper(string(got.By)), "ATTEMPTS", "COST", "TOKENS", "WORKING", "WAITING", "TOTAL"}}
	for i := range groups {
		g := &groups[i]
		name := cleanLine(strings.TrimSpace(g.Name + " " + g.Hint))
		row := []string{name, strconv.Itoa(g.Tasks)}
		for _, o := range stats.Outcomes() {
			row = append(row, strconv.Itoa(g.Outcomes[o]))
		}
		outcomes = append(outcomes, append(row, chart.DescribeRounds(g)))
		figures = append(figures, []string{
			name, strconv.Itoa(g.Attempts), chart.DescribeCost(g), chart.DescribeTokens(g),
			chart.FormatDuration(g.Working.Median), chart.FormatDuration(g.Waiting.Median), chart.FormatDuration(g.Total.Median),
		})
	}
	_, err := io.WriteString(w, numberTable(outcomes)+"\n"+numberTable(figures)+checkTable(got.Checks)+"\n"+
		"Times are medians of tasks: agents at work, waiting for people, from the beginning to the end.\n")
	return err
}

// checkTable returns what came of the runs of checks, "" if there were none.
func checkTable(list []stats.CheckGroup) string {
	if len(list) == 0 {
		return ""
	}
	rows := [][]string{{"CHECK", "TASKS", "RUNS", "FAILED", "NO RESULT", "MEDIAN RUN", "ALL RUNS"}}
	for _, g := range list {
		rows = append(rows, []string{
			cleanLine(g.Name), strconv.Itoa(g.Tasks), strconv.Itoa(g.Runs), strconv.Itoa(g.Failed), strconv.Itoa(g.NoResult),
			chart.FormatDuration(g.Time.Median), chart.FormatDuration(g.Time.Sum),
		})
	}
	return "\n" + numberTable(rows)
}
