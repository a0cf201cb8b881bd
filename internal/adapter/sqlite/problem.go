package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A problem is an error whose text says what to do, in place of SQLite's message.
type problem struct {
	doing, path, advice string
	err                 error
}

// Error implements error.
func (p *problem) Error() string { return p.doing + " the store " + p.path + ": " + p.advice }

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.err }

// describeError adds to an error what was being done and, if known, what to do.
func (s *Store) describeError(doing string, err error) error {
	if err == nil {
		return nil
	}
	if advice := adviceFor(err); advice != "" {
		return &problem{doing: doing, path: s.path, advice: advice, err: err}
	}
	return fmt.Errorf("%s the store %s: %w", doing, s.path, err)
}

func adviceFor(err error) string {
	var code *sqlite.Error
	if errors.As(err, &code) {
		return adviceForCode(code.Code() & 0xff)
	}
	switch {
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "it may not be written; check the owner and the permissions of the file and its folder"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full; free some space and try again"
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder; move it away, a file belongs there"
	}
	return ""
}

func adviceForCode(code int) string {
	switch code {
	case sqlite3.SQLITE_FULL:
		return "the disk is full; free some space and try again"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return "it may not be written; check the owner and the permissions of the file and its folder"
	case sqlite3.SQLITE_CANTOPEN:
		return "it cannot be opened; check the permissions of its folder and that the disk is not full"
	case sqlite3.SQLITE_NOTADB:
		return "it is not a database; run orange doctor --restore"
	case sqlite3.SQLITE_CORRUPT:
		return "it is damaged; run orange stop, then orange doctor --restore"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another program holds it; close that program and try again"
	case sqlite3.SQLITE_IOERR:
		return "the disk reports an error; check the disk and try again"
	}
	return ""
}

func isConflict(err error) bool {
	var code *sqlite.Error
	return errors.As(err, &code) && code.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}
