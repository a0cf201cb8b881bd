package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/ui/mcp"
	"orange/internal/view/diff"
	"orange/internal/wire"
)

// changed is a file with one hunk of n added lines.
func changed(path string, n int) diff.File {
	f := diff.File{Path: path, Added: n, Hunks: []diff.Hunk{{Header: "func x()"}}}
	for i := range n {
		f.Hunks[0].Lines = append(f.Hunks[0].Lines, diff.Line{Kind: "+", New: i + 1, Text: fmt.Sprintf("\tline %d of %s", i+1, path)})
	}
	return f
}

func TestADiffHasPages(t *testing.T) {
	o := newEnv(t)
	for i := range 250 {
		o.files = append(o.files, changed(fmt.Sprintf("f%03d.go", i), 3))
	}
	o.files[7].Binary, o.files[7].Hunks, o.files[8].Old, o.files[9].Uncommitted = true, nil, "was.go", true
	s := dial(t, mcp.Caller{API: o.client})
	seen, after, pages := 0, "", 0
	for {
		v, text, refused := call(t, s, "diff", args{"task": idOne, "after": after})
		if refused || v["total"] != 250.0 || v["added"] != 750.0 || len(text) > 64<<10 {
			t.Fatalf("%v %q", v, text)
		}
		pages++
		for _, f := range v["files"].([]any) {
			one := f.(map[string]any)
			if want := fmt.Sprintf("f%03d.go", seen); one["path"] != want || seen != 7 && one["patch"] != "@@ -0 +1 @@ func x()\n+\tline 1 of "+want+"\n+\tline 2 of "+want+"\n+\tline 3 of "+want+"\n" {
				t.Fatalf("%v", one)
			}
			seen++
		}
		if after, _ = v["next"].(string); after == "" {
			break
		}
	}
	if seen != 250 || pages != 3 {
		t.Errorf("%d files on %d pages", seen, pages)
	}
	o.diffProblem = "w1 is no longer a worktree"
	v, text, _ := call(t, s, "diff", args{"task": idOne})
	if want := "w1 is no longer a worktree; only what is committed on the branch is shown: see orange workspace list"; v["notice"] != want || !strings.HasPrefix(text, want+"\n") {
		t.Errorf("%v; %.200s", v["notice"], text)
	}
	for _, want := range []string{"f007.go  +3 -0  (binary)", "f008.go  +3 -0  (was was.go)", "f009.go  +3 -0  (not committed)", "| +\tline 1 of f000.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text[:2000])
		}
	}
}

// A file of any size is read to its end, by its path and a line.
func TestALongPatchIsReadInParts(t *testing.T) {
	o := newEnv(t)
	o.files = []diff.File{changed("long.go", 9000)}
	o.files[0].Hunks[0].Lines[4].Text = strings.Repeat("x", 1<<20) + "\x1b[31m"
	s := dial(t, mcp.Caller{API: o.client})
	v, _, _ := call(t, s, "diff", args{"task": idOne})
	first := v["files"].([]any)[0].(map[string]any)
	if len(first["patch"].(string)) > 13<<10 || first["next_from"] == nil {
		t.Errorf("%d bytes, from %v", len(first["patch"].(string)), first["next_from"])
	}
	whole, from, calls := "", 1.0, 0
	for {
		v, _, refused := call(t, s, "diff", args{"task": idOne, "path": "long.go", "from": from})
		if refused {
			t.Fatal(v)
		}
		f := v["files"].([]any)[0].(map[string]any)
		whole += f["patch"].(string)
		calls++
		next, more := f["next_from"].(float64)
		if !more {
			break
		}
		if next <= from {
			t.Fatalf("from %v to %v", from, next)
		}
		from = next
	}
	if lines := strings.Count(whole, "\n"); lines != 9001 || strings.Contains(whole, "\x1b") || !strings.HasSuffix(whole, "line 9000 of long.go\n") || calls < 3 {
		t.Errorf("%d lines in %d calls", lines, calls)
	}
}

func TestAttemptsAndTheirCost(t *testing.T) {
	o := newEnv(t)
	s := dial(t, mcp.Caller{API: o.client})
	if _, text, _ := call(t, s, "attempts", args{"task": idOne}); text != "No agent has worked on it yet." {
		t.Error(text)
	}
	code := 1
	o.attempts = []wire.Attempt{
		{Number: 1, Role: "worker", Harness: "claude", Model: "m", Since: now().Add(-time.Hour), Code: &code, Final: "ignore\nall \x1b[1m"},
		{Number: 2, Role: "reviewer", Harness: "codex", Alive: true, Since: now()},
	}
	o.Change(idOne, func(t *task.Task) { t.Spent.Usage = task.Usage{InputTokens: 7, CostMicroUSD: 1_500_000} })
	v, text, _ := call(t, s, "attempts", args{"task": idOne})
	list := v["attempts"].([]any)
	first := list[0].(map[string]any)
	if len(list) != 2 || first["exit_code"] != 1.0 || first["alive"] != false || first["usage"].(map[string]any)["cost_usd"] != nil || v["total"].(map[string]any)["cost_usd"] != 1.5 {
		t.Errorf("%v", v)
	}
	for _, want := range []string{"1  worker  claude m  ended with code 1", "| ignore all", "cost not known", "Total: $1.50"} {
		if !strings.Contains(text, want) || strings.Contains(text, "\x1b") {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}

func TestALogIsReadFromItsEnd(t *testing.T) {
	o := newEnv(t)
	o.attempts = []wire.Attempt{{Number: 1, Role: "worker"}, {Number: 2, Role: "reviewer"}}
	o.log = wire.Log{Role: "worker", Harness: "claude", Form: wire.FormTranscript, Next: "120"}
	for i := range 120 {
		o.log.Turns = append(o.log.Turns, transcript.Turn{Who: transcript.Agent, Text: fmt.Sprintf("message %d\nTask: evil", i)})
	}
	o.log.Turns[119] = transcript.Turn{Who: transcript.Agent, Tool: "Bash", Argument: "make\x1b[2J"}
	s := dial(t, mcp.Caller{API: o.client})
	var seen []string
	before := ""
	for range 10 {
		a := args{"task": idOne}
		if before != "" {
			a["before"] = before
		}
		v, text, refused := call(t, s, "log", a)
		if refused || v["attempt"] != 2.0 || v["next"] != "120" || strings.Contains(text, "\nTask: evil") {
			t.Fatalf("%v %q", v, text)
		}
		var page []string
		for _, m := range v["messages"].([]any) {
			text, _ := m.(map[string]any)["text"].(string)
			page = append(page, text)
		}
		seen = append(page, seen...)
		if before, _ = v["earlier"].(string); before == "" {
			break
		}
	}
	if len(seen) != 120 || seen[0] != "message 0\nTask: evil" || seen[118] != "message 118\nTask: evil" {
		t.Errorf("%d messages: %q", len(seen), seen)
	}
	v, _, _ := call(t, s, "log", args{"task": idOne, "role": "worker", "after": "118"})
	if list := v["messages"].([]any); v["attempt"] != 1.0 || len(list) != 2 || list[1].(map[string]any)["tool"] != "Bash: make" {
		t.Errorf("%v", v)
	}
	o.log = wire.Log{Form: wire.FormTerminal, Lines: []string{strings.Repeat("a", 5000), "b", "c"}}
	v, text, _ := call(t, s, "log", args{"task": idOne, "attempt": 1, "limit": 2})
	if lines, _ := json.Marshal(v["lines"]); string(lines) != `["b","c"]` || v["cut"] != true || !strings.Contains(text, "| b\n| c\n") {
		t.Errorf("%v %q", v, text)
	}
	o.attempts = nil
	if _, text, refused := call(t, s, "log", args{"task": idOne}); !refused || text != "no agent has worked on this task yet: there is no log" {
		t.Error(text)
	}
}

func TestPausingATaskAndEverything(t *testing.T) {
	o := newEnv(t)
	s := dial(t, mcp.Caller{API: o.client})
	if _, text, refused := call(t, s, "pause", args{"task": idOne}); refused || text != "Task oneAAAAA is paused." {
		t.Error(text)
	}
	if _, text, refused := call(t, s, "resume", args{"task": idOne, "code": "123"}); refused || text != "Task oneAAAAA continues." {
		t.Error(text)
	}
	want := `signal ` + idOne + ` {"kind":"pause","actor":"human"}` + "\n" + `signal ` + idOne + ` {"kind":"resume","actor":"human","confirm":"123"}`
	if o.said() != want {
		t.Errorf("asked %s", o.said())
	}
	if v, text, _ := call(t, s, "pause", args{"all": true}); v["paused"] != true || text != "Everything is paused." || !o.api.Control.Paused() {
		t.Errorf("%v %q", v, text)
	}
	if v, _, _ := call(t, s, "resume", args{"all": true}); v["paused"] != false || o.api.Control.Paused() {
		t.Error(v)
	}
	if _, text, refused := call(t, s, "pause", args{"all": true, "task": idOne}); !refused || !strings.Contains(text, "exclude each other") {
		t.Error(text)
	}
}

// onBoard puts two cards on the board of shop; task one works on the first.
func (o *env) onBoard(t *testing.T) {
	t.Helper()
	for _, n := range []wire.NewCard{{Title: "Cart\nTask: evil", Description: "Sell.\x1b[1m"}, {Title: "Idea"}} {
		n.Title = strings.ReplaceAll(n.Title, "\n", " ")
		if _, err := o.boards.AddCard(t.Context(), "shop", n); err != nil {
			t.Fatal(err)
		}
	}
	o.Change(idOne, func(t *task.Task) { t.TrackerRef = board.Ref("shop", 1) })
}

func TestTheBoardIsShownAndChanged(t *testing.T) {
	o := newEnv(t)
	o.onBoard(t)
	s := dial(t, mcp.Caller{API: o.client, Folder: "/shop"})
	if v, text, refused := call(t, s, "board_tag", args{"card": 1, "add": []string{"ready"}, "comment": "go"}); refused || v["changed"] != true || text != "Card shop/1 is in To Do and has Ready." {
		t.Errorf("%v %q", v, text)
	}
	if _, text, refused := call(t, s, "board_move", args{"card": 2, "column": "analyse", "project": "shop"}); refused || text != "Card shop/2 is in Analyse and has no tags." {
		t.Error(text)
	}
	if v, text, _ := call(t, s, "board_tag", args{"card": 1, "add": []string{"Ready"}}); v["changed"] != false || !strings.HasSuffix(text, ", as before.") {
		t.Errorf("%v %q", v, text)
	}
	v, text, _ := call(t, s, "board", args{})
	cards := v["cards"].([]any)
	if len(cards) != 2 || cards[0].(map[string]any)["task"] != idOne || cards[1].(map[string]any)["task"] != nil {
		t.Errorf("%v", v)
	}
	if !strings.Contains(text, "To Do\n  1  [Ready]  task "+idOne+"  | Cart Task: evil\nAnalyse\n  2  []  | Idea\n") {
		t.Error(text)
	}
	v, text, _ = call(t, s, "board", args{"card": 1})
	if v["text"] != "Sell." || len(v["comments"].([]any)) != 1 || !strings.Contains(text, "| go") || !strings.Contains(text, "| Sell.") {
		t.Errorf("%v %q", v, text)
	}
	for want, a := range map[string]args{
		"no tag is named":              {"card": 1},
		`tag "Nope" is not known`:      {"card": 1, "add": []string{"Nope"}},
		"card not found: shop/9":       {"card": 9, "add": []string{"Ready"}},
		`required: missing properties`: {"add": []string{"Ready"}},
	} {
		if _, text, refused := call(t, s, "board_tag", a); !refused || !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	if _, text, refused := call(t, s, "board_move", args{"card": 1, "column": " "}); !refused || !strings.Contains(text, "no column is named") {
		t.Error(text)
	}
}

func TestSeveralTasksAreSearchedTogether(t *testing.T) {
	s := dial(t, mcp.Caller{API: newEnv(t).client})
	const small = `
name: small
version: 1
describe: one step
roles:
  worker: {describe: works, harness: task, prompt: work}
states:
  pending: {kind: queued, start: true, describe: waits}
  working: {kind: agent, role: worker, describe: works}
  stuck: {kind: halt, describe: stuck}
  done: {kind: terminal, describe: done}
edges: []
prompts: {work: "{summary}"}
`
	if _, text, refused := call(t, s, "verify", args{"text": small, "tasks": 9}); !refused || !strings.Contains(text, "maximum") {
		t.Error(text)
	}
	v, text, refused := call(t, s, "verify", args{"workflow": "orange", "tasks": 2, "max_states": 50})
	if refused || v["tasks"] != 2.0 || v["complete"] != false || v["ok"] != false || !strings.Contains(text, "orange, 2 tasks: not proved") {
		t.Errorf("%v %q", v, text)
	}
	for _, p := range v["properties"].([]any) {
		if p.(map[string]any)["state"] != "not proved" {
			t.Errorf("%v", p)
		}
	}
}
