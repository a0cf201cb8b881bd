// Package agent declares the values that describe one run of a coding agent: how it is
// started, what it says about itself, what it leaves behind and how it ends. The runtime
// decides what they mean, adapter/harness and adapter/attend produce them. The package
// also has the table of harnesses.
package agent

import (
	"time"

	"orange/internal/core/task"
	"orange/internal/core/transcript"
)

// A Launch is what is wanted of one start of an agent.
type Launch struct {
	Harness     string // name of the harness
	Prompt      string // the whole text
	PromptFile  string // the same text in a file that only the user may read
	Interactive bool   // in a terminal; otherwise without one, with nothing to read on its input
	Session     string // a new UUID, for agents that let their session id be chosen
	Resume      string // the agent's own id of the session to continue; "" starts a new one
	Effort      string // one of the harness's efforts, or ""
	Model       string // in the agent's own words; "" leaves it to the agent
	ReadOnly    bool   // a reviewer: it may not push or post to a forge
	Workspace   string // the worktree
	Dir         string // the attempt's folder
}

// A StartPlan says which agent is to be started for a role of a task.
type StartPlan struct {
	Harness  string
	Effort   string
	Model    string
	ReadOnly bool
	Reports  bool // its last message is searched for a report
	GoesOn   bool // it continues the conversation of the role's last attempt, if there is one
	Answers  bool // it is started with a person's answer
}

// An Opening is what a prompt must know about the attempt that it is for.
type Opening struct {
	Nonce  string // marks what the attempt prints
	GoesOn bool   // it continues the conversation of an earlier attempt
	Asked  string // what a person answers, if the agent would not know it otherwise
}

// A LastMessage is what an attempt said last.
type LastMessage struct {
	Role      string
	Nonce     string // of the attempt
	OwnStream bool   // the text is known to be the agent's own
	Text      string
}

// A Plan is how a harness wants its agent to be started.
type Plan struct {
	Argv     []string
	Env      []string // variables to add to the environment
	Unhooked bool     // the agent calls no hook: only its screen and its output show how it is doing
}

// Orders are what the shim of an attempt runs.
type Orders struct {
	Argv   []string // the program and its arguments
	Env    []string // its whole environment
	Dir    string   // the folder it starts in
	Window *Window  // nil: without a terminal
}

// A Window is the terminal window that an agent runs in.
type Window struct {
	Session string
	Name    string
	Log     string // the file that its output goes to
}

// A Notice is what an agent said about itself. Empty fields say nothing.
type Notice struct {
	Condition  task.Condition // says nothing without a name
	Session    string         // the agent's own id of the session
	Transcript string         // the agent's own record of the session
	Final      string         // its last message
	Failure    string         // why its last turn failed, in one line; "" if it did not
	Usage      *task.Usage
	Prompted   bool // the agent has received a prompt
}

// An Output is what an attempt left behind.
type Output struct {
	Log        string // what it printed
	Transcript string // the agent's own record of the session
	Session    string
	Headless   bool      // without a terminal: the log is in the agent's machine format
	Since      time.Time // when the attempt began: what came before belongs to another
	Until      time.Time // when another attempt continued the conversation; zero if none did
	Over       bool      // nothing more is written
}

// A Conversation is what was said in an attempt, as far as the agent's record tells.
type Conversation struct {
	Turns   []transcript.Turn
	Skipped int    // lines of the record that are not understood
	Cut     bool   // there is more before the first turn
	Next    string // where to continue reading; "" if the agent keeps no record
}

// A Caller is the attempt that a request comes from.
type Caller struct {
	Task    task.ID
	Attempt int
	Role    string
}
