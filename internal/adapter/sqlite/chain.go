package sqlite

import (
	"context"
	"database/sql"

	"orange/internal/core/journal"
)

// schema8 ties every row of the journal to the rows before it. A segment says where the
// rows from somewhere else begin; the link of its row covers it.
const schema8 = `
	ALTER TABLE journal ADD COLUMN link BLOB;
	CREATE TABLE journal_segment (
		row  INTEGER PRIMARY KEY,
		text TEXT NOT NULL
	);`

const storedRows = `SELECT journal.row, task, seq, at, entry, coalesce(journal_segment.text, ''), link
	FROM journal LEFT JOIN journal_segment USING (row) ORDER BY journal.row`

// linkRows gives links to the rows that were written before there were any.
func linkRows(ctx context.Context, c *sql.Conn) error {
	update, err := c.PrepareContext(ctx, "UPDATE journal SET link = ? WHERE row = ?")
	if err != nil {
		return err
	}
	defer update.Close() //nolint:errcheck // nothing is lost
	var head journal.Link
	var links []journal.Link
	var rows []int64
	err = eachStored(ctx, c, func(r *journal.Stored, _ []byte) error {
		head = head.Next(r)
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

// VerifyChain compares every row of the journal with its link. The chain ends before the
// first row that is not what was written, which broken names; err is one of reading.
func (s *Store) VerifyChain(ctx context.Context) (chain journal.Chain, broken, err error) {
	err = eachStored(ctx, s.read, func(r *journal.Stored, link []byte) error {
		if broken == nil {
			broken = chain.Follow(r, link)
		}
		return nil
	})
	return chain, broken, s.describe("check", err)
}

// chainHead is the last row and its link, as the next row follows on them.
type chainHead struct {
	row  int64
	link journal.Link
}

func (s *Store) readHead(ctx context.Context) error {
	var link []byte
	err := s.write.QueryRowContext(ctx, "SELECT row, link FROM journal ORDER BY row DESC LIMIT 1").Scan(&s.head.row, &link)
	if err == sql.ErrNoRows {
		return nil
	}
	copy(s.head.link[:], link) // a link that is damaged is found by VerifyChain
	return err
}
