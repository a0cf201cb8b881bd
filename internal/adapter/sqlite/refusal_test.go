package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func TestRefusalsAreKeptBesideTheJournal(t *testing.T) {
	s := open(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	one := journal.Refusal{Task: "a", At: at, Actor: "worker", Attempt: 2, Kind: signal.Request, Asked: "done", Why: "not in map"}
	other := journal.Refusal{Task: "b", At: at, Actor: task.Human, Kind: signal.Delete, Why: "cancel it first"}
	if err := s.SaveRefusals([]journal.Refusal{one, other}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Refusals("a")
	if diff := cmp.Diff([]journal.Refusal{one}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := s.Refusals("c"); len(got) != 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestOfATaskOnlyTheNewestRefusalsAreKept(t *testing.T) {
	s := open(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const all = journal.MaxRefusals + 50
	for first := 0; first < all; first += 50 {
		list := []journal.Refusal{{Task: "b", At: at, Kind: signal.Pause, Why: "x"}}
		for i := first; i < first+50; i++ {
			list = append(list, journal.Refusal{Task: "a", At: at, Kind: signal.Request, Why: fmt.Sprint(i)})
		}
		if err := s.SaveRefusals(list); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Refusals("a")
	if err != nil || len(got) != journal.MaxRefusals || got[0].Why != "50" || got[len(got)-1].Why != fmt.Sprint(all-1) {
		t.Errorf("%d refusals, %v", len(got), err)
	}
	if got, err := s.Refusals("b"); err != nil || len(got) != all/50 {
		t.Errorf("the other task has %d, %v", len(got), err)
	}
}

func TestARefusalSaysWhereItCameFrom(t *testing.T) {
	s := open(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := journal.Refusal{Task: "a", At: at, Actor: task.Human, Kind: signal.Pause, Why: "no", Via: &signal.Via{Kind: signal.ViaSocket, PID: 4711, Program: "orange"}}
	if err := s.SaveRefusals([]journal.Refusal{one}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Refusals("a")
	if diff := cmp.Diff([]journal.Refusal{one}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
