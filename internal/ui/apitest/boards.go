package apitest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// FakeBoards holds the boards of projects in memory. They follow the rules of package board.
type FakeBoards struct {
	Vocabulary board.Vocabulary
	Now        func() time.Time
	Confirm    string // if it is not "", a change of tags or column needs this code

	mu       sync.Mutex
	cards    map[string][]board.Card // by project
	comments map[string][]board.Comment
	events   map[string][]board.Event
	changes  int64
	more     chan struct{}
}

// NewBoards returns boards with these columns and tags.
func NewBoards(v board.Vocabulary, now func() time.Time) *FakeBoards {
	return &FakeBoards{Vocabulary: v, Now: now, cards: map[string][]board.Card{}, comments: map[string][]board.Comment{}, events: map[string][]board.Event{}, more: make(chan struct{})}
}

// ReadBoard implements api.Boards. A project without cards has a board, except "none".
func (b *FakeBoards) ReadBoard(_ context.Context, project string) (board.Vocabulary, []board.Card, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if project == "none" {
		return board.Vocabulary{}, nil, task.Mistakef("project %q is not registered: see orange project list", project)
	}
	return b.Vocabulary, append([]board.Card{}, b.cards[project]...), nil
}

// AddCard implements api.Boards. It creates no task.
func (b *FakeBoards) AddCard(_ context.Context, project string, n wire.NewCard) (wire.AddedCard, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	card, err := board.New(board.Card{Project: project, Title: n.Title, Author: string(task.Human), Column: n.Column, Tags: n.Tags, Description: n.Description}, b.Vocabulary, b.Now())
	if err != nil {
		return wire.AddedCard{}, err
	}
	card.Number = len(b.cards[project]) + 1
	b.cards[project] = append(b.cards[project], card)
	b.record(&card, board.ChangeBetween(board.Card{}, card, nil), string(task.Human))
	return wire.AddedCard{Card: card}, nil
}

// ReadCard implements api.Boards.
func (b *FakeBoards) ReadCard(_ context.Context, project string, number int) (board.Card, []board.Comment, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	card, err := b.find(project, number)
	if err != nil {
		return board.Card{}, nil, err
	}
	return *card, b.comments[board.Ref(project, number)], nil
}

// ChangeCard implements api.Boards.
func (b *FakeBoards) ChangeCard(_ context.Context, project string, number int, c board.Change, code string) (board.Card, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	card, err := b.find(project, number)
	if err != nil {
		return board.Card{}, false, err
	}
	if b.Confirm != "" && code != b.Confirm && (len(c.AddTags)+len(c.RemoveTags) > 0 || c.Column != "") {
		return board.Card{}, false, task.Mistakef("this needs the code from the notification: pass it with --code")
	}
	next, said, err := board.Apply(*card, c, b.Vocabulary, b.Now())
	if err != nil || next.Version == card.Version {
		return *card, false, err
	}
	recorded := board.ChangeBetween(*card, next, said)
	*card = next
	if said != nil {
		ref := board.Ref(project, number)
		said.Number = len(b.comments[ref]) + 1
		b.comments[ref] = append(b.comments[ref], *said)
	}
	b.record(card, recorded, c.Author)
	return next, true, nil
}

// CardHistory implements api.Boards.
func (b *FakeBoards) CardHistory(_ context.Context, project string, number int) ([]board.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.find(project, number)
	return b.events[board.Ref(project, number)], err
}

// BoardMark implements api.Boards.
func (b *FakeBoards) BoardMark(string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return 1 + b.changes
}

// NextBoardChange implements api.Boards.
func (b *FakeBoards) NextBoardChange() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.more
}

func (b *FakeBoards) find(project string, number int) (*board.Card, error) {
	if list := b.cards[project]; number >= 1 && number <= len(list) {
		return &list[number-1], nil
	}
	return nil, fmt.Errorf("%w: %s/%d: see orange board show", board.ErrNotFound, project, number)
}

func (b *FakeBoards) record(card *board.Card, c board.Change, author string) {
	ref := board.Ref(card.Project, card.Number)
	b.events[ref] = append(b.events[ref], board.Event{Seq: len(b.events[ref]) + 1, At: b.Now(), Author: author, Change: c})
	b.changes++
	close(b.more)
	b.more = make(chan struct{})
}
