// Package reach locks a data folder for one server, finds the server that holds it, and keeps that server reachable for
// commands.
package reach

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"orange/internal/adapter/lock"
	"orange/internal/adapter/pathwatch"
	"orange/internal/adapter/shim"
	"orange/internal/adapter/socket"
	"orange/internal/config"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
)

const (
	// quietTime is how long to wait after a change of the socket's folder, so that a program that removes the folder does
	// not find a new socket in it.
	quietTime = 50 * time.Millisecond
	// tryAgain is how long an unreachable server waits before it tries to listen again.
	tryAgain = 5 * time.Second
)

// restoreWork is what server.lock says of a process that restores the store.
const restoreWork = "restore"

// TakeFolder locks the data folder for a server, or for what takes the place of one for a moment.
func TakeFolder(cfg config.Config) (*lock.Lock, error) { return takeFolder(cfg, "start a server", "") }

// TakeForRestore locks the data folder for a restore of its store.
func TakeForRestore(cfg config.Config) (*lock.Lock, error) {
	return takeFolder(cfg, "restore the store", restoreWork)
}

// takeFolder locks the data folder for work, or for a server if work is "". The text doing says what for.
func takeFolder(cfg config.Config, doing, work string) (*lock.Lock, error) {
	self, _ := shim.FindProcess(os.Getpid())
	held, err := lock.Take(cfg.Home, lock.Holder{PID: self.PID, Socket: cfg.Socket, Mark: processMark(self), Work: work}, func(h lock.Holder) bool {
		_, ok := processOf(h)
		return ok
	})
	var other *lock.HeldError
	switch {
	case err == nil:
		return held, nil
	case !errors.As(err, &other):
		return nil, fmt.Errorf("%w; set ORANGE_HOME to a folder you may write", err)
	case other.Known && other.Work != "":
		return nil, fmt.Errorf("%s: a %s is in progress already (pid %d): wait until it ends, then try again", doing, other.Work, other.PID)
	case other.Known:
		return nil, cli.ServerRunningError{PID: other.PID}
	}
	return nil, fmt.Errorf("%s: %w", doing, describeHolder(other))
}

// describeHolder returns an error that says how to end a process that server.lock of cfg.Home does not name. orange stop
// ends only a server that server.lock of its folder names.
func describeHolder(other *lock.HeldError) error {
	server, known := ServerOf(other.Folder)
	switch {
	case other.PID == 0:
		return fmt.Errorf("%w: find it with lsof %s, and end it", other, other.Folder)
	case known && server.PID == other.PID:
		return fmt.Errorf("the store in %s is in use by the server with pid %d: end it with ORANGE_HOME=%s orange stop", other.Folder, other.PID, other.Folder)
	}
	return fmt.Errorf("%w, which server.lock does not name: look what it is, and end it with kill %d", other, other.PID)
}

// processMark returns a mark that distinguishes a process from others that had or will have its pid.
func processMark(p shim.Process) string {
	return strconv.FormatUint(p.Start, 10) + " " + shim.BootID()
}

// processOf returns the process that server.lock names, if it still runs.
func processOf(h lock.Holder) (shim.Process, bool) {
	if h.PID <= 0 {
		return shim.Process{}, false
	}
	p, ok := shim.FindProcess(h.PID)
	return p, ok && h.Mark == processMark(p)
}

// ServerOf returns the server that holds a data folder: the process that server.lock names, if the kernel reports that it
// has the lock. Any process can write the file, but only the holder has the lock.
func ServerOf(home string) (shim.Process, bool) {
	p, ok := processOf(lock.ReadHolder(home))
	return p, ok && lock.HeldBy(home, p.PID)
}

// FindOwner finds the server that holds a data folder, even if it does not respond. A restore is no server.
func FindOwner(home string) (client.Owner, bool) {
	p, certain := ServerOf(home)
	if certain && lock.ReadHolder(home).Work != "" {
		return client.Owner{}, false
	}
	if !certain { // server.lock may be lost, not be written yet, or name another process
		p, _ = shim.FindProcess(lock.HolderOf(home))
	}
	if p.PID == 0 || !lock.IsHeld(home) {
		return client.Owner{}, false
	}
	out := client.Owner{PID: p.PID, Alive: p.Alive}
	if certain {
		out.Terminate = p.Terminate
	}
	return out, true
}

// Reachable has the files that commands need to find a server.
type Reachable struct {
	Home   string
	Socket *socket.Listener
	Held   *lock.Lock
	Store  []string                        // files of the store
	Rescue func(ctx context.Context) error // copies the store if it is no longer in its place
	Leave  func()                          // stops the server
	Log    *slog.Logger
}

// Watch makes sure that commands find this server: when the socket, server.lock or the folder of either is removed, it
// makes them again. It calls Rescue when a file of the store is removed or replaced. It stops a server whose data folder
// is gone. It returns when ctx ends.
func (s Reachable) Watch(ctx context.Context) {
	for problem := ""; ctx.Err() == nil; {
		problem = s.watchSocket(ctx, problem)
	}
}

// watchSocket checks that everything is in its place, and returns when that may have changed. Problem is what was wrong
// before, which is not logged again. It returns the present problem.
func (s Reachable) watchSocket(ctx context.Context, problem string) string {
	watch, err := pathwatch.Open(slices.Concat(s.Socket.Paths(), s.Store, []string{filepath.Join(s.Home, "server.lock")})...)
	if err == nil {
		defer watch.Close()
	}
	if s.Held.HasMoved() {
		s.Log.Error("the data folder is gone: stopping", "component", "serve", "pid", os.Getpid(), "home", s.Home)
		s.Leave()
		return ""
	}
	again, checkErr := s.Socket.EnsureListening()
	if again {
		s.Log.Warn("the socket was lost: listening again", "component", "serve", "socket", s.Socket.Path())
	}
	lost, lockErr := s.Held.EnsureFile(s.Socket.Path())
	if lost {
		s.Log.Warn("server.lock was lost: written again", "component", "serve", "pid", os.Getpid())
	}
	rescueErr := s.Rescue(ctx)
	now := ""
	if failed := errors.Join(err, checkErr, lockErr, rescueErr); failed != nil {
		now = fmt.Sprint(errors.Join(err, checkErr, lockErr), rescueErr != nil) // the error of a rescue differs each time, as by the space that is free
		if now != problem {
			s.Log.Error("stay reachable", "component", "serve", "error", failed)
		}
	}
	if err != nil || lockErr != nil || rescueErr != nil || s.Socket.IsLost() {
		sleepContext(ctx, tryAgain)
		return now
	}
	if err := watch.Wait(ctx); err != nil && ctx.Err() == nil {
		s.Log.Error("stay reachable", "component", "serve", "error", err)
		sleepContext(ctx, tryAgain)
	}
	sleepContext(ctx, quietTime)
	return now
}

// sleepContext waits for d, or until ctx ends.
func sleepContext(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
