package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// hookEvent is the payload of a hook of claude, codex or gemini, which mostly agree.
type hookEvent struct {
	Session          string            `json:"session_id"`
	Transcript       string            `json:"transcript_path"`
	LastMessage      string            `json:"last_assistant_message"`
	Response         string            `json:"prompt_response"`
	Error            string            `json:"error"`
	ErrorDetails     string            `json:"error_details"`
	Message          string            `json:"message"`
	NotificationType string            `json:"notification_type"`
	Tool             string            `json:"tool_name"`
	Input            json.RawMessage   `json:"tool_input"`
	Details          json.RawMessage   `json:"details"`
	Background       []json.RawMessage `json:"background_tasks"`
}

// maxPayload limits the size of a hook's payload.
const maxPayload = 16 << 20

// decodePayload decodes a payload. Its errors name the harness and do not contain the payload.
func decodePayload(name, event string, payload []byte, into any) error {
	if len(payload) > maxPayload {
		return fmt.Errorf("%s hook %s: the payload has %d bytes and %d are allowed", name, cleanLine(event, 40), len(payload), maxPayload)
	}
	if err := json.Unmarshal(payload, into); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("%s hook %s: the payload is not JSON", name, cleanLine(event, 40))
		}
		return fmt.Errorf("%s hook %s: the payload is not what this version of %s is known to send", name, cleanLine(event, 40), name)
	}
	return nil
}

// sessionNotice returns a Notice with what every payload contains about its session.
func (e hookEvent) sessionNotice() agent.Notice {
	n := agent.Notice{Transcript: e.Transcript}
	if plainID(e.Session) {
		n.Session = e.Session
	}
	if strings.ContainsAny(n.Transcript, "\x00\n") {
		n.Transcript = ""
	}
	return n
}

// permissionNotice returns the Notice for a permission request. A tool that asks the user
// something waits for input, not for permission.
func (e hookEvent) permissionNotice() agent.Notice {
	n := e.sessionNotice()
	n.Condition.Name, n.Condition.Detail = task.WaitingPermission, describePermission(e.Tool, e.Input)
	if e.Tool == "AskUserQuestion" || e.Tool == "request_user_input" {
		n.Condition.Name, n.Condition.Detail = task.WaitingInput, describeQuestion(e.Input)
	}
	return n
}

// describePermission returns one line about what an agent wants to do.
func describePermission(tool string, input json.RawMessage) string {
	var in struct {
		Command     any    `json:"command"`
		Description string `json:"description"`
		File        string `json:"file_path"`
		URL         string `json:"url"`
	}
	if json.Unmarshal(input, &in) != nil {
		return cleanLine(tool, maxDetail)
	}
	what := in.File + in.URL
	switch c := in.Command.(type) {
	case string:
		what = c
	case []any:
		for _, w := range c {
			what += fmt.Sprint(w) + " "
		}
	}
	if what == "" && len(input) > 0 && string(input) != "{}" && string(input) != "null" {
		what = string(input)
	}
	if in.Description != "" && in.Description != what {
		what += " (" + in.Description + ")"
	}
	if what == "" {
		return cleanLine(tool, maxDetail)
	}
	return cleanLine(tool+": "+what, maxDetail)
}

// describeQuestion returns one line about what an agent wants to know.
func describeQuestion(input json.RawMessage) string {
	var in struct {
		Questions []struct {
			Question string `json:"question"`
			Options  []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(input, &in) != nil || len(in.Questions) == 0 {
		return "it asks a question"
	}
	var said []string
	for _, q := range in.Questions {
		line := q.Question
		for i, o := range q.Options {
			line += fmt.Sprintf(" [%d] %s", i+1, o.Label)
		}
		said = append(said, line)
	}
	return cleanLine(strings.Join(said, " "), maxDetail)
}

// limitNotice returns the Notice for an error, if the error is a used-up allowance.
func limitNotice(text string, now time.Time) (agent.Notice, bool) {
	until, ok := limitIn(text, now)
	if !ok {
		return agent.Notice{}, false
	}
	return agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: cleanLine(text, maxDetail), Until: until}}, true
}

// addLimit marks the agent in n as limited if the error is a used-up allowance, and reports
// whether it is.
func addLimit(n *agent.Notice, text string, now time.Time) bool {
	l, ok := limitNotice(text, now)
	if ok {
		n.Condition, n.Failure = l.Condition, ""
	}
	return ok
}

// addFailure records in n why a turn failed. A used-up allowance is recorded as a limit
// instead.
func addFailure(n *agent.Notice, text string, now time.Time) bool {
	if addLimit(n, text, now) {
		return true
	}
	n.Failure = cleanLine(errorWords(text), maxDetail)
	return false
}

// clearFailure removes a limit or a failure, because the agent continued after it.
func clearFailure(n *agent.Notice) {
	n.Failure = ""
	if n.Condition.Name == task.Limited {
		n.Condition = task.Condition{}
	}
}

// fillNotice returns n with its empty fields taken from m.
func fillNotice(n, m agent.Notice) agent.Notice {
	if n.Final == "" {
		n.Final = m.Final
	}
	if n.Session == "" {
		n.Session = m.Session
	}
	if n.Failure == "" && n.Final == "" {
		n.Failure = m.Failure
	}
	if n.Usage == nil {
		n.Usage = m.Usage
	}
	n.Model = cmp.Or(n.Model, m.Model)
	return n
}
