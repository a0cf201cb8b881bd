package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// BoardTracker is a project's board as a tracker. Its cards are the issues, and their numbers are the
// keys.
type BoardTracker struct {
	store   *Store
	project string
	now     func() time.Time
}

// ProjectTracker returns the board of a project as a tracker. It does not check that the board exists;
// the methods of the tracker do.
func (s *Store) ProjectTracker(project string, now func() time.Time) *BoardTracker {
	return &BoardTracker{s, project, now}
}

// ReadVocabulary returns the columns and tags of the board.
func (b *BoardTracker) ReadVocabulary(ctx context.Context) (board.Vocabulary, error) {
	v, err := readVocabulary(ctx, b.store.read, b.project)
	return v, b.store.ofBoard("read", err)
}

// ListIssues returns the cards that match a query, in the order of their numbers, without comments.
func (b *BoardTracker) ListIssues(_ context.Context, q tracker.Query) ([]tracker.Issue, error) {
	_, cards, err := b.store.Board(b.project)
	if err != nil {
		return nil, err
	}
	var out []tracker.Issue
	for _, card := range cards {
		in := len(q.Columns) == 0 || slices.ContainsFunc(q.Columns, func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), card.Column) })
		if !in || !q.Since.IsZero() && !card.UpdatedAt.After(q.Since) {
			continue
		}
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		is := issueOf(card, nil)
		is.Brief = true
		out = append(out, is)
	}
	return out, nil
}

// ReadIssue returns a card with all its comments. It returns tracker.ErrNotFound if there is none.
func (b *BoardTracker) ReadIssue(_ context.Context, key string) (tracker.Issue, error) {
	number, err := b.parseNumber(key)
	if err != nil {
		return tracker.Issue{}, err
	}
	card, comments, err := b.store.Card(b.project, number)
	if err != nil {
		return tracker.Issue{}, notFound(err)
	}
	return issueOf(card, comments), nil
}

// LearnVocabulary adds the columns and tags that the board does not have.
func (b *BoardTracker) LearnVocabulary(v board.Vocabulary) error {
	return b.store.SetBoard(b.project, v)
}

// WriteChange changes a card, all of the change or nothing. It does nothing if a change with the same
// key was made before.
func (b *BoardTracker) WriteChange(_ context.Context, was tracker.Issue, c board.Change) (*tracker.Issue, error) {
	number, err := b.parseNumber(was.Key)
	if err != nil {
		return nil, err
	}
	c.Author = cmp.Or(c.Author, orange)
	_, _, err = b.store.ChangeCard(b.project, number, c, b.now())
	return nil, notFound(err)
}

// orange is the author of changes that no role makes.
const orange = "orange"

// AccountName returns the author of changes.
func (b *BoardTracker) AccountName(ctx context.Context) (string, error) {
	_, err := b.ReadVocabulary(ctx)
	return orange, err
}

func (b *BoardTracker) parseNumber(key string) (int, error) {
	number, ok := board.ParseNumber(key)
	if !ok {
		return 0, fmt.Errorf("%w: %.40q is not the number of a card: see orange board show", tracker.ErrNotFound, key)
	}
	return number, nil
}

// notFound converts the error for a missing card into that for a missing issue.
func notFound(err error) error {
	if errors.Is(err, board.ErrNotFound) {
		return fmt.Errorf("%w: %w", tracker.ErrNotFound, err)
	}
	return err
}

// issueOf returns a card as an issue. On a local board, every author but the owner is part of Orange.
func issueOf(card board.Card, comments []board.Comment) tracker.Issue {
	is := tracker.Issue{Key: strconv.Itoa(card.Number), Card: card}
	for _, c := range comments {
		is.Comments = append(is.Comments, tracker.Comment{
			ID: strconv.Itoa(c.Number), Author: c.Author, Bot: c.Author != string(task.Human), At: c.At, Text: c.Text,
		})
	}
	return is
}
