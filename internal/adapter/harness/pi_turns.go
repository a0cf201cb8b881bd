package harness

import (
	"encoding/json"
	"time"

	"orange/internal/core/transcript"
)

// piTurnRecord is one line of pi --mode json, and of its session file, with the full text.
type piTurnRecord struct {
	Type    string `json:"type"`
	Message struct {
		Role    string  `json:"role"`
		Content piParts `json:"content"`
		Failure string  `json:"errorMessage"`
		At      count   `json:"timestamp"` // milliseconds
		Call    string  `json:"toolCallId"`
		Failed  bool    `json:"isError"`
	} `json:"message"`
}

// piParts are the parts of a message. A plain text is one part.
type piParts []piPart

type piPart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *piParts) UnmarshalJSON(text []byte) error {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		*p = piParts{{Type: "text", Text: whole}}
		return nil
	}
	return json.Unmarshal(text, (*[]piPart)(p))
}

// turnSources implements Harness.
func (pi) turnSources(o Output) []source {
	out := []source{{o.Transcript, func(line []byte) ([]piece, bool) { return piTurns(line, "message") }}}
	if o.Headless {
		out = append(out, source{o.Log, func(line []byte) ([]piece, bool) { return piTurns(line, "message_end") }})
	}
	return out
}

func piTurns(line []byte, kind string) (out []piece, ok bool) {
	r, ok := decodeLine[piTurnRecord](line)
	if !ok || r.Type == "" {
		return nil, false
	}
	if r.Type != kind {
		return nil, true
	}
	m := r.Message
	var at time.Time
	if ms := m.At.toInt(); ms > 0 {
		at = time.UnixMilli(ms).UTC()
	}
	text := ""
	for _, p := range m.Content {
		switch {
		case m.Role == "toolResult" && p.Type == "text":
			text += p.Text
		case m.Role == "user" && p.Type == "text":
			out = append(out, singlePiece(transcript.Turn{At: at, Who: transcript.User, Text: p.Text})...)
		case m.Role == "assistant" && p.Type == "text":
			out = append(out, singlePiece(transcript.Turn{At: at, Who: transcript.Agent, Text: p.Text})...)
		case m.Role == "assistant" && p.Type == "toolCall":
			out = append(out, toolCall(p.ID, at, p.Name, p.Arguments))
		}
	}
	if m.Role == "toolResult" {
		out = append(out, toolAnswer(m.Call, at, text, m.Failed))
	}
	if m.Failure != "" {
		out = append(out, toolAnswer("", at, m.Failure, true))
	}
	return out, true
}
