package harness

import (
	"encoding/json"
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

const failLines = 12 // how far from the end of a pane an error may stand that ended the last turn

var (
	busyLine  = lazyPattern(`(?i)\besc to (?:interrupt|cancel)`) // a turn is under way
	inputLine = lazyPattern(`^(?:[›>*!]|❯)(?: |$)`)              // the agent's input line, and what was sent before
)

// failedTurn finds an error of the provider that ended the last turn: nothing but the input line
// stands below it. What was sent after an error stands below it too, and so does a turn that runs.
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

// errorWords is an error as a person reads it: of a provider's answer in JSON only the message. What
// stands before it stays, and so does everything else.
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
