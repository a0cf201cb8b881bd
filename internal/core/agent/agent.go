// Package agent declares the values that describe one run of a coding agent: how it is started, what it reports about
// itself, what it leaves behind and how it ends. The runtime decides what they mean; adapter/harness and adapter/shim
// produce them. The package also has the table of harnesses.
package agent

import (
	"time"

	"orange/internal/core/task"
	"orange/internal/core/transcript"
)

// A Launch describes one start of an agent.
type Launch struct {
	Harness     string // name of the harness
	Prompt      string // the whole text
	PromptFile  string // the same text in a file that only the user may read
	PromptHash  string // digest of the text before values were filled in
	Interactive bool   // in a terminal; otherwise without one and without input
	Session     string // a new UUID, for agents whose session id can be chosen
	Resume      string // the agent's id of the session to continue; "" starts a new one
	Effort      string // one of the harness's efforts, or ""
	Model       string // in the agent's spelling; "" for the agent's default
	Flags       string // further arguments, as in a shell
	Permissions string // what it may do without asking; "" for all
	ReadOnly    bool   // a reviewer, which may not push or post to a forge
	Workspace   string // the worktree
	Dir         string // the attempt's folder
}

// A StartPlan selects the agent to start for a role of a task.
type StartPlan struct {
	Harness     string
	Effort      string
	Model       string
	Flags       string
	Permissions string
	ReadOnly    bool
	Reports     bool // its last message is searched for a report
	GoesOn      bool // it continues the conversation of the role's last attempt, if there is one
	Answers     bool // it is started with a person's answer
}

// A Start is what is known about an agent that was started.
type Start struct {
	Session    string // the terminal session that shows it
	Harness    string
	Model      string // the model that was requested; "" for the agent's default
	PromptHash string // digest of the text of its prompt before values are filled in
}

// An Opening is what a prompt needs to know about its attempt.
type Opening struct {
	Nonce  string // marks what the attempt prints
	GoesOn bool   // it continues the conversation of an earlier attempt
	Asked  string // the question that a person answers, if the agent would not know it otherwise
}

// A LastMessage is the last message of an attempt.
type LastMessage struct {
	Role      string
	Nonce     string // of the attempt
	OwnStream bool   // the text is known to be the agent's own
	Text      string
}

// A Plan is how a harness starts its agent.
type Plan struct {
	Argv     []string
	Env      []string // variables to add to the environment
	Unhooked bool     // the agent calls no hook: only its screen and its output show its condition
}

// Orders are what the shim of an attempt runs.
type Orders struct {
	Argv   []string // the program and its arguments
	Env    []string // its whole environment
	Dir    string   // the folder it starts in
	Window *Window  // nil to run without a terminal
}

// A Window is the terminal window that an agent runs in.
type Window struct {
	Session string
	Name    string
	Log     string // the file that receives its output
}

// A Notice is what an agent reported about itself. Empty fields are unknown.
type Notice struct {
	Condition  task.Condition // unknown without a name
	Session    string         // the agent's id of the session
	Transcript string         // the agent's own record of the session
	Final      string         // its last message
	Failure    string         // why its last turn failed, in one line; "" if it did not
	Usage      *task.Usage
	Model      string // the model that it works with
	Prompted   bool   // the agent has received a prompt
}

// An Output is what an attempt left behind.
type Output struct {
	Log        string // what it printed
	Transcript string // the agent's own record of the session
	Session    string
	Headless   bool      // without a terminal: the log is in the agent's machine format
	Since      time.Time // when the attempt began: earlier output belongs to another
	Until      time.Time // when another attempt continued the conversation; zero if none did
	Over       bool      // nothing more is written
}

// A Conversation holds the turns of an attempt, as far as the agent's record shows them.
type Conversation struct {
	Turns   []transcript.Turn
	Skipped int    // lines of the record that could not be parsed
	Cut     bool   // there is more before the first turn
	Next    string // where to continue reading; "" if the agent keeps no record
}

// A Caller is the attempt that a request comes from.
type Caller struct {
	Task    task.ID
	Attempt int
	Role    string
}
