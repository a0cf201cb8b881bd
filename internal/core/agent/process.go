package agent

import "time"

// A Phase is the stage of an attempt's processes.
type Phase int

// The phases of an attempt's processes.
const (
	Absent Phase = iota // never started, or its folder is gone
	Alive               // starting or running
	Gone                // over, or lost
)

// An Exit records how an attempt ended. It is the content of exit.json.
type Exit struct {
	// Code is the agent's exit code, 128 plus the number of the signal that killed it, 127 if it could not be started,
	// or -1 if it is unknown.
	Code        int          `json:"code"`
	Signal      string       `json:"signal,omitempty"`
	Reason      string       `json:"reason,omitempty"`
	At          time.Time    `json:"at"`
	BootID      string       `json:"boot_id"`
	ExternalEnd *ExternalEnd `json:"blow,omitempty"` // what ended the shim, if that ended the agent
	Mass        string       `json:"mass,omitempty"` // what ended it together with others: a signal's Mass
}

// DescribeCause describes why the attempt ended, or returns "" if the agent ended by itself.
func (e Exit) DescribeCause() string {
	if e.Reason == "" && e.Signal != "" {
		return "killed by " + e.Signal
	}
	return e.Reason
}

// An ExternalEnd is how something outside ended the shim of an attempt: the signal that told it to end, or that it was
// lost. At is zero if the time is unknown.
type ExternalEnd struct {
	By string    `json:"by"`
	At time.Time `json:"at,omitzero"`
}

// An Origin is where the ancestors of a process lead.
type Origin int

// The origins of processes.
const (
	Outside     Origin = iota // to no process of Orange
	FromServer                // to this server, which started or adopted it
	FromTmux                  // to the tmux of this data folder
	UnknownLine               // a process ended before its parents were found
)
