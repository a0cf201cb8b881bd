package engine

import (
	"testing"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// A decision that would come out otherwise is named, the others are equal.
func TestAuditNamesTheFirstDecisionThatDiffers(t *testing.T) {
	text, _ := builtin.Text("orange")
	def, err := workflow.Parse("orange.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	var record task.Task
	var entries []journal.Entry
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for i, sig := range []signal.Signal{
		{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: "V1StGXR8Z5jdHi6BmyT1a", Project: "p", Branch: "b", Summary: "s"}},
		{Kind: signal.Pause, Actor: task.Human},
		{Kind: signal.Resume, Actor: task.Human},
	} {
		sig.At, sig.Rules = at.Add(time.Duration(i)*time.Minute), Rules
		d := Decide(def, &record, sig)
		if d.Refused != "" {
			t.Fatal(d.Refused)
		}
		entries = append(entries, d.Entries...)
		if record, err = journal.Fold(record, d.Entries); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Audit(def, entries, 2, "abc")
	if err != nil || !a.Redecided.Same || a.Redecided.Entries != 3 || len(a.Steps) != 2 || a.Steps[0].Who != "human" || a.Merged != "abc" || a.Hash != def.Hash {
		t.Errorf("%+v, %v", a, err)
	}
	entries[1].Actor = "worker"
	entries[1].Reason = "forged"
	a, err = Audit(def, entries, 3, "abc")
	if err != nil || a.Redecided.Same || a.Redecided.Differ != 1 || a.Redecided.First == nil || a.Redecided.First.Seq != 2 {
		t.Errorf("%+v, %v", a.Redecided, err)
	}
	entries[0].Rules = Rules - 1
	a, err = Audit(def, entries, 3, "abc")
	if err != nil || !a.Redecided.Same || a.Redecided.Differ != 0 || a.Redecided.Older != 1 {
		t.Errorf("a decision by other rules is a fault: %+v, %v", a.Redecided, err)
	}
	if _, err := Audit(def, entries, 4, "abc"); err == nil {
		t.Error("an entry that is not there is audited")
	}
}
