package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orange/internal/core/board"
)

// SetBoard gives a project a board, or adds the columns and tags that its board does not have. It removes none, because
// cards may use them.
func (s *Store) SetBoard(project string, v board.Vocabulary) error {
	if err := v.Check(); err != nil {
		return err
	}
	changed := false
	err := s.onBoard(func(ctx context.Context, c *sql.Conn) error {
		have, err := readVocabulary(ctx, c, project)
		if err != nil && !errors.Is(err, board.ErrNotFound) {
			return err
		}
		next := have.UnionWith(v)
		if err := next.Check(); err != nil {
			return err
		}
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		done, err := c.ExecContext(ctx, `INSERT INTO board (project, vocabulary) VALUES (?, ?)
			ON CONFLICT (project) DO UPDATE SET vocabulary = excluded.vocabulary WHERE vocabulary <> excluded.vocabulary`, project, string(text))
		if err != nil {
			return err
		}
		rows, err := done.RowsAffected()
		changed = rows > 0
		return err
	})
	if err == nil && changed {
		s.boards.noteChange(project)
	}
	return err
}

// Board returns the columns and tags of a project's board, and its cards in the order of their
// numbers. If the project has no board, the error is board.ErrNotFound.
func (s *Store) Board(project string) (board.Vocabulary, []board.Card, error) {
	v, err := readVocabulary(context.Background(), s.read, project)
	if err != nil {
		return v, nil, s.ofBoard("read", err)
	}
	cards := []board.Card{}
	err = s.queryRows(func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var card board.Card
		err := decodeBoard("card", text, &card)
		cards = append(cards, card)
		return err
	}, "SELECT card FROM card WHERE project = ? ORDER BY number", project)
	return v, cards, s.ofBoard("read", err)
}

// AddCard adds a card with the title, description, column and tags of draft to the board of its
// project, which must exist. It returns the card with its number.
func (s *Store) AddCard(draft board.Card, now time.Time) (card board.Card, err error) {
	err = s.onBoard(func(ctx context.Context, c *sql.Conn) error {
		v, err := readVocabulary(ctx, c, draft.Project)
		if err != nil {
			return err
		}
		if card, err = board.New(draft, v, now.UTC()); err != nil {
			return err
		}
		if err := c.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) + 1 FROM card WHERE project = ?", card.Project).Scan(&card.Number); err != nil {
			return err
		}
		text, err := json.Marshal(card)
		if err != nil {
			return err
		}
		made, err := c.ExecContext(ctx, "INSERT INTO card (project, number, card) VALUES (?, ?, ?)", card.Project, card.Number, string(text))
		if err != nil {
			return err
		}
		row, err := made.LastInsertId()
		if err != nil {
			return err
		}
		recorded := board.ChangeBetween(board.Card{}, card, nil)
		recorded.Author = card.Author
		return addEvent(ctx, c, row, recorded, now)
	})
	if err != nil {
		return board.Card{}, err
	}
	s.boards.noteChange(card.Project)
	return card, nil
}

// Card returns a card and its comments, oldest first. It returns board.ErrNotFound if there is none.
func (s *Store) Card(project string, number int) (board.Card, []board.Comment, error) {
	row, card, err := cardRow(context.Background(), s.read, project, number)
	if err != nil {
		return card, nil, s.ofBoard("read", err)
	}
	comments := []board.Comment{}
	err = s.queryRows(func(rows *sql.Rows) error {
		var c board.Comment
		var at string
		if err := rows.Scan(&c.Number, &at, &c.Author, &c.Text); err != nil {
			return err
		}
		var err error
		c.At, err = time.Parse(time.RFC3339Nano, at)
		comments = append(comments, c)
		return err
	}, "SELECT number, at, author, text FROM card_comment WHERE card = ? ORDER BY number", row)
	return card, comments, s.ofBoard("read", err)
}

// CardHistory returns the events of a card, oldest first.
func (s *Store) CardHistory(project string, number int) ([]board.Event, error) {
	row, _, err := cardRow(context.Background(), s.read, project, number)
	if err != nil {
		return nil, s.ofBoard("read", err)
	}
	events := []board.Event{}
	err = s.queryRows(func(rows *sql.Rows) error {
		var e board.Event
		var at string
		var change []byte
		if err := rows.Scan(&e.Seq, &at, &e.Author, &change); err != nil {
			return err
		}
		var err error
		if e.At, err = time.Parse(time.RFC3339Nano, at); err == nil {
			err = decodeBoard("history of a card", change, &e.Change)
		}
		events = append(events, e)
		return err
	}, "SELECT seq, at, author, change FROM card_event WHERE card = ? ORDER BY seq", row)
	return events, s.ofBoard("read", err)
}

// onBoard runs one transaction about boards.
func (s *Store) onBoard(do func(context.Context, *sql.Conn) error) error {
	return s.ofBoard("write to", s.runTransaction(do, func() {}))
}

// ofBoard describes an error of the store. It returns errors of the board as they are.
func (s *Store) ofBoard(doing string, err error) error {
	var no *board.Refusal
	if errors.As(err, &no) || errors.Is(err, board.ErrNotFound) {
		return err
	}
	return s.describeError(doing, err)
}

// rowQuerier is the writing connection, or the pool of reading connections.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readVocabulary(ctx context.Context, from rowQuerier, project string) (v board.Vocabulary, err error) {
	var text []byte
	err = from.QueryRowContext(ctx, "SELECT vocabulary FROM board WHERE project = ?", project).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return v, fmt.Errorf("%w: project %q has no board", board.ErrNotFound, project)
	}
	if err != nil {
		return v, err
	}
	return v, decodeBoard("vocabulary of a board", text, &v)
}

func cardRow(ctx context.Context, from rowQuerier, project string, number int) (row int64, card board.Card, err error) {
	var text []byte
	err = from.QueryRowContext(ctx, "SELECT n, card FROM card WHERE project = ? AND number = ?", project, number).Scan(&row, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, card, fmt.Errorf("%w: %s/%d: see orange board show", board.ErrNotFound, project, number)
	}
	if err != nil {
		return 0, card, err
	}
	return row, card, decodeBoard("card", text, &card)
}

func decodeBoard(what string, text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the stored %s does not parse: run orange doctor: %w", what, err)
	}
	return nil
}
