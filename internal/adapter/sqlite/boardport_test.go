package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
)

var (
	_ trackers.LocalBoard = (*BoardTracker)(nil)
	_ trackers.Store      = (*Store)(nil)
)

func TestTheLocalBoardIsATracker(t *testing.T) {
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World {
		s := open(t)
		if err := s.SetBoard("shop", board.Vocabulary{Columns: trackertest.Columns, Tags: trackertest.Tags}); err != nil {
			t.Fatal(err)
		}
		return &boardWorld{store: s}
	})
}

// boardWorld is a board in a file, with the people at it.
type boardWorld struct {
	store *Store

	mu     sync.Mutex
	fault  trackertest.Fault
	failed int // writes that were tried
}

var errBroken = errors.New("the disk reports an error")

func (w *boardWorld) CanDo(what string) bool {
	return what != trackertest.Limited && what != trackertest.Denied
}

func (w *boardWorld) InjectFault(f trackertest.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// CountWrites counts the events of all cards: a change whose key was seen writes none.
func (w *boardWorld) CountWrites() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.store.read.QueryRow("SELECT count(*) FROM card_event").Scan(&n); err != nil {
		panic(err)
	}
	return n + w.failed
}

// fails returns how a request fails, "" if it does not.
func (w *boardWorld) fails(write bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault.Times == 0 || w.fault.Writes && !write {
		return ""
	}
	if write {
		w.failed++
	}
	w.fault.Times--
	return w.fault.Kind
}

func (w *boardWorld) OpenClient(testing.TB) trackers.Backend {
	return &faulty{w.store.ProjectTracker("shop", time.Now), w}
}

// faulty is a board that fails when the world says so.
type faulty struct {
	*BoardTracker
	world *boardWorld
}

func (f *faulty) ReadVocabulary(ctx context.Context) (board.Vocabulary, error) {
	if f.world.fails(false) != "" {
		return board.Vocabulary{}, errBroken
	}
	return f.BoardTracker.ReadVocabulary(ctx)
}

func (f *faulty) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	if f.world.fails(false) != "" {
		return tracker.Issue{}, errBroken
	}
	return f.BoardTracker.ReadIssue(ctx, key)
}

func (f *faulty) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) (*tracker.Issue, error) {
	how := f.world.fails(true)
	if how == trackertest.Broken {
		return nil, errBroken
	}
	after, err := f.BoardTracker.WriteChange(ctx, was, c)
	if how == trackertest.Lost {
		return nil, errBroken
	}
	return after, err
}

func (w *boardWorld) AddIssue(t testing.TB, draft tracker.Issue) string {
	t.Helper()
	draft.Card.Project = "shop"
	card, err := w.store.AddCard(draft.Card, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(card.Number)
}

func (w *boardWorld) change(t testing.TB, key string, c board.Change) {
	t.Helper()
	number, _ := board.ParseNumber(key)
	if _, _, err := w.store.ChangeCard("shop", number, c, time.Now()); err != nil {
		t.Error(err)
	}
}

func (w *boardWorld) MoveIssue(t testing.TB, key, column string) {
	w.change(t, key, board.Change{Author: "human", Column: column})
}

func (w *boardWorld) TagIssue(t testing.TB, key string, add, remove []string) {
	w.change(t, key, board.Change{Author: "human", AddTags: add, RemoveTags: remove})
}

func (w *boardWorld) CommentIssue(t testing.TB, key, author, text string) {
	w.change(t, key, board.Change{Author: author, Comment: text})
}

func (w *boardWorld) DescribeIssue(t testing.TB, key, text string) {
	w.change(t, key, board.Change{Author: "human", Description: &text})
}

func (w *boardWorld) ReadIssue(t testing.TB, key string) tracker.Issue {
	t.Helper()
	number, _ := board.ParseNumber(key)
	card, comments, err := w.store.Card("shop", number)
	if err != nil {
		t.Fatal(err)
	}
	is := tracker.Issue{Key: key, Card: card}
	for _, c := range comments {
		is.Comments = append(is.Comments, tracker.Comment{Author: c.Author, At: c.At, Text: c.Text})
	}
	return is
}

// RenameColumn does what no command does, as somebody with another program might.
func (w *boardWorld) RenameColumn(t testing.TB, from, to string) {
	w.rewrite(t, func(v *board.Vocabulary) { v.Columns[slices.Index(v.Columns, from)] = to }, func(c *board.Card) {
		if c.Column == from {
			c.Column = to
		}
	})
}

func (w *boardWorld) DeleteTag(t testing.TB, name string) {
	is := func(tag string) bool { return tag == name }
	w.rewrite(t, func(v *board.Vocabulary) { v.Tags = slices.DeleteFunc(v.Tags, is) }, func(c *board.Card) { c.Tags = slices.DeleteFunc(c.Tags, is) })
}

func (w *boardWorld) rewrite(t testing.TB, words func(*board.Vocabulary), cards func(*board.Card)) {
	t.Helper()
	v, list, err := w.store.Board("shop")
	if err != nil {
		t.Fatal(err)
	}
	words(&v)
	err = w.store.onBoard(func(ctx context.Context, c *sql.Conn) error {
		if err := put(ctx, c, "UPDATE board SET vocabulary = ?1 WHERE project = ?2", v, "shop"); err != nil {
			return err
		}
		for i := range list {
			cards(&list[i])
			if err := put(ctx, c, "UPDATE card SET card = ?1 WHERE number = ?2", list[i], list[i].Number); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(ctx context.Context, c *sql.Conn, query string, value, where any) error {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = c.ExecContext(ctx, query, string(text), where)
	}
	return err
}

func TestCommentsOfOthersThanTheOwnerAreOranges(t *testing.T) {
	s, _ := withCard(t)
	for _, author := range []string{"human", "worker", ""} {
		c := board.Change{Author: author, Comment: "hi"}
		if author == "" {
			if _, err := s.ProjectTracker("shop", time.Now).WriteChange(t.Context(), tracker.Issue{Key: "1"}, c); err != nil {
				t.Fatal(err)
			}
			continue
		}
		change(t, s, c, start)
	}
	is, err := s.ProjectTracker("shop", time.Now).ReadIssue(t.Context(), "1")
	if err != nil || len(is.Comments) != 3 {
		t.Fatal(is, err)
	}
	for i, want := range []tracker.Comment{{Author: "human"}, {Author: "worker", Bot: true}, {Author: "orange", Bot: true}} {
		if got := is.Comments[i]; got.Author != want.Author || got.Bot != want.Bot {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestAProjectWithoutABoardIsNoTracker(t *testing.T) {
	b := open(t).ProjectTracker("nope", time.Now)
	_, words := b.ReadVocabulary(t.Context())
	_, list := b.ListIssues(t.Context(), tracker.Query{})
	_, name := b.AccountName(t.Context())
	for _, err := range []error{words, list, name} {
		wantError(t, err, `project "nope" has no board`)
	}
	_, err := b.ReadIssue(t.Context(), "1")
	if !errors.Is(err, tracker.ErrNotFound) {
		t.Error(err)
	}
}
