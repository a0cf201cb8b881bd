// Package shim supervises the processes of attempts. Each attempt has a folder and a shim: a small process that starts
// the agent, outlives the server, ends everything that the agent left behind and records how it ended. The server's
// side is the Supervisor, which starts shims, watches them, and does their work if they die. The package knows
// processes and their records; what an exit means is decided elsewhere.
//
// In the folder of an attempt:
//
//	orders        a pipe by which the shim gets its orders; they are not stored
//	claim.json    the shim of the attempt: written once, so that of two shims one exits
//	started.json  which processes run
//	exit.json     how it ended; with it the attempt is over, and no process is left
//	output.log    what a headless agent printed, see package outputlog
package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
)

const (
	ordersFile  = "orders"
	claimFile   = "claim.json"
	startedFile = "started.json"
	exitFile    = "exit.json"
	outputFile  = "output.log"
)

// KeyVariable is the variable that identifies the processes of an attempt even after they have left its process tree.
// Its value is recorded and is not secret.
const KeyVariable = "ORANGE_ATTEMPT_KEY"

// TmuxVariable names the folder in which tmux keeps the sockets of its servers. Each attempt has its own.
const TmuxVariable = "TMUX_TMPDIR"

// Orders say what to run, and what to do when it ends. They reach the shim through a pipe, because the environment may
// hold secrets. Without a window the output goes to output.log.
type Orders struct {
	agent.Orders
	Grace   time.Duration // between the signal to end and the kill
	Socket  string        // socket of a running server
	Wake    []string      // what to run at the end if no server responds
	WakeEnv []string      // with this environment; the agent's own if it is empty
}

// wire is the form in which orders are sent: an argument may be any bytes, JSON text may not. Of a window the shim only
// needs to know that it is in one.
type wire struct {
	Argv, Env, Wake [][]byte
	WakeEnv         [][]byte
	Dir, Socket     []byte
	Headless        bool
	Grace           time.Duration
}

// MarshalJSON implements json.Marshaler.
func (o Orders) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{Argv: asBytes(o.Argv), Env: asBytes(o.Env), Wake: asBytes(o.Wake), WakeEnv: asBytes(o.WakeEnv), Dir: []byte(o.Dir),
		Socket: []byte(o.Socket), Headless: o.Window == nil, Grace: o.Grace})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Orders) UnmarshalJSON(text []byte) error {
	var w wire
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*o = Orders{Orders: agent.Orders{Argv: asStrings(w.Argv), Env: asStrings(w.Env), Dir: string(w.Dir)}, Wake: asStrings(w.Wake),
		WakeEnv: asStrings(w.WakeEnv), Socket: string(w.Socket), Grace: w.Grace}
	if !w.Headless {
		o.Window = new(agent.Window)
	}
	return nil
}

func asBytes(list []string) [][]byte {
	if list == nil {
		return nil
	}
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func asStrings(list [][]byte) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// envValue returns the value of a variable in an environment.
func envValue(env []string, name string) string {
	for _, v := range env {
		if value, found := strings.CutPrefix(v, name+"="); found {
			return value
		}
	}
	return ""
}

// A Folder is the folder of one attempt, by its full path.
type Folder string

func (f Folder) filePath(name string) string { return filepath.Join(string(f), name) }

// PrepareStart makes the folder and the pipe for the orders. It removes what an earlier try left that did not run
// anything, unless the attempt was ended.
func (f Folder) PrepareStart() error {
	if !filepath.IsAbs(string(f)) {
		return fmt.Errorf("prepare %s: give the full path of the folder", f)
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return fmt.Errorf("prepare the folder of an attempt: %w", err)
	}
	r, err := f.readRecords()
	if err != nil {
		return err
	}
	if r.attemptState(BootID()).Phase == Over && !r.ran && !r.claim.Ended {
		// The claim goes last: until then a late shim finds it and exits.
		for _, name := range [...]string{exitFile, claimFile} {
			if err := os.Remove(f.filePath(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("clear the folder of an attempt: %w", err)
			}
		}
	}
	return f.makePipe()
}

// makePipe makes the pipe for the orders. An existing pipe is empty, because its content is lost with the last process
// that has it open.
func (f Folder) makePipe() error {
	path := f.filePath(ordersFile)
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() == os.ModeNamedPipe && info.Mode().Perm() == 0o600 {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("make the pipe for orders: %w", err)
	}
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return fmt.Errorf("make the pipe %s: %w", path, err)
	}
	return os.Chmod(path, 0o600)
}
