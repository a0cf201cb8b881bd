// Package effectlog is a file of keyed lines that records what was done, each thing once.
// Short-lived processes write it, and a key that exists is not written again.
package effectlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxLine is the length limit of a line.
const maxLine = 1 << 20

// Append writes a line, whose key is the JSON field "key", unless the file has a complete line
// with that key. It reports whether it wrote the line, and returns only once the line is on
// disk. It first removes an incomplete line that a crash left.
func Append(path string, line []byte) (written bool, err error) {
	key, err := keyOf(line)
	if err != nil {
		return false, fmt.Errorf("append to %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, fmt.Errorf("append to %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	end, found, err := scanForKey(f, key)
	if err != nil || found {
		return false, err
	}
	return true, writeLine(f, end, line)
}

func writeLine(f *os.File, end int64, line []byte) error {
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.WriteAt(append(bytes.TrimSpace(line), '\n'), end); err != nil {
		return err
	}
	return f.Sync()
}

// scanForKey searches for the key and returns the end of the last complete line.
func scanForKey(r io.Reader, key string) (end int64, found bool, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return end, found, nil
		}
		if err != nil {
			return 0, false, err
		}
		end += int64(len(line))
		if k, err := keyOf(line); err == nil && k == key {
			found = true
		}
	}
}

func keyOf(line []byte) (string, error) {
	if len(line) > maxLine {
		return "", fmt.Errorf("a line of %d bytes is too long", len(line))
	}
	var v struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return "", fmt.Errorf("the line is not JSON: %w", err)
	}
	if v.Key == "" {
		return "", fmt.Errorf("the line has no key")
	}
	return v.Key, nil
}
