package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Output struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

func readAnthropic(_ *http.Request, body []byte) (modelRequest, error) {
	var in anthropicRequest
	if err := decodeRequest(body, &in); err != nil {
		return modelRequest{}, err
	}
	a := modelRequest{model: in.Model, stream: in.Stream, schema: in.Output.Format.Schema}
	for _, t := range in.Tools {
		a.tools = append(a.tools, tool{name: t.Name, schema: t.Schema})
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "assistant":
			a.addAnswers(m.Content.countType("tool_use"), m.Content.textParts())
		case "user":
			a.addPrompt(m.Content.textParts())
		case "system":
			a.addPrompt(interjectedPrompts(m.Content.textParts()))
		}
	}
	return a, nil
}

// interjectedPrompts returns the prompts that arrived while the agent was working: Claude
// passes them on with a remark before and after.
func interjectedPrompts(texts []string) []string {
	var out []string
	for _, text := range texts {
		_, said, found := strings.Cut(text, "The user sent a new message while you were working:\n")
		if found {
			said, _, _ = strings.Cut(said, "\n\nIMPORTANT:")
			out = append(out, said)
		}
	}
	return out
}

func (u Usage) anthropicUsage() jsonObject {
	return jsonObject{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func writeAnthropic(w http.ResponseWriter, a modelRequest, out reply) {
	message := jsonObject{
		"id": fmt.Sprintf("msg_%d", out.number), "type": "message", "role": "assistant", "model": a.model,
		"content": []jsonObject{}, "stop_reason": nil, "stop_sequence": nil,
	}
	block, stop := out.anthropicBlock()
	if !a.stream {
		message["content"], message["stop_reason"], message["usage"] = []jsonObject{block}, stop, out.usage.anthropicUsage()
		writeJSON(w, http.StatusOK, message)
		return
	}
	begun := out.usage
	begun.Output = 1
	message["usage"] = begun.anthropicUsage()
	e := startEvents(w)
	send := func(kind string, fields jsonObject) {
		fields["type"] = kind
		e.sendEvent(kind, fields)
	}
	send("message_start", jsonObject{"message": message})
	out.sendAnthropicBlock(send, block)
	send("message_delta", jsonObject{"delta": jsonObject{"stop_reason": stop, "stop_sequence": nil}, "usage": out.usage.anthropicUsage()})
	send("message_stop", jsonObject{})
}

func (r reply) anthropicBlock() (block jsonObject, stop string) {
	if r.call == nil {
		return jsonObject{"type": "text", "text": r.text}, "end_turn"
	}
	return jsonObject{"type": "tool_use", "id": r.call.id, "name": r.call.tool.name, "input": r.call.arguments}, "tool_use"
}

// sendAnthropicBlock streams the only block of an answer: first empty, then its content.
func (r reply) sendAnthropicBlock(send func(string, jsonObject), block jsonObject) {
	kind, field, text := "text_delta", "text", r.text
	if r.call != nil {
		block["input"] = jsonObject{}
		kind, field, text = "input_json_delta", "partial_json", r.call.argumentsJSON()
	} else {
		block["text"] = ""
	}
	send("content_block_start", jsonObject{"index": 0, "content_block": block})
	for _, piece := range splitInTwo(text) {
		send("content_block_delta", jsonObject{"index": 0, "delta": jsonObject{"type": kind, field: piece}})
	}
	send("content_block_stop", jsonObject{"index": 0})
}

// failAnthropic sends an error response. It reports a used-up limit in the headers that
// subscriptions get.
func failAnthropic(w http.ResponseWriter, f fault) {
	kind := "api_error"
	switch {
	case f.status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case f.status == http.StatusUnauthorized:
		kind = "authentication_error"
	case f.status < 500:
		kind = "invalid_request_error"
	}
	if f.resetIn > 0 {
		h := w.Header()
		h.Set("Retry-After", strconv.Itoa(int(f.resetIn.Seconds())))
		h.Set("X-Should-Retry", "false")
		h.Set("Anthropic-Ratelimit-Unified-Status", "rejected")
		h.Set("Anthropic-Ratelimit-Unified-Reset", strconv.FormatInt(f.reset.Unix(), 10))
		h.Set("Anthropic-Ratelimit-Unified-Representative-Claim", "five_hour")
	}
	writeJSON(w, f.status, jsonObject{"type": "error", "error": jsonObject{"type": kind, "message": f.message}})
}
