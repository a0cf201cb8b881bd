package shim

import (
	"errors"
	"fmt"
	"os"
	"time"

	"orange/internal/core/agent"
)

// WatchAttempt calls over once, in its own goroutine, when the attempt is over. If its shim died without a record,
// WatchAttempt first ends what the shim supervised. It does not watch an attempt twice.
func (s *Supervisor) WatchAttempt(f Folder, over func(agent.Exit)) error {
	state, err := f.ReadState(s.boot)
	if err != nil {
		return err
	}
	if state.Phase == None {
		return fmt.Errorf("watch %s: the attempt was not started", f)
	}
	s.mu.Lock()
	known := s.watched[f]
	s.watched[f] = true
	s.mu.Unlock()
	if known {
		return nil
	}
	began := s.goUnlessClosed(func() {
		exit, ok := s.awaitOver(f)
		s.mu.Lock()
		delete(s.watched, f)
		delete(s.ordered, f)
		s.mu.Unlock()
		if ok {
			over(exit)
		}
	})
	if !began {
		return errors.New("watch an attempt: the supervisor is closed")
	}
	return nil
}

// awaitOver waits until the attempt is over. It returns false if the supervisor was closed first.
func (s *Supervisor) awaitOver(f Folder) (agent.Exit, bool) {
	var seen time.Time // when the shim was seen to end
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		state, err := f.ReadState(s.boot)
		switch {
		case err != nil:
		case state.Phase == None: // it existed: somebody removed the folder
			return agent.Exit{Code: -1, Reason: "its records are gone", At: time.Now(), BootID: s.boot}, true
		case state.Phase == Over:
			if exit, err := f.ensureExit(state.Exit); err == nil {
				state.Exit = exit
				return s.judgeExit(f, state)
			}
		case state.Phase == Lost:
			if exit, err := s.endLostAttempt(s.ctx, f, state.Started, seen); err == nil {
				state.Exit = exit
				return s.judgeExit(f, state)
			}
		default:
			if err := s.awaitEnd(state.Started.Shim); errors.Is(err, os.ErrClosed) {
				return agent.Exit{}, false
			}
			seen = time.Now()
			continue
		}
		// An attempt that cannot be read or ended now is tried again.
		select {
		case <-s.ctx.Done():
			return agent.Exit{}, false
		case <-time.After(pause):
		}
	}
}
