package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"orange/internal/core/tracker"
)

// KeepIssue stores an issue as it was read, and returns the issue stored before, or nil if there was
// none. It never replaces an issue by one that was read earlier. An issue from a list keeps the known
// comments, links and pull requests.
func (s *Store) KeepIssue(name string, is tracker.Issue) (was *tracker.Issue, err error) {
	is.ReadAt = is.ReadAt.UTC()
	err = s.runTransaction(func(ctx context.Context, c *sql.Conn) error {
		have, ok, err := issueRow(ctx, c, name, is.Key)
		if err != nil {
			return err
		}
		if ok {
			was = &have
			is = newestIssue(have, is)
		}
		text, err := json.Marshal(is)
		if err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, `INSERT INTO tracker_issue (tracker, key, issue) VALUES (?, ?, ?)
			ON CONFLICT (tracker, key) DO UPDATE SET issue = excluded.issue WHERE issue <> excluded.issue`, name, is.Key, string(text))
		return err
	}, func() {})
	if err != nil {
		return nil, s.describeError("write to", err)
	}
	return was, nil
}

// newestIssue merges two reads of an issue.
func newestIssue(have, is tracker.Issue) tracker.Issue {
	if is.ReadAt.Before(have.ReadAt) {
		have, is = is, have
	}
	if !is.Brief || have.Brief {
		return is
	}
	is.Brief = false
	is.Parent, is.Children, is.BlockedBy = have.Parent, have.Children, have.BlockedBy
	is.PRs, is.Comments = have.PRs, have.Comments
	if is.Card.Description == "" { // not every list includes it
		is.Card.Description = have.Card.Description
	}
	return is
}

// KeptIssue returns an issue as it was last read. It returns false if it was never read.
func (s *Store) KeptIssue(name, key string) (tracker.Issue, bool, error) {
	is, ok, err := issueRow(context.Background(), s.read, name, key)
	return is, ok, s.describeError("read", err)
}

// KeptIssues returns the issues of a tracker as last read, in the order in which they were first
// stored.
func (s *Store) KeptIssues(name string) ([]tracker.Issue, error) {
	var out []tracker.Issue
	err := s.queryRows(func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var is tracker.Issue
		err := decodeTracker("issue", text, &is)
		out = append(out, is)
		return err
	}, "SELECT issue FROM tracker_issue WHERE tracker = ? ORDER BY n", name)
	return out, s.describeError("read", err)
}

func issueRow(ctx context.Context, from rowQuerier, name, key string) (is tracker.Issue, ok bool, err error) {
	var text []byte
	err = from.QueryRowContext(ctx, "SELECT issue FROM tracker_issue WHERE tracker = ? AND key = ?", name, key).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return is, false, nil
	}
	if err == nil {
		err = decodeTracker("issue", text, &is)
	}
	return is, err == nil, err
}
