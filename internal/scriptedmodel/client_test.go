package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// dialect is how a test agent speaks one of the protocols.
type dialect struct {
	name  string
	path  string
	write func(history []moment) any
	read  func(t *testing.T, events []json.RawMessage) moment
}

// moment is one thing in the history of a test agent: a prompt, or an answer of the model
// and, for a call, that it was carried out.
type moment struct {
	prompt string
	text   string
	call   string // the id
	shell  string // the command of a call
}

// agent keeps a conversation with a model, as a CLI does.
type agent struct {
	dialect
	model   *Model
	history []moment
}

func (a *agent) say(text string) { a.history = append(a.history, moment{prompt: text}) }

// ask sends the conversation and returns the answer without taking note of it.
func (a *agent) ask(t *testing.T) moment {
	t.Helper()
	body, err := json.Marshal(a.write(a.history))
	if err != nil {
		t.Fatal(err)
	}
	w := post(a.model, a.path, string(body))
	if w.Code != http.StatusOK {
		return moment{text: fmt.Sprint(w.Code)}
	}
	return a.read(t, eventsOf(t, w))
}

// step asks and takes note of the answer.
func (a *agent) step(t *testing.T) moment {
	t.Helper()
	m := a.ask(t)
	a.history = append(a.history, m)
	return m
}

// eventsOf returns the data of a stream of events.
func eventsOf(t *testing.T, w *httptest.ResponseRecorder) []json.RawMessage {
	t.Helper()
	var out []json.RawMessage
	for line := range strings.Lines(w.Body.String()) {
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		if ok && data != "[DONE]" {
			out = append(out, json.RawMessage(data))
		}
	}
	return out
}

func dialects() []dialect {
	return []dialect{anthropicDialect(), responsesDialect(), chatDialect(), geminiDialect()}
}

func parse[T any](t *testing.T, text json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// commandIn returns the command among the arguments of a call.
func commandIn(t *testing.T, key, arguments string) string {
	t.Helper()
	command, _ := parse[map[string]any](t, json.RawMessage(arguments))[key].(string)
	return command
}

func shellSchema(key string) jsonObject {
	return jsonObject{"type": "object", "properties": jsonObject{key: jsonObject{"type": "string"}}, "required": []string{key}}
}

func anthropicDialect() dialect {
	write := func(history []moment) any {
		var messages []jsonObject
		for _, m := range history {
			switch {
			case m.prompt != "":
				messages = append(messages, jsonObject{"role": "user", "content": m.prompt})
			case m.call != "":
				use := jsonObject{"type": "tool_use", "id": m.call, "name": "Bash", "input": jsonObject{"command": m.shell}}
				result := jsonObject{"type": "tool_result", "tool_use_id": m.call, "content": "ok"}
				messages = append(messages, jsonObject{"role": "assistant", "content": []jsonObject{use}}, jsonObject{"role": "user", "content": []jsonObject{result}})
			default:
				messages = append(messages, jsonObject{"role": "assistant", "content": []jsonObject{{"type": "text", "text": m.text}}})
			}
		}
		return jsonObject{"model": "m", "stream": true, "messages": messages, "tools": []jsonObject{{"name": "Bash", "input_schema": shellSchema("command")}}}
	}
	read := func(t *testing.T, events []json.RawMessage) (m moment) {
		arguments := ""
		for _, e := range events {
			v := parse[struct {
				Block struct{ ID string } `json:"content_block"`
				Delta struct {
					Text    string
					Partial string `json:"partial_json"`
				}
			}](t, e)
			m.call += v.Block.ID
			m.text += v.Delta.Text
			arguments += v.Delta.Partial
		}
		if m.call != "" {
			m.shell = commandIn(t, "command", arguments)
		}
		return m
	}
	return dialect{name: "anthropic", path: "/v1/messages", write: write, read: read}
}

func responsesDialect() dialect {
	write := func(history []moment) any {
		var items []jsonObject
		for _, m := range history {
			switch {
			case m.prompt != "":
				items = append(items, jsonObject{"type": "message", "role": "user", "content": []jsonObject{{"type": "input_text", "text": m.prompt}}})
			case m.call != "":
				items = append(items,
					jsonObject{"type": "function_call", "call_id": m.call, "name": "exec_command", "arguments": compactJSON(jsonObject{"cmd": m.shell})},
					jsonObject{"type": "function_call_output", "call_id": m.call, "output": "ok"})
			default:
				items = append(items, jsonObject{"type": "message", "role": "assistant", "content": []jsonObject{{"type": "output_text", "text": m.text}}})
			}
		}
		return jsonObject{"model": "m", "stream": true, "input": items, "tools": []jsonObject{{"type": "function", "name": "exec_command", "parameters": shellSchema("cmd")}}}
	}
	read := func(t *testing.T, events []json.RawMessage) (m moment) {
		arguments := ""
		for _, e := range events {
			v := parse[struct {
				Type  string
				Delta string
				Item  struct {
					CallID string `json:"call_id"`
				}
			}](t, e)
			switch v.Type {
			case "response.output_item.added":
				m.call = v.Item.CallID
			case "response.output_text.delta":
				m.text += v.Delta
			case "response.function_call_arguments.delta":
				arguments += v.Delta
			}
		}
		if m.call != "" {
			m.shell = commandIn(t, "cmd", arguments)
		}
		return m
	}
	return dialect{name: "responses", path: "/v1/responses", write: write, read: read}
}

func chatDialect() dialect {
	write := func(history []moment) any {
		messages := []jsonObject{{"role": "system", "content": "You are a coding agent."}}
		for _, m := range history {
			switch {
			case m.prompt != "":
				messages = append(messages, jsonObject{"role": "user", "content": m.prompt})
			case m.call != "":
				function := jsonObject{"name": "bash", "arguments": compactJSON(jsonObject{"command": m.shell})}
				messages = append(messages,
					jsonObject{"role": "assistant", "content": nil, "tool_calls": []jsonObject{{"id": m.call, "type": "function", "function": function}}},
					jsonObject{"role": "tool", "tool_call_id": m.call, "content": "ok"})
			default:
				messages = append(messages, jsonObject{"role": "assistant", "content": m.text})
			}
		}
		tool := jsonObject{"type": "function", "function": jsonObject{"name": "bash", "parameters": shellSchema("command")}}
		return jsonObject{"model": "m", "stream": true, "messages": messages, "tools": []jsonObject{tool}}
	}
	read := func(t *testing.T, events []json.RawMessage) (m moment) {
		arguments := ""
		for _, e := range events {
			for _, c := range parse[struct {
				Choices []struct {
					Delta struct {
						Content   string
						ToolCalls []struct {
							ID       string
							Function struct{ Arguments string }
						} `json:"tool_calls"`
					}
				}
			}](t, e).Choices {
				m.text += c.Delta.Content
				for _, call := range c.Delta.ToolCalls {
					m.call += call.ID
					arguments += call.Function.Arguments
				}
			}
		}
		if m.call != "" {
			m.shell = commandIn(t, "command", arguments)
		}
		return m
	}
	return dialect{name: "chat", path: "/v1/chat/completions", write: write, read: read}
}

func geminiDialect() dialect {
	write := func(history []moment) any {
		var contents []jsonObject
		add := func(role string, part jsonObject) {
			contents = append(contents, jsonObject{"role": role, "parts": []jsonObject{part}})
		}
		for _, m := range history {
			switch {
			case m.prompt != "":
				add("user", jsonObject{"text": m.prompt})
			case m.call != "":
				add("model", jsonObject{"functionCall": jsonObject{"name": "run_shell_command", "args": jsonObject{"command": m.shell}}})
				add("user", jsonObject{"functionResponse": jsonObject{"name": "run_shell_command", "response": jsonObject{"output": "ok"}}})
			default:
				add("model", jsonObject{"text": m.text})
			}
		}
		tool := jsonObject{"functionDeclarations": []jsonObject{{"name": "run_shell_command", "parametersJsonSchema": shellSchema("command")}}}
		return jsonObject{"contents": contents, "tools": []jsonObject{tool}}
	}
	read := func(t *testing.T, events []json.RawMessage) (m moment) {
		for _, e := range events {
			for _, c := range parse[struct {
				Candidates []struct {
					Content struct {
						Parts []struct {
							Text         string
							FunctionCall *struct {
								Name string
								Args struct{ Command string }
							}
						}
					}
				}
			}](t, e).Candidates {
				for _, p := range c.Content.Parts {
					m.text += p.Text
					if p.FunctionCall != nil {
						m.call, m.shell = p.FunctionCall.Name, p.FunctionCall.Args.Command
					}
				}
			}
		}
		return m
	}
	return dialect{name: "gemini", path: "/v1beta/models/m:streamGenerateContent?alt=sse", write: write, read: read}
}
