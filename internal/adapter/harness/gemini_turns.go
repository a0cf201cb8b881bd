package harness

import (
	"encoding/json"
	"strings"
	"time"

	"orange/internal/core/transcript"
)

// geminiTurnLine is one line of a chat file, with the full text. Gemini writes a message again
// when it grows.
type geminiTurnLine struct {
	Session string          `json:"sessionId"`
	Set     json.RawMessage `json:"$set"`
	ID      string          `json:"id"`
	At      time.Time       `json:"timestamp"`
	Type    string          `json:"type"`
	Content geminiText      `json:"content"`
	Calls   []struct {
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Args    json.RawMessage `json:"args"`
		Status  string          `json:"status"`
		Result  anyText         `json:"result"`
		Display json.RawMessage `json:"resultDisplay"`
		At      time.Time       `json:"timestamp"`
	} `json:"toolCalls"`
}

// geminiText is the text of a message: a string, or the texts of its parts. Tool results are
// parts without text.
type geminiText string

// UnmarshalJSON implements json.Unmarshaler. A value that is not a message has no text.
func (t *geminiText) UnmarshalJSON(text []byte) error {
	var whole string
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(text, &whole) != nil && json.Unmarshal(text, &parts) == nil {
		for _, p := range parts {
			whole += p.Text
		}
	}
	*t = geminiText(whole)
	return nil
}

// geminiTurnRecord is one line of gemini -o stream-json, with the full text.
type geminiTurnRecord struct {
	Type    string          `json:"type"`
	At      time.Time       `json:"timestamp"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Delta   bool            `json:"delta"`
	Name    string          `json:"tool_name"`
	ID      string          `json:"tool_id"`
	Input   json.RawMessage `json:"parameters"`
	Status  string          `json:"status"`
	Output  anyText         `json:"output"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

// turnSources implements Harness.
func (gemini) turnSources(o Output) []source {
	out := []source{{o.Transcript, geminiTurns}}
	if o.Headless {
		out = append(out, source{o.Log, geminiStreamTurns})
	}
	return out
}

// geminiTurns reads a line of a chat file. User messages that only return tool results have no
// text.
func geminiTurns(line []byte) ([]piece, bool) {
	l, ok := decodeLine[geminiTurnLine](line)
	if !ok {
		return nil, false
	}
	var out []piece
	text := string(l.Content)
	switch l.Type {
	case "user":
		if !strings.HasPrefix(text, "<session_context>") {
			out = singlePiece(transcript.Turn{ID: l.ID, At: l.At, Who: transcript.User, Text: text})
		}
	case "gemini":
		out = singlePiece(transcript.Turn{ID: l.ID, At: l.At, Who: transcript.Agent, Text: text})
		for _, c := range l.Calls {
			out = append(out, toolCall(c.ID, l.At, c.Name, c.Args))
			if c.Status == "success" || c.Status == "error" || c.Status == "cancelled" {
				out = append(out, toolAnswer(c.ID, c.At, geminiAnswer(c.Display, string(c.Result)), c.Status != "success"))
			}
		}
	case "error":
		out = []piece{toolAnswer("", l.At, text, true)}
	default:
		return nil, l.Type != "" || l.Session != "" || len(l.Set) > 0
	}
	return out, true
}

// geminiAnswer returns the result of a tool: the displayed text if there is one, otherwise what
// the model receives.
func geminiAnswer(display json.RawMessage, modelText string) string {
	var text string
	if json.Unmarshal(display, &text) == nil && text != "" {
		return text
	}
	modelText = strings.TrimPrefix(strings.TrimPrefix(modelText, "<untrusted_context>\n"), "Output: ")
	modelText, _, _ = strings.Cut(strings.TrimSuffix(modelText, "\n</untrusted_context>"), "\nProcess Group PGID: ")
	return modelText
}

// geminiStreamTurns reads a line of gemini -o stream-json.
func geminiStreamTurns(line []byte) ([]piece, bool) {
	r, ok := decodeLine[geminiTurnRecord](line)
	if !ok || r.Type == "" {
		return nil, false
	}
	switch r.Type {
	case "message":
		who := transcript.User
		if r.Role == "assistant" {
			who = transcript.Agent
		}
		return []piece{{transcript.Turn{At: r.At, Who: who, Text: r.Content}, r.Delta}}, true
	case "tool_use":
		return []piece{toolCall(r.ID, r.At, r.Name, r.Input)}, true
	case "tool_result":
		text := string(r.Output)
		if text == "" {
			text = r.Error.Message
		}
		return []piece{toolAnswer(r.ID, r.At, text, r.Status != "success")}, true
	case "error", "result":
		if r.Error.Message != "" {
			return []piece{toolAnswer("", r.At, r.Error.Message, true)}, true
		}
		return []piece{{}}, true // what came before it is complete
	}
	return nil, true
}
