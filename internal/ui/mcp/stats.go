package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/stats"
	"orange/internal/view/chart"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// statsIn selects tasks and what they are grouped by.
type statsIn struct {
	By      string `json:"by,omitempty" jsonschema:"what tasks are grouped by; defaults to harness"`
	Project string `json:"project,omitempty" jsonschema:"only tasks of this project"`
	Days    int    `json:"days,omitempty" jsonschema:"only tasks that were created within this number of days"`
}

// statsOut are the figures of tasks, by group and in total.
type statsOut struct {
	By     string       `json:"by" jsonschema:"what the tasks are grouped by"`
	Groups []statsGroup `json:"groups" jsonschema:"figures of each group"`
	Total  statsGroup   `json:"total" jsonschema:"figures of all tasks"`
	Checks []statsCheck `json:"checks" jsonschema:"runs of the tasks' checks, by name"`
}

// statsCheck are the figures of the checks of one name.
type statsCheck struct {
	Name     string  `json:"name" jsonschema:"of the check"`
	Tasks    int     `json:"tasks" jsonschema:"number of tasks"`
	Runs     int     `json:"runs" jsonschema:"number of runs that ended"`
	Failed   int     `json:"failed" jsonschema:"runs that the work failed"`
	NoResult int     `json:"no_result" jsonschema:"runs that were broken off, invalid or not found"`
	Median   float64 `json:"median_seconds" jsonschema:"median time of a run"`
	Total    float64 `json:"total_seconds" jsonschema:"time of all runs"`
}

// statsGroup are the figures of one group of tasks.
type statsGroup struct {
	Name     string         `json:"name" jsonschema:"of the group"`
	Tasks    int            `json:"tasks" jsonschema:"number of tasks"`
	Outcomes map[string]int `json:"outcomes" jsonschema:"number of tasks by how they ended or stand"`
	Rounds   string         `json:"rounds" jsonschema:"review rounds per task"`
	Attempts int            `json:"attempts" jsonschema:"number of attempts"`
	Cost     string         `json:"cost" jsonschema:"in words: what a harness does not report is not measured"`
	Tokens   string         `json:"tokens" jsonschema:"in words, likewise"`
	Working  float64        `json:"working_seconds" jsonschema:"median time that agents worked on a task"`
	Waiting  float64        `json:"waiting_seconds" jsonschema:"median time that a task waited for people"`
	Total    float64        `json:"total_seconds" jsonschema:"median time from the beginning to the end of a task"`
}

func (t *tools) addStats(s *sdk.Server) {
	addTool(s, &sdk.Tool{
		Name: "stats", Annotations: readOnlyHints("Figures of tasks"),
		InputSchema: schemaOf[statsIn](func(p map[string]*jsonschema.Schema) {
			for _, by := range stats.Groupings() {
				p["by"].Enum = append(p["by"].Enum, string(by))
			}
			least, most := 1.0, 10_000.0
			p["days"].Minimum, p["days"].Maximum = &least, &most
		}),
		Description: "Summarize how tasks ended, what they cost, how long they took and how many review rounds they needed, by harness, model, workflow, role, prompt, project or day, and how often checks ran and failed. What a harness does not report is not measured, and is not zero.",
	}, callTime, t.readStats)
}

func (t *tools) readStats(ctx context.Context, c Caller, in statsIn) (statsOut, string, error) {
	q := wire.StatsQuery{By: stats.By(cmp.Or(in.By, string(stats.ByHarness))), Project: in.Project}
	if in.Days > 0 {
		q.Since = t.Now().Add(-time.Duration(in.Days) * 24 * time.Hour)
	}
	got, err := c.API.ReadStats(ctx, q)
	if err != nil {
		return statsOut{}, "", err
	}
	out := statsOut{By: string(got.By), Groups: []statsGroup{}, Total: groupOf(&got.Total), Checks: []statsCheck{}}
	var text strings.Builder
	for i := range got.Groups {
		out.Groups = append(out.Groups, groupOf(&got.Groups[i]))
		text.WriteString(describeGroup(&got.Groups[i]))
	}
	text.WriteString(describeGroup(&got.Total))
	for _, g := range got.Checks {
		one := statsCheck{cutLine(g.Name, maxLine), g.Tasks, g.Runs, g.Failed, g.NoResult, g.Time.Median, g.Time.Sum}
		out.Checks = append(out.Checks, one)
		fmt.Fprintf(&text, "check %s: %s of %s, %d failed, %d without a result, median %s, in all %s\n", one.Name, humanize.Plural(g.Runs, "run"), humanize.Plural(g.Tasks, "task"),
			g.Failed, g.NoResult, chart.FormatDuration(g.Time.Median), chart.FormatDuration(g.Time.Sum))
	}
	return out, text.String(), nil
}

func groupOf(g *stats.Group) statsGroup {
	out := statsGroup{
		Name: groupName(g), Tasks: g.Tasks, Outcomes: map[string]int{}, Rounds: chart.DescribeRounds(g), Attempts: g.Attempts,
		Cost: chart.DescribeCost(g), Tokens: chart.DescribeTokens(g),
		Working: g.Working.Median, Waiting: g.Waiting.Median, Total: g.Total.Median,
	}
	for _, o := range stats.Outcomes() {
		out.Outcomes[string(o)] = g.Outcomes[o]
	}
	return out
}

func groupName(g *stats.Group) string { return cutLine(strings.TrimSpace(g.Name+" "+g.Hint), maxLine) }

// describeGroup describes a group on one line.
func describeGroup(g *stats.Group) string {
	var ended []string
	for _, o := range stats.Outcomes() {
		if n := g.Outcomes[o]; n > 0 {
			ended = append(ended, fmt.Sprintf("%d %s", n, chart.OutcomeName(o)))
		}
	}
	return fmt.Sprintf("%s: %s (%s), %s, cost %s, tokens %s, at work %s, waiting %s, in all %s\n", groupName(g), humanize.Plural(g.Tasks, "task"),
		strings.Join(ended, ", "), humanize.Plural(g.Attempts, "attempt"), chart.DescribeCost(g), chart.DescribeTokens(g),
		chart.FormatDuration(g.Working.Median), chart.FormatDuration(g.Waiting.Median), chart.FormatDuration(g.Total.Median))
}
