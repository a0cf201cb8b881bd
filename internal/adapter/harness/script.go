package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
)

// script is the agent for demonstrations and tests: it plays steps from a file, through
// PlayScript.
type script struct{ file string }

// ScriptVariable names the script in the environment, for the harness called script.
const ScriptVariable = "ORANGE_SCRIPT"

// A script keeps a transcript, like other agents, in the file of the attempt's folder that this
// variable names.
const (
	transcriptVariable = "ORANGE_TRANSCRIPT"
	scriptTranscript   = "script.jsonl"
)

// Name implements Harness. The path of the file does not matter to its hooks.
func (script) Name() string { return agent.Script }

// Program implements Harness.
func (script) Program() string { return "" }

// EffortLevels implements Harness.
func (script) EffortLevels() []string { return nil }

// PlanLaunch implements Harness.
func (s script) PlanLaunch(l Launch) (Plan, error) {
	if err := l.checkLaunch(s); err != nil {
		return Plan{}, err
	}
	file, err := s.scriptPath(l.Env)
	switch {
	case err != nil:
		return Plan{}, err
	case len(l.Hook) == 0:
		return Plan{}, errors.New("harness script: orange itself plays it, and the path of orange is missing")
	}
	return Plan{Plan: agent.Plan{
		Argv: []string{l.Hook[0], "play", file},
		Env:  []string{"ORANGE_PROMPT_FILE=" + l.PromptFile, transcriptVariable + "=" + filepath.Join(l.Dir, scriptTranscript)},
	}}, nil
}

// scriptPath returns the path of the script.
func (s script) scriptPath(env func(string) string) (string, error) {
	file := s.file
	if file == "" && env != nil {
		file = env(ScriptVariable)
	}
	if !filepath.IsAbs(file) {
		return "", errors.New("harness script: name the file, as script:FILE with its whole path or in " + ScriptVariable)
	}
	return file, nil
}

// CheckScript returns an error if h is a script whose file cannot be played.
func CheckScript(h Harness, env func(string) string) error {
	s, ok := h.(script)
	if !ok {
		return nil
	}
	file, err := s.scriptPath(env)
	if err != nil {
		return err
	}
	switch is, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no script %s: give the whole path of one, as in script:/home/me/demo.yaml", cleanLine(file, maxDetail))
	case err != nil:
		return fmt.Errorf("the script %s cannot be read: give another", cleanLine(file, maxDetail))
	case !is.Mode().IsRegular():
		return fmt.Errorf("%s is a folder or a device, not a script: give a file", cleanLine(file, maxDetail))
	}
	return nil
}

// The events of a script.
const (
	scriptStarted    = "start"
	scriptPrompted   = "prompt"
	scriptRunning    = "running"
	scriptIdle       = "idle"
	scriptPermission = "permission"
	scriptLimit      = "limit"
	scriptUsage      = "usage"
)

// scriptEvent is the payload of these events.
type scriptEvent struct {
	Session    string    `json:"session,omitempty"`
	Transcript string    `json:"transcript,omitempty"`
	Text       string    `json:"text,omitempty"`
	Until      time.Time `json:"until,omitzero"`
	Usage      *spent    `json:"usage,omitempty"`
}

// ParseHook implements Harness.
func (script) ParseHook(event string, payload []byte, now time.Time) (agent.Notice, error) {
	var e scriptEvent
	if err := decodePayload(agent.Script, event, payload, &e); err != nil {
		return agent.Notice{}, err
	}
	n := hookEvent{Session: e.Session, Transcript: e.Transcript}.sessionNotice()
	switch event {
	case scriptStarted, scriptRunning:
		n.Condition.Name = task.Running
	case scriptPrompted:
		n.Condition.Name, n.Prompted = task.Running, true
	case scriptIdle:
		n.Condition.Name, n.Final = task.Idle, cleanProse(e.Text)
	case scriptPermission:
		n.Condition.Name, n.Condition.Detail = task.WaitingPermission, cleanLine(e.Text, maxDetail)
	case scriptLimit:
		n.Condition.Name, n.Condition.Detail, n.Condition.Until = task.Limited, cleanLine(e.Text, maxDetail), clampLimit(e.Until, now)
	case scriptUsage:
		if e.Usage != nil {
			n.Usage = someUsage(e.Usage.toTaskUsage())
		}
	default:
		return agent.Notice{}, nil
	}
	return n, nil
}

// limitLine is how a script reports at its end that it is limited; a time follows.
const limitLine = "usage limit reached, resets at "

// scriptNote is one line of a script's transcript.
type scriptNote struct {
	Type  string `json:"type"` // begin, print, say or usage
	Text  string `json:"text,omitempty"`
	Usage *spent `json:"usage,omitempty"` // the total so far
}

// ReadOutput implements Harness. Without a transcript, the output counts as what the script
// said.
func (script) ReadOutput(o Output) agent.Notice {
	words := lastOutput(o)
	n := agent.Notice{Final: words.Final}
	path := o.Transcript
	if path == "" && o.Log != "" {
		path = filepath.Join(filepath.Dir(o.Log), scriptTranscript)
	}
	if notes := readRecords(path, scriptLook); len(notes) > 0 {
		n = scriptSaid(notes)
	}
	if last := lastLines(words.Final, 1); strings.HasPrefix(last, limitLine) {
		addLimit(&n, last, o.Now)
	}
	return n
}

// scriptSaid returns what was said last, or what was printed if nothing was said.
func scriptSaid(notes []scriptNote) agent.Notice {
	var n agent.Notice
	said, printed := "", ""
	for _, note := range notes {
		switch note.Type {
		case "say":
			said = note.Text
		case "print":
			printed = note.Text
		case "usage":
			if note.Usage != nil {
				n.Usage = someUsage(note.Usage.toTaskUsage())
			}
		}
	}
	n.Final = cleanProse(cmp.Or(said, printed))
	return n
}

func scriptLook(end []scriptNote) found {
	said, spent := false, false
	for _, note := range end {
		said = said || note.Type == "say"
		spent = spent || note.Type == "usage"
	}
	switch {
	case said && spent:
		return all
	case said:
		return lastWord
	}
	return nothing
}

// turnSources implements Harness. The output of a script is in its log.
func (script) turnSources(Output) []source { return nil }

// ReadScreen implements Harness.
func (script) ReadScreen(string, time.Time) (agent.Notice, bool) { return agent.Notice{}, false }

// ReadInput implements Harness. Its screens are unknown.
func (script) ReadInput(ansi.View) ansi.Input { return ansi.Input{} }

// TrustDialogKeys implements Harness.
func (script) TrustDialogKeys(string) (string, bool) { return "", false }

func (e scriptEvent) toJSON() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		return []byte("{}")
	}
	return text
}
