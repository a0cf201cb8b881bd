package shim

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
	// slack is the time that a shim gets in addition to the grace, to write its record and exit.
	slack = 3 * time.Second
	// forceWithin is how long killing may take.
	forceWithin = 10 * time.Second
)

// EndAttempt orders the end of the attempt and returns when no process of it is left. An attempt that has not started
// never will. EndAttempt may be called again.
func (s *Supervisor) EndAttempt(ctx context.Context, f Folder) (agent.Exit, error) {
	s.mu.Lock()
	s.ordered[f] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.watched[f] { // its watcher still needs this
			delete(s.ordered, f)
		}
	}()
	for {
		state, err := f.ReadState(s.boot)
		if err != nil {
			return agent.Exit{}, err
		}
		switch state.Phase {
		case None:
			err = f.forbidStart(s.boot)
		case Over:
			return s.settleEnd(ctx, f, state)
		case Lost:
			return s.endLostAttempt(ctx, f, state.Started, time.Now())
		default:
			err = s.orderEnd(ctx, f, state.Started)
		}
		if err != nil {
			return agent.Exit{}, fmt.Errorf("end an attempt: %w", err)
		}
	}
}

// forbidStart leaves a claim that keeps every later shim from starting.
func (f Folder) forbidStart(boot string) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	err := f.createRecord(claimFile, Started{BootID: boot, At: time.Now(), Ended: true})
	if errors.Is(err, os.ErrExist) {
		return nil // a shim was faster, and is told to end
	}
	return err
}

// settleEnd makes sure that an attempt that is over stays over, and that its shim, which writes the record last, has
// exited too.
func (s *Supervisor) settleEnd(ctx context.Context, f Folder, state State) (agent.Exit, error) {
	if state.Started.Child.PID == 0 && !state.Started.Ended {
		claim := state.Started
		claim.Ended = true
		if err := f.replaceRecord(claimFile, claim); err != nil {
			return agent.Exit{}, err
		}
	}
	if state.Started.BootID == s.boot && state.Started.Shim.PID != 0 {
		gone, err := s.awaitEndWithin(ctx, state.Started.Shim, slack)
		if err == nil && !gone {
			err = state.Started.Shim.sendSignals(unix.SIGKILL)
		}
		if err != nil {
			return agent.Exit{}, fmt.Errorf("end an attempt: %w", err)
		}
	}
	return f.ensureExit(state.Exit)
}

// awaitEndWithin waits for the end of a process and reports whether it ended in time.
func (s *Supervisor) awaitEndWithin(ctx context.Context, p Process, limit time.Duration) (bool, error) {
	v, err := newProcessWatch(p)
	if errors.Is(err, errEnded) {
		return true, nil
	}
	defer v.stop()
	defer context.AfterFunc(ctx, v.stop)()
	switch err := v.waitFor(limit); {
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

// orderEnd signals the shim to end the attempt. If it does not in time, orderEnd kills everything, including the shim.
func (s *Supervisor) orderEnd(ctx context.Context, f Folder, started Started) error {
	if err := started.Shim.sendSignals(unix.SIGTERM, unix.SIGCONT); err != nil {
		return err
	}
	gone, err := s.awaitEndWithin(ctx, started.Shim, started.Grace+slack)
	if gone || err != nil {
		return err
	}
	started.Grace = 0
	if err := s.endProcesses(ctx, started); err != nil {
		return err
	}
	_, err = f.ensureExit(agent.Exit{Code: -1, Reason: "it was ended by force", At: time.Now(), BootID: s.boot})
	return err
}

// endLostAttempt ends what a dead shim left behind and writes the record in its place. Seen is when the shim was found to
// be lost, or zero if that is unknown.
func (s *Supervisor) endLostAttempt(ctx context.Context, f Folder, started Started, seen time.Time) (agent.Exit, error) {
	if err := s.endProcesses(ctx, started); err != nil {
		return agent.Exit{}, fmt.Errorf("end what a lost shim left: %w", err)
	}
	return f.ensureExit(agent.Exit{Code: -1, Reason: "the shim was lost", At: time.Now(), BootID: s.boot, ExternalEnd: &agent.ExternalEnd{By: lost, At: seen}})
}

// endProcesses ends the processes of an attempt: it signals each once, waits for the grace, then kills until none is
// left. A process that it has seen stays one of the attempt's when the parent that showed this has ended.
func (s *Supervisor) endProcesses(ctx context.Context, started Started) error {
	asked := map[Process]bool{}
	force := time.Now().Add(started.Grace)
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		left, err := started.livingProcesses(s.data, asked)
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
				_ = p.sendSignals(unix.SIGKILL) // the next check finds what is left
			} else if !asked[p] {
				_ = p.sendSignals(unix.SIGTERM, unix.SIGCONT)
			}
			asked[p] = true
		}
		if _, err := s.awaitEndWithin(ctx, left[0], pause); err != nil {
			return err
		}
	}
}
