package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"orange/internal/atomicfile"
	"orange/internal/core/task"
	"orange/internal/lazy"
)

// ErrEmpty means that a store is missing or empty: it has no bytes, or no tables.
var ErrEmpty = errors.New("there is no store")

// OpenExisting opens the store at path, which must exist. If it is missing or empty, OpenExisting
// creates nothing and returns ErrEmpty.
func OpenExisting(path string) (*Store, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, ErrEmpty // do not open it: SQLite would remove a write-ahead log beside it
	}
	return openStore(path, true)
}

// ResolvePath returns the path of the store's file, which may be missing, following symbolic links.
// The write-ahead log is beside the file, not beside the link.
func ResolvePath(path string) string {
	if file, err := atomicfile.FollowLinks(path); err == nil {
		return file
	}
	return path
}

// brokenStore describes an error in the content of a store.
type brokenStore string

func (b brokenStore) Error() string { return string(b) }

// IsDamaged reports whether an error of InspectFile means that the store cannot be used. Another error, such as that of
// a store that a newer orange wrote or of an interrupted check, says nothing about the store.
func IsDamaged(err error) bool {
	if _, ok := errors.AsType[brokenStore](err); ok {
		return true
	}
	code, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains([]int{sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR}, code.Code()&0xff)
}

// tables matches the names of tables in a schema.
var tables = lazy.NewRegexp(`CREATE TABLE (\w+)`)

// checkTables checks that no table of a schema is missing.
func checkTables(ctx context.Context, q querier, version int) error {
	there := map[string]bool{}
	err := eachOf(ctx, q, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		there[name] = true
		return err
	}, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return err
	}
	for _, step := range schemaMigrations()[:version] {
		for _, found := range tables.FindAllStringSubmatch(step.text, -1) {
			if !there[found[1]] {
				return brokenStore(fmt.Sprintf("its table %s is missing; run orange doctor --restore", found[1]))
			}
		}
	}
	return nil
}

// InspectFile checks that the file at path is an undamaged store, without changing it or the files
// beside it, and returns the number of entries of its journal. If the store is missing or empty, the
// error is ErrEmpty.
func InspectFile(ctx context.Context, path string) (rows int64, err error) {
	path = ResolvePath(path)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, ErrEmpty
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}
	if _, err := os.Stat(path + "-wal"); err != nil {
		q.Set("immutable", "1") // create no files beside it
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err == nil {
		rows, err = inspectDB(ctx, db)
		err = errors.Join(err, db.Close())
	}
	if err != nil && !errors.Is(err, ErrEmpty) {
		if advice := adviceFor(err); advice != "" {
			return 0, &problem{doing: "check", path: path, advice: advice, err: err}
		}
		return 0, fmt.Errorf("check the store %s: %w", path, err)
	}
	return rows, err
}

func inspectDB(ctx context.Context, db *sql.DB) (rows int64, err error) {
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close() //nolint:errcheck // only read
	n, err := schemaVersion(ctx, c)
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, ErrEmpty
	case n > len(schemaMigrations()):
		return 0, errNewer(n)
	}
	var first string
	if err := c.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&first); err != nil {
		return 0, err
	}
	if first != "ok" {
		return 0, brokenStore(fmt.Sprintf("it is damaged (%s)", first))
	}
	if err := checkTables(ctx, c, n); err != nil {
		return 0, err
	}
	err = c.QueryRowContext(ctx, "SELECT coalesce(max(row), 0) FROM journal").Scan(&rows)
	return rows, err
}

// ReplaceStore puts a copy of a backup in the place of the store at path, or nothing if backup is empty. It moves the
// present store, with its write-ahead log, into the folder aside, and deletes nothing. It can be repeated after an
// interruption at any step. It calls fault before each step.
func ReplaceStore(path, backup, aside string, fault func(step string)) error {
	temp := path + ".restoring"
	if backup != "" {
		fault("restore.copy")
		if err := copyFile(backup, temp); err != nil {
			return fmt.Errorf("copy the backup %s: %w", backup, err)
		}
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(path + end); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		fault("restore.aside" + end)
		if err := errors.Join(os.MkdirAll(aside, 0o700), os.Rename(path+end, filepath.Join(aside, filepath.Base(path)+end)), atomicfile.SyncFolder(aside)); err != nil {
			return fmt.Errorf("move %s aside: %w", path+end, err)
		}
	}
	if backup == "" {
		return atomicfile.SyncFolder(filepath.Dir(path))
	}
	fault("restore.place")
	if err := errors.Join(os.Rename(temp, path), atomicfile.SyncFolder(filepath.Dir(path))); err != nil {
		return fmt.Errorf("put the backup in the place of %s: %w", path, err)
	}
	return nil
}

// copyFile copies a file with a mode that lets only the owner read it. The copy is on disk when
// copyFile returns.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// LastSequences returns the number of the last entry of every task, including deleted ones.
func (s *Store) LastSequences() (map[task.ID]int, error) {
	out := make(map[task.ID]int)
	err := s.queryRows(func(rows *sql.Rows) error {
		var id string
		var seq int
		err := rows.Scan(&id, &seq)
		out[task.ID(id)] = seq
		return err
	}, "SELECT id, seq FROM task")
	return out, s.describeError("read", err)
}

// LastWritten returns the time of the newest entry, or the zero time if there is none.
func (s *Store) LastWritten() (at time.Time, err error) {
	var text string
	err = s.read.QueryRow("SELECT coalesce((SELECT at FROM journal ORDER BY row DESC LIMIT 1), '')").Scan(&text)
	if err == nil && text != "" {
		at, err = time.Parse(time.RFC3339Nano, text)
	}
	return at, s.describeError("read", err)
}
