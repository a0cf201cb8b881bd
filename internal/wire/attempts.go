package wire

import (
	"time"

	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/view/ansi"
)

// An Attempt is one run of one role, alive or ended.
type Attempt struct {
	Number    int            `json:"number"`
	Role      string         `json:"role"`
	State     string         `json:"state,omitempty"` // the state in which it was started
	Harness   string         `json:"harness"`
	Model     string         `json:"model,omitempty"` // the model that was requested
	Alive     bool           `json:"alive"`
	Since     time.Time      `json:"since,omitzero"`
	Condition task.Condition `json:"condition,omitzero"`
	Window    string         `json:"window,omitempty"`  // "" without a terminal
	Session   string         `json:"session,omitempty"` // the harness's name for the conversation
	Log       string         `json:"log"`               // path of its log, on the server's machine
	Code      *int           `json:"code,omitempty"`    // nil if it is alive or was lost
	Final     string         `json:"final,omitempty"`
	Usage     *task.Usage    `json:"usage,omitempty"`
}

// An AttemptList is the attempts of a task.
type AttemptList struct {
	Attempts []Attempt   `json:"attempts"`
	Today    *DailySpend `json:"today,omitempty"` // nil if the project has no daily budget
}

// DailySpend is what the attempts of a project cost today.
type DailySpend struct {
	Day      string      `json:"day"` // 2006-01-02, UTC
	Attempts int         `json:"attempts"`
	Micros   int64       `json:"cost_micro_usd"`
	Budget   task.Budget `json:"budget"`
}

// The forms of a log.
const (
	FormTranscript = "transcript" // the messages, in turns
	FormTerminal   = "terminal"   // the terminal's content, in lines
	FormOutput     = "output"     // the output of an agent without a terminal, in lines
)

// A Log is the log of an attempt: the conversation that its agent recorded, or else the end of its
// output.
type Log struct {
	Attempt int               `json:"attempt"`
	Role    string            `json:"role"`
	Harness string            `json:"harness"`
	Alive   bool              `json:"alive"`
	Form    string            `json:"form"`
	Turns   []transcript.Turn `json:"turns"`
	Lines   []string          `json:"lines"`
	Skipped int               `json:"skipped,omitempty"` // number of lines of the agent's record that could not be parsed
	Cut     bool              `json:"cut,omitempty"`     // earlier turns or lines are left out
	Next    string            `json:"next,omitempty"`    // where to continue reading a transcript
}

// A Message is the last message of an attempt.
type Message struct {
	Attempt int    `json:"attempt"`
	Role    string `json:"role"`
	Alive   bool   `json:"alive"`
	Text    string `json:"text"` // "" if it has sent none
}

// An AttachCommand is the command that attaches to an agent's terminal.
type AttachCommand struct {
	Argv    []string `json:"argv"`
	Session string   `json:"session"`
}

// A HookEvent is what an agent's harness reports.
type HookEvent struct {
	Harness string `json:"harness"`
	Event   string `json:"event"`
	Payload []byte `json:"payload"` // in the harness's own format
}

// HookReceived confirms a HookEvent.
type HookReceived struct {
	Received bool `json:"received"`
}

// A Screen is the content of an agent's terminal, or the end of the output of an agent without a
// terminal.
type Screen struct {
	Attempt int         `json:"attempt"` // 0 if there is none
	Role    string      `json:"role"`
	Harness string      `json:"harness"`
	Alive   bool        `json:"alive"`
	Lines   []ansi.Line `json:"lines"`
	Note    string      `json:"note,omitempty"` // why there is nothing to see
	At      time.Time   `json:"at"`

	Seen    string              `json:"seen,omitempty"`    // names what is shown, for KeyInput; "" if no key can be pressed
	Dialog  bool                `json:"dialog,omitempty"`  // a question, a menu or a page is open
	Choices []ansi.DialogChoice `json:"choices,omitempty"` // the answers of a dialog, where the harness knows them
}

// KeyInput is a key that a person presses in an agent's terminal. The server presses it only if the terminal still shows what the
// person saw.
type KeyInput struct {
	Role   string `json:"role"`             // "" for the agent at work
	Key    string `json:"key"`              // a name of KeyNames, or the key of a choice
	Seen   string `json:"seen"`             // of the Screen that the person saw
	Dialog bool   `json:"dialog,omitempty"` // only if a dialog is open
}

// KeyNames lists the keys that have a name.
func KeyNames() []string {
	return []string{"enter", "esc", "tab", "up", "down", "left", "right", "ctrl-c"}
}

// TerminalInput is what a person types into an agent's terminal.
type TerminalInput struct {
	Role string `json:"role"` // "" for the agent at work
	Text string `json:"text"` // the server presses Enter after it
}

// InputAccepted confirms a TerminalInput.
type InputAccepted struct {
	Typed bool `json:"typed"`
}
