package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow/builtin"
	"orange/internal/wire"
)

// testBoard is the board of every project, in memory.
type testBoard struct {
	f        *server
	words    board.Vocabulary
	cards    []board.Card
	comments map[int][]board.Comment
}

func (b *testBoard) ReadBoard(_ context.Context, project string) (board.Vocabulary, []board.Card, error) {
	b.f.hear("board %s", project)
	if project != "shop" {
		return board.Vocabulary{}, nil, nil
	}
	return b.words, b.cards, nil
}

func (b *testBoard) AddCard(_ context.Context, project string, n wire.NewCard) (wire.AddedCard, error) {
	b.f.hear("add %s|%s|%s|%s|%t", project, n.Title, n.Description, n.Column, n.NoTask)
	if b.f.no != nil {
		return wire.AddedCard{}, b.f.no
	}
	card, err := board.New(board.Card{Title: n.Title, Description: n.Description, Column: n.Column}, b.words, noon)
	if err != nil {
		return wire.AddedCard{}, err
	}
	card.Project, card.Number = project, len(b.cards)+1
	b.cards = append(b.cards, card)
	return wire.AddedCard{Card: card}, nil
}

func (b *testBoard) find(number int) *board.Card {
	for i := range b.cards {
		if b.cards[i].Number == number {
			return &b.cards[i]
		}
	}
	return nil
}

func (b *testBoard) ReadCard(_ context.Context, project string, number int) (board.Card, []board.Comment, error) {
	b.f.hear("board %s/%d", project, number)
	card := b.find(number)
	if card == nil {
		return board.Card{}, nil, board.ErrNotFound
	}
	return *card, b.comments[number], nil
}

func (b *testBoard) ChangeCard(_ context.Context, project string, number int, c board.Change, code string) (board.Card, bool, error) {
	b.f.hear("%s", strings.TrimSpace(fmt.Sprintf("card %s/%d +%v -%v %s %s %s", project, number, c.AddTags, c.RemoveTags, c.Column, c.Comment, code)))
	card := b.find(number)
	if b.f.no != nil || card == nil {
		return board.Card{}, false, errors.Join(b.f.no)
	}
	next, said, err := board.Apply(*card, c, b.words, noon)
	if err != nil {
		return board.Card{}, false, err
	}
	changed := next.Version != card.Version
	*card = next
	if said != nil {
		b.comments[number] = append(b.comments[number], *said)
	}
	return next, changed, nil
}

// BoardMark and NextBoardChange implement api.Boards: its changes are not announced.
func (b *testBoard) BoardMark(string) int64           { return 0 }
func (b *testBoard) NextBoardChange() <-chan struct{} { return nil }

func (b *testBoard) CardHistory(context.Context, string, int) ([]board.Event, error) { return nil, nil }

// addBoard gives shop a board as the workflow joan-board has it: card 1 waits for a person's tag, nothing works on card 2.
func (r *env) addBoard() {
	r.t.Helper()
	text, _ := builtin.Text("joan-board")
	def := r.api.store.AddWorkflow(r.t, "joan-board.yaml", text)
	b := &r.api.board
	for _, c := range def.Board.Columns {
		b.words.Columns = append(b.words.Columns, c.Name)
	}
	for _, tag := range def.Board.Tags {
		b.words.Tags = append(b.words.Tags, tag.Name)
	}
	b.comments = map[int][]board.Comment{1: {{Number: 1, Author: "architect", At: ago(time.Hour), Text: "The plan is in the \x1b[31mdescription."}}}
	b.cards = []board.Card{
		{Project: "shop", Number: 1, Title: "Show stars\x1b[2J", Column: "Analyse", Tags: []string{"Plan-Pending-Approval"}, Description: "## Plan\n\nFive stars beside the name.", Version: 3},
		{Project: "shop", Number: 2, Title: "Count visitors", Column: "To Do", Tags: []string{}, Version: 1},
	}
	snapshot := b.cards[0].Snapshot()
	t := task.Task{ID: "id0stars", Project: "shop", Branch: "stars", Summary: "Show stars", Status: "board", Seq: 1, CreatedAt: ago(time.Hour), UpdatedAt: ago(time.Hour),
		CurrentVisit: task.CurrentVisit{Visit: 2, Since: ago(time.Hour)}}
	t.Workflow, t.WorkflowHash, t.Rules = def.Name, def.Hash, engine.Rules
	t.TrackerRef, t.CardSnapshot = board.Ref("shop", 1), &snapshot
	r.api.store.Put(t, journal.Entry{Task: t.ID, Seq: 1, At: ago(time.Hour), Type: journal.TaskCreated, Actor: task.Human, Move: journal.Move{To: "board"}})
	r.read()
	r.api.take()
}

func TestTheBoard(t *testing.T) {
	r := newEnv(t, 120, 40)
	r.addBoard()
	r.press("home", "b")
	r.shows("shop · board · 2 cards", "To Do 1", "Analyse 1", "1 Show stars", "2 Count visitors", "no task", "you: board", "#Plan-Pending-Approval")
	r.hides("\x1b[2J")
	r.press("l")
	r.shows("task stars is board", "Five stars beside the name", "architect, 1h:", "The plan is in the description")
	r.press("t")
	r.shows("Tags of card 1", "lets its task continue", "Plan-Rejected  set by people", "[x] Plan-Pending-Approval", "[ ] Ready")
	r.press("1")
	r.heard("card shop/1 +[Plan-Approved] -[]")
	r.shows("card 1 has Plan-Pending-Approval, Plan-Approved", "#Plan-Approved")
	r.press("e")
	r.write("Good plan")
	r.press("enter")
	r.heard("card shop/1 +[] -[]  Good plan")
	r.shows("Good plan")
	r.press("h")
	r.shows("no task works on it")
	r.press("enter")
	r.shows("card 2 has no task")
	r.press("u", "1")
	r.heard("card shop/2 +[] -[] Analyse")
	r.shows("card 2 is in Analyse", "Analyse 2")
	r.press("c")
	r.write("Sort by price")
	r.press("tab", "tab", "tab", "space")
	r.api.no = errNo
	r.press("enter")
	r.shows("Sort by price", "a gate is not met")
	r.api.no = nil
	r.api.take()
	r.press("enter")
	r.heard("add shop|Sort by price||To Do|true")
	r.shows("added card 3", "3 Sort by price")
	r.press("h", "h", "l", "home", "enter")
	if got := r.m.selectedRow(); r.m.page != pageList || got == nil || got.Branch != "stars" {
		t.Errorf("Enter leads to %v on page %d", got, r.m.page)
	}
}

// A task that waits for a tag leads to its card, in the list and in the inbox.
func TestATaskThatWaitsForATagLeadsToItsCard(t *testing.T) {
	for name, keys := range map[string][]string{"the list": {"enter"}, "the inbox": {"i", "enter"}} {
		r := newEnv(t, 100, 30)
		r.addBoard()
		r.on("stars")
		r.m.inbox.chosen = "id0stars"
		r.press(keys...)
		r.shows("Tags of card 1", "Plan-Approved  lets its task continue")
		r.press("enter")
		r.heard("card shop/1 +[Plan-Approved] -[]")
		if t.Failed() {
			t.Fatalf("from %s", name)
		}
	}
}

func TestACardIsReadAgain(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.addBoard()
	r.press("b")
	r.api.board.cards[1].Title = "Count all visitors"
	r.change("id0stars", func(*task.Task) {})
	r.shows("2 Count all visitors")
	r.api.no = errNo
	r.press("t", "1")
	r.shows("a gate is not met")
	r.press("A")
	r.shows("The board has no columns")
	r.press("A", "esc")
	if r.m.page != pageList {
		t.Error("Esc does not lead back")
	}
}
