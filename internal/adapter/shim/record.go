package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orange/internal/atomicfile"
	"orange/internal/core/agent"
)

// Started names the shim of an attempt and, once the agent runs, its processes.
type Started struct {
	BootID      string             `json:"boot_id"`
	Shim        Process            `json:"attendant"`
	Child       Process            `json:"child,omitzero"`
	PGID        int                `json:"pgid,omitempty"`
	Key         string             `json:"key,omitempty"`
	Tmux        string             `json:"tmux,omitempty"` // folder of the sockets of tmux servers that the agent starts
	Grace       time.Duration      `json:"grace,omitempty"`
	At          time.Time          `json:"at"`
	Terminal    Process            `json:"terminal,omitzero"` // the tmux server of its window
	ExternalEnd *agent.ExternalEnd `json:"blow,omitempty"`    // what ended the shim from outside

	// Ended is part of a claim: the attempt was ended before it ran, and never will run.
	Ended bool `json:"ended,omitempty"`
}

// restarted is the reason of an end for which there is no record.
const restarted = "the machine was restarted"

// Phase is how far an attempt has come.
type Phase int

// The phases of an attempt.
const (
	None     Phase = iota // it has no shim
	Starting              // its shim runs, its agent does not yet
	Running               // its agent runs
	Over                  // it has ended and no process is left
	Lost                  // its shim is gone without a record, and processes may be left
)

// String implements fmt.Stringer.
func (p Phase) String() string {
	return [...]string{"none", "starting", "running", "over", "lost"}[p]
}

// State is what the folder and the machine show about an attempt. Started.Child is zero if the agent never ran; Exit is
// valid when the attempt is over.
type State struct {
	Phase   Phase
	Started Started
	Exit    agent.Exit
}

// ReadState returns the state of the attempt on a machine with this boot id.
func (f Folder) ReadState(boot string) (State, error) {
	var state State
	for range 2 { // the shim may write its record and exit between two reads
		r, err := f.readRecords()
		if err != nil {
			return State{}, err
		}
		if state = r.attemptState(boot); state.Phase != Lost {
			break
		}
	}
	return state, nil
}

// folderRecords are the files of an attempt as they were read.
type folderRecords struct {
	claim, started     Started
	exit               agent.Exit
	claimed, ran, over bool
}

func (f Folder) readRecords() (r folderRecords, err error) {
	// In this order: a process without an exit record was there before the other files were read.
	if r.over, err = f.readRecord(exitFile, &r.exit); err != nil {
		return r, err
	}
	// A claim is not flushed to disk. A damaged one is from an earlier boot.
	var damage *json.SyntaxError
	if r.claimed, err = f.readRecord(claimFile, &r.claim); err != nil && !errors.As(err, &damage) {
		return r, err
	}
	r.ran, err = f.readRecord(startedFile, &r.started)
	return r, err
}

func (r folderRecords) attemptState(boot string) State {
	state := State{Started: r.claim, Exit: r.exit}
	if r.ran {
		state.Started = r.started
	}
	switch {
	case r.over:
		state.Phase = Over
	case r.claimed && r.claim.Ended:
		state.Phase, state.Exit = Over, neverBegan(boot, r.claim.At)
	case !r.claimed && !r.ran:
		state.Phase = None
	case state.Started.BootID != boot:
		state.Phase = Over
		state.Exit = agent.Exit{Code: -1, Reason: restarted, Mass: MassReboot, At: time.Now(), BootID: boot}
	case !state.Started.Shim.Alive():
		state.Phase = Lost
	case r.ran:
		state.Phase = Running
	default:
		state.Phase = Starting
	}
	return state
}

func neverBegan(boot string, at time.Time) agent.Exit {
	return agent.Exit{Code: -1, Reason: "it was ended before it began", At: at, BootID: boot}
}

// readRecord reads a record and reports whether it exists.
func (f Folder) readRecord(name string, into any) (bool, error) {
	text, err := os.ReadFile(f.filePath(name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the record of an attempt: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return true, fmt.Errorf("read %s: %w", f.filePath(name), err)
	}
	return true, nil
}

// replaceRecord writes a record, in place of an earlier one.
func (f Folder) replaceRecord(name string, value any) error {
	return f.writeRecord(name, value, os.Rename)
}

// createRecord writes a record. It returns os.ErrExist if there is one already.
func (f Folder) createRecord(name string, value any) error {
	return f.writeRecord(name, value, func(temp, path string) error {
		defer os.Remove(temp) //nolint:errcheck // it is a second name of what is kept
		return os.Link(temp, path)
	})
}

// writeRecord puts a record in its place atomically, so that no reader sees half of it.
func (f Folder) writeRecord(name string, value any, place func(temp, path string) error) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	temp, err := os.CreateTemp(string(f), "."+name+"-")
	if err != nil {
		return fmt.Errorf("write a record: %w", err)
	}
	_, err = temp.Write(append(text, '\n'))
	if name != claimFile { // a claim means nothing after a restart of the machine
		err = errors.Join(err, temp.Sync())
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = place(temp.Name(), f.filePath(name))
	}
	if err != nil {
		os.Remove(temp.Name()) //nolint:errcheck // the first error is the one to report
		return fmt.Errorf("write %s: %w", f.filePath(name), err)
	}
	if name == claimFile {
		return nil
	}
	return atomicfile.SyncFolder(filepath.Dir(f.filePath(name)))
}

// ensureExit makes sure that there is an exit record and returns it: the given one, or one that existed before.
func (f Folder) ensureExit(exit agent.Exit) (agent.Exit, error) {
	var earlier agent.Exit
	if found, err := f.readRecord(exitFile, &earlier); found || err != nil {
		return earlier, err
	}
	err := f.createRecord(exitFile, exit)
	if errors.Is(err, os.ErrExist) {
		_, err = f.readRecord(exitFile, &exit)
	}
	return exit, err
}
