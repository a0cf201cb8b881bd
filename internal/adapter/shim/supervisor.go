package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startWithin is how long a start may take.
const startWithin = 20 * time.Second

// Launch starts a shim: it runs argv in a terminal, or as a plain process.
type Launch func(ctx context.Context, argv []string) error

// A Supervisor is the server's side of all attempts. Its methods may be called concurrently, and again after a restart:
// the folders hold everything that counts.
type Supervisor struct {
	self []string
	boot string
	data DataFolder

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu             sync.Mutex
	closed         bool
	starting       map[Folder]*startTurn
	watched        map[Folder]bool
	processWatches map[*processWatch]bool
	ordered        map[Folder]bool    // attempts whose end was ordered here
	shimEnds       map[Folder]shimEnd // attempts that recently ended from outside
}

// New returns the supervisor of a data folder. It runs shims as self with the folder of the attempt appended, such as
// the path of orange and the word attend.
func New(self []string, data DataFolder) *Supervisor {
	ctx, cancel := context.WithCancel(context.Background())
	return &Supervisor{
		self: self, boot: BootID(), data: data, ctx: ctx, cancel: cancel,
		starting: map[Folder]*startTurn{}, watched: map[Folder]bool{}, processWatches: map[*processWatch]bool{},
		ordered: map[Folder]bool{}, shimEnds: map[Folder]shimEnd{},
	}
}

// Close stops watching and waits until no callback runs. Agents keep running.
func (s *Supervisor) Close() {
	s.mu.Lock()
	s.closed = true
	for v := range s.processWatches {
		v.stop()
	}
	s.mu.Unlock()
	s.cancel()
	s.work.Wait()
}

// goUnlessClosed runs f in a goroutine that Close waits for. It returns false after Close.
func (s *Supervisor) goUnlessClosed(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(f)
	return true
}

// awaitEnd waits until the process has ended. It returns os.ErrClosed after Close.
func (s *Supervisor) awaitEnd(p Process) error {
	v, err := newProcessWatch(p)
	if errors.Is(err, errEnded) {
		return nil
	}
	s.mu.Lock()
	if s.closed {
		v.stop()
	}
	s.processWatches[v] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.processWatches, v)
		s.mu.Unlock()
		v.stop()
	}()
	return v.waitFor(0)
}

// PlainLaunch launches a shim as a process in its own session, without a terminal and without an environment.
func (s *Supervisor) PlainLaunch() Launch {
	return func(_ context.Context, argv []string) error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env, cmd.Dir = []string{}, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start the shim: %w", err)
		}
		reap := func() {
			r, err := readProcess(cmd.Process.Pid)
			if err != nil || s.awaitEnd(r.Process) == nil {
				_ = cmd.Wait() // its record says how it ended
			}
		}
		if !s.goUnlessClosed(reap) {
			return cmd.Process.Release()
		}
		return nil
	}
}

// A startTurn serializes starts of the same attempt.
type startTurn struct {
	sync.Mutex
	users int
}

func (s *Supervisor) lockFolder(f Folder) (unlock func()) {
	s.mu.Lock()
	t := s.starting[f]
	if t == nil {
		t = &startTurn{}
		s.starting[f] = t
	}
	t.users++
	s.mu.Unlock()
	t.Lock()
	return func() {
		t.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(s.starting, f)
		}
	}
}

// StartAttempt starts the attempt and returns when its agent runs. It does not start an attempt again that runs or has
// run: it returns the record of that start. An error means that the agent did not start. After a timeout it still may
// start, until StartAttempt succeeds or EndAttempt is called.
func (s *Supervisor) StartAttempt(ctx context.Context, f Folder, o Orders, launch Launch) (Started, error) {
	if len(o.Argv) == 0 {
		return Started{}, errors.New("start an attempt: there is no program to run")
	}
	text, err := json.Marshal(o)
	if err != nil {
		return Started{}, fmt.Errorf("start an attempt: %w", err)
	}
	defer s.lockFolder(f)()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := f.PrepareStart(); err != nil {
		return Started{}, err
	}
	state, err := f.ReadState(s.boot)
	if err != nil {
		return Started{}, err
	}
	if state.Phase == None {
		if err := launch(ctx, s.shimCommand(f, o)); err != nil {
			return Started{}, fmt.Errorf("start an attempt: %w", err)
		}
	}
	return s.settleStart(ctx, f, text)
}

// shimCommand returns the command of a shim. It carries the key of its attempt, so that root finds it without records;
// other users cannot read the environment of a protected process.
func (s *Supervisor) shimCommand(f Folder, o Orders) []string {
	argv := append(slices.Clone(s.self), string(f))
	key := envValue(o.Env, KeyVariable)
	if key == "" {
		return argv
	}
	return append([]string{"/usr/bin/env", KeyVariable + "=" + key}, argv...)
}

// EndKeyCarriers ends every process that carries a key, even if the records of its attempt are lost.
func (s *Supervisor) EndKeyCarriers(ctx context.Context, key string) error {
	if key == "" {
		return nil
	}
	return s.endProcesses(ctx, Started{Key: key, Grace: time.Second})
}

// settleStart sends the orders and waits until the folder shows the result.
func (s *Supervisor) settleStart(ctx context.Context, f Folder, orders []byte) (Started, error) {
	var handed time.Time
	began := time.Now()
	for {
		state, err := f.ReadState(s.boot)
		switch {
		case err != nil:
			return Started{}, err
		case state.Started.Child.PID != 0:
			return state.Started, nil
		case state.Phase == Lost:
			if state.Exit, err = s.endLostAttempt(ctx, f, state.Started, time.Now()); err != nil {
				return Started{}, err
			}
			fallthrough
		case state.Phase == Over:
			return Started{}, fmt.Errorf("the agent did not start: %s", state.Exit.Reason)
		}
		// Send orders again that were lost with another server's.
		if state.Phase == Starting && time.Since(handed) > time.Second {
			if err := f.sendOrders(ctx, orders); err == nil {
				handed = time.Now()
			} else if !errors.Is(err, unix.ENXIO) && !errors.Is(err, unix.EPIPE) {
				return Started{}, fmt.Errorf("hand over the orders: %w", err)
			}
		}
		select {
		case <-ctx.Done():
			return Started{}, fmt.Errorf("the agent did not start in time (the attempt is in phase %v): %w", state.Phase, ctx.Err())
		case <-time.After(pauseAfter(time.Since(began))):
		}
	}
}

// pauseAfter returns how long to wait before the next read of a folder: a start takes a few milliseconds, or something
// is wrong.
func pauseAfter(waited time.Duration) time.Duration {
	if waited < 100*time.Millisecond {
		return 2 * time.Millisecond
	}
	return min(waited/20, 50*time.Millisecond)
}

// sendOrders writes orders into the pipe. It returns ENXIO while no process reads there.
func (f Folder) sendOrders(ctx context.Context, orders []byte) error {
	pipe, err := os.OpenFile(f.filePath(ordersFile), os.O_WRONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer pipe.Close() //nolint:errcheck // a write that matters is answered by a record
	if info, err := pipe.Stat(); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		return fmt.Errorf("%s is not a pipe: %w", f.filePath(ordersFile), errors.Join(err, os.ErrInvalid))
	}
	if end, ok := ctx.Deadline(); ok {
		_ = pipe.SetWriteDeadline(end) // where that is not possible the reader's end still ends it
	}
	_, err = pipe.Write(orders)
	return err
}
