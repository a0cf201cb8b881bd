package boards

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// shelved returns boards in a store of their own; only project shop is registered.
func shelved(t *testing.T) Boards {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "orange.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return Boards{
		store: store, vocabulary: func(string, string) (board.Vocabulary, error) { return usualVocabulary(), nil }, now: time.Now, order: &sync.Mutex{}, warn: func(string, ...any) {},
		project: func(name string) (task.Project, bool) { return task.Project{}, name == "shop" },
	}
}

func TestANewCardGetsItsTask(t *testing.T) {
	b, ctx := shelved(t), context.Background()
	var asked []signal.NewTask
	var fail error
	b.added = func(_ context.Context, card board.Card, w signal.NewTask) (task.ID, error) {
		asked = append(asked, w)
		return "made", fail
	}
	n := wire.NewCard{Title: " Sell ", Tags: []string{"ready"}, Description: "All of it.", Workflow: "w", Branch: "feat/sell", Harness: "pi"}
	got, err := b.AddCard(ctx, "shop", n)
	if err != nil || got.Task != "made" || got.Warning != "" || got.Card.Number != 1 || got.Card.Column != "To Do" {
		t.Errorf("%+v, %v", got, err)
	}
	want := signal.NewTask{New: signal.New{Project: "shop", Branch: "feat/sell", Summary: "Sell", Harness: "pi", TrackerRef: "board:shop/1", Spawn: true}, Workflow: "w", Context: "All of it.", Actor: task.Human}
	if diff := cmp.Diff([]signal.NewTask{want}, asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	fail = errors.New("no such workflow")
	if got, err := b.AddCard(ctx, "shop", n); err != nil || got.Card.Number != 2 || !strings.Contains(got.Warning, "it has no task: no such workflow") {
		t.Errorf("%+v, %v", got, err)
	}
	n.NoTask = true
	if got, err := b.AddCard(ctx, "shop", n); err != nil || got.Task != "" || got.Warning != "" || len(asked) != 2 {
		t.Errorf("%+v, %v, asked %d times", got, err, len(asked))
	}
}

func TestOnlyRealChangesAreReported(t *testing.T) {
	b, ctx := shelved(t), context.Background()
	var heard []string
	b.changed = func(_ context.Context, c board.Card) { heard = append(heard, c.Column) }
	if _, err := b.AddCard(ctx, "shop", wire.NewCard{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []board.Change{{Key: "k", Column: "Done"}, {Key: "k", Column: "Review"}, {Column: "Done"}, {Column: "Nope"}, {AddTags: []string{"Ready"}}} {
		_, _, err := b.ChangeCard(ctx, "shop", 1, c, "")
		if (err != nil) != (c.Column == "Nope") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if strings.Join(heard, " ") != "Done Done" {
		t.Errorf("heard %q", heard)
	}
	if events, err := b.CardHistory(ctx, "shop", 1); err != nil || len(events) != 3 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

func TestABoardHasTheColumnsAndTagsOfItsProject(t *testing.T) {
	b, ctx := shelved(t), context.Background()
	if v, cards, err := b.ReadBoard(ctx, "shop"); err != nil || len(v.Columns) != 6 || len(v.Tags) != 21 || len(cards) != 0 {
		t.Errorf("%+v, %v, %v", v, cards, err)
	}
	b.vocabulary = func(string, string) (board.Vocabulary, error) {
		return board.Vocabulary{Columns: []string{"Done", "Sold"}, Tags: []string{"New"}}, nil
	}
	if got, err := b.AddCard(ctx, "shop", wire.NewCard{Title: "x", Column: "sold", Tags: []string{"New", "Ready"}}); err != nil || got.Card.Column != "Sold" {
		t.Errorf("%+v, %v", got, err)
	}
	broken := errors.New("the workflow does not parse")
	b.vocabulary = func(string, string) (board.Vocabulary, error) { return board.Vocabulary{}, broken }
	if _, err := b.AddCard(ctx, "shop", wire.NewCard{Title: "x"}); !errors.Is(err, broken) {
		t.Error(err)
	}
	for _, ask := range []func() error{
		func() error { _, _, err := b.ReadBoard(ctx, "nope"); return err },
		func() error { _, err := b.AddCard(ctx, "nope", wire.NewCard{Title: "x"}); return err },
		func() error { _, _, err := b.ReadCard(ctx, "nope", 1); return err },
		func() error { _, _, err := b.ChangeCard(ctx, "nope", 1, board.Change{Column: "Done"}, ""); return err },
		func() error { _, err := b.CardHistory(ctx, "nope", 1); return err },
	} {
		var mistake *task.Mistake
		if err := ask(); !errors.As(err, &mistake) || !strings.Contains(err.Error(), `project "nope" is not registered`) {
			t.Error(err)
		}
	}
}
