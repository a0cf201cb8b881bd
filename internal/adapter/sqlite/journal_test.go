package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// tamper changes the file behind the store's back.
func tamper(t *testing.T, s *Store, text string, args ...any) {
	t.Helper()
	if _, err := s.write.ExecContext(context.Background(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func TestJournalRowThatDoesNotParse(t *testing.T) {
	s := open(t)
	one := created(t, 1)
	commit(t, s, one, created(t, 2))
	commit(t, s, next(t, one.Task, pauseEntry()))
	for name, text := range map[string]string{"cut short": `{"task":`, "of another task": `{"task":"x","seq":2}`} {
		t.Run(name, func(t *testing.T) {
			tamper(t, s, "UPDATE journal SET entry = ? WHERE task = ? AND seq = 2", text, string(id(1)))
			_, err := s.Journal(id(1), 0)
			wantError(t, err, "entry 2", string(id(1)), "run orange doctor")
			if entries, err := s.Journal(id(2), 0); err != nil || len(entries) != 1 {
				t.Errorf("another task is affected: %v, %v", entries, err)
			}
			if _, ok, err := s.Task(id(1)); !ok || err != nil {
				t.Errorf("the record is affected: %v", err)
			}
		})
	}
}

func TestRows(t *testing.T) {
	s := open(t)
	one, two := created(t, 1), created(t, 2)
	commit(t, s, one, two, next(t, one.Task, pauseEntry()))
	for name, tc := range map[string]struct {
		after int64
		task  task.ID
		limit int
		want  []int64
	}{
		"from the beginning":    {0, "", 10, []int64{1, 2, 3}},
		"after one":             {1, "", 10, []int64{2, 3}},
		"a few":                 {0, "", 2, []int64{1, 2}},
		"of one task":           {0, id(1), 10, []int64{1, 3}},
		"of one task after one": {1, id(1), 10, []int64{3}},
		"nothing new":           {3, "", 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := s.Rows(tc.after, tc.task, tc.limit)
			var got []int64
			for _, r := range rows {
				got = append(got, r.ID)
				var e journal.Entry
				if err := json.Unmarshal(r.Entry, &e); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
	n := 0
	if err := s.EachRow(context.Background(), func(r journal.Row) error { n++; return nil }); err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
	enough := errors.New("enough")
	if err := s.EachRow(context.Background(), func(journal.Row) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

func TestMovedRows(t *testing.T) {
	s := open(t)
	if got, err := s.MovedRows(4); len(got) > 0 || err != nil {
		t.Errorf("of an empty journal: %v, %v", got, err)
	}
	one, quoted := created(t, 1), created(t, 2)
	quoted.Entries[0].New.Summary = `say "type":"status.changed"`
	commit(t, s, one, quoted, created(t, 3), created(t, 4)) // rows 1 to 4
	one = transition(t, one.Task)
	commit(t, s, one, next(t, one.Task, pauseEntry()), created(t, 5), created(t, 6)) // rows 5 to 8
	for parts, want := range map[int][]int64{1: {5}, 2: {5}, 100: {5}} {
		if got, err := s.MovedRows(parts); !slices.Equal(got, want) || err != nil {
			t.Errorf("in %d parts: %v, %v, want %v", parts, got, err, want)
		}
	}
	two := transition(t, quoted.Task)
	commit(t, s, two) // row 9
	for parts, want := range map[int][]int64{1: {9}, 2: {9}, 3: {5, 9}, 9: {5, 9}} {
		if got, err := s.MovedRows(parts); !slices.Equal(got, want) || err != nil {
			t.Errorf("in %d parts: %v, %v, want %v", parts, got, err, want)
		}
	}
}

func TestRebuildAndRepair(t *testing.T) {
	s := open(t)
	one, two, three, four := created(t, 1), created(t, 2), created(t, 3), created(t, 4)
	commit(t, s, one, two, three, four)
	commit(t, s, transition(t, one.Task))
	ctx := context.Background()
	if differences, err := s.CompareRecords(ctx); err != nil || len(differences) != 0 {
		t.Fatalf("a sound store has differences: %q, %v", differences, err)
	}
	tamper(t, s, "UPDATE task SET fold = replace(fold, 'working', 'done'), status = 'done', project = 'x' WHERE id = ?", string(id(1)))
	tamper(t, s, "DELETE FROM task WHERE id = ?", string(id(2)))
	tamper(t, s, "UPDATE journal SET entry = 'x' WHERE task = ?", string(id(3)))
	differences, err := s.CompareRecords(ctx)
	if err != nil || len(differences) != 3 {
		t.Fatalf("%q, %v", differences, err)
	}
	wantError(t, s.RepairRecords(ctx), "1 tasks", "entry 1 of task "+string(id(3)))
	tamper(t, s, "DELETE FROM journal WHERE task = ?", string(id(3)))
	tamper(t, s, "DELETE FROM task WHERE id = ?", string(id(3)))
	if differences, err := s.CompareRecords(ctx); err != nil || len(differences) != 0 {
		t.Errorf("after the repair: %q, %v", differences, err)
	}
	if got, ok, err := s.TaskByBranch("p", "b1"); got != id(1) || !ok || err != nil {
		t.Errorf("the columns were not repaired: %v, %v, %v", got, ok, err)
	}
	if tasks, err := s.UnsettledTasks(); err != nil || len(tasks) != 2 || tasks[1].ID != id(2) {
		t.Errorf("a record that was missing is not looked at: %v, %v", tasks, err)
	}
	if err := s.CheckIntegrity(ctx); err != nil {
		t.Error(err)
	}
}
