package harness

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

const (
	aSession = "11111111-2222-4333-8444-555555555555"
	common   = `"session_id":"` + aSession + `","transcript_path":"/home/u/t.jsonl","cwd":"/work/tree"`
)

// with returns a Notice with what every payload of claude, codex and gemini contains.
func with(n agent.Notice) agent.Notice {
	n.Session, n.Transcript = aSession, "/home/u/t.jsonl"
	return n
}

func TestHook(t *testing.T) {
	for _, c := range []struct {
		harness, event, payload string
		want                    agent.Notice
	}{
		{"claude", "SessionStart", `{` + common + `,"hook_event_name":"SessionStart","source":"startup"}`, with(agent.Notice{})},
		{"claude", "UserPromptSubmit", `{` + common + `,"permission_mode":"bypassPermissions","prompt":"-x"}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}, Prompted: true})},
		{"claude", "PostToolUse", `{` + common + `,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":""}}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}})},
		{"claude", "PermissionRequest", `{` + common + `,"tool_name":"Bash","tool_input":{"command":"touch x\u001b[31m","description":"make it"}}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "Bash: touch x (make it)"}})},
		{"claude", "PermissionRequest", `{` + common + `,"tool_name":"Edit","tool_input":{"file_path":"/etc/hosts","new_string":"x"}}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "Edit: /etc/hosts"}})},
		{"claude", "PermissionRequest", `{` + common + `,"tool_name":"ExitPlanMode","tool_input":{"plan":"first this"}}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: `ExitPlanMode: {"plan":"first this"}`}})},
		{"claude", "PermissionRequest", `{` + common + `,"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingInput, Detail: "Which colour? [1] Red [2] Blue"}})},
		{"claude", "Notification", `{` + common + `,"message":"Claude needs your permission","notification_type":"permission_prompt"}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "Claude needs your permission"}})},
		{"claude", "Notification", `{` + common + `,"message":"Signed in","notification_type":"auth_success"}`, with(agent.Notice{Condition: task.Condition{Detail: "Signed in"}})},
		{"claude", "Stop", `{` + common + `,"stop_hook_active":false,"last_assistant_message":"All done. <!-- WORK_RESULT:passed -->","background_tasks":[]}`, with(agent.Notice{Condition: task.Condition{Name: task.Idle}, Final: "All done. <!-- WORK_RESULT:passed -->"})},
		{"claude", "Stop", `{` + common + `,"last_assistant_message":"Waiting.","background_tasks":[{"id":"b1"}]}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}, Final: "Waiting."})},
		{"claude", "StopFailure", `{` + common + `,"error":"rate_limit","last_assistant_message":"You've hit your session limit · resets 3pm (UTC)"}`, with(agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "You've hit your session limit · resets 3pm (UTC)", Until: noon.Add(3 * time.Hour)}})},
		{"claude", "StopFailure", `{` + common + `,"error":"rate_limit","last_assistant_message":"Fable requires credits"}`, with(agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "rate limit: Fable requires credits", Until: noon.Add(time.Hour)}})},
		{"claude", "StopFailure", `{` + common + `,"error":"authentication_failed","last_assistant_message":"Please run /login"}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingInput, Detail: "Please run /login"}})},
		{"claude", "StopFailure", `{` + common + `,"error":"server_error","last_assistant_message":"API Error: 500"}`, with(agent.Notice{Condition: task.Condition{Name: task.TurnFailed, Detail: "API Error: 500"}})},
		{"claude", "SessionEnd", `{` + common + `,"reason":"other"}`, with(agent.Notice{})},
		{"claude", "TeammateIdle", `{` + common + `}`, agent.Notice{}},

		{"codex", "SessionStart", `{` + common + `,"model":"m","source":"startup"}`, with(agent.Notice{})},
		{"codex", "UserPromptSubmit", `{` + common + `,"turn_id":"t","prompt":"x"}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}, Prompted: true})},
		{"codex", "PermissionRequest", `{` + common + `,"tool_name":"Bash","tool_input":{"command":"touch /etc/x","description":"Need to write"}}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "Bash: touch /etc/x (Need to write)"}})},
		{"codex", "Stop", `{` + common + `,"stop_hook_active":false,"last_assistant_message":"echoed"}`, with(agent.Notice{Condition: task.Condition{Name: task.Idle}, Final: "echoed"})},
		{"codex", "Stop", `{` + common + `,"last_assistant_message":null}`, with(agent.Notice{Condition: task.Condition{Name: task.Idle}})},
		{"codex", "notify", `{"type":"agent-turn-complete","thread-id":"01a1-b","input-messages":["x"],"last-assistant-message":"done"}`, agent.Notice{Condition: task.Condition{Name: task.Idle}, Session: "01a1-b", Final: "done"}},
		{"codex", "notify", `{"type":"other"}`, agent.Notice{}},
		{"codex", "PreCompact", `{}`, agent.Notice{}},

		{"gemini", "BeforeAgent", `{` + common + `,"timestamp":"2026-11-15T06:09:58.520Z","prompt":"x"}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}, Prompted: true})},
		{"gemini", "AfterAgent", `{` + common + `,"prompt":"x","prompt_response":"echoed","stop_hook_active":false}`, with(agent.Notice{Condition: task.Condition{Name: task.Idle}, Final: "echoed"})},
		{"gemini", "Notification", `{` + common + `,"notification_type":"ToolPermission","message":"Tool Confirm Shell Command requires execution","details":{"type":"exec","title":"Confirm Shell Command","command":"rm x"}}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "Confirm Shell Command: rm x"}})},
		{"gemini", "Notification", `{` + common + `,"notification_type":"ToolPermission","message":"Tool Edit requires editing","details":{}}`, with(agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "Tool Edit requires editing"}})},
		{"gemini", "AfterTool", `{` + common + `,"tool_name":"x"}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}})},
		{"gemini", "BeforeModel", `{` + common + `}`, agent.Notice{}},

		{"opencode", "session.created", `{"type":"session.created","properties":{"sessionID":"ses_1","info":{"id":"ses_1"}}}`, agent.Notice{Session: "ses_1"}},
		{"opencode", "chat.message", `{"properties":{"sessionID":"ses_1"}}`, agent.Notice{Condition: task.Condition{Name: task.Running}, Session: "ses_1", Prompted: true}},
		{"opencode", "session.status", `{"properties":{"sessionID":"ses_1","status":{"type":"busy"}}}`, agent.Notice{Condition: task.Condition{Name: task.Running}, Session: "ses_1"}},
		{"opencode", "session.status", `{"properties":{"sessionID":"ses_1","status":{"type":"retry","attempt":1,"message":"The usage limit has been reached","next":1794745800000}}}`, agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "The usage limit has been reached", Until: noon.Add(30 * time.Minute)}, Session: "ses_1"}},
		{"opencode", "session.status", `{"properties":{"sessionID":"ses_1","status":{"type":"retry","attempt":1,"message":"Overloaded","next":1794744030000}}}`, agent.Notice{Condition: task.Condition{Name: task.Running}, Session: "ses_1"}},
		{"opencode", "session.status", `{"properties":{"sessionID":"ses_1","status":{"type":"retry","attempt":1,"message":"Come back later","next":1794745800000}}}`, agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "Come back later", Until: noon.Add(30 * time.Minute)}, Session: "ses_1"}},
		{"opencode", "permission.asked", `{"properties":{"id":"per_1","sessionID":"ses_2","permission":"bash","patterns":["pwd"],"metadata":{"command":"pwd >> x"}}}`, agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "bash: pwd >> x"}}},
		{"opencode", "permission.asked", `{"properties":{"sessionID":"ses_2","permission":"webfetch","patterns":["https://a","https://b"],"metadata":{}}}`, agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: "webfetch: https://a https://b"}}},
		{"opencode", "permission.replied", `{"properties":{"sessionID":"ses_2","reply":"once"}}`, agent.Notice{Condition: task.Condition{Name: task.Running}}},
		{"opencode", "question.asked", `{"properties":{"sessionID":"ses_1","questions":[{"question":"Which?","options":[{"label":"A"}]}]}}`, agent.Notice{Condition: task.Condition{Name: task.WaitingInput, Detail: "Which? [1] A"}}},
		{"opencode", "session.idle", `{"properties":{"sessionID":"ses_1"},"final":"echoed","failure":"","usage":{"input":10,"output":5,"cache":2,"cost":0.5}}`, agent.Notice{Condition: task.Condition{Name: task.Idle}, Session: "ses_1", Final: "echoed", Usage: usage(10, 5, 2, 500000)}},
		{"opencode", "session.idle", `{"properties":{"sessionID":"ses_1"},"final":"","failure":"APIError: rate limit exceeded, retry in 2h"}`, agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "APIError: rate limit exceeded, retry in 2h", Until: noon.Add(2 * time.Hour)}, Session: "ses_1"}},
		{"opencode", "session.idle", `{"properties":{"sessionID":"ses_1"},"failure":"APIError: no such model"}`, agent.Notice{Condition: task.Condition{Name: task.TurnFailed, Detail: "APIError: no such model"}, Session: "ses_1"}},
		{"opencode", "file.edited", `{"properties":{}}`, agent.Notice{}},

		{"pi", "session_start", `{` + common + `}`, with(agent.Notice{})},
		{"pi", "input", `{` + common + `}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}, Prompted: true})},
		{"pi", "agent_start", `{` + common + `}`, with(agent.Notice{Condition: task.Condition{Name: task.Running}})},
		{"pi", "agent_end", `{` + common + `,"final":"done","error":"","usage":{"input":30,"output":15,"cache":0,"cost":0.00006}}`, with(agent.Notice{Condition: task.Condition{Name: task.Idle}, Final: "done", Usage: usage(30, 15, 0, 60)})},
		{"pi", "agent_end", `{` + common + `,"final":"","error":"429 You have hit your ChatGPT usage limit (plus plan). Try again in ~66 min.","usage":{}}`, with(agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "429 You have hit your ChatGPT usage limit (plus plan). Try again in ~66 min.", Until: noon.Add(66 * time.Minute)}})},
		{"pi", "turn_end", `{` + common + `}`, agent.Notice{}},

		{"script", "prompt", `{}`, agent.Notice{Condition: task.Condition{Name: task.Running}, Prompted: true}},
		{"script", "limit", `{"text":"wait","until":"2026-11-15T12:30:00Z"}`, agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "wait", Until: noon.Add(30 * time.Minute)}}},
		{"script", "usage", `{"usage":{"input":1,"output":2,"cost":0.01}}`, agent.Notice{Usage: usage(1, 2, 0, 10000)}},
		{"script", "nothing", `{}`, agent.Notice{}},
		{"command:x", "Stop", `not JSON`, agent.Notice{}},
	} {
		t.Run(c.harness+"/"+c.event, func(t *testing.T) {
			n, err := find(t, c.harness).ParseHook(c.event, []byte(c.payload), noon)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, n); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHooksTrustNoPayload(t *testing.T) {
	for _, name := range append(agent.HarnessNames(), "script") {
		h := find(t, name)
		for payload, want := range map[string]string{
			"":          name + " hook Stop: the payload is not JSON",
			"{":         name + " hook Stop: the payload is not JSON",
			`[{"a":1}]`: name + " hook Stop: the payload is not what this version of " + name + " is known to send",
		} {
			if _, err := h.ParseHook("Stop", []byte(payload), noon); err == nil || err.Error() != want {
				t.Errorf("%q: %v, want %s", payload, err, want)
			}
		}
		if _, err := h.ParseHook("Stop", make([]byte, maxPayload+1), noon); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%s takes a payload of any size: %v", name, err)
		}
	}
	n, err := claude{}.ParseHook("Stop", []byte(`{"session_id":"--resume","transcript_path":"a\nb","last_assistant_message":"\u001b]0;title\u0007hi\r\n\u0000there\u202e"}`), noon)
	if want := (agent.Notice{Condition: task.Condition{Name: task.Idle}, Final: "hi\nthere"}); err != nil || !cmp.Equal(n, want) {
		t.Errorf("%+v, %v", n, err)
	}
	long := `{"tool_name":"Bash","tool_input":{"command":"` + strings.Repeat("é ", 2000) + `"}}`
	if n, err := (claude{}).ParseHook("PermissionRequest", []byte(long), noon); err != nil || len(n.Condition.Detail) > maxDetail || !strings.HasSuffix(n.Condition.Detail, "é") {
		t.Errorf("detail of %d bytes: %q, %v", len(n.Condition.Detail), n.Condition.Detail, err)
	}
}

func usage(input, output, cached, micros int64) *task.Usage {
	return &task.Usage{InputTokens: input, OutputTokens: output, CachedTokens: cached, CostMicroUSD: micros, CostReported: micros > 0}
}
