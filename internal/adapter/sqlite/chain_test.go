package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/journal"
)

// verified follows the chain and fails the test if it cannot be read.
func verified(t *testing.T, s *Store) (journal.Chain, error) {
	t.Helper()
	chain, broken, err := s.VerifyChain(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return chain, broken
}

// chained returns a store with five rows.
func chained(t *testing.T) *Store {
	t.Helper()
	s := open(t)
	one, two := created(t, 1), created(t, 2)
	commit(t, s, one, two)
	commit(t, s, next(t, one.Task, pauseEntry()))
	three := created(t, 3)
	three.Segment = "from elsewhere"
	commit(t, s, three, created(t, 4))
	return s
}

func TestTamperingIsFoundAndNamed(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"an entry":               {"UPDATE journal SET entry = replace(entry, 'do ', 'did ') WHERE row = 2", "row 2 (entry 1 of task " + string(id(2)) + ") is not what was written"},
		"its time":               {"UPDATE journal SET at = '2001-01-01T00:00:00Z' WHERE row = 3", "row 3"},
		"its task":               {"UPDATE journal SET task = 'x' WHERE row = 4", "row 4 (entry 1 of task x)"},
		"a link":                 {"UPDATE journal SET link = x'00' WHERE row = 1", "row 1"},
		"no link":                {"UPDATE journal SET link = NULL WHERE row = 5", "row 5"},
		"a row that is gone":     {"DELETE FROM journal WHERE row = 3", "row 4 follows row 2"},
		"a segment that is gone": {"DELETE FROM journal_segment", "row 4"},
		"another segment":        {"UPDATE journal_segment SET text = 'from here'", "row 4"},
		"a segment more":         {"INSERT INTO journal_segment VALUES (2, 'x')", "row 2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := chained(t)
			if chain, broken := verified(t, s); broken != nil || chain.Rows != 5 || chain.Head != s.head.link {
				t.Fatalf("before: %+v, %v", chain, broken)
			}
			tamper(t, s, tt.text)
			if _, broken := verified(t, s); broken == nil || !strings.Contains(broken.Error(), tt.want) {
				t.Errorf("%v, want %q", broken, tt.want)
			}
		})
	}
}

// Whoever recomputes the links behind a change has another head.
func TestAChainThatIsForgedHasAnotherHead(t *testing.T) {
	s := chained(t)
	before, _ := verified(t, s)
	tamper(t, s, "UPDATE journal SET entry = replace(entry, 'do ', 'did ') WHERE row = 2")
	if err := linkRows(context.Background(), s.write); err != nil {
		t.Fatal(err)
	}
	if after, broken := verified(t, s); broken != nil || after.Head == before.Head {
		t.Errorf("%v, %s and %s", broken, before.Head, after.Head)
	}
}

func TestTheChainContinuesWhenAStoreIsOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	for n := range 3 {
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if row := commit(t, s, created(t, n)); row != int64(n)+1 {
			t.Errorf("row %d", row)
		}
		if _, err := s.Commit(context.Background(), []journal.Commit{created(t, n)}); err == nil {
			t.Error("a task was created twice")
		}
		if chain, broken := verified(t, s); broken != nil || chain.Rows != int64(n)+1 {
			t.Errorf("%+v, %v", chain, broken)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRowsFromBeforeTheChainGetLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	statements := []string{schema1, schema2, schema3, schema4, schema5, schema6, schema7, fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 7"}
	for n := range 3 {
		statements = append(statements, fmt.Sprintf("INSERT INTO journal (task, seq, at, entry) VALUES ('t%d', 1, '2026-01-01T00:00:00Z', '{}')", n))
	}
	raw(t, path, statements...)
	s := openAt(t, path)
	if chain, broken := verified(t, s); broken != nil || chain.Rows != 3 {
		t.Errorf("%+v, %v", chain, broken)
	}
	if row := commit(t, s, created(t, 9)); row != 4 {
		t.Errorf("row %d", row)
	}
	if chain, broken := verified(t, s); broken != nil || chain.Rows != 4 {
		t.Errorf("%+v, %v", chain, broken)
	}
}

func TestAnExportedRowHasItsLink(t *testing.T) {
	s := chained(t)
	var chain journal.Chain
	err := s.EachRow(context.Background(), func(r journal.Row) error {
		stored, err := r.Stored()
		if err != nil {
			return err
		}
		link, err := hex.DecodeString(r.Link)
		if err != nil {
			return err
		}
		return chain.FollowRow(&stored, link)
	})
	if err != nil || chain.Head != s.head.link {
		t.Errorf("%v, %s and %s", err, chain.Head, s.head.link)
	}
}

// Two rows that changed their places are both named by the first of them.
func TestRowsThatWereSwappedAreFound(t *testing.T) {
	s := chained(t)
	for _, text := range []string{
		"UPDATE journal SET row = 100 WHERE row = 2", "UPDATE journal SET row = 2 WHERE row = 5", "UPDATE journal SET row = 5 WHERE row = 100",
	} {
		tamper(t, s, text)
	}
	if chain, broken := verified(t, s); broken == nil || !strings.Contains(broken.Error(), "row 2 (entry 1 of task ") || chain.Rows != 1 {
		t.Errorf("%+v, %v", chain, broken)
	}
}

// What differs is said where the row shows it.
func TestABrokenRowSaysWhatDiffers(t *testing.T) {
	for text, want := range map[string]string{
		"UPDATE journal SET link = NULL WHERE row = 3":                           "its link is missing",
		"UPDATE journal SET entry = '{' WHERE row = 3":                           "its entry does not parse",
		"UPDATE journal SET task = 'x' WHERE row = 3":                            "its entry says that it is entry 2 of task \"" + string(id(1)) + "\"",
		"UPDATE journal SET at = '2001-01-01T00:00:00Z' WHERE row = 3":           "its time is 2001-01-01T00:00:00Z, and its entry says ",
		"UPDATE journal SET entry = replace(entry, 'task', 'tas') WHERE row = 3": "its entry says that it is entry",
		"UPDATE journal SET link = randomblob(32) WHERE row = 3":                 "its bytes, or the rows before it, are not those of its link",
	} {
		s := chained(t)
		tamper(t, s, text)
		_, broken := verified(t, s)
		var b *journal.Broken
		if !errors.As(broken, &b) || b.Row != 3 || !strings.Contains(b.What, want) {
			t.Errorf("%s: %v", text, broken)
		}
	}
}

// The chain of a task ends with its last row.
func TestVerifyChainOfATask(t *testing.T) {
	s := chained(t)
	tamper(t, s, "UPDATE journal SET link = NULL WHERE row = 4")
	for n, rows := range map[int]int64{1: 3, 2: 2} {
		if chain, broken, err := s.VerifyChainOf(context.Background(), id(n)); err != nil || broken != nil || chain.Rows != rows {
			t.Errorf("%d: %+v, %v, %v", n, chain, broken, err)
		}
	}
	if _, broken, err := s.VerifyChainOf(context.Background(), id(4)); err != nil || broken == nil {
		t.Errorf("%v, %v", broken, err)
	}
}

// A store that was put back says so in the next row, also if it is opened again before that.
func TestARestoreIsASegmentOfTheNextRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	name, err := s.ID()
	if err != nil || len(name) != 20 {
		t.Fatalf("%q, %v", name, err)
	}
	commit(t, s, created(t, 1))
	if err := s.BeginSegment(journal.RestoreText(start)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path)
	restoredAt := func() {
		t.Helper()
		if list, err := s.RestorePoints(); err != nil || len(list) != 1 || list[0].Row != 2 || !list[0].At.Equal(start) {
			t.Errorf("%+v, %v", list, err)
		}
	}
	restoredAt()
	two := created(t, 2)
	two.Segment = "import of something"
	commit(t, s, two)
	commit(t, s, created(t, 3))
	restoredAt()
	if chain, broken := verified(t, s); broken != nil || chain.Rows != 3 {
		t.Errorf("%+v, %v", chain, broken)
	}
	tamper(t, s, "DELETE FROM journal_segment")
	if _, broken := verified(t, s); broken == nil || !strings.Contains(broken.Error(), "row 2") {
		t.Errorf("%v", broken)
	}
	if again, err := s.ID(); err != nil || again != name {
		t.Errorf("%q, %v", again, err)
	}
}
