package web_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/web"
	"orange/internal/view/ansi"
)

// says checks what a page has and what it has not.
func says(t *testing.T, body string, want, never []string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(body, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	for _, text := range never {
		if strings.Contains(body, text) {
			t.Errorf("it says %q", text)
		}
	}
}

// styled finds what the policy of the pages forbids.
var (
	styled = regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|javascript:`)
	quoted = regexp.MustCompile(`&lt;[^<]*`) // what was markup in a text
)

// harmless checks that nothing in a page is styled or run by itself.
func harmless(t *testing.T, what, body string) {
	t.Helper()
	for _, found := range styled.FindAllString(quoted.ReplaceAllString(body, ""), 3) {
		t.Errorf("%s has %q", what, found)
	}
	for _, text := range []string{"<script>window", "<img src=x"} {
		if strings.Contains(body, text) {
			t.Errorf("%s has %q", what, text)
		}
	}
}

func TestTaskPage(t *testing.T) {
	tests := map[string]struct {
		before func(*taskBackend)
		path   string
		want   []string
		never  []string
	}{
		"one that was created": {func(*taskBackend) {}, "", []string{
			"Fix &lt;img src=x", `<span class="pill kind-queued" id="status">pending</span>`, "it was created and not started", `value="spawn"`, ">Start<",
			`value="move:cancelled"`, "The task ends without a result.", `<a href="/tasks/` + taskID + `?tab=changes" aria-current="page">`,
		}, []string{`value="delete"`, `value="merge"`}},
		"its overview": {func(*taskBackend) {}, "?tab=overview", []string{"No agent has worked on it yet", `>2 commits, &#43;3 −1<`, "Edit summary and requirements"}, []string{"for programs", "window.harmed=1</script>"}},
		"its workflow": {func(*taskBackend) {}, "?tab=workflow", []string{`class="wf-place wf-visited wf-here"`, "Next steps"}, []string{"wf-live"}},
		"one at work": {func(s *taskBackend) { s.ask("complete"); s.spend() }, "", []string{
			"attempt 1 is at work", `id="screen"`, `value="pause"`, `value="stop"`, "Stop the agent", "no agent starts until you start one", `<li class="past">`, `aria-current="step"`, `<a href="/tasks/` + taskID + `?tab=terminal" aria-current="page">`,
		}, []string{`id="review"`}},
		"the overview of one at work": {func(s *taskBackend) { s.ask("complete"); s.spend() }, "?tab=overview", []string{`id="task-attempts"`, "123k tokens", "$0.42", ">Terminal</a>", ">Log</a>", "Its last message"}, nil},
		"the workflow of one at work": {func(s *taskBackend) { s.ask("complete") }, "?tab=workflow", []string{
			"wf-here wf-live", `aria-label="Workflow studio. The task is in working. Its way was pending, then working."`, "Wait for the worker",
		}, nil},
		"one that waits for an answer": {func(s *taskBackend) { s.ask("complete"); s.ask("ask") }, "", []string{`value="answer"`, `<label for="note-answer">Your answer</label>`, " required>", "data-draft"}, nil},
		"one to review": {func(s *taskBackend) { s.ask("complete"); s.ask("complete") }, "", []string{
			`?tab=changes#review`, "<mark", "more = ", "src/&lt;b&gt;login.go", "func &lt;script&gt;", `name="remark"`, `data-line="2" data-side="old"`, `value="create-pr"`, `value="push"`,
			`data-path="README"`, `<b>2 files</b> <span class="plus">+3</span>`, "What to change", `id="task-tree"`,
		}, nil},
		"side by side": {func(s *taskBackend) { s.ask("complete"); s.ask("complete") }, "?tab=changes&view=split", []string{`<table class="lines split">`, `<td class="code gone" data-line="2" data-side="old">`, ">Number before<"}, nil},
		"one that asks for approval": {func(s *taskBackend) {
			s.ask("complete")
			s.Tasks[0].Asked = &task.Asked{To: "reviewing", By: "worker", At: epoch}
		}, "", []string{`value="approve:reviewing"`, "Approve reviewing"}, []string{`value="approve"`}},
		"one with checks": {func(s *taskBackend) {
			s.ask("complete")
			s.ask("complete")
			t := &s.Tasks[0]
			t.Checks, t.Workspace = task.Checks{{Name: "tests", Run: "x"}, {Name: "lint", Run: "y"}}, "shop--1"
			t.CheckResults = []task.CheckResult{{Name: "tests", Outcome: task.CheckFailed, Detail: hostile, Duration: time.Second, Tree: "0123456789abcdef", At: epoch, Last: hostile}}
		}, "", []string{`id="task-checks"`, `<span class="badge bad">failed: `, `<code>0123456789ab</code>`, `<pre class="output"`, `value="check:tests"`, ">Run it again<", `value="check:lint"`, ">Run it<", "has not run"}, nil},
		"one that is over": {func(s *taskBackend) { s.ask("cancel") }, "", []string{`value="delete"`, "The task and its folder are deleted."}, []string{`value="pause"`, `value="cancel"`, `value="stop"`}},
		"something was refused": {func(s *taskBackend) {
			s.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 7, Verb: "<b>no</b>"})
		}, "?tab=timeline", []string{"refused: request &lt;b&gt;no&lt;/b&gt;"}, nil},
		"the oldest first": {func(s *taskBackend) { s.ask("complete") }, "?tab=timeline&order=old", []string{"Oldest first"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTaskBackend(t)
			s.body = "## Plan\n\n<!-- for programs -->\n" + hostile + "\n\n[x](javascript:alert(1))\n"
			tt.before(s)
			res, body := s.open(false).visitor(t).get("/tasks/" + taskID + tt.path)
			if res.StatusCode != 200 {
				t.Fatalf("status %d: %s", res.StatusCode, body)
			}
			says(t, body, tt.want, tt.never)
			harmless(t, "the page", body)
		})
	}
}

func TestTaskPageByTheBeginningOfAnID(t *testing.T) {
	v := newTaskBackend(t).open(false).visitor(t)
	if res, _ := v.get("/tasks/T000?order=old"); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/tasks/"+taskID+"?order=old" {
		t.Errorf("status %d, to %s", res.StatusCode, res.Header.Get("Location"))
	}
	for _, path := range []string{"/tasks/X", "/tasks/..%2f..%2fv1", "/tasks/%00", "/tasks/" + taskID + "/terminal/x"} {
		if res, body := v.get(path); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d: %s", path, res.StatusCode, body)
		}
	}
}

// What happens while a page is rendered is sent to it afterwards: it listens from before what
// it shows.
func TestNothingIsLostWhileATaskPageIsMade(t *testing.T) {
	s := newTaskBackend(t)
	v := s.open(false).visitor(t)
	before := s.entries()
	s.read = func() {
		if s.status() == "pending" {
			s.ask("complete")
		}
	}
	_, body := v.get("/tasks/" + taskID)
	says(t, body, []string{`id="status">pending</span>`, fmt.Sprintf(`data-row="%d"`, before)}, nil)
}

func TestTaskInThePast(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.ask("complete")
	last := s.entries()
	v := s.open(false).visitor(t)
	res, body := v.get("/tasks/" + taskID + "?at=1")
	if res.StatusCode != 200 {
		t.Fatalf("status %d: %s", res.StatusCode, body)
	}
	says(t, body, []string{
		`id="status">pending</span>`, `data-past`, "You cannot request anything here", fmt.Sprintf("1 of %d", last), `href="/tasks/` + taskID + `?tab=workflow&amp;at=2" rel="next"`,
		`max="` + fmt.Sprint(last) + `" value="1"`, `The task is in pending.`,
	}, []string{`action="/act/`, `id="task-diff"`, "wf-live", `rel="first"`})
	_, body = v.get("/tasks/" + taskID + "?tab=timeline&at=1")
	says(t, body, []string{`moment move later`, `aria-current="true"`}, []string{`action="/act/`})
	_, body = v.get(fmt.Sprintf("/tasks/%s?at=%d", taskID, last))
	says(t, body, []string{`id="status">reviewing</span>`, `rel="prev"`, `rel="first"`}, []string{`rel="next"`})
	for _, at := range []string{"0", "-1", fmt.Sprint(last + 1), "x", "99999999999999999999"} {
		if res, body := v.get("/tasks/" + taskID + "?at=" + at); res.StatusCode != http.StatusBadRequest || !strings.Contains(body, fmt.Sprintf("entries 1 to %d", last)) {
			t.Errorf("at=%s: status %d: %s", at, res.StatusCode, body)
		}
	}
}

// plainNote returns a note without the round of its remarks and the request to answer them.
func plainNote(note string) string {
	note, _, _ = strings.Cut(note, "\n\nAnswer each remark")
	return regexp.MustCompile(`(?m)^R\d+-(\d+) `).ReplaceAllString(note, "R$1 ")
}

// A remark is a thread: what the agent answers in TASK.md is at the line after the next round.
func TestThreadsOfAReview(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.ask("complete")
	s.files = map[string]string{"src/<b>login.go": strings.Repeat("\n", 8) + "func ninth() {}\n"}
	v := s.open(false).visitor(t)
	v.get("/tasks/" + taskID)
	form := url.Values{"path": {"src/<b>login.go", "README", "src/<b>login.go"}, "line": {"3", "1", "9"}, "side": {"", "old", ""}, "remark": {"why <two>?", "keep it", "rename it"}}
	if res, body := v.form("/tasks/"+taskID+"/review", form); res.StatusCode != 303 {
		t.Fatalf("status %d: %s", res.StatusCode, body)
	}
	note := s.last().Note
	if want := "R1 `src/<b>login.go:3` `var more = 2`: why <two>?\n\nR2 `README:1 (a line that was removed)` `shop`: keep it\n\nR3 `src/<b>login.go:9` `func ninth() {}`: rename it"; plainNote(note) != want {
		t.Errorf("the agent reads %q", note)
	}
	first := regexp.MustCompile(`R\d+-1`).FindString(note)
	s.body = "## Remarks\n\n" + first + ": resolved, it is <one> now\n"
	s.ask("complete")
	s.diff = strings.Replace(s.diff, "@@ -1,3 +1,4 @@", "@@ -11,3 +11,4 @@", 1) // the lines moved
	_, body := v.get("/tasks/" + taskID)
	says(t, body, []string{"why &lt;two&gt;?", "resolved, it is &lt;one&gt; now", `<span class="badge good">resolved</span>`, "keep it", "no answer yet", `<div class="thread resolved">`}, nil)
	s.diffProblem = "<w1> is no longer a worktree"
	_, body = v.get("/tasks/" + taskID)
	says(t, body, []string{"&lt;w1&gt; is no longer a worktree; only what is committed on the branch is shown"}, nil)
	if row := regexp.MustCompile(`data-line="13"[^\n]*\n?[^\n]*thread-row`); !row.MatchString(body) {
		t.Error("the thread is not at its line")
	}
}

func TestReview(t *testing.T) {
	remarks := func(whole string, list ...[4]string) url.Values {
		out := url.Values{"note": {whole}}
		for _, r := range list {
			out["path"], out["line"], out["side"], out["remark"] = append(out["path"], r[0]), append(out["line"], r[1]), append(out["side"], r[2]), append(out["remark"], r[3])
		}
		return out
	}
	tests := map[string]struct {
		form   url.Values
		at     string // state of the task
		status int
		note   string
		want   []string
	}{
		"remarks about lines": {remarks("Nearly.", [4]string{"src/<b>login.go", "3", "", "why 2?\r\nsay so"}, [4]string{"src/<b>login.go", "2", "old", "keep it"}, [4]string{"README", "0", "", " "}, [4]string{"README", "", "", "spell it"}),
			"reviewing", 303, "Nearly.\n\nR1 `src/<b>login.go:3`: why 2?\nsay so\n\nR2 `src/<b>login.go:2 (a line that was removed)`: keep it\n\nR3 `README`: spell it", nil},
		"words about the whole alone": {remarks("again"), "reviewing", 303, "again", nil},
		"nothing":                     {remarks("", [4]string{"README", "0", "", ""}), "reviewing", 400, "", []string{"the message is empty"}},
		"lists that do not fit":       {url.Values{"path": {"a", "b"}, "remark": {"x"}}, "reviewing", 400, "", []string{"cannot read the remarks"}},
		"a line that is no number":    {remarks("", [4]string{"README", "x", "", "y"}), "reviewing", 400, "", []string{"cannot read the remarks"}},
		"too much":                    {remarks(strings.Repeat("x", 70_000)), "reviewing", 400, "", []string{"longer than 64 KB"}},
		"a refusal keeps what was written": {remarks("not <now>", [4]string{"src/<b>login.go", "3", "", "line three"}, [4]string{"src/<b>login.go", "2", "old", "gone"}, [4]string{"README", "0", "", "the file"}, [4]string{"away.go", "9", "", "elsewhere"}),
			"working", 409, "", []string{
				">not &lt;now&gt;</textarea>", ">line three</textarea>", ">gone</textarea>", ">the file</textarea>", ">elsewhere</textarea>", "away.go:9 (no longer shown)", `banner bad`, "request-changes",
			}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTaskBackend(t)
			s.ask("complete")
			if tt.at == "reviewing" {
				s.ask("complete")
			}
			res, body := s.open(false).visitor(t).form("/tasks/"+taskID+"/review", tt.form)
			if res.StatusCode != tt.status {
				t.Fatalf("status %d: %s", res.StatusCode, body)
			}
			says(t, body, tt.want, nil)
			got := s.last()
			if tt.note != "" && (got.Verb != "request-changes" || plainNote(got.Note) != tt.note || s.status() != "working") {
				t.Errorf("%s: the server heard %+v", s.status(), got)
			}
			if tt.status == 400 && got.Verb != "" {
				t.Errorf("the server heard %+v", got)
			}
		})
	}
}

func TestLargeDiffsAndJournalsAreBounded(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.ask("complete")
	var b strings.Builder
	for f := range 9 {
		fmt.Fprintf(&b, "diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -0,0 +1,2000 @@\n", f, f, f, f)
		for i := range 2000 {
			fmt.Fprintf(&b, "+line %d of %d\n", i, f)
		}
	}
	s.diff = b.String()
	for range 400 {
		s.send(signal.Signal{Kind: signal.Pause, Actor: task.Human})
		s.send(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	}
	v := s.open(false).visitor(t)
	_, body := v.get("/tasks/" + taskID)
	if n := strings.Count(body, "<tr class=\"added\""); n > 300 || len(body) > 100_000 {
		t.Errorf("%d lines are shown at first, in %d bytes", n, len(body))
	}
	says(t, body, []string{"Show the changes of this file", `data-part="/tasks/` + taskID + `/file?path=f0`, "data-large"}, nil)
	_, body = v.get("/tasks/" + taskID + "?tab=changes&file=f3")
	if n := strings.Count(body, "<tr class=\"added\""); n != 2000 {
		t.Errorf("%d lines of the chosen file are shown", n)
	}
	_, body = v.get("/tasks/" + taskID + "?tab=timeline")
	if n := strings.Count(body, `<li class="moment`); n != 150 {
		t.Errorf("%d moments are shown", n)
	}
	says(t, body, []string{"older are not shown", "entries=all"}, nil)
	if _, body := v.get("/tasks/" + taskID + "?tab=timeline&entries=all"); strings.Count(body, `<li class="moment`) < 800 {
		t.Error("not all entries are shown")
	}
	r := v.request("GET", "/tasks/"+taskID, "")
	r.Header.Set("Sec-Fetch-Dest", "empty")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if _, body := v.do(r); strings.Contains(body, `id="task-diff"`) {
		t.Error("a script gets what it does not need")
	}
}

// part returns the address of a part that a page names.
func part(t *testing.T, body, attribute string) string {
	t.Helper()
	m := regexp.MustCompile(attribute + `="([^"]*)"`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("the page has no %s", attribute)
	}
	return html.UnescapeString(m[1])
}

// Files are fetched from the diff that the page shows, in colours, with the lines around the changes.
func TestFilesOnDemand(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.ask("complete")
	old := "package a\n\nfunc a() {}\n\nfunc b() int {\n\treturn 1\n}\n// end\n// of\n// it\n// all\n"
	s.files = map[string]string{"a.go before": old, "a.go": strings.Replace(old, "return 1", "return 2", 1)}
	s.diff = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -5,3 +5,3 @@ func b()\n func b() int {\n-\treturn 1\n+\treturn 2\n }\n"
	v := s.open(false).visitor(t)
	_, body := v.get("/tasks/" + taskID)
	says(t, body, []string{`<span class="hl-keyword">func</span>`, `<mark class="hl-number">2</mark>`, "4 lines</a>"}, nil)
	lines := part(t, body, "data-lines")
	res, rows := v.get(lines)
	if res.StatusCode != 200 || strings.Count(rows, "<tr") != 4 || !strings.Contains(rows, `<span class="hl-keyword">package</span>`) || !strings.Contains(rows, `data-line="1"`) {
		t.Errorf("the lines before the change: %d %s", res.StatusCode, rows)
	}
	_, body = v.get("/tasks/" + taskID + "?tab=changes&file=a.go&context=all")
	if n := strings.Count(body, "<tr"); n != 13 { // 12 lines and the head of the table
		t.Errorf("the whole file has %d rows", n)
	}
	version := part(t, body, "data-version")
	s.diff = ""
	for address, status := range map[string]int{
		"/file?path=a.go&v=" + version: 200, "/file?path=a.go&v=other": 404, "/file?path=b.go&v=" + version: 404, "/lines?path=a.go&v=" + version: 400,
		"/lines?path=a.go&from=1&to=9&shift=0&v=" + version: 200, "/lines?path=a.go&from=9&to=1&shift=0&v=" + version: 400,
	} {
		if res, body := v.get("/tasks/" + taskID + address); res.StatusCode != status {
			t.Errorf("%s: status %d: %.200s", address, res.StatusCode, body)
		}
	}
}

func TestImagesOfADiff(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.ask("complete")
	png := "\x89PNG\r\n\x1a\n rest"
	s.files = map[string]string{"a.png": png, "a.png before": png, "x.svg": "<svg onload='window.harmed=1'/>", "liar.png": "<script>window.harmed=1</script>"}
	s.diff = "diff --git a/a.png b/a.png\nindex 1..2 100644\nBinary files a/a.png and b/a.png differ\n"
	v := s.open(false).visitor(t)
	_, body := v.get("/tasks/" + taskID)
	says(t, body, []string{`<img src="/tasks/` + taskID + `/image?path=a.png&amp;side=old&amp;v=`, `alt="After: a.png"`}, nil)
	res, got := v.get("/tasks/" + taskID + "/image?path=a.png&side=old")
	if res.StatusCode != 200 || got != png || res.Header.Get("Content-Type") != "image/png" || res.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("status %d, %v", res.StatusCode, res.Header)
	}
	for _, path := range []string{"x.svg", "liar.png", "none.png", "a.go"} {
		if res, body := v.get("/tasks/" + taskID + "/image?path=" + path); res.StatusCode != 404 || strings.Contains(body, "<svg on") {
			t.Errorf("%s: status %d: %.200s", path, res.StatusCode, body)
		}
	}
}

// Where people may not type into terminals they may still answer a dialog, if it is the one that they saw.
func TestKeysOfADialog(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.screen, s.dialog = "Do you want to proceed?", ansi.Input{Kind: ansi.Dialog, Question: "rm -rf build\nDo you want to proceed?\n1. Yes\n2. No, <b>stop</b>"}
	v := s.open(false).visitor(t)
	_, body := v.get("/tasks/" + taskID + "?tab=terminal")
	says(t, body, []string{`<button name="key" value="1" class="go"><b>Allow</b> Yes</button>`, `<b>Deny</b> No, &lt;b&gt;stop&lt;/b&gt;</button>`, `value="ctrl-c"`, `id="terminal-seen" value="seen Do you want`}, nil)
	press := func(key, seen string) int {
		res, _ := v.form("/tasks/"+taskID+"/keys", url.Values{"key": {key}, "seen": {seen}, "role": {"worker"}})
		return res.StatusCode
	}
	if got := press("1", "seen Do you want to proceed?"); got != 303 {
		t.Errorf("allowing: status %d", got)
	}
	if got := press("1", "seen something else"); got != 400 {
		t.Errorf("allowing what is not shown: status %d", got)
	}
	if got := press("1", ""); got != 400 {
		t.Errorf("allowing unseen: status %d", got)
	}
	s.dialog = ansi.Input{Kind: ansi.Prompt}
	if got := press("enter", "seen Do you want to proceed?"); got != 400 {
		t.Errorf("a key where no dialog is open: status %d", got)
	}
	if len(s.typed) != 1 || s.typed[0] != "key 1" {
		t.Errorf("typed: %q", s.typed)
	}
	refused := s.openFor(t, func(*http.Request) error { return errors.New("an agent may not do this") })
	if res, _ := refused.form("/tasks/"+taskID+"/keys", url.Values{"key": {"1"}, "seen": {"seen Do you want to proceed?"}}); res.StatusCode != 403 || len(s.typed) != 1 {
		t.Errorf("an agent pressed a key: status %d, %q", res.StatusCode, s.typed)
	}
}

func TestEditOfATask(t *testing.T) {
	s := newTaskBackend(t)
	s.body = "## Requirements\n\nas before\n"
	v := s.open(false).visitor(t)
	_, body := v.get("/tasks/" + taskID + "?tab=overview")
	says(t, body, []string{`rows="8">as before</textarea>`}, nil)
	if res, body := v.form("/tasks/"+taskID+"/edit", url.Values{"summary": {"Another title"}, "note": {"as before"}}); res.StatusCode != 303 {
		t.Fatalf("status %d: %s", res.StatusCode, body)
	}
	if got := s.last(); got.Verb != "edit" || got.Note != "" || len(got.Fields) != 1 || got.Fields[0].To != "Another title" {
		t.Errorf("the server heard %+v", got)
	}
	for _, form := range []url.Values{{"summary": {""}, "note": {"x"}}, {"summary": {"s"}, "note": {" "}}} {
		if res, _ := v.form("/tasks/"+taskID+"/edit", form); res.StatusCode != 400 {
			t.Errorf("%v: status %d", form, res.StatusCode)
		}
	}
}

func TestTerminal(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.screen = "\x1b[1;31mred\x1b[0m \x1b[38;2;255;135;0mnear\x1b[0m \x1b[7mturned\x1b[27m \x1b[7;34mblue\x1b[0m \x1b[2;3;4mfaint\x1b[0m\n" + hostile + "\x1b]0;title\x07\x1b[2J"
	v := s.open(false).visitor(t)
	if res, _ := v.get("/tasks/" + taskID + "/terminal?role=worker"); res.StatusCode != 303 || res.Header.Get("Location") != "/tasks/"+taskID+"?role=worker&tab=terminal" {
		t.Errorf("status %d, to %s", res.StatusCode, res.Header.Get("Location"))
	}
	res, body := v.get("/tasks/" + taskID + "?tab=terminal")
	if res.StatusCode != 200 {
		t.Fatalf("status %d: %s", res.StatusCode, body)
	}
	says(t, body, []string{
		`<span class="fg-1 bold">red</span>`, `<span class="fg-208">near</span>`, `<span class="fg-paper bg-ink">turned</span>`, `<span class="fg-paper bg-4">blue</span>`,
		`<span class="faint italic under">faint</span>`, "&lt;img src=x", "<noscript>", "--web-input",
	}, []string{`action="/tasks/` + taskID + `/type"`, "title\a"})
	harmless(t, "the terminal", body)
	if res, body := v.form("/tasks/"+taskID+"/type", url.Values{"text": {"rm -rf /"}}); res.StatusCode != 403 || len(s.typed) != 0 {
		t.Errorf("typing: status %d: %s", res.StatusCode, body)
	}
	if res, css := v.get("/static/terminal.css"); res.StatusCode != 200 || !strings.Contains(css, ".fg-208{color:#ff8700}") || strings.Count(css, "\n") != 256 {
		t.Errorf("the palette: %d %.200s", res.StatusCode, css)
	}
	events := v.listen(t, "/tasks/"+taskID+"/terminal/events?role=", "")
	if got := next(t, events); got[1] != "screen" || !strings.Contains(got[2], `{"c":"fg-1 bold","t":"red"}`) {
		t.Errorf("the first event is %v", got)
	}
	s.shows("next")
	if got := next(t, events); !strings.Contains(got[2], `[[{"t":"next"}]]`) {
		t.Errorf("the next event is %v", got)
	}
}

func TestATerminalThatCannotBeWatchedSaysWhy(t *testing.T) {
	s := newTaskBackend(t)
	s.api.Screens = nil
	v := s.open(false).visitor(t)
	if got := next(t, v.listen(t, "/tasks/T000/terminal/events", "")); got[1] != "gone" || got[2] != `{"again":false,"why":"this server writes effects down and starts no agents (effects: record)"}` {
		t.Errorf("got %v", got)
	}
}

func TestTypingWhereItIsAllowed(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	v := s.open(true).visitor(t)
	_, body := v.get("/tasks/" + taskID + "?tab=terminal&role=worker")
	says(t, body, []string{`action="/tasks/` + taskID + `/type"`, `name="role" value="worker"`, "as if you typed it there"}, nil)
	for text, status := range map[string]int{"yes": 303, "": 400, "a\nb": 400, strings.Repeat("x", 5000): 400} {
		if res, body := v.form("/tasks/"+taskID+"/type", url.Values{"text": {text}, "role": {"worker"}}); res.StatusCode != status {
			t.Errorf("%.10q: status %d: %s", text, res.StatusCode, body)
		}
	}
	if len(s.typed) != 1 || s.typed[0] != "yes" {
		t.Errorf("typed: %q", s.typed)
	}
}

// openFor opens a site that asks who may act, and returns a visitor whose session began before.
func (s *taskBackend) openFor(t *testing.T, who func(*http.Request) error) *visitor {
	t.Helper()
	deny := false
	h := newEnv(t, s.backend, func(o *web.SiteOptions) {
		o.Who = func(r *http.Request) error {
			if !deny {
				return nil
			}
			return who(r)
		}
	})
	v := h.visitor(t)
	v.get("/tasks/" + taskID)
	deny = true
	return v
}
