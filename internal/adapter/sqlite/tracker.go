package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// Trackers lists the trackers, sorted by name.
func (s *Store) Trackers() ([]tracker.Config, error) {
	var out []tracker.Config
	err := s.queryRows(func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var c tracker.Config
		err := decodeTracker("configuration of a tracker", text, &c)
		out = append(out, c)
		return err
	}, "SELECT config FROM tracker ORDER BY name")
	return out, s.describeError("read", err)
}

// SetTracker adds a tracker, or replaces the tracker with the same name. It returns a *task.Mistake
// for a name that cannot be part of a reference, and for a secret: only the location of a secret may
// be stored.
func (s *Store) SetTracker(c tracker.Config) error {
	if err := checkTracker(&c); err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return s.describeError("write to", err)
	}
	return s.execStatement("write to", `INSERT INTO tracker (name, config) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET config = excluded.config`, c.Name, string(text))
}

// RemoveTracker removes a tracker and its stored issues. It keeps the record of what was done about
// the issues, so that no directive is carried out twice if the tracker is added again.
func (s *Store) RemoveTracker(name string) error {
	err := s.runTransaction(func(ctx context.Context, c *sql.Conn) error {
		gone, err := c.ExecContext(ctx, "DELETE FROM tracker WHERE name = ?", name)
		if err != nil {
			return err
		}
		if n, err := gone.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, task.Mistakef("there is no tracker %q: see orange tracker list", shortenName(name)))
		}
		for _, table := range []string{"tracker_issue", "tracker_sync"} {
			if _, err := c.ExecContext(ctx, "DELETE FROM "+table+" WHERE tracker = ?", name); err != nil {
				return err
			}
		}
		return nil
	}, func() {})
	var mistake *task.Mistake
	if errors.As(err, &mistake) {
		return mistake
	}
	return s.describeError("write to", err)
}

// maxTrackerName limits the length of a tracker's name.
const maxTrackerName = 64

func checkTracker(c *tracker.Config) error {
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	odd := func(r rune) bool { return !letter(r) && !strings.ContainsRune("-_.", r) }
	switch {
	case c.Name == "" || len(c.Name) > maxTrackerName || strings.ContainsFunc(c.Name, odd) || !letter(rune(c.Name[0])):
		return task.Mistakef("%q is not a valid tracker name: use letters, digits, - and _, at most %d", shortenName(c.Name), maxTrackerName)
	case strings.EqualFold(c.Name, tracker.Board):
		return task.Mistakef("a tracker is not called %q, the local boards are: use another name", c.Name)
	}
	if u, err := url.Parse(c.URL); err != nil || u.User != nil {
		return task.Mistakef("the address of tracker %s is not one that can be kept: give one without a name or a secret in it", c.Name)
	}
	for what, where := range map[string]string{"token": c.Token, "webhook secret": c.Webhook} {
		named := slices.ContainsFunc([]string{"env:", "file:", "command:"}, func(p string) bool { return len(where) > len(p) && strings.HasPrefix(where, p) })
		if where != "" && where != "gh" && !named {
			return task.Mistakef("say where the %s of tracker %s is, not what it is: env:NAME, file:PATH or command:...", what, c.Name)
		}
	}
	return nil
}

// TrackedTasks lists all tasks whose refs have a prefix, including deleted ones, oldest first.
func (s *Store) TrackedTasks(prefix string) ([]task.Task, error) {
	return s.queryTasks("SELECT id, fold FROM task WHERE instr(fold, ?1) > 0 AND substr(fold ->> '$.resources.tracker_ref', 1, length(?2)) = ?2 ORDER BY n",
		`"tracker_ref":"`+prefix, prefix)
}

// RecordSync stores when a tracker was last read, zero for never, and the error of the last round, "" if there was
// none.
func (s *Store) RecordSync(name string, at time.Time, problem string) error {
	nanos := int64(0) // never
	if !at.IsZero() {
		nanos = at.UnixNano()
	}
	return s.execStatement("write to", `INSERT INTO tracker_sync (tracker, at, problem) VALUES (?, ?, ?)
		ON CONFLICT (tracker) DO UPDATE SET at = excluded.at, problem = excluded.problem`, name, nanos, problem)
}

// LastSync returns when a tracker was last read, zero for never, and the error of the last round.
func (s *Store) LastSync(name string) (at time.Time, problem string, err error) {
	var nanos int64
	err = s.read.QueryRow("SELECT at, problem FROM tracker_sync WHERE tracker = ?", name).Scan(&nanos, &problem)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, "", nil
	case err != nil:
		return time.Time{}, "", s.describeError("read", err)
	}
	if nanos == 0 {
		return time.Time{}, problem, nil
	}
	return time.Unix(0, nanos).UTC(), problem, nil
}

// remembered is how long a delivery is remembered: far longer than any tracker repeats one.
const remembered = 7 * 24 * time.Hour

// HasDelivery reports whether a delivery was handled before. It returns false for a delivery without a
// name.
func (s *Store) HasDelivery(name, delivery string, now time.Time) (before bool, err error) {
	if delivery == "" {
		return false, nil
	}
	err = s.read.QueryRow("SELECT EXISTS (SELECT 1 FROM tracker_delivery WHERE tracker = ? AND delivery = ? AND at >= ?)",
		name, nameOf(delivery), now.Add(-remembered).UnixNano()).Scan(&before)
	return before, s.describeError("read", err)
}

// RecordDelivery records a delivery, and removes old ones.
func (s *Store) RecordDelivery(name, delivery string, now time.Time) error {
	if delivery == "" {
		return nil
	}
	err := s.runTransaction(func(ctx context.Context, c *sql.Conn) error {
		if _, err := c.ExecContext(ctx, "DELETE FROM tracker_delivery WHERE at < ?", now.Add(-remembered).UnixNano()); err != nil {
			return err
		}
		_, err := c.ExecContext(ctx, "INSERT INTO tracker_delivery (tracker, delivery, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			name, nameOf(delivery), now.UnixNano())
		return err
	}, func() {})
	return s.describeError("write to", err)
}

// HasActed reports whether something about an issue was acted upon.
func (s *Store) HasActed(ref, key string) (done bool, err error) {
	err = s.read.QueryRow("SELECT EXISTS (SELECT 1 FROM tracker_act WHERE ref = ? AND key = ?)", ref, nameOf(key)).Scan(&done)
	return done, s.describeError("read", err)
}

// RecordAct records that something about an issue was acted upon.
func (s *Store) RecordAct(ref, key string) error {
	return s.execStatement("write to", "INSERT INTO tracker_act (ref, key) VALUES (?, ?) ON CONFLICT DO NOTHING", ref, nameOf(key))
}

// TakeLease gives an owner the lease of an issue until the given time. It returns false if another
// owner has a lease that has not ended.
func (s *Store) TakeLease(ref, owner string, until, now time.Time) (taken bool, err error) {
	if owner == "" || !until.After(now) {
		return false, task.Mistakef("a lease has an owner and an end that is yet to come")
	}
	err = s.runTransaction(func(ctx context.Context, c *sql.Conn) error {
		taken, err = changedOne(c.ExecContext(ctx, `INSERT INTO tracker_lease (ref, owner, until) VALUES (?1, ?2, ?3)
			ON CONFLICT (ref) DO UPDATE SET owner = excluded.owner, until = excluded.until WHERE owner = ?2 OR until <= ?4`,
			ref, owner, until.UnixNano(), now.UnixNano()))
		return err
	}, func() {})
	return taken && err == nil, s.describeError("write to", err)
}

// ReleaseLease ends an owner's lease. It does not affect the lease of another owner.
func (s *Store) ReleaseLease(ref, owner string) error {
	return s.execStatement("write to", "DELETE FROM tracker_lease WHERE ref = ? AND owner = ?", ref, owner)
}

func changedOne(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n == 1, err
}

// maxKept limits the length of a name from outside, in bytes.
const maxKept = 200

// nameOf returns a name as it is stored. It replaces a name that is too long by its digest.
func nameOf(name string) string {
	if len(name) <= maxKept {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// shortenName shortens a name for an error.
func shortenName(name string) string {
	if runes := []rune(name); len(runes) > maxTrackerName {
		return string(runes[:maxTrackerName]) + "..."
	}
	return name
}

func decodeTracker(what string, text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the stored %s does not parse: run orange doctor: %w", what, err)
	}
	return nil
}
