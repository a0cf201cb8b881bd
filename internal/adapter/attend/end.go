package attend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
)

const (
	// slack is what an attendant gets on top of the grace to write its record and leave.
	slack = 3 * time.Second
	// forceWithin is how long killing may take.
	forceWithin = 10 * time.Second
)

// End orders the end of the attempt and returns when no process of it is left. An attempt
// that has not begun never will. It may be called again.
func (s *Supervisor) End(ctx context.Context, f Folder) (agent.Exit, error) {
	s.mu.Lock()
	s.ordered[f] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.watched[f] { // whoever watches it still asks
			delete(s.ordered, f)
		}
	}()
	for {
		state, err := f.State(s.boot)
		if err != nil {
			return agent.Exit{}, err
		}
		switch state.Phase {
		case None:
			err = f.forbid(s.boot)
		case Over:
			return s.settleEnd(ctx, f, state)
		case Lost:
			return s.bury(ctx, f, state.Started, time.Now())
		default:
			err = s.order(ctx, f, state.Started)
		}
		if err != nil {
			return agent.Exit{}, fmt.Errorf("end an attempt: %w", err)
		}
	}
}

// forbid leaves a claim that keeps every later attendant away.
func (f Folder) forbid(boot string) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	err := f.leave(claimFile, Started{BootID: boot, At: time.Now(), Ended: true})
	if errors.Is(err, os.ErrExist) {
		return nil // an attendant was faster: it is told to end
	}
	return err
}

// settleEnd makes sure that an attempt that is over stays over, and that its attendant,
// which wrote the record last of all, has left too.
func (s *Supervisor) settleEnd(ctx context.Context, f Folder, state State) (agent.Exit, error) {
	if state.Started.Child.PID == 0 && !state.Started.Ended {
		claim := state.Started
		claim.Ended = true
		if err := f.replace(claimFile, claim); err != nil {
			return agent.Exit{}, err
		}
	}
	if state.Started.BootID == s.boot && state.Started.Attendant.PID != 0 {
		gone, err := s.outlive(ctx, state.Started.Attendant, slack)
		if err == nil && !gone {
			err = state.Started.Attendant.tell(unix.SIGKILL)
		}
		if err != nil {
			return agent.Exit{}, fmt.Errorf("end an attempt: %w", err)
		}
	}
	return f.record(state.Exit)
}

// outlive waits for the end of a process and says whether it came in time.
func (s *Supervisor) outlive(ctx context.Context, p Process, limit time.Duration) (bool, error) {
	v, err := watch(p)
	if errors.Is(err, errEnded) {
		return true, nil
	}
	defer v.stop()
	defer context.AfterFunc(ctx, v.stop)()
	switch err := v.wait(limit); {
	case err == nil:
		return true, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	default:
		return false, err
	}
}

// order tells the attendant to end the attempt. If it does not in time, everything is
// killed, the attendant too.
func (s *Supervisor) order(ctx context.Context, f Folder, started Started) error {
	if err := started.Attendant.tell(unix.SIGTERM, unix.SIGCONT); err != nil {
		return err
	}
	gone, err := s.outlive(ctx, started.Attendant, started.Grace+slack)
	if gone || err != nil {
		return err
	}
	started.Grace = 0
	if err := s.sweep(ctx, started); err != nil {
		return err
	}
	_, err = f.record(agent.Exit{Code: -1, Reason: "it was ended by force", At: time.Now(), BootID: s.boot})
	return err
}

// bury ends what a dead attendant left behind and writes the record in its place. The
// attendant was seen to be lost at a time; zero: nobody knows when it was.
func (s *Supervisor) bury(ctx context.Context, f Folder, started Started, seen time.Time) (agent.Exit, error) {
	if err := s.sweep(ctx, started); err != nil {
		return agent.Exit{}, fmt.Errorf("end what a lost attendant left: %w", err)
	}
	return f.record(agent.Exit{Code: -1, Reason: "the attendant was lost", At: time.Now(), BootID: s.boot, Blow: &agent.Blow{By: lost, At: seen}})
}

// sweep ends the processes of an attempt: it asks each once, waits for the grace, then
// kills until none is left.
func (s *Supervisor) sweep(ctx context.Context, started Started) error {
	asked := map[Process]bool{}
	force := time.Now().Add(started.Grace)
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		left, err := started.living(s.data)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(force.Add(forceWithin)) {
			return fmt.Errorf("process %d of %d cannot be ended: end it by hand", left[0].PID, len(left))
		}
		for _, p := range left {
			if !time.Now().Before(force) {
				_ = p.tell(unix.SIGKILL) // who is left is seen at the next look
			} else if !asked[p] {
				asked[p] = true
				_ = p.tell(unix.SIGTERM, unix.SIGCONT)
			}
		}
		if _, err := s.outlive(ctx, left[0], pause); err != nil {
			return err
		}
	}
}
