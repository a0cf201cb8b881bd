package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
)

// ordersWithin is how long a shim waits for its orders.
const ordersWithin = 30 * time.Second

// RunShim runs the shim: it reads its orders from the folder, starts the agent, waits for its end, ends what it left
// behind, and writes the exit record. It returns the exit code of its process. The data folder is that of the attempt.
func RunShim(dir string, data DataFolder) int {
	defer leaveTerminal()
	return runShim(Folder(dir), data, ordersWithin)
}

// A shim supervises one attempt.
type shim struct {
	folder  Folder
	data    DataFolder
	claim   Started
	adopts  bool // descendants stay below this process
	signals chan os.Signal
	output  *recorder // nil at a terminal

	socket  string
	wake    []string
	wakeEnv []string
}

func runShim(folder Folder, data DataFolder, within time.Duration) int {
	ProtectProcess()
	a := &shim{folder: folder, data: data, signals: make(chan os.Signal, 8)}
	signal.Notify(a.signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	if err := a.claimAttempt(); err != nil {
		printNotice("cannot attend to this attempt: %v", err)
		return 1
	}
	orders, err := a.awaitOrders(within)
	if err != nil {
		return a.finishAttempt(agent.Exit{Code: -1, Reason: err.Error()})
	}
	if err := a.startAgent(orders); err != nil {
		printNotice("%v", err)
		return a.finishAttempt(agent.Exit{Code: 127, Reason: err.Error()})
	}
	shrinkMemory()
	exit := a.waitForEnd()
	select { // a signal may have been sent to both, and ended the agent first
	case s := <-a.signals:
		a.noteSignal(s)
	default:
		if lostTerminal() { // the agent may end before SIGHUP arrives here
			a.noteSignal(unix.SIGHUP)
		}
	}
	exit.ExternalEnd = a.claim.ExternalEnd
	return a.finishAttempt(exit)
}

// shrinkMemory releases memory and stops the garbage collector, because the process waits for hours. The orders may
// have been long, and the collector would wake up every two minutes for nothing.
func shrinkMemory() {
	debug.FreeOSMemory()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(32 << 20)
	dropCode()
}

// printNotice prints a message on the terminal.
func printNotice(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "orange: "+format+"\r\n", args...) //nolint:errcheck // nobody may be watching
}

// claimAttempt claims the attempt for this process. Of two shims, or a shim and the order to end, the first to write its
// claim wins.
func (a *shim) claimAttempt() error {
	self, err := readProcess(os.Getpid())
	if err != nil {
		return err
	}
	a.adopts = becomeSubreaper()
	a.claim = Started{BootID: BootID(), Shim: self.Process, At: time.Now()}
	err = a.folder.createRecord(claimFile, a.claim)
	if errors.Is(err, os.ErrExist) {
		return errors.New("it was ended, or already has a shim")
	}
	return err
}

// awaitOrders waits for orders. A signal to end that arrives first is final.
func (a *shim) awaitOrders(within time.Duration) (Orders, error) {
	arrived := make(chan Orders, 1)
	go func() { arrived <- a.folder.receiveOrders() }()
	select {
	case o := <-arrived:
		a.socket, a.wake, a.wakeEnv = o.Socket, o.Wake, o.WakeEnv
		if len(a.wakeEnv) == 0 {
			a.wakeEnv = outsideEnv(o.Env)
		}
		a.claim.Key, a.claim.Grace, a.claim.Tmux = envValue(o.Env, KeyVariable), o.Grace, envValue(o.Env, TmuxVariable)
		return o, nil
	case s := <-a.signals:
		if s == unix.SIGTERM {
			a.claim.Ended = true
			if err := a.folder.replaceRecord(claimFile, a.claim); err != nil {
				return Orders{}, err
			}
		}
		return Orders{}, errors.New("it was ended before it began")
	case <-time.After(within):
		return Orders{}, fmt.Errorf("no orders came within %v", within)
	}
}

// receiveOrders reads orders from the pipe. A server that dies while writing leaves a part of them; the next server
// then writes them again.
func (f Folder) receiveOrders() Orders {
	for {
		pipe, err := os.OpenFile(f.filePath(ordersFile), os.O_RDONLY, 0) // blocks until a server writes
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		text, err := io.ReadAll(pipe)
		pipe.Close() //nolint:errcheck // it was only read
		var o Orders
		if err == nil && json.Unmarshal(text, &o) == nil && len(o.Argv) > 0 {
			return o
		}
	}
}

// finishAttempt writes the exit record, starts a server if none runs, and returns the exit code of the shim.
func (a *shim) finishAttempt(exit agent.Exit) int {
	if a.output != nil {
		a.output.finishLog()
	}
	exit.At, exit.BootID = time.Now(), a.claim.BootID
	if _, err := a.folder.ensureExit(exit); err != nil {
		printNotice("cannot record the exit: %v", err)
	}
	if err := a.wakeServer(); err != nil {
		printNotice("cannot start the server: %v", err)
	}
	if exit.Code < 0 {
		return 1
	}
	return exit.Code
}
