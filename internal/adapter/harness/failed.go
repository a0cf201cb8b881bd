package harness

import (
	"encoding/json"
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

const failLines = 12 // how many lines from the end of a pane the error that ended the last turn may be

var (
	busyLine  = lazyPattern(`(?i)\besc to (?:interrupt|cancel)`) // a turn is running
	inputLine = lazyPattern(`^(?:[›>*!]|❯)(?: |$)`)              // the agent's input line, and what was sent before
)

// failedTurn finds an error of the provider that ended the last turn: nothing but the input
// line is below it. A message that was sent after the error, or a running turn, would be below
// it as well.
func (l screenPatterns) failedTurn(shown []string) (agent.Notice, bool) {
	if l.fails == nil {
		return agent.Notice{}, false
	}
	end := len(shown) // of the error
	for i := len(shown) - 1; i >= max(0, len(shown)-failLines); i-- {
		switch line := shown[i]; {
		case busyLine().MatchString(line):
			return agent.Notice{}, false
		case l.fails().MatchString(line):
			return agent.Notice{Condition: task.Condition{Name: task.TurnFailed, Detail: cleanLine(errorWords(strings.Join(shown[i:end], " ")), maxDetail)}}, true
		case inputLine().MatchString(line) && end < len(shown):
			return agent.Notice{}, false
		case inputLine().MatchString(line):
			end = i
		}
	}
	return agent.Notice{}, false
}

// errorWords returns an error in readable form: of a provider's JSON answer, only the message.
// Everything around it stays.
func errorWords(text string) string {
	before, object, ok := strings.Cut(text, "{")
	if !ok {
		return text
	}
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte("{"+strings.TrimSpace(object)), &answer); err != nil || answer.Error.Message == "" {
		return text
	}
	return before + answer.Error.Message
}
