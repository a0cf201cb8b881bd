package harness

import (
	"encoding/json"
	"math"
	"strings"

	"orange/internal/core/task"
)

// count is a number of tokens as an agent writes it, which may be any number.
type count float64

func (c count) toInt() int64 {
	if !(c > 0) || c > 1e15 {
		return 0
	}
	return int64(c)
}

// maxDollars is the highest cost that is believed.
const maxDollars = 1e9

// dollarsToMicros converts dollars to micro-dollars.
func dollarsToMicros(dollars float64) int64 {
	if !(dollars > 0) || dollars > maxDollars {
		return 0
	}
	return int64(math.Round(dollars * 1e6))
}

// modelName returns the name of a model as an agent reports it, or "" for something that is not a name.
func modelName(name string) string {
	if len(name) > 100 {
		return ""
	}
	return cleanLine(name, 100)
}

// someUsage returns a pointer to u, or nil if u is zero.
func someUsage(u task.Usage) *task.Usage {
	if u == (task.Usage{}) {
		return nil
	}
	return &u
}

// messageText is the text of a message: a string, or the parts of type text in a list.
type messageText string

// UnmarshalJSON implements json.Unmarshaler. A value that is not a message has no text.
func (t *messageText) UnmarshalJSON(text []byte) error {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		*t = messageText(whole)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(text, &parts) != nil {
		return nil
	}
	var said []string
	for _, p := range parts {
		if p.Text != "" && (p.Type == "text" || p.Type == "output_text") {
			said = append(said, p.Text)
		}
	}
	*t = messageText(strings.Join(said, "\n"))
	return nil
}
