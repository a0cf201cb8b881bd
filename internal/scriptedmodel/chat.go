package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role      string            `json:"role"`
		Content   content           `json:"content"`
		ToolCalls []json.RawMessage `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func readChat(_ *http.Request, body []byte) (modelRequest, error) {
	var in chatRequest
	if err := decodeRequest(body, &in); err != nil {
		return modelRequest{}, err
	}
	a := modelRequest{model: in.Model, stream: in.Stream, schema: in.ResponseFormat.JSONSchema.Schema}
	for _, t := range in.Tools {
		a.tools = append(a.tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "assistant":
			a.addAnswers(len(m.ToolCalls), m.Content.textParts())
		case "user":
			a.addPrompt(m.Content.textParts())
		}
	}
	return a, nil
}

// chatUsage includes cached tokens in the prompt.
func (u Usage) chatUsage() jsonObject {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return jsonObject{
		"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details": jsonObject{"cached_tokens": u.CacheRead},
	}
}

func writeChat(w http.ResponseWriter, a modelRequest, out reply) {
	head := func(kind string) jsonObject {
		return jsonObject{"id": fmt.Sprintf("chatcmpl-%d", out.number), "object": kind, "created": out.at.Unix(), "model": a.model}
	}
	reason := "stop"
	if out.call != nil {
		reason = "tool_calls"
	}
	if !a.stream {
		whole := head("chat.completion")
		whole["choices"] = []jsonObject{{"index": 0, "message": out.chatMessage(), "finish_reason": reason}}
		whole["usage"] = out.usage.chatUsage()
		writeJSON(w, http.StatusOK, whole)
		return
	}
	e := startEvents(w)
	chunk := func(delta jsonObject, reason any) {
		c := head("chat.completion.chunk")
		c["choices"] = []jsonObject{{"index": 0, "delta": delta, "finish_reason": reason}}
		e.sendEvent("", c)
	}
	for _, delta := range out.chatDeltas() {
		chunk(delta, nil)
	}
	chunk(jsonObject{}, reason)
	last := head("chat.completion.chunk")
	last["choices"], last["usage"] = []jsonObject{}, out.usage.chatUsage()
	e.sendEvent("", last)
	e.sendData("[DONE]")
}

func (r reply) chatMessage() jsonObject {
	if r.call == nil {
		return jsonObject{"role": "assistant", "content": r.text}
	}
	function := jsonObject{"name": r.call.tool.name, "arguments": r.call.argumentsJSON()}
	return jsonObject{"role": "assistant", "content": nil, "tool_calls": []jsonObject{{"id": r.call.id, "type": "function", "function": function}}}
}

// chatDeltas returns the parts of an answer: first the role and the called tool, then the rest.
func (r reply) chatDeltas() []jsonObject {
	if r.call == nil {
		deltas := []jsonObject{{"role": "assistant", "content": ""}}
		for _, piece := range splitInTwo(r.text) {
			deltas = append(deltas, jsonObject{"content": piece})
		}
		return deltas
	}
	begun := jsonObject{"index": 0, "id": r.call.id, "type": "function", "function": jsonObject{"name": r.call.tool.name, "arguments": ""}}
	deltas := []jsonObject{{"role": "assistant", "content": nil, "tool_calls": []jsonObject{begun}}}
	for _, piece := range splitInTwo(r.call.argumentsJSON()) {
		deltas = append(deltas, jsonObject{"tool_calls": []jsonObject{{"index": 0, "function": jsonObject{"arguments": piece}}}})
	}
	return deltas
}

func failChat(w http.ResponseWriter, f fault) {
	kind := "server_error"
	switch {
	case f.status == http.StatusTooManyRequests:
		kind = "rate_limit_exceeded"
	case f.status < 500:
		kind = "invalid_request_error"
	}
	if f.resetIn > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.resetIn.Seconds())))
	}
	writeJSON(w, f.status, jsonObject{"error": jsonObject{"message": f.message, "type": kind, "code": kind}})
}
