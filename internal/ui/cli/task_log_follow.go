package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"orange/internal/outputlog"
	"orange/internal/wire"
)

// logTail reads an output that may grow, from some lines before its end on.
type logTail struct {
	path  string
	lines int // 0: from the beginning
	found bool
	at    int64
}

// read hands what is new to out and says how much it was. An output that shrank is read
// from its beginning, and one that is not there yet is no error.
func (t *logTail) read(out io.Writer) (int64, error) {
	log, err := outputlog.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the output: %w", err)
	}
	defer log.Close()
	if !t.found && t.lines > 0 {
		if t.at, err = log.LastLines(t.lines); err != nil {
			return 0, fmt.Errorf("read the output: %w", err)
		}
	}
	t.found = true
	if log.Size() < t.at {
		t.at = 0
	}
	from := t.at
	t.at, err = log.WriteFrom(out, from)
	return t.at - from, err
}

// readAll hands all of the output to out.
func (t *logTail) readAll(a wire.Attempt, out logWriter) error {
	if _, err := t.read(out); err != nil {
		return err
	}
	if !t.found && !a.Alive {
		return fmt.Errorf("attempt %d left no output: %s is not there", a.Number, a.Log)
	}
	return out.end()
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
