package statistics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/server/statistics"
	"orange/internal/wire"
)

// fakeJournal holds rows, as a store does.
type fakeJournal struct {
	rows  []journal.Row
	def   *workflow.Definition
	reads int // rows that were read
}

func (j *fakeJournal) Rows(after int64, _ task.ID, limit int) ([]journal.Row, error) {
	rest := j.rows[min(int(after), len(j.rows)):]
	rest = rest[:min(limit, len(rest))]
	j.reads += len(rest)
	return rest, nil
}

func (j *fakeJournal) Definition(*task.Task) (*workflow.Definition, error) { return j.def, nil }

// add appends the golden journal of a landed task under other ids.
func (j *fakeJournal) add(tb testing.TB, from, to int) {
	tb.Helper()
	text, err := os.ReadFile("../../core/engine/testdata/journals/1/solo.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	var entries []journal.Entry
	for raw := range bytes.Lines(text) {
		var l journal.ExportLine
		if err := json.Unmarshal(raw, &l); err != nil {
			tb.Fatal(err)
		}
		switch l.Kind {
		case journal.ExportWorkflow:
			if j.def, err = workflow.Parse(l.File, l.Text); err != nil {
				tb.Fatal(err)
			}
		case journal.ExportEntry:
			e, err := journal.Decode(l.Entry)
			if err != nil {
				tb.Fatal(err)
			}
			entries = append(entries, e)
		}
	}
	for n := from; n < to; n++ {
		for _, e := range entries {
			e.Task = task.ID(fmt.Sprintf("%021d", n))
			raw, err := journal.Encode(&e)
			if err != nil {
				tb.Fatal(err)
			}
			j.rows = append(j.rows, journal.Row{ID: int64(len(j.rows) + 1), Entry: raw})
		}
	}
}

func TestAThousandTasksAreReadOnce(t *testing.T) {
	j := &fakeJournal{}
	j.add(t, 0, 1000)
	s := statistics.New(statistics.Sources{Rows: j.Rows, Definition: j.Definition})
	for _, want := range []int{1000, 1001} {
		got, err := s.Report(t.Context(), wire.StatsQuery{By: stats.ByWorkflow})
		if err != nil {
			t.Fatal(err)
		}
		if got.Total.Tasks != want || got.Total.Outcomes[stats.Landed] != want || len(got.Groups) != 1 || got.Groups[0].Name != "solo" {
			t.Errorf("want %d landed tasks: %+v", want, got)
		}
		if j.reads != len(j.rows) {
			t.Errorf("%d rows were read, there are %d", j.reads, len(j.rows))
		}
		if want == 1000 {
			j.add(t, 1000, 1001)
		}
	}
	got, err := s.Report(t.Context(), wire.StatsQuery{By: stats.ByHarness, Project: "elsewhere"})
	if err != nil || got.Total.Tasks != 0 {
		t.Errorf("of another project: %+v, %v", got.Total, err)
	}
	got, err = s.Report(t.Context(), wire.StatsQuery{By: stats.ByHarness, Since: time.Now().Add(time.Hour)})
	if err != nil || got.Total.Tasks != 0 {
		t.Errorf("of the future: %+v, %v", got.Total, err)
	}
}

// A journal with a gap is left out, and the others are counted.
func TestAJournalThatCannotBeFollowedIsLeftOut(t *testing.T) {
	j := &fakeJournal{}
	j.add(t, 0, 2)
	j.rows[3].Entry = bytes.Replace(j.rows[3].Entry, []byte(`"seq":4`), []byte(`"seq":5`), 1)
	s := statistics.New(statistics.Sources{Rows: j.Rows, Definition: j.Definition})
	got, err := s.Report(t.Context(), wire.StatsQuery{By: stats.ByHarness})
	if err != nil || got.Total.Tasks != 1 {
		t.Errorf("%+v, %v", got.Total, err)
	}
}

func BenchmarkFirstReport(b *testing.B) {
	j := &fakeJournal{}
	j.add(b, 0, 1000)
	for b.Loop() {
		s := statistics.New(statistics.Sources{Rows: j.Rows, Definition: j.Definition})
		if _, err := s.Report(b.Context(), wire.StatsQuery{By: stats.ByHarness}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(j.rows)), "rows")
}

func BenchmarkNextReport(b *testing.B) {
	j := &fakeJournal{}
	j.add(b, 0, 1000)
	s := statistics.New(statistics.Sources{Rows: j.Rows, Definition: j.Definition})
	for b.Loop() {
		if _, err := s.Report(b.Context(), wire.StatsQuery{By: stats.ByHarness}); err != nil {
			b.Fatal(err)
		}
	}
}
