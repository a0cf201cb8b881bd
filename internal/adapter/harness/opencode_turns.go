package harness

import (
	"encoding/json"
	"path/filepath"
	"time"

	"orange/internal/core/transcript"
)

// opencodeTranscript is the file in the attempt's folder to which Orange's plugin writes the
// conversation: opencode keeps its sessions in a database whose tables change.
const opencodeTranscript = "opencode-transcript.jsonl"

// opencodeTurnRecord is one line of opencode run --format json, and of the file that Orange's
// plugin writes, with the full text.
type opencodeTurnRecord struct {
	Type string `json:"type"`
	At   count  `json:"timestamp"` // milliseconds
	Part struct {
		ID    string `json:"id"`
		Text  string `json:"text"`
		Tool  string `json:"tool"`
		Call  string `json:"callID"`
		State struct {
			Status   string          `json:"status"`
			Input    json.RawMessage `json:"input"`
			Output   anyText         `json:"output"`
			Error    anyText         `json:"error"`
			Metadata struct {
				Exit count `json:"exit"`
			} `json:"metadata"`
		} `json:"state"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

// turnSources implements Harness.
func (opencode) turnSources(o Output) []source {
	var out []source
	if o.Log != "" {
		out = append(out, source{filepath.Join(filepath.Dir(o.Log), opencodeTranscript), opencodeTurns})
	}
	if o.Headless {
		out = append(out, source{o.Log, opencodeTurns})
	}
	return out
}

func opencodeTurns(line []byte) ([]piece, bool) {
	r, ok := decodeLine[opencodeTurnRecord](line)
	if !ok || r.Type == "" {
		return nil, false
	}
	var at time.Time
	if ms := r.At.toInt(); ms > 0 {
		at = time.UnixMilli(ms).UTC()
	}
	p := r.Part
	switch r.Type {
	case "user":
		return singlePiece(transcript.Turn{ID: p.ID, At: at, Who: transcript.User, Text: p.Text}), true
	case "text":
		return singlePiece(transcript.Turn{ID: p.ID, At: at, Who: transcript.Agent, Text: p.Text}), true
	case "tool_use":
		out := []piece{toolCall(p.Call, at, p.Tool, p.State.Input)}
		switch p.State.Status {
		case "completed":
			out = append(out, toolAnswer(p.Call, at, string(p.State.Output), p.State.Metadata.Exit.toInt() != 0))
		case "error":
			out = append(out, toolAnswer(p.Call, at, string(p.State.Error), true))
		}
		return out, true
	case "error":
		return []piece{toolAnswer("", at, r.Error.Name+": "+r.Error.Data.Message, true)}, true
	}
	return nil, true
}
