package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// inNode loads a plugin in node, drives it with a program and returns what its hook received.
// Agents bring their own JavaScript runtime; without node the test is skipped.
func inNode(t *testing.T, h Harness, change func(*Launch), drive string) (modelText []agent.Notice) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "told.log")
	hook := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\n{ printf '%s ' \"$2\"; cat; echo; } >>\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := launch()
	l.Dir, l.Hook, l.Interactive = filepath.Join(dir, "at tempt"), []string{hook, log}, true
	l.PromptFile = filepath.Join(dir, "prompt.md")
	if err := os.WriteFile(l.PromptFile, []byte("-go \"on\""), 0o600); err != nil {
		t.Fatal(err)
	}
	change(&l)
	plan, err := h.PlanLaunch(l)
	if err != nil {
		t.Fatal(err)
	}
	source := plan.Files[0].Path
	plan.Files[0].Path = strings.TrimSuffix(source, ".js") + ".mjs" // agents know it is a module
	if err := WriteFiles(plan.Files[:1]); err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("const plugin = await import(%q)\n%s", "file://"+strings.ReplaceAll(plan.Files[0].Path, " ", "%20"), drive)
	cmd := exec.Command(node, "--input-type=module", "--eval", program)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		event, payload, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := h.ParseHook(event, []byte(payload), noon)
		if err != nil {
			t.Fatal(err)
		}
		modelText = append(modelText, n)
	}
	return modelText
}

func TestOpencodePlugin(t *testing.T) {
	events := []map[string]any{
		{"type": "session.created", "properties": map[string]any{"sessionID": "ses_1", "info": map[string]any{"id": "ses_1"}}},
		{"type": "session.status", "properties": map[string]any{"sessionID": "ses_1", "status": map[string]any{"type": "busy"}}},
		{"type": "session.status", "properties": map[string]any{"sessionID": "ses_1", "status": map[string]any{"type": "busy"}}},
		{"type": "session.created", "properties": map[string]any{"sessionID": "ses_2", "info": map[string]any{"id": "ses_2", "parentID": "ses_1"}}},
		{"type": "message.updated", "properties": map[string]any{"info": map[string]any{"id": "u1", "sessionID": "ses_1", "role": "user"}}},
		{"type": "message.part.updated", "properties": map[string]any{"part": map[string]any{"id": "p0", "messageID": "u1", "sessionID": "ses_1", "type": "text", "text": "the prompt"}}},
		{"type": "message.updated", "properties": map[string]any{"info": map[string]any{"id": "m1", "sessionID": "ses_1", "role": "assistant", "modelID": "model-1", "cost": 0.25, "tokens": map[string]any{"input": 10, "output": 5, "reasoning": 1, "cache": map[string]any{"read": 2, "write": 1}}}}},
		{"type": "message.part.updated", "properties": map[string]any{"part": map[string]any{"id": "p1", "messageID": "m1", "sessionID": "ses_1", "type": "text", "text": "do"}}},
		{"type": "message.part.updated", "properties": map[string]any{"part": map[string]any{"id": "p1", "messageID": "m1", "sessionID": "ses_1", "type": "text", "text": "done"}}},
		{"type": "message.updated", "properties": map[string]any{"info": map[string]any{"id": "m2", "sessionID": "ses_2", "role": "assistant", "cost": 0.25, "tokens": map[string]any{"input": 10, "output": 5}}}},
		{"type": "message.part.updated", "properties": map[string]any{"part": map[string]any{"id": "p2", "messageID": "m2", "sessionID": "ses_2", "type": "text", "text": "the subagent"}}},
		{"type": "permission.asked", "properties": map[string]any{"sessionID": "ses_2", "permission": "bash", "metadata": map[string]any{"command": "ls"}}},
		{"type": "session.idle", "properties": map[string]any{"sessionID": "ses_2"}},
		{"type": "session.idle", "properties": map[string]any{"sessionID": "ses_1"}},
		{"type": "session.error", "properties": map[string]any{"sessionID": "ses_1", "error": map[string]any{"name": "APIError", "data": map[string]any{"message": "rate limit, retry in 2h"}}}},
		{"type": "session.idle", "properties": map[string]any{"sessionID": "ses_1"}},
	}
	text, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	modelText := inNode(t, opencode{}, func(*Launch) {}, `
const hooks = await plugin.Orange({ client: {} })
await hooks["chat.message"]({ sessionID: "ses_1" })
for (const event of `+string(text)+`) await hooks.event({ event })`)
	usage := &task.Usage{InputTokens: 20, OutputTokens: 11, CachedTokens: 3, CostMicroUSD: 500000, CostReported: true}
	want := []agent.Notice{
		{Condition: task.Condition{Name: task.Running}, Session: "ses_1", Prompted: true},
		{Session: "ses_1"},
		{Condition: task.Condition{Name: task.Running}, Session: "ses_1"},
		{Condition: task.Condition{Name: task.WaitingPermission, Detail: "bash: ls"}},
		{Condition: task.Condition{Name: task.Idle}, Session: "ses_1", Final: "done", Usage: usage, Model: "model-1"},
		{Condition: task.Condition{Name: task.Limited, Detail: "APIError: rate limit, retry in 2h", Until: noon.Add(2 * time.Hour)}, Session: "ses_1", Final: "done", Usage: usage, Model: "model-1"},
	}
	if diff := cmp.Diff(want, modelText); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOpencodePluginHandsThePromptOver(t *testing.T) {
	modelText := inNode(t, opencode{}, func(l *Launch) { l.Resume = "ses_9" }, `
const sent = await new Promise((resolve) => plugin.Orange({ client: { session: { promptAsync: resolve } } }))
if (sent.path.id !== "ses_9" || sent.body.parts[0].text !== '-go "on"') throw new Error(JSON.stringify(sent))
const hooks = await plugin.Orange({ client: { session: { promptAsync() {} } } })
await hooks["chat.message"]({ sessionID: sent.path.id })`)
	if want := []agent.Notice{{Condition: task.Condition{Name: task.Running}, Session: "ses_9", Prompted: true}}; !cmp.Equal(modelText, want) {
		t.Errorf("%+v", modelText)
	}
}

func TestPiExtension(t *testing.T) {
	modelText := inNode(t, pi{}, func(l *Launch) { l.ReadOnly = true }, `
const on = {}
plugin.default({ on: (event, handler) => { on[event] = handler } })
const ctx = { sessionManager: { getSessionId: () => "01a1-b", getSessionFile: () => "/home/u/s.jsonl" } }
for (const event of ["session_start", "input", "agent_start"]) {
  if (await on[event]({}, ctx) !== undefined) throw new Error(event + " answers")
}
const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, cost: { total: 0.5 } }
await on.agent_end({ messages: [
  { role: "user", content: [{ type: "text", text: "the prompt" }] },
  { role: "assistant", usage, content: [{ type: "text", text: "one" }, { type: "text", text: "two" }] },
  { role: "assistant", usage, content: [{ type: "toolCall" }] },
] }, ctx)
await on.agent_end({ messages: [{ role: "assistant", content: [], errorMessage: "429 rate limit, try again in 2h" }] }, ctx)
for (const [command, blocked] of [["git push", true], ["cd x && gh  pr review 1", true], ["grep 'git push' x", false], ["ls", false]]) {
  const answer = await on.tool_call({ toolName: "bash", input: { command } }, ctx)
  if (Boolean(answer?.block) !== blocked) throw new Error(command + ": " + JSON.stringify(answer))
}`)
	about := func(n agent.Notice) agent.Notice {
		n.Session, n.Transcript = "01a1-b", "/home/u/s.jsonl"
		return n
	}
	usage := &task.Usage{InputTokens: 20, OutputTokens: 10, CachedTokens: 6, CostMicroUSD: 1000000, CostReported: true}
	want := []agent.Notice{
		about(agent.Notice{}), about(agent.Notice{Condition: task.Condition{Name: task.Running}, Prompted: true}), about(agent.Notice{Condition: task.Condition{Name: task.Running}}),
		about(agent.Notice{Condition: task.Condition{Name: task.Idle}, Final: "one\ntwo", Usage: usage}),
		about(agent.Notice{Condition: task.Condition{Name: task.Limited, Detail: "429 rate limit, try again in 2h", Until: noon.Add(2 * time.Hour)}, Usage: usage}),
	}
	if diff := cmp.Diff(want, modelText); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
