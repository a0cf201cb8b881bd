package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
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
			"Fix &lt;img src=x", `<span class="status queued" id="status">pending</span>`, "it was created and not started", `value="spawn"`, ">Start<",
			"No agent has worked on it yet", `class="wf-place wf-visited wf-here"`, `value="move:cancelled"`, "The task ends without a result.", `>2 commits, &#43;3 −1<`,
		}, []string{`value="delete"`, `value="merge"`, "wf-live"}},
		"one at work": {func(s *taskBackend) { s.ask("complete"); s.spend() }, "", []string{
			"attempt 1 is at work", "wf-here wf-live", `id="task-attempts"`, "123k tokens", "$0.42", "See its terminal", "Its last message",
			`aria-label="Workflow studio. The task is in working. Its way was pending, then working."`, `<b>working</b>`, `value="pause"`, "Wait for the worker",
		}, []string{`id="review"`}},
		"one that waits for an answer": {func(s *taskBackend) { s.ask("complete"); s.ask("ask") }, "", []string{`value="answer"`, `<label for="note-answer">Your answer</label>`, " required>"}, nil},
		"one to review": {func(s *taskBackend) { s.ask("complete"); s.ask("complete") }, "", []string{
			`href="#review"`, "var more = 2", "src/&lt;b&gt;login.go", "func &lt;script&gt;", `name="remark"`, `data-line="2" data-side="old"`, `value="create-pr"`, `value="push"`,
			`data-path="README"`, "2 files, <span class=\"plus\">+3</span>", "What to change",
		}, nil},
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
		}, "", []string{`id="task-checks"`, `<span class="outcome bad">failed: `, `<code>0123456789ab</code>`, `<pre class="output"`, `value="check:tests"`, ">Run it again<", `value="check:lint"`, ">Run it<", "has not run"}, nil},
		"one that is over": {func(s *taskBackend) { s.ask("cancel") }, "", []string{`value="delete"`, "The task and its folder are deleted."}, []string{`value="pause"`, `value="cancel"`}},
		"something was refused": {func(s *taskBackend) {
			s.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 7, Verb: "<b>no</b>"})
		}, "", []string{"refused: request &lt;b&gt;no&lt;/b&gt;"}, nil},
		"the oldest first": {func(s *taskBackend) { s.ask("complete") }, "?order=old", []string{"Oldest first"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTaskBackend(t)
			s.body = "## Plan\n\n" + hostile + "\n\n[x](javascript:alert(1))\n"
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
		`id="status">pending</span>`, `data-past`, "You cannot request anything here", fmt.Sprintf("1 of %d", last), `href="/tasks/` + taskID + `?at=2" rel="next"`,
		`max="` + fmt.Sprint(last) + `" value="1"`, `moment move later`, `aria-current="true"`, `The task is in pending.`, `<section id="task-acts" data-live aria-label="What you can do" hidden>`,
	}, []string{`action="/act/`, `id="task-diff"`, "wf-live", `rel="first"`})
	_, body = v.get(fmt.Sprintf("/tasks/%s?at=%d", taskID, last))
	says(t, body, []string{`id="status">reviewing</span>`, `rel="prev"`, `rel="first"`}, []string{`rel="next"`})
	for _, at := range []string{"0", "-1", fmt.Sprint(last + 1), "x", "99999999999999999999"} {
		if res, body := v.get("/tasks/" + taskID + "?at=" + at); res.StatusCode != http.StatusBadRequest || !strings.Contains(body, fmt.Sprintf("entries 1 to %d", last)) {
			t.Errorf("at=%s: status %d: %s", at, res.StatusCode, body)
		}
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
			"reviewing", 303, "Nearly.\n\n`src/<b>login.go:3`: why 2?\nsay so\n\n`src/<b>login.go:2 (a line that was removed)`: keep it\n\n`README`: spell it", nil},
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
			if tt.note != "" && (got.Verb != "request-changes" || got.Note != tt.note || s.status() != "working") {
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
	if n := strings.Count(body, "<tr class=\"added\""); n > 4000 || n < 3000 {
		t.Errorf("%d lines are shown", n)
	}
	if n := strings.Count(body, `<li class="moment`); n != 150 {
		t.Errorf("%d moments are shown", n)
	}
	says(t, body[strings.Index(body, `id="task-timeline"`):], []string{"more lines are not shown here", "older are not shown", "?entries=all"}, []string{`class="file" id="file-1" open`})
	if _, body := v.get("/tasks/" + taskID + "?entries=all"); strings.Count(body, `<li class="moment`) < 800 {
		t.Error("not all entries are shown")
	}
	r := v.request("GET", "/tasks/"+taskID, "")
	r.Header.Set("Sec-Fetch-Dest", "empty")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if _, body := v.do(r); strings.Contains(body, "task-diff") {
		t.Error("a script gets what it does not need")
	}
}

func TestTerminal(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	s.screen = "\x1b[1;31mred\x1b[0m \x1b[38;2;255;135;0mnear\x1b[0m \x1b[7mturned\x1b[27m \x1b[7;34mblue\x1b[0m \x1b[2;3;4mfaint\x1b[0m\n" + hostile + "\x1b]0;title\x07\x1b[2J"
	v := s.open(false).visitor(t)
	res, body := v.get("/tasks/" + taskID + "/terminal")
	if res.StatusCode != 200 {
		t.Fatalf("status %d: %s", res.StatusCode, body)
	}
	says(t, body, []string{
		`<span class="fg-1 bold">red</span>`, `<span class="fg-208">near</span>`, `<span class="fg-paper bg-ink">turned</span>`, `<span class="fg-paper bg-4">blue</span>`,
		`<span class="faint italic under">faint</span>`, "&lt;img src=x", "read only", "<noscript>", "--web-input",
	}, []string{`action="/tasks/` + taskID + `/type"`, "title\a"})
	harmless(t, "the terminal", body)
	if res, body := v.form("/tasks/"+taskID+"/type", url.Values{"text": {"rm -rf /"}}); res.StatusCode != 403 || len(s.typed) != 0 {
		t.Errorf("typing: status %d: %s", res.StatusCode, body)
	}
	if res, css := v.get("/static/terminal.css"); res.StatusCode != 200 || !strings.Contains(css, ".fg-208{color:#ff8700}") || strings.Count(css, "\n") != 256 {
		t.Errorf("the palette: %d %.200s", res.StatusCode, css)
	}
	events := v.listen(t, "/tasks/"+taskID+"/terminal/events?role=", "")
	if got := <-events; got[1] != "screen" || !strings.Contains(got[2], `{"c":"fg-1 bold","t":"red"}`) {
		t.Errorf("the first event is %v", got)
	}
	s.shows("next")
	if got := <-events; !strings.Contains(got[2], `[[{"t":"next"}]]`) {
		t.Errorf("the next event is %v", got)
	}
}

func TestATerminalThatCannotBeWatchedSaysWhy(t *testing.T) {
	s := newTaskBackend(t)
	s.api.Screens = nil
	v := s.open(false).visitor(t)
	if got := <-v.listen(t, "/tasks/T000/terminal/events", ""); got[1] != "gone" || got[2] != `{"again":false,"why":"this server writes effects down and starts no agents (effects: record)"}` {
		t.Errorf("got %v", got)
	}
}

func TestTypingWhereItIsAllowed(t *testing.T) {
	s := newTaskBackend(t)
	s.ask("complete")
	v := s.open(true).visitor(t)
	_, body := v.get("/tasks/" + taskID + "/terminal?role=worker")
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
