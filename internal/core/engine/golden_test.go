package engine_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

var updateRecords = flag.Bool("update-records", false, "write the records beside new golden journals; those of published ones never change")

// exported is what an export of a store holds.
type exported struct {
	order     []task.ID
	journals  map[task.ID][]journal.Entry
	workflows map[string]*workflow.Definition // by hash
}

// readExport reads an export as orange import does, and follows the chain over the bytes as they were stored.
func readExport(t *testing.T, file string) exported {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := exported{journals: map[task.ID][]journal.Entry{}, workflows: map[string]*workflow.Definition{}}
	var chain journal.Chain
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
			out.workflows[def.Hash] = def
		case journal.ExportEntry:
			if err := l.FollowChain(&chain); err != nil {
				t.Errorf("row %d: %v", l.Row, err)
			}
			e, err := journal.Decode(l.Entry)
			if err != nil {
				t.Fatalf("row %d: %v", l.Row, err)
			}
			if out.journals[e.Task] == nil {
				out.order = append(out.order, e.Task)
			}
			out.journals[e.Task] = append(out.journals[e.Task], e)
		}
	}
	return out
}

// Every version folds the journals in testdata/journals to the records beside them, and decides the same again. The
// journals were written by Orange itself: those in unversioned by the last version before format 1.
func TestGoldenJournalsFoldToTheirRecords(t *testing.T) {
	files, err := filepath.Glob("testdata/journals/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "there are no golden journals")
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/journals/"), func(t *testing.T) {
			x := readExport(t, file)
			var records []task.Task
			for _, id := range x.order {
				entries := x.journals[id]
				record, err := journal.Fold(task.Task{}, entries)
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, record)
				if entries[0].Rules == 0 {
					t.Errorf("the first entry of task %s does not say by which rules it was decided", id)
				}
				again, err := engine.Redecide(x.workflows[record.WorkflowHash], entries)
				if err != nil || !again.Pinned {
					t.Fatalf("%v, or decided by another workflow", err)
				}
				if first, n := again.FirstDivergence(); first != nil && first.Rules == engine.Rules {
					t.Errorf("%d decisions of task %s are others now, the first: %+v", n, id, first)
				}
			}
			got, err := json.MarshalIndent(records, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".jsonl") + ".record.json"
			if *updateRecords {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
				t.Errorf("%s: - want, + got\n%s", golden, diff)
			}
		})
	}
}

func TestEveryWorkflowOfFormat1HasGoldenJournals(t *testing.T) {
	for _, format := range []string{"unversioned", "1"} {
		for _, name := range builtin.Names() {
			if name == "solo" && format == "unversioned" { // it came with format 1
				continue
			}
			if _, err := os.Stat(filepath.Join("testdata", "journals", format, name+".jsonl")); err != nil {
				t.Error(err)
			}
		}
	}
}
