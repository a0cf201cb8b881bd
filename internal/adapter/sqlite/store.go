// Package sqlite is the store: the journals of all tasks, the records they fold into, refusals, projects and their
// boards with all cards, trackers and their issues as last read, workflow texts and settings, in one SQLite file. It
// stores and finds values; it does not decide, and it does not know any workflow.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"

	"orange/internal/core/task"
)

// readers is the number of reading connections besides the writing one.
const readers = 4

// Store is an open store. It is safe for concurrent use.
type Store struct {
	path  string
	files []placedFile
	read  *sql.DB // sees only committed data, and cannot write

	mu     sync.Mutex // held while writing
	db     *sql.DB    // has one connection, which writes
	write  *sql.Conn
	begin  *sql.Stmt
	commit *sql.Stmt
	insert *sql.Stmt // a journal row
	create *sql.Stmt // a task row
	update *sql.Stmt // a task row
	touch  *sql.Stmt // a task row whose indexed columns do not change
	known  map[task.ID]indexed
	head   chainHead

	segment string // begins with the next row; usually ""

	boards *boardMarks
}

// Open opens the store at path, creates it if it does not exist, and brings its schema up to date.
func Open(path string) (*Store, error) { return openStore(path, false) }

func openStore(path string, existing bool) (*Store, error) {
	s := &Store{path: path, known: map[task.ID]indexed{}, boards: newBoardMarks()}
	if err := s.openConnections(existing); err != nil {
		return nil, errors.Join(s.describeError("open", err), s.Close())
	}
	return s, nil
}

func (s *Store) openConnections(existing bool) error {
	if err := prepareFile(s.path); err != nil {
		return err
	}
	db, err := connectPool(s.path, 1, "")
	if err != nil {
		return err
	}
	s.db = db
	ctx := context.Background()
	if s.write, err = db.Conn(ctx); err != nil {
		return err
	}
	if n, err := schemaVersion(ctx, s.write); existing && err == nil && n == 0 {
		return ErrEmpty
	}
	if err := useWAL(ctx, s.write); err != nil {
		return err
	}
	if err := s.prepareStatements(ctx, prepared{&s.begin, beginText}, prepared{&s.commit, commitText}); err != nil {
		return err
	}
	if err := migrateSchema(ctx, s.newTransactor(), schemaMigrations()); err != nil {
		return err
	}
	if err := checkTables(ctx, s.write, len(schemaMigrations())); err != nil {
		return err
	}
	if s.read, err = connectPool(s.path, readers, "query_only(1)"); err != nil {
		return err
	}
	if err := s.prepareStatements(ctx, prepared{&s.insert, insertRow}, prepared{&s.create, createTask}, prepared{&s.update, updateTask}, prepared{&s.touch, touchTask}); err != nil {
		return err
	}
	if err := s.readHead(ctx); err != nil {
		return err
	}
	if err := s.readNewestRows(ctx); err != nil {
		return err
	}
	s.rememberFiles()
	return nil
}

// prepareFile creates the folder, and an empty file that only the owner may read, and checks early
// that it is writable.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// connectPool prepares a pool of connections to an existing store. It opens none yet.
func connectPool(path string, size int, pragma string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	q := url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "journal_size_limit(67108864)"}}
	if pragma != "" {
		q.Add("_pragma", pragma)
	}
	connector, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

func useWAL(ctx context.Context, c *sql.Conn) error {
	var mode string
	if err := c.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system allows no write-ahead log (journal mode %s): put the data folder on a local disk", mode)
	}
	return nil
}

// prepared is a statement and its text.
type prepared struct {
	stmt **sql.Stmt
	text string
}

func (s *Store) prepareStatements(ctx context.Context, list ...prepared) error {
	for _, p := range list {
		stmt, err := s.write.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.stmt = stmt
	}
	return nil
}

// readNewestRows reads the newest rows, because damage to a file often shows there first.
func (s *Store) readNewestRows(ctx context.Context) error {
	var row sql.NullInt64
	var fold sql.NullString
	return s.read.QueryRowContext(ctx,
		"SELECT (SELECT max(row) FROM journal), (SELECT fold FROM task ORDER BY n DESC LIMIT 1)").Scan(&row, &fold)
}

// Close closes the store. It must not be used afterwards.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stmt := range []*sql.Stmt{s.begin, s.commit, s.insert, s.create, s.update, s.touch} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return s.describeError("close", errors.Join(errs...))
}

// runTransaction runs one transaction on the writing connection, all of it or nothing. If it succeeds,
// then runs before the next transaction.
func (s *Store) runTransaction(do func(context.Context, *sql.Conn) error, then func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.newTransactor().runTransaction(context.Background(), do)
	if err == nil {
		then()
	}
	return err
}

const (
	beginText  = "BEGIN IMMEDIATE"
	commitText = "COMMIT"
)

// transactor begins and ends the transactions of a connection with prepared statements: parsing them
// every time costs as much as writing a row.
type transactor struct {
	conn          *sql.Conn
	begin, commit *sql.Stmt
}

func (s *Store) newTransactor() transactor { return transactor{s.write, s.begin, s.commit} }

// runTransaction runs one transaction. ctx must not end: interrupting a commit would leave unknown
// whether it happened.
func (b transactor) runTransaction(ctx context.Context, do func(context.Context, *sql.Conn) error) error {
	if _, err := b.begin.ExecContext(ctx); err != nil {
		return err
	}
	err := do(ctx, b.conn)
	if err == nil {
		_, err = b.commit.ExecContext(ctx)
	}
	if err != nil {
		// SQLite may have rolled back by itself, so ignore that there is nothing left to roll back.
		_, _ = b.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// execStatement runs one writing statement in a transaction.
func (s *Store) execStatement(doing, text string, args ...any) error {
	return s.describeError(doing, s.runTransaction(func(ctx context.Context, c *sql.Conn) error {
		_, err := c.ExecContext(ctx, text, args...)
		return err
	}, func() {}))
}
