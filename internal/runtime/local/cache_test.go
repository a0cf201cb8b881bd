package local

import (
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/runtime/runtimetest"
)

// Whoever reads a record without the task's lock may read it just before a commit. It
// must not be kept: it would take the place of the newer one.
func TestOnlyTheHolderOfTheLockKeepsARecord(t *testing.T) {
	const id = task.ID("000000000000000000001")
	store := runtimetest.NewMemoryStore()
	if _, err := store.Commit(t.Context(), []journal.Commit{{Task: task.Task{ID: id, Seq: 5}}}); err != nil {
		t.Fatal(err)
	}
	r := &Runtime{RuntimeOptions: RuntimeOptions{Store: store}}
	r.records.init()
	if got, ok, err := r.loadRecord(id); err != nil || !ok || got.Seq != 5 {
		t.Fatalf("record: %+v, %v, %v", got, ok, err)
	}
	if _, kept := r.records.get(id); kept {
		t.Error("a record that was read without the lock is kept")
	}
	if _, ok, err := r.loadAndCache(id); err != nil || !ok {
		t.Fatalf("remember: %v, %v", ok, err)
	}
	if got, kept := r.records.get(id); !kept || got.Seq != 5 {
		t.Errorf("a record that was read with the lock is not kept: %+v", got)
	}
}
