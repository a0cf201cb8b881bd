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
	State     string         `json:"state,omitempty"` // in which it was started
	Harness   string         `json:"harness"`
	Model     string         `json:"model,omitempty"` // that it was told to use
	Alive     bool           `json:"alive"`
	Since     time.Time      `json:"since,omitzero"`
	Condition task.Condition `json:"condition,omitzero"`
	Window    string         `json:"window,omitempty"`  // "" without a terminal
	Session   string         `json:"session,omitempty"` // the harness's own name of the conversation
	Log       string         `json:"log"`               // file of its output, on the server's machine
	Code      *int           `json:"code,omitempty"`    // nil: it is alive, or was lost
	Final     string         `json:"final,omitempty"`
	Usage     *task.Usage    `json:"usage,omitempty"`
}

// An AttemptList is the attempts of a task.
type AttemptList struct {
	Attempts []Attempt `json:"attempts"`
	Today    *Today    `json:"today,omitempty"` // nil: the project has no daily budget
}

// Today is what the attempts of a project cost today.
type Today struct {
	Day      string      `json:"day"` // 2006-01-02, UTC
	Attempts int         `json:"attempts"`
	Micros   int64       `json:"cost_micro_usd"`
	Budget   task.Budget `json:"budget"`
}

// The forms of a log.
const (
	FormTranscript = "transcript" // what was said, in turns
	FormTerminal   = "terminal"   // what the terminal showed, in lines
	FormOutput     = "output"     // what an agent without a terminal printed, in lines
)

// A Log is what happened in an attempt: the conversation that its agent records, or else the
// end of what it printed.
type Log struct {
	Attempt int               `json:"attempt"`
	Role    string            `json:"role"`
	Harness string            `json:"harness"`
	Alive   bool              `json:"alive"`
	Form    string            `json:"form"`
	Turns   []transcript.Turn `json:"turns"`
	Lines   []string          `json:"lines"`
	Skipped int               `json:"skipped,omitempty"` // lines of the agent's record that are not understood
	Cut     bool              `json:"cut,omitempty"`     // there is more before it
	Next    string            `json:"next,omitempty"`    // where to continue reading a transcript
}

// A Message is the last thing that an attempt said.
type Message struct {
	Attempt int    `json:"attempt"`
	Role    string `json:"role"`
	Alive   bool   `json:"alive"`
	Text    string `json:"text"` // "" if it has said nothing
}

// An Attachment is the command that shows an agent's terminal.
type Attachment struct {
	Argv    []string `json:"argv"`
	Session string   `json:"session"`
}

// A HookEvent is what an agent's harness reports.
type HookEvent struct {
	Harness string `json:"harness"`
	Event   string `json:"event"`
	Payload []byte `json:"payload"` // in the harness's own format
}

// Heard confirms a HookEvent.
type Heard struct {
	Heard bool `json:"heard"`
}

// A Screen is what an agent's terminal shows, or the end of what an agent without a
// terminal wrote.
type Screen struct {
	Attempt int         `json:"attempt"` // 0: there is none
	Role    string      `json:"role"`
	Harness string      `json:"harness"`
	Alive   bool        `json:"alive"`
	Lines   []ansi.Line `json:"lines"`
	Note    string      `json:"note,omitempty"` // why there is nothing to see
	At      time.Time   `json:"at"`
}

// Typing is what a person types into an agent's terminal.
type Typing struct {
	Role string `json:"role"` // "": the agent at work
	Text string `json:"text"` // the server presses Enter after it
}

// Typed confirms a Typing.
type Typed struct {
	Typed bool `json:"typed"`
}
