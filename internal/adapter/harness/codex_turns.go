package harness

import (
	"encoding/json"
	"strings"
	"time"

	"orange/internal/core/transcript"
)

// codexTurnLine is one line of a rollout file, with the full text.
type codexTurnLine struct {
	Type    string    `json:"type"`
	At      time.Time `json:"timestamp"`
	Payload struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Content   anyText         `json:"content"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Input     json.RawMessage `json:"input"`
		Action    json.RawMessage `json:"action"`
		Call      string          `json:"call_id"`
		Output    anyText         `json:"output"`
		Error     struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"payload"`
}

// codexTurnEvent is one line of codex exec --json, with the full text.
type codexTurnEvent struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Item    struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Command string          `json:"command"`
		Output  string          `json:"aggregated_output"`
		Status  string          `json:"status"`
		Query   string          `json:"query"`
		Server  string          `json:"server"`
		Tool    string          `json:"tool"`
		Input   json.RawMessage `json:"arguments"`
		Result  anyText         `json:"result"`
		Changes []struct {
			Path string `json:"path"`
			Kind string `json:"kind"`
		} `json:"changes"`
	} `json:"item"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// turnSources implements Harness.
func (codex) turnSources(o Output) []source {
	out := []source{{o.Transcript, codexTurns}}
	if o.Headless {
		out = append(out, source{o.Log, codexStreamTurns})
	}
	return out
}

// codexTurns reads a line of a rollout file.
func codexTurns(line []byte) ([]piece, bool) {
	l, ok := decodeLine[codexTurnLine](line)
	if !ok || l.Type == "" {
		return nil, false
	}
	p := l.Payload
	if l.Type == "event_msg" && p.Type == "task_complete" && p.Error.Message != "" {
		return []piece{toolAnswer("", l.At, p.Error.Message, true)}, true
	}
	if l.Type != "response_item" {
		return nil, true
	}
	switch p.Type {
	case "message":
		switch {
		case p.Role == "assistant":
			return singlePiece(transcript.Turn{At: l.At, Who: transcript.Agent, Text: string(p.Content)}), true
		case p.Role == "user" && !codexContext(string(p.Content)):
			return singlePiece(transcript.Turn{At: l.At, Who: transcript.User, Text: string(p.Content)}), true
		}
	case "function_call":
		return []piece{toolCall(p.Call, l.At, p.Name, p.Arguments)}, true
	case "custom_tool_call":
		return []piece{toolCall(p.Call, l.At, p.Name, p.Input)}, true
	case "local_shell_call":
		return []piece{toolCall(p.Call, l.At, "shell", p.Action)}, true
	case "web_search_call":
		return []piece{toolCall(p.Call, l.At, "web_search", p.Action)}, true
	case "function_call_output", "custom_tool_call_output":
		text, failed := codexAnswer(string(p.Output))
		return []piece{toolAnswer(p.Call, l.At, text, failed)}, true
	}
	return nil, true
}

// codexContext reports whether a message of the user is one that Codex writes itself, about the
// folder and its instructions.
func codexContext(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">") || strings.HasPrefix(text, "# AGENTS.md instructions for")
}

// codexAnswer extracts the output of a command from what Codex passes to the model.
func codexAnswer(text string) (answer string, failed bool) {
	head, body, ok := strings.Cut(text, "\nOutput:\n")
	if !ok || !strings.Contains(head, "Wall time: ") {
		return text, false
	}
	_, code, ok := strings.Cut(head, "Process exited with code ")
	return body, ok && !strings.HasPrefix(code+"\n", "0\n")
}

// codexStreamTurns reads a line of codex exec --json.
func codexStreamTurns(line []byte) ([]piece, bool) {
	e, ok := decodeLine[codexTurnEvent](line)
	if !ok || e.Type == "" {
		return nil, false
	}
	var none time.Time
	it := e.Item
	begun, over := e.Type == "item.started", e.Type == "item.completed"
	switch {
	case e.Type == "error":
		return []piece{toolAnswer("", none, e.Message, true)}, true
	case e.Type == "turn.failed":
		return []piece{toolAnswer("", none, e.Error.Message, true)}, true
	case over && it.Type == "agent_message":
		return singlePiece(transcript.Turn{Who: transcript.Agent, Text: it.Text}), true
	case (begun || over) && it.Type == "command_execution":
		out := []piece{{Turn: transcript.Turn{ID: it.ID + "/call", Who: transcript.Agent, Tool: "exec_command", Argument: it.Command}}}
		if over {
			out = append(out, toolAnswer(it.ID, none, it.Output, it.Status == "failed"))
		}
		return out, true
	case (begun || over) && it.Type == "mcp_tool_call":
		out := []piece{toolCall(it.ID, none, it.Server+"."+it.Tool, it.Input)}
		if over {
			out = append(out, toolAnswer(it.ID, none, string(it.Result), it.Status == "failed"))
		}
		return out, true
	case over && it.Type == "file_change":
		var out []piece
		for _, c := range it.Changes {
			out = append(out, piece{Turn: transcript.Turn{Who: transcript.Agent, Tool: orWord(c.Kind, "change"), Argument: c.Path}})
		}
		return out, true
	case over && it.Type == "web_search":
		return singlePiece(transcript.Turn{Who: transcript.Agent, Tool: "web_search", Argument: it.Query}), true
	}
	return nil, true
}
