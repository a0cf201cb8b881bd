package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// questioner asks four times in prose, with a list and with what would control a terminal. At a
// terminal one agent does all of it; without one each attempt asks once.
func questioner(sessions string) string {
	const turns = 4
	var b strings.Builder
	for n := 1; n <= turns+1; n++ {
		if n == 1 || sessions == "headless" {
			fmt.Fprintf(&b, "worker%s:\n", map[bool]string{true: fmt.Sprintf("#%d", n)}[n > 1])
		}
		if n > 1 {
			fmt.Fprintf(&b, "  - run: \"grep -q 'answer %d' TASK.md && touch ../../../answered%d\"\n", n-1, n-1)
		}
		if n == 2 { // it asks again only when a second answer to the first question was refused
			b.WriteString("  - run: \"until test -e ../../../refused; do sleep 0.1; done\"\n")
		}
		if n <= turns {
			fmt.Fprintf(&b, "  - say: \"Question %d:\\n\\n- Shall it be \\e[2J\\e]0;owned\\a**blue**?\\n- Shall it be <b>round</b>?\"\n  - wait:\n", n)
		}
	}
	b.WriteString("  - section: {name: Plan, text: \"APPROACH: blue\"}\n  - run: orange task update --status working\n  - idle:\n")
	return b.String()
}

// A question in prose is on every surface as Markdown that controls no terminal, and is answered
// from each.
func TestAQuestionInAMessageIsAnsweredFromEverySurface(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", questioner(s.sessions()))
		asked := func(n int) explain.Item {
			t.Helper()
			var it explain.Item
			s.eventually(fmt.Sprintf("question %d is in the inbox", n), func() bool {
				it = s.wanted(id)
				return it.Kind == explain.ItemIdle && len(it.Reasons) > 0 && strings.Contains(it.Reasons[0].Text, fmt.Sprintf("Question %d:", n))
			})
			return it
		}
		heard := func(n int) {
			t.Helper()
			s.eventually(fmt.Sprintf("the worker reads answer %d", n), func() bool { return s.has(fmt.Sprintf("answered%d", n)) })
			if now := s.task(id); n < 4 && now.Status != "planning" {
				t.Errorf("the answer moved the task to %s", now.Status)
			}
		}

		it := asked(1)
		if it.Verb != engine.VerbAnswer || it.Reasons[0].Text != "Question 1:\n\n- Shall it be **blue**?\n- Shall it be <b>round</b>?" {
			t.Errorf("%+v", it)
		}
		for _, args := range [][]string{{"inbox"}, {"task", "show", string(id)}, {"task", "explain", string(id)}} {
			got := s.orange(args...)
			if !strings.Contains(got, "- Shall it be **blue**?\n") || !strings.Contains(got, "- Shall it be <b>round</b>?\n") || strings.ContainsAny(got, "\x1b\x07") {
				t.Errorf("orange %s:\n%q", strings.Join(args, " "), got)
			}
		}
		if got := s.orange("status"); !strings.Contains(got, "1") {
			t.Errorf("orange status: %s", got)
		}
		if got := s.orange("task", "answer", string(id), "answer 1"); !strings.Contains(got, "stays planning: the worker is told") {
			t.Errorf("orange task answer: %s", got)
		}
		s.refused("answered", "task", "answer", string(id), "red")
		s.write("refused", "")
		heard(1)

		asked(2)
		s.answerOnPage(id, "answer 2")
		heard(2)

		asked(3)
		g := s.open(90, 30)
		g.shows("feature", "you: idle")
		g.press("i")
		g.shows("▸ idle", "Last message (worker)", "• Shall it be blue?", "• Shall it be <b>round</b>?", "Enter answer")
		g.press("e")
		g.shows("Your answer to feature", "• Shall it be blue?")
		g.write("answer 3")
		g.press("Enter")
		heard(3)

		asked(4)
		c := s.dialMCP()
		text, refused := s.tool(c, "inbox", nil)
		if refused || !strings.Contains(text, "| - Shall it be **blue**?") || strings.Contains(text, "\x1b") {
			t.Errorf("inbox: %q", text)
		}
		if text, refused := s.tool(c, "answer", map[string]any{"task": string(id), "text": "answer 4"}); refused || !strings.Contains(text, "the worker is told") {
			t.Errorf("answer: %s", text)
		}
		heard(4)
		s.reaches(id, "working")
	})
}

func (s *env) sessions() string {
	if strings.HasSuffix(s.t.Name(), "/headless") {
		return "headless"
	}
	return "tmux"
}

var formToken = regexp.MustCompile(`name="_csrf" value="([^"]+)"`)

// answerOnPage answers as a browser without a script does.
func (s *env) answerOnPage(id task.ID, words string) {
	s.t.Helper()
	var page wire.PageAddress
	check(s.t, json.Unmarshal([]byte(s.orange("web", "--json")), &page))
	jar, err := cookiejar.New(nil)
	check(s.t, err)
	browser := &http.Client{Jar: jar}
	read := func(res *http.Response, err error) string {
		s.t.Helper()
		check(s.t, err)
		text, err := io.ReadAll(res.Body)
		check(s.t, errors.Join(err, res.Body.Close()))
		if res.StatusCode != http.StatusOK {
			s.t.Fatalf("%s: %s\n%s", res.Request.URL, res.Status, text)
		}
		return string(text)
	}
	read(browser.Get(page.Login))
	for _, path := range []string{"inbox", "tasks/" + string(id)} {
		text := read(browser.Get(page.URL + path))
		for _, want := range []string{"<li>Shall it be <strong>blue</strong>?", "<li>Shall it be &lt;b&gt;round&lt;/b&gt;?", `value="answer" class="go"`} {
			if !strings.Contains(text, want) || strings.Contains(text, "\x1b") {
				s.t.Errorf("%q is not on the page /%s:\n%s", want, path, text)
			}
		}
	}
	token := formToken.FindStringSubmatch(read(browser.Get(page.URL + "tasks/" + string(id))))
	if token == nil {
		s.t.Fatal("the page has no form")
	}
	form := url.Values{"_csrf": {token[1]}, "do": {"answer"}, "note": {words}, "back": {"/tasks/" + string(id)}}
	post, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, page.URL+"act/"+string(id), strings.NewReader(form.Encode()))
	check(s.t, err)
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post.Header.Set("Origin", strings.TrimSuffix(page.URL, "/"))
	said := read(browser.Do(post))
	if !strings.Contains(said, "feature: the worker is told.") {
		s.t.Errorf("the page does not say what came of it")
	}
}
