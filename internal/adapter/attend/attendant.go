package attend

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

// ordersWithin is how long an attendant waits for its orders.
const ordersWithin = 30 * time.Second

// Main is the attendant: it takes its orders from the folder, starts the agent, waits
// for its end, ends what it left behind, and writes the exit record. It returns the exit
// code of its process. The data folder is that of the attempt.
func Main(dir string, data DataFolder) int { return attendTo(Folder(dir), data, ordersWithin) }

// An attendant attends to one attempt.
type attendant struct {
	folder  Folder
	data    DataFolder
	claim   Started
	adopts  bool // descendants cannot get away
	signals chan os.Signal
	output  *recorder // nil at a terminal

	socket  string
	wake    []string
	wakeEnv []string
}

func attendTo(folder Folder, data DataFolder, within time.Duration) int {
	Protect()
	a := &attendant{folder: folder, data: data, signals: make(chan os.Signal, 8)}
	signal.Notify(a.signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	if err := a.takeCharge(); err != nil {
		say("cannot attend to this attempt: %v", err)
		return 1
	}
	orders, err := a.await(within)
	if err != nil {
		return a.finish(agent.Exit{Code: -1, Reason: err.Error()})
	}
	if err := a.begin(orders); err != nil {
		say("%v", err)
		return a.finish(agent.Exit{Code: 127, Reason: err.Error()})
	}
	rest()
	exit := a.wait()
	select { // a signal may have come to both of them, and ended the agent first
	case s := <-a.signals:
		a.struckBy(s)
	default:
	}
	exit.Blow = a.claim.Blow
	return a.finish(exit)
}

// rest makes the process small and quiet: it waits for hours. The orders may have been
// long, and the collector would wake up every two minutes to find nothing.
func rest() {
	debug.FreeOSMemory()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(32 << 20)
	dropCode()
}

// say tells whoever looks at the terminal.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "orange: "+format+"\r\n", args...) //nolint:errcheck // nobody may be looking
}

// takeCharge claims the attempt for this process. Of two attendants, and of an attendant
// and the order to end, the first one to leave its claim wins.
func (a *attendant) takeCharge() error {
	self, err := look(os.Getpid())
	if err != nil {
		return err
	}
	a.adopts = adopt()
	a.claim = Started{BootID: BootID(), Attendant: self.Process, At: time.Now()}
	err = a.folder.leave(claimFile, a.claim)
	if errors.Is(err, os.ErrExist) {
		return errors.New("it was ended, or has its attendant already")
	}
	return err
}

// await waits for orders. A signal to end that comes first is final.
func (a *attendant) await(within time.Duration) (Orders, error) {
	arrived := make(chan Orders, 1)
	go func() { arrived <- a.folder.receive() }()
	select {
	case o := <-arrived:
		a.socket, a.wake, a.wakeEnv = o.Socket, o.Wake, o.WakeEnv
		if len(a.wakeEnv) == 0 {
			a.wakeEnv = outside(o.Env)
		}
		a.claim.Key, a.claim.Grace, a.claim.Tmux = variable(o.Env, KeyVariable), o.Grace, variable(o.Env, TmuxVariable)
		return o, nil
	case s := <-a.signals:
		if s == unix.SIGTERM {
			a.claim.Ended = true
			if err := a.folder.replace(claimFile, a.claim); err != nil {
				return Orders{}, err
			}
		}
		return Orders{}, errors.New("it was ended before it began")
	case <-time.After(within):
		return Orders{}, fmt.Errorf("no orders came within %v", within)
	}
}

// receive reads orders from the pipe. A server that dies while it writes leaves a part
// of them; then the next one writes them again.
func (f Folder) receive() Orders {
	for {
		pipe, err := os.OpenFile(f.path(ordersFile), os.O_RDONLY, 0) // blocks until somebody writes
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

// finish writes the exit record, sees to it that somebody acts on it, and returns the
// exit code of the attendant.
func (a *attendant) finish(exit agent.Exit) int {
	if a.output != nil {
		a.output.finish()
	}
	exit.At, exit.BootID = time.Now(), a.claim.BootID
	if _, err := a.folder.record(exit); err != nil {
		say("cannot record the exit: %v", err)
	}
	if err := a.wakeServer(); err != nil {
		say("cannot start the server: %v", err)
	}
	if exit.Code < 0 {
		return 1
	}
	return exit.Code
}
