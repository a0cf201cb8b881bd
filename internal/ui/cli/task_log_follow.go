package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"orange/internal/ui/client"
)

// logTail reads a file that may grow, from some lines before its end on.
type logTail struct {
	path  string
	lines int // 0: from the beginning
	file  *os.File
	at    int64
}

func (t *logTail) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// open opens the file. One that is not there yet is no error.
func (t *logTail) open() (bool, error) {
	if t.file != nil {
		return true, nil
	}
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the output: %w", err)
	}
	t.file = f
	if t.lines > 0 {
		t.at, err = linesBeforeEnd(f, t.lines)
	}
	return true, err
}

// read hands what is new to out and says how much it was. A file that shrank is read
// from its beginning.
func (t *logTail) read(out io.Writer) (int64, error) {
	if open, err := t.open(); !open || err != nil {
		return 0, err
	}
	info, err := t.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the output: %w", err)
	}
	if info.Size() < t.at {
		t.at = 0
	}
	n, err := io.Copy(out, io.NewSectionReader(t.file, t.at, info.Size()-t.at))
	t.at += n
	return n, err
}

// readAll hands all of the output to out.
func (t *logTail) readAll(a client.Attempt, out logWriter) error {
	if _, err := t.read(out); err != nil {
		return err
	}
	if t.file == nil && !a.Alive {
		return fmt.Errorf("attempt %d left no output: %s is not there", a.Number, a.Log)
	}
	return out.end()
}

// linesBeforeEnd finds where the last lines of a file begin.
func linesBeforeEnd(f *os.File, lines int) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the output: %w", err)
	}
	block := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		from := max(0, end-int64(len(block)))
		part := block[:end-from]
		if _, err := f.ReadAt(part, from); err != nil {
			return 0, fmt.Errorf("read the output: %w", err)
		}
		for i := len(part) - 1; i >= 0; i-- {
			if part[i] != '\n' || from+int64(i) == info.Size()-1 { // the last line may have an end
				continue
			}
			if lines--; lines == 0 {
				return from + int64(i) + 1, nil
			}
		}
		end = from
	}
	return 0, nil
}

// follower shows the output of an attempt until that is over.
type follower struct {
	log        *logTail
	out        logWriter
	ended      func(context.Context) (bool, error)
	poll, look time.Duration
	over       bool
}

func (f *follower) run(ctx context.Context) error {
	poll, look := time.NewTicker(f.poll), time.NewTicker(f.look)
	defer poll.Stop()
	defer look.Stop()
	for last := false; ; {
		n, err := f.log.read(f.out)
		if err == nil && n == 0 {
			err = f.out.pause()
		}
		if err != nil || n == 0 && last {
			return errors.Join(err, f.out.end())
		}
		last = f.over // what was written at the very end is still read
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), f.out.end())
		case <-poll.C:
		case <-look.C:
			if f.over {
				continue
			}
			if f.over, err = f.ended(ctx); err != nil {
				return errors.Join(err, f.out.end())
			}
		}
	}
}
