package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"math"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// schema8 links every row of the journal to the rows before it. A segment marks where rows from
// another store begin. The link of its row covers it.
const schema8 = `
	ALTER TABLE journal ADD COLUMN link BLOB;
	CREATE TABLE journal_segment (
		row  INTEGER PRIMARY KEY,
		text TEXT NOT NULL
	);`

const storedRows = `SELECT journal.row, task, seq, at, entry, coalesce(journal_segment.text, ''), link
	FROM journal LEFT JOIN journal_segment USING (row) ORDER BY journal.row`

// linkRows adds links to the rows that were written before links existed.
func linkRows(ctx context.Context, c *sql.Conn) error {
	update, err := c.PrepareContext(ctx, "UPDATE journal SET link = ? WHERE row = ?")
	if err != nil {
		return err
	}
	defer update.Close() //nolint:errcheck // closing a statement loses nothing
	var head journal.Link
	var links []journal.Link
	var rows []int64
	err = eachStored(ctx, c, func(r *journal.Stored, _ []byte) error {
		head = head.NextLink(r)
		links, rows = append(links, head), append(rows, r.Row)
		return nil
	})
	for i := 0; err == nil && i < len(rows); i++ {
		_, err = update.ExecContext(ctx, links[i][:], rows[i])
	}
	return err
}

func eachStored(ctx context.Context, q querier, yield func(*journal.Stored, []byte) error) error {
	return eachOf(ctx, q, func(rows *sql.Rows) error {
		var r journal.Stored
		var entry, link sql.RawBytes
		if err := rows.Scan(&r.Row, &r.Task, &r.Seq, &r.At, &entry, &r.Segment, &link); err != nil {
			return err
		}
		r.Entry = entry
		return yield(&r, link)
	}, storedRows)
}

// VerifyChain compares every row of the journal with its link. The chain ends before the first row
// that was altered. broken describes that row; err is an error of reading.
func (s *Store) VerifyChain(ctx context.Context) (chain journal.Chain, broken, err error) {
	return s.verifyChain(ctx, math.MaxInt64)
}

// VerifyChainOf is like VerifyChain, but stops after the last row of a task.
func (s *Store) VerifyChainOf(ctx context.Context, id task.ID) (chain journal.Chain, broken, err error) {
	var last int64
	err = s.read.QueryRowContext(ctx, "SELECT coalesce(max(row), 0) FROM journal WHERE task = ?", string(id)).Scan(&last)
	if err != nil {
		return chain, nil, s.describeError("check", err)
	}
	return s.verifyChain(ctx, last)
}

// errEnough ends an iteration over the journal.
var errEnough = errors.New("that is enough")

func (s *Store) verifyChain(ctx context.Context, last int64) (chain journal.Chain, broken, err error) {
	err = eachStored(ctx, s.read, func(r *journal.Stored, link []byte) error {
		if r.Row > last {
			return errEnough
		}
		if broken = chain.FollowRow(r, link); broken != nil {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return chain, broken, s.describeError("check", err)
}

// RowLink returns the stored link of a row. It returns false if there is no such row.
func (s *Store) RowLink(row int64) (link journal.Link, ok bool, err error) {
	var text []byte
	err = s.read.QueryRow("SELECT link FROM journal WHERE row = ?", row).Scan(&text)
	if err == sql.ErrNoRows {
		return link, false, nil
	}
	copy(link[:], text)
	return link, err == nil && len(text) == len(link), s.describeError("read", err)
}

// RestorePoints returns the rows at which the journal continues from a backup. If nothing was written
// since a restore, that is the next row.
func (s *Store) RestorePoints() ([]journal.Restore, error) {
	var out []journal.Restore
	err := s.queryRows(func(rows *sql.Rows) error {
		var row int64
		var text string
		err := rows.Scan(&row, &text)
		if r, ok := journal.RestoreOf(row, text); ok {
			out = append(out, r)
		}
		return err
	}, `SELECT row, text FROM journal_segment
		UNION ALL SELECT (SELECT coalesce(max(row), 0) + 1 FROM journal), value FROM setting WHERE key = ? ORDER BY 1`, nextSegmentKey)
	return out, s.describeError("read", err)
}

// nextSegmentKey is the setting that holds the segment that begins with the next row.
const nextSegmentKey = "journal.segment"

// BeginSegment sets the segment that begins with the next row.
func (s *Store) BeginSegment(text string) error {
	err := s.SetSetting(nextSegmentKey, text)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.segment = text
	}
	return err
}

// storeIDKey is the setting that names the store.
const storeIDKey = "store.id"

// ID returns the name of the store. A copy of the store has the same name.
func (s *Store) ID() (string, error) {
	id, err := s.Setting(storeIDKey)
	if err != nil || id != "" {
		return id, err
	}
	random := make([]byte, 10)
	rand.Read(random) //nolint:errcheck // never fails
	err = s.execStatement("write to", "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING", storeIDKey, hex.EncodeToString(random))
	if err != nil {
		return "", err
	}
	return s.Setting(storeIDKey)
}

// chainHead is the last row and its link, which the next row continues.
type chainHead struct {
	row  int64
	link journal.Link
}

func (s *Store) readHead(ctx context.Context) error {
	var link []byte
	err := s.write.QueryRowContext(ctx, "SELECT row, link FROM journal ORDER BY row DESC LIMIT 1").Scan(&s.head.row, &link)
	if err != nil && err != sql.ErrNoRows {
		return err
	}
	copy(s.head.link[:], link) // VerifyChain finds a damaged link
	err = s.write.QueryRowContext(ctx, "SELECT value FROM setting WHERE key = ?", nextSegmentKey).Scan(&s.segment)
	if err == sql.ErrNoRows {
		return nil
	}
	return err
}
