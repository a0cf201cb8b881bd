package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orange/internal/core/stats"
	"orange/internal/core/workflow"
)

// durationBounds are the upper bounds of the histogram of durations, in seconds.
var durationBounds = [...]float64{60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}

// FormatMetrics returns the figures of tasks in the text format of Prometheus.
func FormatMetrics(tasks []stats.TaskFigures, version string) string {
	var b strings.Builder
	build := newFamily("orange_build_info", "gauge", "The version of the server.", "version")
	build.add(1, version)
	build.write(&b)
	writeTasks(&b, tasks)
	writeAttempts(&b, tasks)
	writeDurations(&b, tasks)
	return b.String()
}

func writeTasks(b *strings.Builder, tasks []stats.TaskFigures) {
	outcomes := newFamily("orange_tasks", "gauge", "Tasks by workflow and outcome.", "workflow", "outcome")
	open := newFamily("orange_open_tasks", "gauge", "Tasks that are not over, by the kind of their state.", "workflow", "kind")
	working := newFamily("orange_working_seconds_total", "counter", "Time in which agents worked.", "workflow")
	waiting := newFamily("orange_waiting_seconds_total", "counter", "Time in which people were waited for.", "workflow")
	rounds := newFamily("orange_review_rounds_total", "counter", "How often work went to an agent that may only read.", "workflow")
	for i := range tasks {
		t := &tasks[i]
		for _, o := range stats.Outcomes() { // a series that is there from the beginning shows its first change
			outcomes.add(0, t.Workflow, string(o))
		}
		outcomes.add(1, t.Workflow, string(t.Outcome))
		if t.Outcome == stats.Open || t.Outcome == stats.Stuck {
			open.add(1, t.Workflow, string(t.Kind))
		}
		working.add(t.Time.Working.Seconds(), t.Workflow)
		waiting.add(t.Time.Waiting.Seconds(), t.Workflow)
		rounds.add(float64(t.Rounds), t.Workflow)
	}
	for _, f := range []*family{outcomes, open, working, waiting, rounds} {
		f.write(b)
	}
}

func writeAttempts(b *strings.Builder, tasks []stats.TaskFigures) {
	started := newFamily("orange_attempts_total", "counter", "Agents that were started.", "harness", "workflow")
	live := newFamily("orange_live_attempts", "gauge", "Agents that are not over.", "harness")
	tokens := newFamily("orange_tokens_total", "counter", "Tokens that agents report.", "harness", "kind")
	cost := newFamily("orange_cost_dollars_total", "counter", "Cost that agents report.", "harness")
	unmeasured := newFamily("orange_attempts_without_cost_total", "counter", "Agents that report no cost: it is not known, and not 0.", "harness")
	for i := range tasks {
		for j := range tasks[i].Attempts {
			a := &tasks[i].Attempts[j]
			started.add(1, a.Harness, tasks[i].Workflow)
			live.add(count(a.Live), a.Harness)
			tokens.add(float64(a.Usage.InputTokens), a.Harness, "input")
			tokens.add(float64(a.Usage.OutputTokens), a.Harness, "output")
			tokens.add(float64(a.Usage.CachedTokens), a.Harness, "cached")
			cost.add(float64(a.Usage.CostMicroUSD)/1e6, a.Harness)
			unmeasured.add(count(!a.Live && !a.NotBegun && !a.Usage.HasCost()), a.Harness)
		}
	}
	for _, f := range []*family{started, live, tokens, cost, unmeasured} {
		f.write(b)
	}
}

func count(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// writeDurations writes how long tasks took that are over.
func writeDurations(b *strings.Builder, tasks []stats.TaskFigures) {
	const name = "orange_task_duration_seconds"
	type series struct {
		buckets []int
		sum     float64
		count   int
	}
	all := map[string]*series{}
	for i := range tasks {
		t := &tasks[i]
		if t.Kind != workflow.Terminal {
			continue
		}
		labels := formatLabels([]string{"workflow", "outcome"}, []string{t.Workflow, string(t.Outcome)})
		s := all[labels]
		if s == nil {
			s = &series{buckets: make([]int, len(durationBounds))}
			all[labels] = s
		}
		took := t.Time.Total.Seconds()
		s.sum, s.count = s.sum+took, s.count+1
		for i, bound := range durationBounds {
			if took <= bound {
				s.buckets[i]++
			}
		}
	}
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "# HELP %s Time from the creation to the end of tasks that are over.\n# TYPE %s histogram\n", name, name)
	for _, labels := range slices.Sorted(maps.Keys(all)) {
		s := all[labels]
		for i, bound := range durationBounds {
			fmt.Fprintf(b, "%s_bucket{%s,le=\"%s\"} %d\n", name, labels, formatNumber(bound), s.buckets[i])
		}
		fmt.Fprintf(b, "%s_bucket{%s,le=\"+Inf\"} %d\n", name, labels, s.count)
		fmt.Fprintf(b, "%s_sum{%s} %s\n%s_count{%s} %d\n", name, labels, formatNumber(s.sum), name, labels, s.count)
	}
}

// family is one metric with its series.
type family struct {
	name, typ, help string
	labels          []string
	values          map[string]float64 // by formatted labels
}

func newFamily(name, typ, help string, labels ...string) *family {
	return &family{name: name, typ: typ, help: help, labels: labels, values: map[string]float64{}}
}

func (f *family) add(v float64, labels ...string) { f.values[formatLabels(f.labels, labels)] += v }

func (f *family) write(b *strings.Builder) {
	if len(f.values) == 0 {
		return
	}
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.typ)
	for _, labels := range slices.Sorted(maps.Keys(f.values)) {
		fmt.Fprintf(b, "%s{%s} %s\n", f.name, labels, formatNumber(f.values[labels]))
	}
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func formatLabels(names, values []string) string {
	parts := make([]string, len(names))
	for i := range names {
		parts[i] = names[i] + `="` + escapeLabel.Replace(strings.ToValidUTF8(values[i], "?")) + `"`
	}
	return strings.Join(parts, ",")
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
