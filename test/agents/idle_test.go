//go:build agents

package agents_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
	"orange/internal/wait"
)

// inProse returns a turn that ends with a question in prose, without a tool, as agents mostly ask.
func inProse(number int) string {
	return fmt.Sprintf("I have looked at the form. Before I go on, number %d:\n\n- Shall the button be **blue**?\n- Shall it be round?\n\nWhat do you prefer?", number)
}

// asksInProse asks three times and then does its work.
func asksInProse() []scriptedmodel.Script {
	scripts := mainJob()
	worker := &scripts[0]
	worker.Turns = append([]scriptedmodel.Turn{{Text: inProse(1)}, {Text: inProse(2)}, {Text: inProse(3)}}, worker.Turns[:firstHalf]...)
	return scripts
}

// A question at the end of a turn appears in the inbox, can be answered from every surface, and the task continues.
func TestAQuestionInAMessageIsAnswered(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		s := newEnv(t, agent, sessions, asksInProse())
		id := s.create()
		for i, from := range []struct {
			surface string
			answer  func(id task.ID, words string)
		}{{"command line", s.answerByCommand}, {"page", s.answerByPage}, {"dashboard", s.answerByDashboard}} {
			item := s.asked(id, i)
			if item.Status != "planning" || item.Verb != engine.VerbAnswer || !strings.Contains(item.Do, "orange task answer "+string(id)) {
				t.Errorf("the item is %+v", item)
			}
			if len(item.Reasons) == 0 || item.Reasons[0].Text != inProse(i+1) {
				t.Errorf("it says %+v, not %q", item.Reasons, inProse(i+1))
			}
			words := fmt.Sprintf("blue, says the %s", from.surface)
			from.answer(id, words)
			if got := s.told(words); got.Turn != i+1 {
				t.Errorf("the answer came to turn %d, not %d", got.Turn, i+1)
			}
		}
		done := s.await(id, "the work is reviewed", rests)
		s.checkWork(done, "one")
		if conversations := s.conversations(id, "worker"); len(conversations) != 1 {
			t.Errorf("the worker had the conversations %v", conversations)
		}
	})
}

// asked waits until the question of a turn is in the inbox, and logs how long that took.
func (s *env) asked(id task.ID, turn int) explain.Item {
	s.t.Helper()
	var found explain.Item
	wait.Until(s.t, fmt.Sprintf("question %d is in the inbox", turn+1), func() bool {
		said := s.saidAt(turn)
		if said.IsZero() {
			return false
		}
		var out struct {
			Items []explain.Item `json:"items"`
		}
		s.ask(&out, "inbox")
		for _, it := range out.Items {
			if it.Task == id && it.Kind == explain.ItemIdle && len(it.Reasons) > 0 && strings.Contains(it.Reasons[0].Text, fmt.Sprintf("number %d:", turn+1)) {
				s.t.Logf("%s: question %d is in the inbox %v after the model's last byte", s.agent, turn+1, time.Since(said).Round(time.Millisecond))
				found = it
				return true
			}
		}
		return false
	}, func() any { return s.orange("inbox") + "\n" + s.orange("task", "history", string(id)) })
	return found
}

// saidAt returns when the model sent a turn of the worker's script, or zero if it has not.
func (s *env) saidAt(turn int) time.Time {
	for _, r := range s.model.Requests() {
		if r.Script == workerScript && r.Turn == turn && r.Kind == scriptedmodel.Played {
			return r.Ended
		}
	}
	return time.Time{}
}

// told waits until the model receives a request with these words.
func (s *env) told(words string) scriptedmodel.Request {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), longest)
	defer cancel()
	r, err := s.model.Await(ctx, func(r scriptedmodel.Request) bool {
		return r.Kind == scriptedmodel.Played && strings.Contains(r.Prompt, words)
	})
	check(s.t, err)
	return r
}

// conversations returns the agent's ids of the conversations of a role's attempts.
func (s *env) conversations(id task.ID, role string) map[string]bool {
	out := map[string]bool{}
	for _, a := range s.attempts(id) {
		if a.Role == role {
			out[a.Session] = true
		}
	}
	return out
}

// answerByCommand answers twice: only the first answer counts.
func (s *env) answerByCommand(id task.ID, words string) {
	s.t.Helper()
	s.orange("task", "answer", string(id), words)
	if _, said, err := s.run("task", "answer", string(id), "red"); err == nil || !strings.Contains(said, "answered") {
		s.t.Errorf("a second answer: %v, %q", err, said)
	}
}

var formToken = regexp.MustCompile(`name="_csrf" value="([^"]+)"`)

// answerByPage answers like a browser without scripts.
func (s *env) answerByPage(id task.ID, words string) {
	s.t.Helper()
	var page struct {
		URL   string `json:"url"`
		Login string `json:"login"`
	}
	s.ask(&page, "web")
	jar, err := cookiejar.New(nil)
	check(s.t, err)
	browser := &http.Client{Jar: jar, Timeout: longest}
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
		for _, want := range []string{"<li>Shall the button be <strong>blue</strong>?", `value="answer"`} {
			if !strings.Contains(text, want) {
				s.t.Errorf("%q is not on the page /%s", want, path)
			}
		}
	}
	token := formToken.FindStringSubmatch(read(browser.Get(page.URL + "inbox")))
	if token == nil {
		s.t.Fatal("the page has no form")
	}
	form := url.Values{"_csrf": {token[1]}, "do": {"answer"}, "note": {words}, "back": {"/inbox"}}
	post, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, page.URL+"act/"+string(id), strings.NewReader(form.Encode()))
	check(s.t, err)
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post.Header.Set("Origin", strings.TrimSuffix(page.URL, "/"))
	read(browser.Do(post))
}

// answerByDashboard answers with the dashboard's key, in a terminal.
func (s *env) answerByDashboard(_ task.ID, words string) {
	s.t.Helper()
	socket := filepath.Join(s.dir, "stage")
	screen := func(args ...string) string {
		s.t.Helper()
		out, err := s.command("tmux", append([]string{"-S", socket}, args...)...).CombinedOutput()
		if err != nil {
			s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	until := func(what string, holds func(text string) bool) {
		s.t.Helper()
		show := func() string { return screen("capture-pane", "-p", "-t", "stage") }
		wait.Until(s.t, what, func() bool { return holds(show()) }, func() any { return show() })
	}
	shows := func(words ...string) {
		s.t.Helper()
		until(fmt.Sprintf("the dashboard shows %q", words), func(text string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
		})
	}
	screen("-f", "/dev/null", "new-session", "-d", "-s", "stage", "-x", "100", "-y", "30", "TERM=xterm-256color "+program)
	defer s.command("tmux", "-S", socket, "kill-server").Run() //nolint:errcheck // it may be gone
	shows("feature", "you: idle")
	screen("send-keys", "-t", "stage", "i")
	shows("▸ idle", "• Shall the button be blue?", "• Shall it be round?", "Enter answer")
	screen("send-keys", "-t", "stage", "e")
	shows("Your answer to feature", "What do you prefer?")
	screen("send-keys", "-t", "stage", "-l", words)
	shows(words)
	screen("send-keys", "-t", "stage", "Enter")
	until("the question is gone", func(text string) bool {
		return !strings.Contains(text, "Your answer to") && !strings.Contains(text, " idle ")
	})
}

// An agent that died while its question was open continues in a new attempt that begins with the answer, in the same
// conversation if there is one.
func TestAnAnswerStartsAnAgentThatDied(t *testing.T) {
	for _, agent := range agent.HarnessNames() {
		t.Run(agent, func(t *testing.T) {
			scripts := mainJob()
			anew := scriptedmodel.Script{Name: "anew", When: toResumed, Turns: scripts[0].Turns[:firstHalf]}
			scripts[0].Turns = append([]scriptedmodel.Turn{{Text: inProse(1)}}, anew.Turns...)
			scripts = append(scripts, anew)
			s := newEnv(t, agent, "tmux", scripts)
			id := s.create()
			s.asked(id, 0)
			killed := s.newest(id, "worker")
			state, err := shim.Folder(filepath.Join(s.data, "attempts", string(id), strconv.Itoa(killed.Number))).ReadState(shim.BootID())
			check(t, err)
			s.crashes = 1
			check(t, syscall.Kill(state.Started.Child.PID, syscall.SIGKILL))
			s.await(id, "the agent is gone", func(t task.Task) bool { return len(t.Attempts) == 0 })
			s.asked(id, 0)
			s.orange("task", "answer", string(id), "blue, of course")
			next := s.told("blue, of course")
			if lost := next.Turn == 0; lost { // it was killed before it recorded its question
				t.Logf("%s: the question was lost, and %s goes on", agent, next.Script)
				if !strings.Contains(next.Prompt, "> - Shall it be round?") {
					t.Errorf("it does not know what is answered: %q", next.Prompt)
				}
				if next.Script == workerScript { // the model does not read the prompt, and asks again
					return
				}
			}
			s.await(id, "the work is reviewed", rests)
			if last := s.newest(id, "worker"); last.Number != killed.Number+1 || next.Script == workerScript && last.Session != killed.Session {
				t.Errorf("after %+v came %+v", killed, last)
			}
		})
	}
}
