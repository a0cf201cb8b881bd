// Package logfile is a log file of limited size.
package logfile

import (
	"fmt"
	"os"
	"sync"
)

// MaxSize is the size at which a log is renamed to NAME.1.
const MaxSize = 10 << 20

// LogFile is a log. It is safe for concurrent use.
type LogFile struct {
	mu   sync.Mutex
	path string
	max  int64
	f    *os.File
	size int64
}

// Open opens the log at path for appending. It keeps one older log beside it.
func Open(path string, maxSize int64) (*LogFile, error) {
	l := &LogFile{path: path, max: maxSize}
	if err := l.openFile(); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return l, nil
}

func (l *LogFile) openFile() error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return err
	}
	l.f, l.size = f, info.Size()
	return nil
}

// Write implements io.Writer. A line is never split between two files.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.max {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *LogFile) rotate() error {
	if err := os.Rename(l.path, l.path+".1"); err != nil {
		return err
	}
	old := l.f
	if err := l.openFile(); err != nil {
		return err
	}
	return old.Close()
}

// Close closes the log.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}
