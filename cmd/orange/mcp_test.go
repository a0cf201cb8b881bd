package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/task"
)

// piped writes one call of a tool down, as a program would pipe it into orange mcp.
func (s *env) piped(name, tool string, args map[string]any) {
	s.t.Helper()
	call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}})
	check(s.t, err)
	s.write(name, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+string(call)+"\n")
}

// answered is what the call that was piped in came to.
func (s *env) answered(name string) (text string, refused bool) {
	s.t.Helper()
	out, err := os.ReadFile(filepath.Join(s.dir, name))
	check(s.t, err)
	for line := range strings.Lines(string(out)) {
		var m struct {
			ID     int                `json:"id"`
			Result sdk.CallToolResult `json:"result"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			s.t.Fatalf("%s is not of the protocol: %q", name, line)
		}
		if m.ID == 2 {
			return m.Result.Content[0].(*sdk.TextContent).Text, m.Result.IsError
		}
	}
	s.t.Fatalf("there is no answer: %q", out)
	return "", false
}

// dialMCP speaks with orange mcp as a person does.
func (s *env) dialMCP(env ...string) *sdk.ClientSession {
	s.t.Helper()
	cmd := s.command(s.program, "mcp")
	cmd.Env = append(cmd.Env, env...)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(s.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	check(s.t, err)
	s.t.Cleanup(func() { c.Close() }) //nolint:errcheck // the program has ended
	return c
}

func (s *env) tool(c *sdk.ClientSession, name string, args map[string]any) (text string, refused bool) {
	s.t.Helper()
	res, err := c.CallTool(s.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		s.t.Fatalf("%s: the protocol failed: %v", name, err)
	}
	return res.Content[0].(*sdk.TextContent).Text, res.IsError
}

func TestAnAgentSpeaksMCPForItselfAlone(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	other := s.create("other", "worker:\n  - idle:\n", "--no-spawn")
	type step struct {
		tool string
		args map[string]any
	}
	steps := []step{
		{"show", nil},
		{"update", map[string]any{"task": string(other), "summary": "Mine"}},
		{"update", map[string]any{"to": "working"}},
		{"update", map[string]any{"verb": "stuck", "note": "which colour?"}},
		{"update", map[string]any{"to": "reviewing", "note": "blue is fine"}},
		{"approve", nil},
		{"update", map[string]any{"verb": "cancel"}},
		{"answer", map[string]any{"text": "blue"}},
	}
	script := "worker:\n  - section: {name: Plan, text: \"APPROACH: x\"}\n  - run: \"env > ../../../env\"\n  - commit: {file: a.txt, text: a, message: a}\n"
	for i, st := range steps {
		s.piped(fmt.Sprintf("ask%d", i), st.tool, st.args)
		script += fmt.Sprintf("  - run: \"orange mcp < ../../../ask%d > ../../../said%d\"\n", i, i)
	}
	script += "  - run: \"touch ../../../end\"\n  - idle:\nfixer:\n  - idle:\n"
	id := s.create("feature", script)
	s.eventually("the agent has asked", func() bool { return s.has("end") })

	for i, want := range []struct {
		text    string
		refused bool
	}{
		{"Task: " + string(id), false},
		{fmt.Sprintf("this is attempt 1 of task %s: it may not change task %s", id, other), true},
		{"planning -> working", false},
		{"working -> stuck", false},
		{"asks for reviewing: a person must agree", false},
		{"reviewing was asked for already, and waits for a person", true},
		{"actor: worker may not", true},
		{"", true},
	} {
		if text, refused := s.answered(fmt.Sprintf("said%d", i)); refused != want.refused || !strings.Contains(text, want.text) {
			t.Errorf("%s %v: refused %v: %q, want %q", steps[i].tool, steps[i].args, refused, text, want.text)
		}
	}
	if got := s.task(other); got.Summary != "do it" {
		t.Errorf("the other task is %q", got.Summary)
	}
	hasAll(t, "the refusals of the other", s.orange("task", "explain", string(other)), "it may not change task "+string(other))
	hasAll(t, "its own", s.orange("task", "explain", string(id)), "reviewing was asked for already", "worker may not")

	// The token alone makes the agent; without one, and outside of it, a person asks.
	env, err := os.ReadFile(filepath.Join(s.dir, "env"))
	check(t, err)
	var own []string
	for line := range strings.Lines(string(env)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "ORANGE_TOKEN=") {
			own = append(own, line)
		}
	}
	agent, person := s.dialMCP(own...), s.dialMCP()
	if text, refused := s.tool(agent, "approve", map[string]any{"task": string(id)}); !refused || !strings.Contains(text, "waits for a person") {
		t.Errorf("with the token: refused %v: %q", refused, text)
	}
	if text, refused := s.tool(person, "approve", map[string]any{"task": string(id)}); refused || !strings.Contains(text, "stuck -> reviewing") {
		t.Errorf("a person: refused %v: %q", refused, text)
	}
	if text, refused := s.tool(person, "update", map[string]any{"task": string(other), "summary": "Mine"}); refused {
		t.Errorf("a person: %q", text)
	}
	s.await(other, "the summary is the person's", func(t task.Task) bool { return t.Summary == "Mine" })
}

// showing shows a token with every request.
type showing string

// RoundTrip implements http.RoundTripper.
// A person sends a message, changes a task, replaces an agent and reads figures through MCP; an agent does none of it.
func TestAPersonSteersAnAgentOverMCP(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.piped("ask0", "update", map[string]any{"verb": "send", "note": "hello me"})
	s.piped("ask1", "update", map[string]any{"requirements": "less"})
	s.piped("ask2", "update", map[string]any{"verb": "stop"})
	script := "worker:\n  - run: \"orange mcp < ../../../ask0 > ../../../said0\"\n  - run: \"orange mcp < ../../../ask1 > ../../../said1\"\n  - run: \"orange mcp < ../../../ask2 > ../../../said2\"\n  - run: \"touch ../../../end\"\n" +
		"  - sleep: 1h\n"
	id := s.create("feature", script, "--workflow", "solo")
	s.eventually("the agent has asked", func() bool { return s.has("end") })
	for _, name := range []string{"said0", "said1", "said2"} {
		if text, refused := s.answered(name); !refused || !strings.Contains(text, "only a person may") {
			t.Errorf("an agent: refused %v: %q", refused, text)
		}
	}
	person := s.dialMCP()
	for _, tt := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"update", map[string]any{"task": string(id), "verb": "send", "note": "look at the form"}, "the worker is told"},
		{"update", map[string]any{"task": string(id), "requirements": "a form\nwith a label", "summary": "A form"}, "summary and requirements changed; the worker is told"},
		{"update", map[string]any{"task": string(id), "verb": "respawn", "force": true}, "attempt 1 of the worker is ended, and attempt 2 is started, in working"},
		{"update", map[string]any{"task": string(id), "verb": "stop"}, "attempt 2 of the worker is stopped, and the task stays in working; start another one with orange task respawn "},
		{"inbox", map[string]any{"kinds": []string{"stopped"}}, "you stopped the worker"},
		{"stats", map[string]any{"by": "workflow"}, "solo: 1 task (1 open), "},
		{"create", map[string]any{"project": "shop", "summary": "More", "workflow": "orange", "harness": "command:true", "hold": true}, "Note: workflow orange starts at least 2 agents for it: worker, reviewer"},
	} {
		text, refused := s.tool(person, tt.tool, tt.args)
		if refused || !strings.Contains(text, tt.want) {
			t.Fatalf("%v: refused %v: %q", tt.args, refused, text)
		}
		if tt.args["force"] == true {
			s.await(id, "another agent works", func(t task.Task) bool {
				a, ok := t.LiveAttempt("worker")
				return ok && a.Number == 2 && a.Running && len(t.Pending) == 0
			})
		}
	}
	if got := s.task(id); got.Summary != "A form" {
		t.Errorf("it is %q", got.Summary)
	}
	s.eventually("the requirements are in TASK.md", func() bool { return strings.Contains(s.orange("task", "show", string(id)), "with a label") })
	hasAll(t, "its history", s.orange("task", "history", string(id)), "note=look at the form")
}

func (token showing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(token))
	return http.DefaultTransport.RoundTrip(r)
}

func TestOverHTTPATokenSaysWhoSpeaksMCP(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	other := s.create("other", "worker:\n  - idle:\n", "--no-spawn")
	id := s.create("feature", "worker:\n  - run: \"echo $ORANGE_TOKEN > ../../../token\"\n  - run: \"touch ../../../end\"\n  - idle:\n")
	s.eventually("the token is known", func() bool { return s.has("end") })
	token, err := os.ReadFile(filepath.Join(s.dir, "token"))
	check(t, err)
	var at struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	check(t, json.Unmarshal([]byte(s.orange("mcp", "--http", "--json")), &at))
	dial := func(header string) (*sdk.ClientSession, error) {
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: at.URL, HTTPClient: &http.Client{Transport: showing(header)}}, nil)
		if err == nil {
			t.Cleanup(func() { c.Close() }) //nolint:errcheck // nothing is kept
		}
		return c, err
	}
	person, err := dial(at.Headers["Authorization"])
	check(t, err)
	agent, err := dial("Bearer " + strings.TrimSpace(string(token)))
	check(t, err)

	if text, refused := s.tool(agent, "show", nil); refused || !strings.Contains(text, "Task: "+string(id)) {
		t.Errorf("the attempt's own: refused %v: %q", refused, text)
	}
	why := fmt.Sprintf("this is attempt 1 of task %s: it may not change task %s", id, other)
	if text, refused := s.tool(agent, "update", map[string]any{"task": string(other), "summary": "Mine"}); !refused || !strings.Contains(text, why) {
		t.Errorf("another task: refused %v: %q", refused, text)
	}
	hasAll(t, "the refusals of the other", s.orange("task", "history", "--refused", string(other)), why)
	if text, refused := s.tool(agent, "update", map[string]any{"summary": "Ours"}); refused {
		t.Errorf("its own summary: %q", text)
	}
	if text, refused := s.tool(person, "update", map[string]any{"task": string(other), "summary": "Mine"}); refused {
		t.Errorf("a person: %q", text)
	}
	if got := s.task(other).Summary + " " + s.task(id).Summary; got != "Mine Ours" {
		t.Errorf("the summaries are %s", got)
	}
	if text, refused := s.tool(person, "verify", map[string]any{"workflow": "orange", "max_states": 500}); refused || !strings.Contains(text, "not proved") {
		t.Errorf("verify: refused %v: %q", refused, text)
	}
	s.shownByAnother(at.URL, strings.TrimSpace(string(token)))
	for _, bad := range []string{"Bearer " + strings.TrimSpace(string(token)) + "x", "Bearer x", ""} {
		if _, err := dial(bad); err == nil {
			t.Errorf("%q is let in", bad)
		}
	}
	if log, err := os.ReadFile(filepath.Join(s.home, "orange.log")); err != nil || strings.Contains(string(log), strings.TrimSpace(string(token))) {
		t.Errorf("the log shows a token, or cannot be read: %v", err)
	}
}

// shownByAnother has another agent show the token of an attempt, and that attempt's own.
func (s *env) shownByAnother(address, token string) {
	s.t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		s.t.Log("there is no bash, with which an agent speaks TCP")
		return
	}
	at, err := url.Parse(address)
	check(s.t, err)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	s.write("show.sh", fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s
printf 'POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %%s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%%s' "$1" '%s' >&3
head -1 <&3
`, at.Hostname(), at.Port(), at.Host, len(call), call))
	s.create("thief", fmt.Sprintf(`
worker:
  - run: "%[1]s ../../../show.sh %[2]s >../../../stolen"
  - run: "%[1]s ../../../show.sh $ORANGE_TOKEN >../../../own"
  - run: "touch ../../../shown"
  - idle:
`, bash, token))
	s.eventually("it has shown both", func() bool { return s.has("shown") })
	for name, want := range map[string]string{"stolen": "401 Unauthorized", "own": "200 OK"} {
		got, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil || !strings.Contains(string(got), want) {
			s.t.Errorf("%s: %q, %v, want %s", name, got, err, want)
		}
	}
}
