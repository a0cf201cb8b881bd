package local_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
)

// FuzzRestore imports any lines. What is taken folds, and is exported as it was.
func FuzzRestore(f *testing.F) {
	open := func(t testing.TB, projects ...task.Project) (*local.Runtime, *runtimetest.MemoryStore) {
		store := runtimetest.NewMemoryStore(projects...)
		rt, err := local.Open(local.RuntimeOptions{Store: store, Library: library(func(string) (string, bool) { return "", false }), Performer: done{}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(rt.Close)
		return rt, store
	}
	rt, store := open(f, task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: 2})
	if _, err := rt.Create(f.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: "b", Summary: "s"}}); err != nil {
		f.Fatal(err)
	}
	var whole bytes.Buffer
	if err := rt.Export(f.Context(), store, &whole); err != nil {
		f.Fatal(err)
	}
	lines := strings.SplitAfter(whole.String(), "\n")
	f.Add(whole.Bytes())
	for i := range lines {
		f.Add([]byte(strings.Join(lines[:i], "") + strings.Join(lines[min(i+1, len(lines)):], "")))
	}
	f.Add([]byte(`{"kind":"orange","version":1}` + "\n" + `{"kind":"project"}` + "\n"))
	f.Add([]byte(`{"kind":"orange","version":1}` + "\n" + `{"kind":"entry","entry":{"task":"x","seq":-1}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rt, store := open(t)
		taken, err := rt.Restore(t.Context(), bytes.NewReader(text))
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("error of several lines: %q", err)
		}
		tasks, err := store.UnsettledTasks()
		if err != nil || len(tasks) > taken.Tasks {
			t.Fatalf("%d tasks of %d, %v", len(tasks), taken.Tasks, err)
		}
		for _, have := range tasks {
			entries, err := store.Journal(have.ID, 0)
			if err != nil {
				t.Fatal(err)
			}
			if folded, err := journal.Fold(task.Task{}, entries); err != nil || folded.Status != have.Status {
				t.Errorf("task %s is %s and folds to %s, %v", have.ID, have.Status, folded.Status, err)
			}
		}
	})
}
