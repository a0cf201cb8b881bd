package harness

import (
	"encoding/json"
	"math"
	"strings"
)

// count is a number of tokens as an agent writes it, which may be anything.
type count float64

func (c count) int() int {
	if !(c > 0) || c > 1e15 {
		return 0
	}
	return int(c)
}

// micros turns dollars into millionths of them.
func micros(dollars float64) int64 {
	if !(dollars > 0) || dollars > 1e9 {
		return 0
	}
	return int64(math.Round(dollars * 1e6))
}

// plus adds what one message consumed.
func (u *Usage) plus(v Usage) {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheTokens += v.CacheTokens
	u.CostMicroUSD += v.CostMicroUSD
}

// less takes off what was consumed before.
func (u Usage) less(v Usage) Usage {
	return Usage{
		InputTokens: max(0, u.InputTokens-v.InputTokens), OutputTokens: max(0, u.OutputTokens-v.OutputTokens),
		CacheTokens: max(0, u.CacheTokens-v.CacheTokens), CostMicroUSD: max(0, u.CostMicroUSD-v.CostMicroUSD),
	}
}

// some is nil for no usage at all, which says nothing.
func (u Usage) some() *Usage {
	if u == (Usage{}) {
		return nil
	}
	return &u
}

// messageText is the text of a message: a string, or the parts of type text in a list.
type messageText string

// UnmarshalJSON implements json.Unmarshaler. What is not a message has no text.
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
