package taskdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// LastSeq returns the number of the last entry in history.jsonl, or 0 if there is none. An
// incomplete line does not count.
func (d *Dir) LastSeq(project string, id task.ID) (int, error) {
	dir, err := d.checkedPath(project, id)
	if err != nil {
		return 0, fmt.Errorf("read the folder of a task: %w", err)
	}
	path := filepath.Join(dir, historyName)
	f, info, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	seq, _, err := readTail(f, info.Size())
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	return seq, nil
}

// appendHistory appends the events of the entries that the file lacks, in one write.
func appendHistory(path string, entries []journal.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	f, info, err := openRegular(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	err = appendTo(f, info.Size(), entries)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("append to %s: %w", path, err)
	}
	return nil
}

func appendTo(f *os.File, size int64, entries []journal.Entry) error {
	last, end, err := readTail(f, size)
	if err != nil {
		return err
	}
	text, err := historyLines(entries, last)
	if err != nil || len(text) == 0 {
		return err
	}
	if end < size {
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	_, err = f.WriteAt(text, end)
	return err
}

func historyLines(entries []journal.Entry, last int) ([]byte, error) {
	var text []byte
	for i := range entries {
		e := &entries[i]
		if e.Seq <= last {
			continue
		}
		if e.Seq != last+1 {
			return nil, fmt.Errorf("entry %d cannot follow on entry %d: pass all that is missing", e.Seq, last)
		}
		last = e.Seq
		for _, event := range journal.HistoryEvents(*e) {
			line, err := event.HistoryLine()
			if err != nil {
				return nil, err
			}
			text = append(text, line...)
		}
	}
	return text, nil
}

// block is how much of the end of a history is read first.
const block = 16 << 10

// readTail returns the number of the last line that has one, and the offset at which the last
// complete line ends.
func readTail(f io.ReaderAt, size int64) (seq int, end int64, err error) {
	var text []byte // from start to the end of the file
	for start := size; start > 0; {
		n := min(start, max(block, int64(len(text))))
		start -= n
		head := make([]byte, n, int(n)+len(text))
		if _, err := f.ReadAt(head, start); err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		text = append(head, text...)
		complete := text[:bytes.LastIndexByte(text, '\n')+1]
		if seq, ok := lastNumber(complete, start == 0); ok {
			return seq, start + int64(len(complete)), nil
		}
		if start == 0 {
			return 0, int64(len(complete)), nil
		}
	}
	return 0, 0, nil
}

// lastNumber finds the last line with a number. The first line counts only if it is known to be
// complete.
func lastNumber(text []byte, whole bool) (int, bool) {
	for len(text) > 0 {
		text = bytes.TrimSuffix(text, []byte("\n"))
		at := bytes.LastIndexByte(text, '\n') + 1
		if at == 0 && !whole {
			return 0, false
		}
		var line struct {
			Seq int `json:"seq"`
		}
		if json.Unmarshal(text[at:], &line) == nil && line.Seq > 0 {
			return line.Seq, true
		}
		text = text[:at]
	}
	return 0, false
}
