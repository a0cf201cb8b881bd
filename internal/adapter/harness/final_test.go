package harness

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
	"orange/internal/outputlog"
)

// word returns a text as JSON.
func word(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// A talk is a conversation as a harness records it: a prompt, a message, a tool with its
// output, and the last message.
type talk struct {
	harness  string
	headless bool
	between  func(i int) string // one more call of a tool
	last     func(text string) string
	head     string
}

const (
	thePrompt = "PROMPT do it and say WORK_RESULT"
	toolInput = "TOOL-INPUT echo it"
)

var toolPrint = strings.Repeat("TOOL-OUTPUT it\n", 400)

func talks() map[string]talk {
	at := `"timestamp":"2026-11-15T11:00:00Z"`
	return map[string]talk{
		"claude headless": {
			harness: "claude", headless: true,
			head: `{"type":"system","subtype":"init","session_id":"s1"}`,
			between: func(i int) string {
				return fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m%d","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":1}}}
{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m%d","content":[{"type":"tool_use","input":{"command":%s}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":%s}]},"parent_tool_use_id":null}`, i, i, word(toolInput), word(toolPrint))
			},
			last: func(text string) string {
				return `{"type":"assistant","parent_tool_use_id":null,"message":{"id":"last","content":[{"type":"text","text":` + word(text) + `}]}}` + "\n" +
					`{"type":"result","is_error":false,"result":` + word(text) + `,"usage":{"input_tokens":1}}`
			},
		},
		"claude at a terminal": {
			harness: "claude",
			head:    `{"type":"user","sessionId":"s1",` + at + `,"message":{"role":"user","content":` + word(thePrompt) + `}}`,
			between: func(i int) string {
				return fmt.Sprintf(`{"type":"assistant",%s,"message":{"id":"m%d","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":1}}}
{"type":"assistant",%s,"message":{"id":"m%d","content":[{"type":"tool_use","input":{"command":%s}}]}}
{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","content":%s}]}}`, at, i, at, i, word(toolInput), at, word(toolPrint))
			},
			last: func(text string) string {
				return `{"type":"assistant",` + at + `,"message":{"id":"last","content":[{"type":"text","text":` + word(text) + `}]}}` + "\n" + `{"type":"last-prompt","lastPrompt":` + word(thePrompt) + `}`
			},
		},
		"codex headless": {
			harness: "codex", headless: true,
			head: `{"type":"thread.started","thread_id":"s1"}`,
			between: func(int) string {
				return `{"type":"item.completed","item":{"type":"agent_message","text":"I look."}}` + "\n" +
					`{"type":"item.completed","item":{"type":"command_execution","command":` + word(toolInput) + `,"aggregated_output":` + word(toolPrint) + `}}`
			},
			last: func(text string) string {
				return `{"type":"item.completed","item":{"type":"agent_message","text":` + word(text) + `}}` + "\n" + `{"type":"turn.completed","usage":{"input_tokens":1}}`
			},
		},
		"codex at a terminal": {
			harness: "codex",
			head: `{"type":"session_meta",` + at + `,"payload":{"id":"s1"}}` + "\n" +
				`{"type":"response_item",` + at + `,"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":` + word(thePrompt) + `}]}}`,
			between: func(int) string {
				return `{"type":"response_item",` + at + `,"payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}}` + "\n" +
					`{"type":"response_item",` + at + `,"payload":{"type":"function_call","arguments":` + word(toolInput) + `}}` + "\n" +
					`{"type":"response_item",` + at + `,"payload":{"type":"function_call_output","output":` + word(toolPrint) + `}}`
			},
			last: func(text string) string {
				return `{"type":"response_item",` + at + `,"payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + word(text) + `}]}}` + "\n" +
					`{"type":"event_msg",` + at + `,"payload":{"type":"task_complete","last_agent_message":` + word(text) + `}}`
			},
		},
		"opencode headless": {
			harness: "opencode", headless: true,
			head: `{"type":"step_start","sessionID":"s1","part":{"messageID":"m"}}`,
			between: func(i int) string {
				return fmt.Sprintf(`{"type":"text","sessionID":"s1","part":{"messageID":"m%d","text":"I look."}}
{"type":"tool_use","sessionID":"s1","part":{"messageID":"m%d","state":{"input":{"command":%s},"output":%s}}}`, i, i, word(toolInput), word(toolPrint))
			},
			last: func(text string) string {
				return `{"type":"text","sessionID":"s1","part":{"messageID":"last","text":` + word(text) + `}}` + "\n" + `{"type":"step_finish","sessionID":"s1","part":{"messageID":"last","tokens":{"input":1}}}`
			},
		},
		"gemini headless": {
			harness: "gemini", headless: true,
			head: `{"type":"init","session_id":"s1"}` + "\n" + `{"type":"message","role":"user","content":` + word(thePrompt) + `}`,
			between: func(int) string {
				return `{"type":"message","role":"assistant","content":"I look.","delta":true}` + "\n" + `{"type":"tool_use","parameters":{"command":` + word(toolInput) + `}}` + "\n" + `{"type":"tool_result","output":` + word(toolPrint) + `}`
			},
			last: func(text string) string {
				var out strings.Builder
				for runes := []rune(text); len(runes) > 0; {
					n := min(len(runes), 50)
					out.WriteString(`{"type":"message","role":"assistant","delta":true,"content":` + word(string(runes[:n])) + `}` + "\n")
					runes = runes[n:]
				}
				return out.String() + `{"type":"result","status":"success","stats":{"input":1}}`
			},
		},
		"pi headless": {
			harness: "pi", headless: true,
			head: `{"type":"session","id":"s1"}`, between: piTalk("message_end"), last: piLast("message_end"),
		},
		"pi at a terminal": {
			harness: "pi",
			head:    `{"type":"session","id":"s1"}`, between: piTalk("message"), last: piLast("message"),
		},
	}
}

func piTalk(kind string) func(int) string {
	return func(int) string {
		return `{"type":"` + kind + `","message":{"role":"user","timestamp":1794740400000,"content":[{"type":"text","text":` + word(thePrompt) + `}]}}` + "\n" +
			`{"type":"` + kind + `","message":{"role":"assistant","timestamp":1794740400000,"content":[{"type":"text","text":"I look."},{"type":"toolCall","arguments":{"command":` + word(toolInput) + `}}]}}` + "\n" +
			`{"type":"` + kind + `","message":{"role":"toolResult","timestamp":1794740400000,"content":[{"type":"text","text":` + word(toolPrint) + `}]}}`
	}
}

func piLast(kind string) func(string) string {
	return func(text string) string {
		return `{"type":"` + kind + `","message":{"role":"assistant","timestamp":1794740400000,"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":` + word(text) + `}],"usage":{"input":1}}}`
	}
}

// output writes a conversation down: its head, bytes of work, and its end. Of more work
// than anybody reads the middle is a hole.
func (c talk) output(t testing.TB, work int64, end string) Output {
	t.Helper()
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var chunk strings.Builder
	for i := 0; chunk.Len() < 1<<20 && int64(chunk.Len()) < work; i++ {
		chunk.WriteString(c.between(i) + "\n")
	}
	text := []byte(c.head + "\n" + chunk.String())
	for size := int64(0); err == nil && size < work; size += int64(chunk.Len()) {
		_, err = f.Write(text)
		text = []byte(chunk.String())
		if hole := work - size - 2*maxTail; err == nil && size == 0 && hole > 0 {
			size, err = f.Seek(hole, io.SeekCurrent)
			text = append([]byte("\n"), text...)
		}
	}
	if err == nil && work == 0 {
		_, err = f.WriteString(c.head + "\n")
	}
	if err == nil {
		_, err = f.WriteString(end + "\n")
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	out := Output{Output: agent.Output{Headless: c.headless, Since: noon.Add(-2 * time.Hour)}, Now: noon}
	if c.headless {
		out.Log = path
	} else {
		out.Transcript = path
	}
	return out
}

func TestFinalMessages(t *testing.T) {
	const mark = "<!-- WORK_RESULT:passed -->"
	long := strings.Repeat("a line of words, größer\n", maxFinal/27)
	for name, c := range talks() {
		for _, m := range []struct {
			name, said, want string
			after            []int64 // bytes of work
		}{
			{"lines", "One.\n\n\ttwo\r\n```\nthree\n```\n" + mark + "\n", "One.\n\n\ttwo\n```\nthree\n```\n" + mark, []int64{0, 300 << 10, 6 << 20}},
			{"steers a terminal", "a\x1b[31mred\x1b[0m\x07\x00\u202eb\u0085" + mark, "aredb " + mark, []int64{0}},
			{"nearly a megabyte", long + mark, long + mark, []int64{6 << 20}},
			{"several megabytes", strings.Repeat("x", maxFinal) + "é\n" + long + long + mark, "", []int64{0}},
		} {
			for _, work := range m.after {
				if m.want == "" {
					m.want = cutNote + strings.ToValidUTF8(m.said[len(m.said)-maxFinal:], "")
				}
				got := find(t, c.harness).ReadOutput(c.output(t, work, c.last(m.said)))
				if got.Final != m.want {
					t.Errorf("%s, %s after %d bytes: %d bytes, want %d: %.80q ... %q", name, m.name, work, len(got.Final), len(m.want), got.Final, tailOf(got.Final))
				}
				if got.Session != "s1" || got.Condition.Name != "" {
					t.Errorf("%s, %s after %d bytes: session %q, condition %q", name, m.name, work, got.Session, got.Condition.Name)
				}
			}
		}
	}
}

func tailOf(s string) string { return s[max(0, len(s)-60):] }

// TestNothingElseIsAFinalMessage reads conversations that were interrupted in a tool: the last
// message counts, never the input or output of a tool.
func TestNothingElseIsAFinalMessage(t *testing.T) {
	for name, c := range talks() {
		for _, work := range []int64{0, 6 << 20} {
			got := find(t, c.harness).ReadOutput(c.output(t, work, c.between(1_000_000)))
			if got.Final != "I look." {
				t.Errorf("%s after %d bytes: %.80q", name, work, got.Final)
			}
		}
		if got := find(t, c.harness).ReadOutput(c.output(t, 0, "")); got.Final != "" {
			t.Errorf("%s, nothing said: %.80q", name, got.Final)
		}
	}
}

// TestClaudeSaysItsMessageInParts joins the parts of one message, which are separate records;
// the last line of a run contains only the last of them.
func TestClaudeSaysItsMessageInParts(t *testing.T) {
	for name, c := range talks() {
		if c.harness != "claude" {
			continue
		}
		first := `{"type":"assistant","timestamp":"2026-11-15T11:00:00Z","parent_tool_use_id":null,"message":{"id":"last","content":[{"type":"text","text":"first"}]}}`
		for _, work := range []int64{0, 6 << 20} {
			if got := find(t, "claude").ReadOutput(c.output(t, work, first+"\n"+c.last("second"))); got.Final != "first\nsecond" {
				t.Errorf("%s after %d bytes: %.80q", name, work, got.Final)
			}
		}
	}
	c := talks()["claude headless"]
	end := c.last("said") + "\n" + `{"type":"result","is_error":false,"result":"","usage":{"input_tokens":3}}`
	if got := find(t, "claude").ReadOutput(c.output(t, 0, end)); got.Final != "said" || got.Usage == nil || got.Usage.InputTokens != 3 {
		t.Errorf("a run that ends without words: %+v", got)
	}
}

func TestTheEndOfALongLog(t *testing.T) {
	for _, c := range []struct {
		name, log, want string
	}{
		{"short", "a\n\x1b[1mb\x1b[0m\n", "a\nb"},
		{"a megabyte", strings.Repeat("x", maxFinal-5) + "\nend\n", strings.Repeat("x", maxFinal-5) + "\nend"},
		{"more", "begin" + strings.Repeat("x", maxFinal) + "\nend", cutNote + strings.Repeat("x", maxFinal-4) + "\nend"},
		{"nothing", "", ""},
	} {
		got := find(t, "command:x").ReadOutput(Output{Output: agent.Output{Log: logged(t, c.log), Headless: true}, Now: noon})
		if got.Final != c.want {
			t.Errorf("%s: %d bytes, want %d: %.60q", c.name, len(got.Final), len(c.want), got.Final)
		}
		if got := find(t, "command:x").ReadOutput(Output{Output: agent.Output{Log: logged(t, c.log)}, Now: noon}); got.Final != "" {
			t.Errorf("%s, at a terminal: %.60q", c.name, got.Final)
		}
	}
}

// TestABoundedOutputIsReadAsIfItWereWhole compares what is read of an output that is bounded
// with what is read of the same output in one file.
func TestABoundedOutputIsReadAsIfItWereWhole(t *testing.T) {
	if outputlog.HeadSize < headSize || outputlog.SegmentSize < maxTail {
		t.Errorf("of an output %d and %d bytes are kept, and %d and %d are read", outputlog.HeadSize, outputlog.SegmentSize, headSize, maxTail)
	}
	for name, c := range talks() {
		if !c.headless {
			continue
		}
		whole := c.output(t, outputlog.MaxSize+(5<<20), c.last("said\n"+strings.Repeat("y", 100_000)))
		bounded := whole
		bounded.Log = filepath.Join(t.TempDir(), "output.log")
		text, err := os.ReadFile(whole.Log)
		if err != nil {
			t.Fatal(err)
		}
		w, err := outputlog.Append(bounded.Log)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		w.Close() //nolint:errcheck // what was written is read below
		want, got := find(t, c.harness).ReadOutput(whole), find(t, c.harness).ReadOutput(bounded)
		if !strings.HasPrefix(want.Final, "said\n") {
			t.Errorf("%s: %.80q", name, want.Final)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-whole +bounded):\n%s", name, diff)
		}
	}
}

// TestUsageOfOneAttemptInALongSession finds what this attempt consumed in a session of
// many, if what it did itself is at the end.
func TestUsageOfOneAttemptInALongSession(t *testing.T) {
	begun := noon
	count := func(total, last int, at time.Time) string {
		return fmt.Sprintf(`{"type":"event_msg","timestamp":%q,"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":%d}}}}`, at.Format(time.RFC3339), total, last)
	}
	claudes := func(id string, at time.Time) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"id":%q,"content":[{"type":"text","text":"x"}],"usage":{"input_tokens":7}}}`, at.Format(time.RFC3339), id)
	}
	pis := func(at time.Time) string {
		return fmt.Sprintf(`{"type":"message","message":{"role":"assistant","timestamp":%d,"content":[{"type":"text","text":"x"}],"usage":{"input":7}}}`, at.UnixMilli())
	}
	before, after := begun.Add(-time.Minute), begun.Add(time.Minute)
	for _, c := range []struct {
		talk, end string
		want      int64
	}{
		{"claude at a terminal", claudes("a", before) + "\n" + claudes("b", after) + "\n" + claudes("b", after) + "\n" + claudes("c", after), 14},
		{"codex at a terminal", count(100, 5, before) + "\n" + count(110, 10, after) + "\n" + count(125, 15, after), 25},
		{"pi at a terminal", pis(before) + "\n" + pis(after) + "\n" + pis(after), 14},
	} {
		for _, work := range []int64{0, 6 << 20} {
			talk := talks()[c.talk]
			o := talk.output(t, work, c.end)
			o.Since = begun
			if got := find(t, talk.harness).ReadOutput(o); got.Usage == nil || got.Usage.InputTokens != c.want {
				t.Errorf("%s after %d bytes: %+v, want %d", c.talk, work, got.Usage, c.want)
			}
		}
	}
	// What codex spent in the part that is not read is not counted as this attempt's.
	talk := talks()["codex at a terminal"]
	var own strings.Builder
	for own.Len() < 2<<20 {
		own.WriteString(strings.ReplaceAll(talk.between(0), "11:00:00", "12:01:00") + "\n")
	}
	o := talk.output(t, 6<<20, count(100, 5, before)+"\n"+count(110, 10, after)+"\n"+own.String()+count(125, 15, after))
	o.Since = begun
	if got := find(t, "codex").ReadOutput(o); got.Usage == nil || got.Usage.InputTokens != 15 {
		t.Errorf("codex, far: %+v", got.Usage)
	}
}

func benchmarkFinal(b *testing.B, size int64) {
	for _, name := range []string{"claude at a terminal", "claude headless", "codex headless", "gemini headless", "opencode headless", "pi at a terminal"} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			c := talks()[name]
			o, h := c.output(b, size, c.last("done")), find(b, c.harness)
			b.ReportAllocs()
			for b.Loop() {
				if n := h.ReadOutput(o); n.Final != "done" {
					b.Fatalf("said %q", n.Final)
				}
			}
		})
	}
}

func BenchmarkFinalMessage(b *testing.B) {
	b.Run("1MB", func(b *testing.B) { benchmarkFinal(b, 1<<20) })
	b.Run("1GB", func(b *testing.B) { benchmarkFinal(b, 1<<30) })
}

// FuzzRead reads anything as what an agent left behind: whatever is found is text that
// steers no terminal.
func FuzzRead(f *testing.F) {
	for _, c := range talks() {
		f.Add(c.head + "\n" + c.last("said \x1b[31m\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), scriptTranscript)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range append(agent.HarnessNames(), "command:x", "script") {
			for _, headless := range []bool{true, false} {
				n := find(t, name).ReadOutput(Output{Output: agent.Output{Log: path, Transcript: path, Headless: headless, Since: noon.Add(-time.Hour)}, Now: noon})
				if n.Final != cleanProse(n.Final) || n.Session != "" && !plainID(n.Session) || len(n.Condition.Detail) > maxDetail {
					t.Errorf("%s: %+v", name, n)
				}
			}
		}
	})
}
