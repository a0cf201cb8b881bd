package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"orange/internal/core/board"
)

// ChangeCard makes a change, all of it or nothing, and reports whether the card changed. If a change
// with the same key was made before, it returns the card unchanged. Changes of a card are made one
// after the other.
func (s *Store) ChangeCard(project string, number int, change board.Change, now time.Time) (card board.Card, changed bool, err error) {
	err = s.onBoard(func(ctx context.Context, c *sql.Conn) error {
		card, changed, err = changeCard(ctx, c, project, number, change, now.UTC())
		return err
	})
	if err != nil {
		return board.Card{}, false, err
	}
	if changed {
		s.boards.noteChange(project)
	}
	return card, changed, nil
}

func changeCard(ctx context.Context, c *sql.Conn, project string, number int, change board.Change, now time.Time) (board.Card, bool, error) {
	row, have, err := cardRow(ctx, c, project, number)
	if err != nil {
		return have, false, err
	}
	if change.Key != "" {
		if seen, err := keySeen(ctx, c, row, change.Key); err != nil || seen {
			return have, false, err
		}
	}
	v, err := readVocabulary(ctx, c, project)
	if err != nil {
		return have, false, err
	}
	next, said, err := board.Apply(have, change, v, now)
	if err != nil {
		return have, false, err
	}
	if change.Key != "" {
		if _, err := c.ExecContext(ctx, "INSERT INTO card_key (card, key) VALUES (?, ?)", row, change.Key); err != nil {
			return have, false, err
		}
	}
	if next.Version == have.Version {
		return have, false, nil
	}
	recorded := board.ChangeBetween(have, next, said)
	recorded.Author, recorded.Key = change.Author, change.Key
	return next, true, writeCard(ctx, c, row, next, said, recorded)
}

func keySeen(ctx context.Context, c *sql.Conn, row int64, key string) (seen bool, err error) {
	err = c.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM card_key WHERE card = ? AND key = ?)", row, key).Scan(&seen)
	return seen, err
}

// writeCard writes the next version of a card, with its new comment and its event.
func writeCard(ctx context.Context, c *sql.Conn, row int64, next board.Card, said *board.Comment, recorded board.Change) error {
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "UPDATE card SET card = ? WHERE n = ?", string(text), row); err != nil {
		return err
	}
	if said != nil {
		_, err := c.ExecContext(ctx, `INSERT INTO card_comment (card, number, at, author, text)
			SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4 FROM card_comment WHERE card = ?1`,
			row, said.At.Format(time.RFC3339Nano), said.Author, said.Text)
		if err != nil {
			return err
		}
	}
	return addEvent(ctx, c, row, recorded, next.UpdatedAt)
}

func addEvent(ctx context.Context, c *sql.Conn, row int64, recorded board.Change, at time.Time) error {
	author := recorded.Author
	recorded.Author = ""
	text, err := json.Marshal(recorded)
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `INSERT INTO card_event (card, seq, at, author, change)
		SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4 FROM card_event WHERE card = ?1`,
		row, at.UTC().Format(time.RFC3339Nano), author, string(text))
	return err
}
