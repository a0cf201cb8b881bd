package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

func sample(name string) string { return filepath.Join("testdata", "read", name+".jsonl") }

func TestRead(t *testing.T) {
	const done = "All done. <!-- WORK_RESULT:passed -->"
	codexLimit := "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 8:06 AM."
	for _, c := range []struct {
		name, harness string
		out           Output
		want          agent.Notice
	}{
		{"claude headless", "claude", Output{Output: agent.Output{Log: sample("claude-stream"), Headless: true}}, agent.Notice{Session: "cf70eebd-cf9d-4aa7-8369-b999ceb63253", Final: done, Usage: usage(30, 15, 0, 525), Model: "claude-opus-4-8"}},
		{"claude at a terminal, both attempts", "claude", Output{Output: agent.Output{Transcript: sample("claude-transcript")}}, agent.Notice{Session: "77606567-d01a-46fc-921e-c7ad7c5b4dc0", Final: done, Usage: usage(60, 30, 0, 0), Model: "claude-opus-4-8"}},
		{"claude at a terminal, the second attempt", "claude", Output{Output: agent.Output{Transcript: sample("claude-transcript"), Since: time.Date(2026, 11, 15, 6, 38, 0, 0, time.UTC)}}, agent.Notice{Session: "77606567-d01a-46fc-921e-c7ad7c5b4dc0", Final: done, Usage: usage(30, 15, 0, 0), Model: "claude-opus-4-8"}},
		{"claude limited", "claude", Output{Output: agent.Output{Transcript: sample("claude-transcript-limit")}}, agent.Notice{
			Condition: task.Condition{Name: task.Limited, Detail: "rate limit: API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
				Until: noon.Add(time.Hour)}, Session: aSession, Final: done, Usage: usage(30, 15, 0, 0), Model: "claude-opus-4-8",
		}},
		{"codex headless", "codex", Output{Output: agent.Output{Log: sample("codex-stream"), Headless: true}}, agent.Notice{Session: "01a1dde8-3a6d-7bf2-b547-481e7817603f", Final: done, Usage: usage(30, 15, 0, 0)}},
		{"codex limited", "codex", Output{Output: agent.Output{Transcript: sample("codex-transcript-limit")}}, agent.Notice{
			Condition: task.Condition{Name: task.Limited, Detail: codexLimit, Until: time.Date(2026, 11, 16, 8, 6, 0, 0, time.UTC)},
			Session:   "01a1ddc4-4d01-79a1-812f-b9c80f4b7656", Final: done, Usage: usage(30, 15, 0, 0),
		}},
		{"codex resumed, nothing spent", "codex", Output{Output: agent.Output{Transcript: sample("codex-transcript-limit"), Since: time.Date(2026, 11, 15, 5, 53, 30, 0, time.UTC)}}, agent.Notice{
			Condition: task.Condition{Name: task.Limited, Detail: codexLimit, Until: time.Date(2026, 11, 16, 8, 6, 0, 0, time.UTC)}, Session: "01a1ddc4-4d01-79a1-812f-b9c80f4b7656",
		}},
		{"opencode headless", "opencode", Output{Output: agent.Output{Log: sample("opencode-stream"), Headless: true}}, agent.Notice{Session: "ses_e22171de2ffeRWnuWyGl6K0ztX", Final: done, Usage: usage(30, 15, 0, 0)}},
		{"opencode at a terminal", "opencode", Output{Output: agent.Output{Log: sample("opencode-stream")}}, agent.Notice{}},
		{"gemini headless", "gemini", Output{Output: agent.Output{Log: sample("gemini-stream"), Headless: true}}, agent.Notice{Session: "4e88e819-4cd1-4623-b8fb-b3425a346bc8", Final: done, Usage: usage(30, 15, 0, 0), Model: "gemini-2.5-flash"}},
		{"gemini at a terminal, the second attempt", "gemini", Output{Output: agent.Output{Transcript: sample("gemini-transcript"), Since: time.Date(2026, 11, 15, 6, 39, 0, 0, time.UTC)}}, agent.Notice{Session: "89ec5e6e-103b-4d3b-98b3-6a60f24b24c1", Usage: usage(30, 15, 0, 0), Model: "gemini-2.5-flash"}},
		{"pi headless", "pi", Output{Output: agent.Output{Log: sample("pi-stream"), Headless: true}}, agent.Notice{Session: "01a1dde8-b1ba-718b-a106-cafcf27d9b72", Final: done, Usage: usage(30, 15, 0, 60), Model: "model-1"}},
		{"pi, the second attempt", "pi", Output{Output: agent.Output{Log: sample("pi-stream"), Transcript: sample("pi-transcript"), Headless: true, Since: time.Date(2026, 11, 15, 6, 33, 0, 0, time.UTC)}}, agent.Notice{Session: "01a1dde8-b1ba-718b-a106-cafcf27d9b72", Final: "echoed", Usage: usage(10, 5, 0, 20), Model: "model-1"}},
		{"pi limited", "pi", Output{Output: agent.Output{Transcript: sample("pi-transcript-limit")}}, agent.Notice{
			Condition: task.Condition{Name: task.Limited, Detail: "429 You have hit your ChatGPT usage limit (plus plan). Try again in ~66 min.", Until: noon.Add(66 * time.Minute)}, Session: "01a1ddd2-0d0d-7757-8592-3b0a8ea6869a",
		}},
		{"no files", "claude", Output{Output: agent.Output{Log: "testdata/none", Transcript: "testdata/none", Headless: true}}, agent.Notice{}},
		{"a folder", "codex", Output{Output: agent.Output{Log: "testdata", Headless: true}}, agent.Notice{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.out.Now = noon
			if diff := cmp.Diff(c.want, find(t, c.harness).ReadOutput(c.out)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func logged(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadOfLines(t *testing.T) {
	limitedUntil := func(detail string, until time.Time) agent.Notice {
		return agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: detail, Until: until}}
	}
	for _, c := range []struct {
		name, harness, log string
		want               agent.Notice
	}{
		{
			"claude is rejected and says when it resets", "claude",
			`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794751200,"rateLimitType":"five_hour"}}
{"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"You've hit your session limit"}]}}
{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your session limit"}`,
			limitedUntil("usage limit reached: five hour resets at 2026-11-15T14:00:00Z", noon.Add(2*time.Hour)),
		},
		{
			"claude goes on after a rejection", "claude",
			`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794751200}}
{"type":"result","subtype":"success","is_error":false,"result":"done"}`,
			agent.Notice{Final: "done"},
		},
		{
			"claude fails for another reason", "claude",
			`{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"API Error: 400 bad request"}`,
			agent.Notice{Failure: "API Error: 400 bad request"},
		},
		{
			"claude was killed: its last message counts, not that of a subagent", "claude",
			`{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":"mine"}]}}
{"type":"assistant","parent_tool_use_id":"toolu_1","message":{"content":[{"type":"text","text":"its own"}]}}
{"type":"assistant","parent_tool_use_id":null,"mess`,
			agent.Notice{Final: "mine"},
		},
		{
			"what an agent says about limits is not a limit", "claude",
			`{"type":"assistant","message":{"content":[{"type":"text","text":"You've hit your usage limit, resets 3pm"}]}}
{"type":"result","is_error":false,"result":"I fixed the 429 rate limit"}`,
			agent.Notice{Final: "I fixed the 429 rate limit"},
		},
		{
			"codex fails at a limit", "codex",
			`{"type":"turn.started"}
{"type":"item.completed","item":{"type":"error","message":"model metadata not found"}}
{"type":"error","message":"You've hit your usage limit. Try again in 2h."}
{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again in 2h."}}`,
			limitedUntil("You've hit your usage limit. Try again in 2h.", noon.Add(2*time.Hour)),
		},
		{
			"codex reads cached tokens", "codex",
			`{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}`,
			agent.Notice{Usage: usage(40, 7, 60, 0)},
		},
		{
			"opencode says its last message in parts", "opencode",
			`{"type":"text","sessionID":"ses_1","part":{"messageID":"m1","text":"first"}}
{"type":"text","sessionID":"ses_1","part":{"messageID":"m2","text":"one"}}
{"type":"text","sessionID":"ses_1","part":{"messageID":"m2","text":"two"}}
{"type":"step_finish","part":{"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}},"cost":0.25}}`,
			agent.Notice{Session: "ses_1", Final: "one\ntwo", Usage: usage(1, 5, 9, 250000)},
		},
		{
			"opencode gives up", "opencode",
			`{"type":"error","sessionID":"ses_1","error":{"name":"APIError","data":{"message":"Too Many Requests"}}}`,
			agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "APIError: Too Many Requests", Until: noon.Add(time.Hour)}, Session: "ses_1"},
		},
		{
			"gemini says its last message in pieces", "gemini",
			`{"type":"message","role":"assistant","content":"I look.","delta":true}
{"type":"tool_use","tool_name":"x"}
{"type":"message","role":"assistant","content":"All ","delta":true}
YOLO mode is enabled.
{"type":"message","role":"assistant","content":"done.","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":9,"input":6,"cached":3,"output_tokens":2}}`,
			agent.Notice{Final: "All done.", Usage: usage(6, 2, 3, 0)},
		},
		{
			"gemini has no quota", "gemini",
			`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: You have exhausted your daily quota on this model.]"},"stats":{}}`,
			limitedUntil("[API Error: You have exhausted your daily quota on this model.]", noon.Add(time.Hour)),
		},
		{"pi goes on after an error", "pi",
			`{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 rate limit"}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}`,
			agent.Notice{Final: "done"}},
		{"numbers that cannot be", "claude", `{"type":"result","is_error":false,"result":"x","total_cost_usd":-1,"usage":{"input_tokens":-5,"output_tokens":1e300}}`, agent.Notice{Final: "x"}},
		{"a program that says nothing about itself", "command:x", "one\r\n\x1b[1mtwo\x1b[0m\n\n", agent.Notice{Final: "one\ntwo"}},
		{"a program that ends at a limit", "command:x", "working\nError: 429 Too Many Requests\n", agent.Notice{
			Condition: task.Condition{Name: task.Limited, Detail: "working Error: 429 Too Many Requests", Until: noon.Add(time.Hour)}, Final: "working\nError: 429 Too Many Requests",
		}},
		{"a program that worked on limits", "command:x", "fixed the rate limit\n1\n2\n3\n", agent.Notice{Final: "fixed the rate limit\n1\n2\n3"}},
		{"a script that ends at a limit", "script", "x\n" + limitLine + "2026-11-15T12:30:00.25Z\n", agent.Notice{
			Condition: task.Condition{Name: task.Limited, Detail: limitLine + "2026-11-15T12:30:00.25Z", Until: noon.Add(30*time.Minute + 250*time.Millisecond)}, Final: "x\n" + limitLine + "2026-11-15T12:30:00.25Z",
		}},
		{"a script that prints about limits", "script", "429 rate limit\n", agent.Notice{Final: "429 rate limit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := find(t, c.harness).ReadOutput(Output{Output: agent.Output{Log: logged(t, c.log), Headless: true}, Now: noon})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadOfAGigabyte reads a log with a hole in it: only its ends may be read.
func TestReadOfAGigabyte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	head := `{"type":"thread.started","thread_id":"01a1-x"}` + "\n"
	tail := "\n" + `{"type":"item.completed","item":{"type":"agent_message","text":"done"}}` + "\n"
	_, err1 := f.WriteAt([]byte(head), 0)
	_, err2 := f.WriteAt([]byte(tail), 1<<30)
	if err := f.Close(); err != nil || err1 != nil || err2 != nil {
		t.Fatal(err, err1, err2)
	}
	for _, name := range append(agent.HarnessNames(), "command:x", "script") {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := find(t, name).ReadOutput(Output{Output: agent.Output{Log: path, Transcript: path, Headless: true}, Now: noon})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
			t.Errorf("%s allocates %d MB", name, used>>20)
		}
		if name == "codex" && (n.Session != "01a1-x" || n.Final != "done") {
			t.Errorf("codex: %+v", n)
		}
	}
}

func TestLinesAreReadOnce(t *testing.T) {
	type numbered struct{ N int }
	for _, size := range []int{0, 10, headSize, firstStep + headSize + 1, 5 * firstStep, wholeSize - 20, wholeSize + 1000} {
		var text strings.Builder
		total := 0
		for ; text.Len() < size; total++ {
			fmt.Fprintf(&text, `{"n":%d,"words":%q}`+"\n", total, strings.Repeat("x", total%400))
		}
		for name, look := range map[string]func([]numbered) found{
			"everything": func([]numbered) found { return nothing },
			"enough":     func([]numbered) found { return lastWord },
			"the end":    func([]numbered) found { return all },
		} {
			head, end := readEnds(logged(t, text.String()), look)
			for i, r := range head {
				if r.N != i {
					t.Fatalf("%s of %d bytes: line %d of the beginning is %d", name, size, i, r.N)
				}
			}
			for i, r := range end {
				if r.N != total-len(end)+i {
					t.Fatalf("%s of %d bytes: line %d of the end is %d of %d", name, size, i, r.N, total)
				}
			}
			whole := name == "everything" || name == "enough" && text.Len() <= wholeSize || text.Len() <= firstStep+headSize
			if got := len(head) + len(end); whole && got != total || !whole && (len(head) < 100 || len(end) < 100) {
				t.Errorf("%s of %d bytes: %d and %d of %d lines", name, size, len(head), len(end), total)
			}
		}
	}
}

func TestModelThatCodexReports(t *testing.T) {
	n := find(t, "codex").ReadOutput(Output{Output: agent.Output{Transcript: filepath.Join("testdata", "turns", "codex-transcript.jsonl")}, Now: noon})
	if n.Model != "scripted-1" {
		t.Errorf("model is %q", n.Model)
	}
}

// A cost of 0 that an agent reports is not the same as no cost.
func TestFreeIsNotUnmeasured(t *testing.T) {
	for name, c := range map[string]struct {
		harness, log string
		want         bool
	}{
		"claude reports 0":                       {"claude", `{"type":"result","result":"done","total_cost_usd":0,"usage":{"input_tokens":3}}`, true},
		"claude reports no cost":                 {"claude", `{"type":"result","result":"done","usage":{"input_tokens":3}}`, false},
		"codex reports no cost":                  {"codex", `{"type":"turn.completed","usage":{"input_tokens":3}}`, false},
		"opencode writes 0 for an unknown price": {"opencode", `{"type":"step_finish","part":{"cost":0,"tokens":{"input":3}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := find(t, c.harness).ReadOutput(Output{Output: agent.Output{Log: logged(t, c.log+"\n"), Headless: true}, Now: noon})
			if n.Usage == nil || n.Usage.HasCost() != c.want {
				t.Errorf("usage is %+v, want a known cost: %v", n.Usage, c.want)
			}
		})
	}
}
