package harness

import (
	"encoding/json"
	"time"

	"orange/internal/core/transcript"
)

// claudeTurnRecord is one line of Claude Code's headless output, and of its transcript, with
// the full text.
type claudeTurnRecord struct {
	Type      string    `json:"type"`
	Parent    *string   `json:"parent_tool_use_id"`
	Sidechain bool      `json:"isSidechain"`
	Meta      bool      `json:"isMeta"`
	UUID      string    `json:"uuid"`
	At        time.Time `json:"timestamp"`
	Error     string    `json:"error"`
	Message   struct {
		Model   string      `json:"model"`
		Content claudeParts `json:"content"`
	} `json:"message"`
}

// claudeParts are the parts of a message. A plain text is one part.
type claudeParts []claudePart

type claudePart struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Answers string          `json:"tool_use_id"`
	Content anyText         `json:"content"`
	Failed  bool            `json:"is_error"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *claudeParts) UnmarshalJSON(text []byte) error {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		*p = claudeParts{{Type: "text", Text: whole}}
		return nil
	}
	return json.Unmarshal(text, (*[]claudePart)(p))
}

// turnSources implements Harness.
func (claude) turnSources(o Output) []source {
	out := []source{{o.Transcript, claudeTurns}}
	if o.Headless {
		out = append(out, source{o.Log, claudeTurns})
	}
	return out
}

// claudeTurns reads a line. It leaves out what subagents say.
func claudeTurns(line []byte) (out []piece, ok bool) {
	r, ok := decodeLine[claudeTurnRecord](line)
	if !ok || r.Type == "" {
		return nil, false
	}
	if r.Type != "user" && r.Type != "assistant" || r.Parent != nil || r.Sidechain || r.Meta {
		return nil, true
	}
	who := transcript.Agent
	if r.Type == "user" {
		who = transcript.User
	}
	for _, p := range r.Message.Content {
		switch {
		case p.Type == "text" && (r.Error != "" || r.Message.Model == synthetic): // written by Claude Code itself
			out = append(out, toolAnswer("", r.At, p.Text, true))
		case p.Type == "text":
			out = append(out, singlePiece(transcript.Turn{At: r.At, Who: who, Text: p.Text})...)
		case p.Type == "tool_use":
			out = append(out, toolCall(p.ID, r.At, p.Name, p.Input))
		case p.Type == "tool_result":
			out = append(out, toolAnswer(p.Answers, r.At, string(p.Content), p.Failed))
		}
	}
	return out, true
}
