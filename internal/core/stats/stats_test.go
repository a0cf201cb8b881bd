package stats_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

var update = flag.Bool("update", false, "write the golden figures anew")

// journals are those that every version of Orange can read.
const journals = "../engine/testdata/journals"

// measureExport measures the tasks of an export an hour after its last entry.
func measureExport(t *testing.T, file string) []stats.TaskFigures {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defs := map[string]*workflow.Definition{}
	readers := map[task.ID]*stats.Reader{}
	var order []task.ID
	var last time.Time
	for raw := range bytes.Lines(text) {
		var l journal.ExportLine
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		switch l.Kind {
		case journal.ExportWorkflow:
			def, err := workflow.Parse(l.File, l.Text)
			if err != nil {
				t.Fatal(err)
			}
			defs[def.Hash] = def
		case journal.ExportEntry:
			e, err := journal.Decode(l.Entry)
			if err != nil {
				t.Fatal(err)
			}
			if readers[e.Task] == nil {
				readers[e.Task] = stats.NewReader(defs[e.WorkflowHash])
				order = append(order, e.Task)
			}
			if err := readers[e.Task].Add(&e); err != nil {
				t.Fatal(err)
			}
			last = e.At
		}
	}
	var out []stats.TaskFigures
	for _, id := range order {
		out = append(out, readers[id].Measure(last.Add(time.Hour)))
	}
	return out
}

// The figures of the golden journals are those that were checked by hand against their entries.
func TestFiguresOfGoldenJournals(t *testing.T) {
	for _, format := range []string{"1", "unversioned"} {
		files, err := filepath.Glob(filepath.Join(journals, format, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatal(err, "there are no golden journals")
		}
		var text strings.Builder
		for _, file := range files {
			for _, one := range measureExport(t, file) {
				writeFigures(&text, strings.TrimSuffix(filepath.Base(file), ".jsonl"), one)
			}
		}
		golden := filepath.Join("testdata", "figures-"+format+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text.String()); diff != "" {
			t.Errorf("%s: - want, + got\n%s", golden, diff)
		}
	}
}

func writeFigures(b *strings.Builder, name string, one stats.TaskFigures) {
	fmt.Fprintf(b, "%s %s: %s, %d rounds, working %s, waiting %s, total %s\n", name, one.ID, one.Outcome, one.Rounds, one.Time.Working, one.Time.Waiting, one.Time.Total)
	for _, a := range one.Attempts {
		fmt.Fprintf(b, "  %d %s %s %s measured=%v %+v working %s, waiting %s, total %s\n", a.Number, a.Role, a.Harness, a.Prompt, a.Measured, a.Usage, a.Time.Working, a.Time.Waiting, a.Time.Total)
	}
}

var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

func attempt(harness, model, prompt string, usage *task.Usage) stats.AttemptFigures {
	a := stats.AttemptFigures{Role: "worker", Harness: harness, Model: model, PromptHash: prompt, Prompt: "worker", Time: stats.Times{Working: time.Minute}}
	if usage != nil {
		a.Usage, a.Measured = *usage, true
	}
	return a
}

// Three tasks: one is measured whole, one in part, one not at all.
func threeTasks() []stats.TaskFigures {
	return []stats.TaskFigures{
		{ID: "a", Project: "shop", Workflow: "orange", Created: noon, Outcome: stats.Landed, Rounds: 2, Time: stats.Times{Working: time.Minute, Total: time.Hour},
			Attempts: []stats.AttemptFigures{attempt("claude", "opus", "p1", &task.Usage{InputTokens: 100, CostMicroUSD: 500000, CostReported: true}), attempt("codex", "", "p2", &task.Usage{InputTokens: 10})}},
		{ID: "b", Project: "shop", Workflow: "solo", Created: noon, Outcome: stats.Open, Time: stats.Times{Working: 3 * time.Minute, Total: 2 * time.Hour},
			Attempts: []stats.AttemptFigures{attempt("claude", "opus", "p1", &task.Usage{InputTokens: 1, CostReported: true})}},
		{ID: "c", Project: "web", Workflow: "orange", Created: noon, Outcome: stats.Cancelled},
	}
}

func TestGroups(t *testing.T) {
	find := func(by stats.By, name string) stats.Group {
		for _, g := range stats.GroupTasks(threeTasks(), by) {
			if g.Name == name {
				return g
			}
		}
		t.Fatalf("no group %q by %s", name, by)
		return stats.Group{}
	}
	for name, c := range map[string]struct {
		group                     stats.Group
		tasks, attempts           int
		tokens, cost              int // attempts that are measured
		micros, landed, cancelled int64
	}{
		"a harness has its attempts, and the tasks they belong to": {find(stats.ByHarness, "claude"), 2, 2, 2, 2, 500000, 1, 0},
		"a harness that reports no cost":                           {find(stats.ByHarness, "codex"), 1, 1, 1, 0, 0, 1, 0},
		"tasks without an agent":                                   {find(stats.ByHarness, stats.NoAgent), 1, 0, 0, 0, 0, 0, 1},
		"a model that nobody reports":                              {find(stats.ByModel, stats.Unknown), 1, 1, 1, 0, 0, 1, 0},
		"the same prompt in two tasks":                             {find(stats.ByPrompt, "p1"), 2, 2, 2, 2, 500000, 1, 0},
		"a workflow has whole tasks":                               {find(stats.ByWorkflow, "orange"), 2, 2, 2, 1, 500000, 1, 1},
		"all":                                                      {stats.SumTasks(threeTasks()), 3, 3, 3, 2, 500000, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := c.group
			got := []int64{int64(g.Tasks), int64(g.Attempts), int64(g.TokensMeasured), int64(g.CostMeasured), g.Usage.CostMicroUSD, int64(g.Outcomes[stats.Landed]), int64(g.Outcomes[stats.Cancelled])}
			want := []int64{int64(c.tasks), int64(c.attempts), int64(c.tokens), int64(c.cost), c.micros, c.landed, c.cancelled}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if g := stats.SumTasks(threeTasks()); g.Working.Median != 60 || g.Working.Sum != 240 || g.Total.Median != 3600 || g.Rounds != 2 {
		t.Errorf("%+v", g)
	}
	days := threeTasks()
	days[0].Attempts[0].Started, days[0].Attempts[1].Started, days[1].Attempts[0].Started = noon, noon.Add(13*time.Hour), noon
	var names []string
	for _, g := range stats.GroupTasks(days, stats.ByDay) {
		names = append(names, fmt.Sprintf("%s: %d", g.Name, g.Usage.CostMicroUSD))
	}
	if want := []string{"2026-11-18: 0", "2026-11-17: 500000", stats.NoAgent + ": 0"}; !slices.Equal(names, want) {
		t.Errorf("the days are %q, not %q", names, want)
	}
	if g := stats.GroupTasks(nil, stats.ByRole); len(g) != 0 {
		t.Errorf("%+v", g)
	}
}

// What is read after a task was measured adds to its figures as if it had not been measured before.
func TestMeasuringChangesNothing(t *testing.T) {
	for _, measureBetween := range []bool{false, true} {
		text, err := os.ReadFile(filepath.Join(journals, "1", "solo.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var r *stats.Reader
		var def *workflow.Definition
		for raw := range bytes.Lines(text) {
			var l journal.ExportLine
			if err := json.Unmarshal(raw, &l); err != nil {
				t.Fatal(err)
			}
			if l.Kind == journal.ExportWorkflow {
				if def, err = workflow.Parse(l.File, l.Text); err != nil {
					t.Fatal(err)
				}
			}
			if l.Kind != journal.ExportEntry {
				continue
			}
			e, err := journal.Decode(l.Entry)
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				r = stats.NewReader(def)
			}
			if measureBetween {
				r.Measure(e.At)
			}
			if err := r.Add(&e); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(measureExport(t, filepath.Join(journals, "1", "solo.jsonl"))[0].Time.Working, r.Measure(noon).Time.Working); diff != "" {
			t.Errorf("measured between: %v\n%s", measureBetween, diff)
		}
	}
}
