package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
)

// nativeShell is the type of the Responses protocol's built-in tool for running commands. It
// has no name and no schema.
const nativeShell = "local_shell"

type responsesRequest struct {
	Model  string         `json:"model"`
	Stream bool           `json:"stream"`
	Input  responsesInput `json:"input"`
	Tools  []struct {
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Text struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

type responsesItem struct {
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// responsesInput is a list of items; a text alone is a prompt.
type responsesInput []responsesItem

func (in *responsesInput) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*in = responsesInput{{Role: "user", Content: content{{Text: text}}}}
		return nil
	}
	return json.Unmarshal(data, (*[]responsesItem)(in))
}

func readResponses(_ *http.Request, body []byte) (modelRequest, error) {
	var in responsesRequest
	if err := decodeRequest(body, &in); err != nil {
		return modelRequest{}, err
	}
	a := modelRequest{model: in.Model, stream: in.Stream, schema: in.Text.Format.Schema}
	for _, t := range in.Tools {
		switch t.Type {
		case "function":
			a.tools = append(a.tools, tool{name: t.Name, schema: t.Parameters})
		case nativeShell:
			a.tools = append(a.tools, tool{name: nativeShell, native: true})
		}
	}
	for _, item := range in.Input {
		switch {
		case item.Type == "function_call" || item.Type == "local_shell_call":
			a.addAnswers(1, nil)
		case item.Role == "assistant":
			a.addAnswers(0, item.Content.textParts())
		case item.Role == "user":
			a.addPrompt(item.Content.textParts())
		}
	}
	return a, nil
}

// responsesUsage includes cached tokens in the input.
func (u Usage) responsesUsage() jsonObject {
	input := u.Input + u.CacheRead + u.CacheWrite
	return jsonObject{
		"input_tokens": input, "output_tokens": u.Output, "total_tokens": input + u.Output,
		"input_tokens_details":  jsonObject{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"output_tokens_details": jsonObject{"reasoning_tokens": 0},
	}
}

func writeResponses(w http.ResponseWriter, a modelRequest, out reply) {
	response := jsonObject{
		"id": fmt.Sprintf("resp_%d", out.number), "object": "response", "created_at": out.at.Unix(), "model": a.model,
		"status": "in_progress", "output": []jsonObject{}, "parallel_tool_calls": false, "tool_choice": "auto", "tools": []jsonObject{},
	}
	item := out.responsesItem()
	whole := maps.Clone(response)
	whole["status"], whole["output"], whole["usage"] = "completed", []jsonObject{item}, out.usage.responsesUsage()
	if !a.stream {
		writeJSON(w, http.StatusOK, whole)
		return
	}
	e := startEvents(w)
	number := 0
	send := func(kind string, fields jsonObject) {
		fields["type"], fields["sequence_number"] = kind, number
		number++
		e.sendEvent(kind, fields)
	}
	send("response.created", jsonObject{"response": response})
	out.sendResponsesItem(send, item)
	send("response.completed", jsonObject{"response": whole})
}

// responsesItem returns the only item of an answer.
func (r reply) responsesItem() jsonObject {
	switch {
	case r.call == nil:
		part := jsonObject{"type": "output_text", "text": r.text, "annotations": []jsonObject{}}
		return jsonObject{"type": "message", "id": fmt.Sprintf("msg_%d", r.number), "role": "assistant", "status": "completed", "content": []jsonObject{part}}
	case r.call.tool.native:
		action := jsonObject{"type": "exec", "command": shellArgv(r.call.command), "env": jsonObject{}}
		return jsonObject{"type": "local_shell_call", "id": "ls_" + r.call.id, "call_id": r.call.id, "status": "completed", "action": action}
	}
	return jsonObject{"type": "function_call", "id": "fc_" + r.call.id, "call_id": r.call.id, "name": r.call.tool.name, "arguments": r.call.argumentsJSON(), "status": "completed"}
}

// sendResponsesItem streams an item: first empty, then its content, then the complete item.
func (r reply) sendResponsesItem(send func(string, jsonObject), item jsonObject) {
	begun := maps.Clone(item)
	begun["status"] = "in_progress"
	at := func(more jsonObject) jsonObject {
		more["output_index"], more["item_id"] = 0, item["id"]
		return more
	}
	switch {
	case r.call == nil:
		begun["content"] = []jsonObject{}
		send("response.output_item.added", jsonObject{"output_index": 0, "item": begun})
		r.sendResponsesText(send, at)
	case r.call.tool.native:
		send("response.output_item.added", jsonObject{"output_index": 0, "item": begun})
	default:
		begun["arguments"] = ""
		send("response.output_item.added", jsonObject{"output_index": 0, "item": begun})
		for _, piece := range splitInTwo(r.call.argumentsJSON()) {
			send("response.function_call_arguments.delta", at(jsonObject{"delta": piece}))
		}
		send("response.function_call_arguments.done", at(jsonObject{"arguments": r.call.argumentsJSON()}))
	}
	send("response.output_item.done", jsonObject{"output_index": 0, "item": item})
}

func (r reply) sendResponsesText(send func(string, jsonObject), at func(jsonObject) jsonObject) {
	part := func(text string) jsonObject {
		return jsonObject{"type": "output_text", "text": text, "annotations": []jsonObject{}}
	}
	send("response.content_part.added", at(jsonObject{"content_index": 0, "part": part("")}))
	for _, piece := range splitInTwo(r.text) {
		send("response.output_text.delta", at(jsonObject{"content_index": 0, "delta": piece}))
	}
	send("response.output_text.done", at(jsonObject{"content_index": 0, "text": r.text}))
	send("response.content_part.done", at(jsonObject{"content_index": 0, "part": part(r.text)}))
}

// failResponses sends an error response. It reports a used-up limit in the body, with its reset
// time.
func failResponses(w http.ResponseWriter, f fault) {
	detail := jsonObject{"message": f.message, "type": "server_error", "code": nil, "param": nil}
	switch {
	case f.resetIn > 0:
		seconds := int(f.resetIn.Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		detail["type"], detail["plan_type"] = "usage_limit_reached", "plus"
		detail["resets_at"], detail["resets_in_seconds"] = f.reset.Unix(), seconds
	case f.status == http.StatusTooManyRequests:
		detail["type"], detail["code"] = "requests", "rate_limit_exceeded"
	case f.status < 500:
		detail["type"] = "invalid_request_error"
	}
	writeJSON(w, f.status, jsonObject{"error": detail})
}
