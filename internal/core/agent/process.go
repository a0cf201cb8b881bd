package agent

import "time"

// A Phase says how far the processes of an attempt are.
type Phase int

// The phases of an attempt's processes.
const (
	Absent Phase = iota // never started, or its folder is gone
	Alive               // starting or running
	Gone                // over, or lost
)

// An Exit says how an attempt ended. It is the content of exit.json.
type Exit struct {
	// Code is the agent's exit code, 128 plus the number of the signal that killed it, 127
	// if it could not be started, or -1 if it is not known.
	Code        int          `json:"code"`
	Signal      string       `json:"signal,omitempty"`
	Reason      string       `json:"reason,omitempty"`
	At          time.Time    `json:"at"`
	BootID      string       `json:"boot_id"`
	ExternalEnd *ExternalEnd `json:"blow,omitempty"` // what ended the shim, if that ended the agent
	Mass        string       `json:"mass,omitempty"` // what ended it together with others: a signal's Mass
}

// DescribeCause says in words why the attempt ended, "" if the agent ended by itself.
func (x Exit) DescribeCause() string {
	if x.Reason == "" && x.Signal != "" {
		return "killed by " + x.Signal
	}
	return x.Reason
}

// An ExternalEnd is what something outside did to the shim of an attempt: the signal that told it
// to end, or that it was lost. At is zero if nobody saw when.
type ExternalEnd struct {
	By string    `json:"by"`
	At time.Time `json:"at,omitzero"`
}

// An Origin is where the parents of a process lead.
type Origin int

// The origins of processes.
const (
	Outside     Origin = iota // to no process of Orange
	FromServer                // to this server, which started or adopted it
	FromTmux                  // to the tmux of this data folder
	UnknownLine               // a process ended before its parents were found
)
