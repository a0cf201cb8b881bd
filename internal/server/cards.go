package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/effect"
)

// lease is how long a claim on a card lasts. One that is still wanted is taken again by
// its owner; one whose owner is gone does not block the card for ever.
const lease = 2 * time.Hour

// cards change cards for tasks.
type cards struct{ boards boards }

var _ effect.Cards = cards{}

// ChangeCard implements effect.Cards. What the board refuses cannot be done later either: it
// is left out, with a note. What was done is looked at again.
func (c cards) ChangeCard(_ context.Context, t task.Task, e task.Effect) (string, error) {
	project, number, ok := board.ParseRef(t.TrackerRef)
	if !ok {
		return "", task.Mistakef("%q is not a card of a board", t.TrackerRef)
	}
	if err := c.boards.learnTaskVocabulary(&t); err != nil {
		return "", err
	}
	card, _, err := c.boards.store.Card(project, number)
	if err != nil {
		return asNote(err)
	}
	change := c.changeOf(&t, &e, &card)
	if e.Do == workflow.DescribeCard && e.Arg != "" && board.Fingerprint(card.Description) != e.Arg && card.Description != e.Text {
		return "the description was changed meanwhile: it is left as it is", nil
	}
	if _, _, err = c.boards.store.ChangeCard(project, number, change, c.boards.now()); err != nil {
		if e.Do == workflow.ClaimCard { // a lease of another ends: it is tried again
			return "", err
		}
		return asNote(err)
	}
	again, _, err := c.boards.store.Card(project, number)
	if err != nil {
		return asNote(err)
	}
	if missing := board.MissingEffect(again, change); missing != "" && again.Version == card.Version+1 {
		return "", fmt.Errorf("after the change %s", missing)
	}
	return "", nil
}

// asNote turns a refusal of the board into a note.
func asNote(err error) (string, error) {
	var refusal *board.Refusal
	if errors.As(err, &refusal) || errors.Is(err, board.ErrNotFound) {
		return err.Error(), nil
	}
	return "", err
}

// changeOf is what an effect means for a card.
func (c cards) changeOf(t *task.Task, e *task.Effect, card *board.Card) board.Change {
	change := board.Change{Key: e.ID, Author: "orange"}
	if e.Role != "" {
		change.Author = e.Role
	}
	switch e.Do {
	case workflow.TagCard:
		change.AddTags, change.RemoveTags = e.Tags, e.Untags
	case workflow.MoveCard:
		change.Column = e.Arg
	case workflow.CommentCard:
		change.Comment = e.Text
	case workflow.DescribeCard:
		change.Description, change.Was = &e.Text, &card.Description
	case workflow.ClaimCard:
		change.Claim = &board.Claim{Owner: string(t.ID), Tag: e.Arg, Until: c.boards.now().Add(lease)}
	case workflow.ReleaseCard:
		change.Release = string(t.ID)
	}
	return change
}

// ReadCard implements effect.Cards.
func (c cards) ReadCard(_ context.Context, t task.Task) (*board.Snapshot, error) {
	project, number, ok := board.ParseRef(t.TrackerRef)
	if !ok {
		return nil, task.Mistakef("%q is not a card of a board", t.TrackerRef)
	}
	card, _, err := c.boards.store.Card(project, number)
	if err != nil {
		return nil, err
	}
	face := card.Snapshot()
	return &face, nil
}

// promptCard is the task's card for its agents, nil if it is on no board.
func (c cards) promptCard(t *task.Task) *prompt.Card {
	project, number, ok := board.ParseRef(t.TrackerRef)
	if !ok {
		return nil
	}
	card, comments, err := c.boards.store.Card(project, number)
	if err != nil {
		return nil
	}
	return &prompt.Card{Card: card, Comments: comments}
}
