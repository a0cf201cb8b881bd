package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orange/internal/adapter/notify"
)

// mailbox is a receiver of notifications on the loopback.
type mailbox struct {
	*httptest.Server
	mu    sync.Mutex
	heads []http.Header
	texts []string
	code  int // of its answers
}

func openMailbox(t *testing.T) *mailbox {
	m := &mailbox{code: http.StatusOK}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.heads, m.texts = append(m.heads, r.Header), append(m.texts, string(body))
		w.WriteHeader(m.code)
	}))
	t.Cleanup(m.Close)
	return m
}

// got is what came so far.
func (m *mailbox) got() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.texts...)
}

func (m *mailbox) answer(code int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.code = code
}

// TestPeopleAreNotifiedOnce plays a day with every way but the bell: one is away for a
// while, the server is killed and stopped, and nothing is sent twice. No secret is
// in any file afterwards.
func TestPeopleAreNotifiedOnce(t *testing.T) {
	t.Parallel()
	const key, token, address = "PLANTEDxSIGNx4be1", "PLANTEDxNTFYx77aa", "PLANTEDxSLACKx0c0c"
	hook, ntfy, slack, away := openMailbox(t), openMailbox(t), openMailbox(t), openMailbox(t)
	away.answer(http.StatusServiceUnavailable)
	s := openEnv(t, "headless")
	s.orange("stop")
	s.write("config/orange/config.json", `{"effects":"record"}`) // no agents are needed
	old := s.createWith("old", "--status", "clarification")      // waits before anybody wants to hear of it
	s.orange("stop")
	screen := filepath.Join(s.dir, "bin", "notify-send")
	s.write("bin/notify-send", "#!/bin/sh\nprintf '%s\\n' \"$5\" >>\"$HOME/desktop\"\n")
	check(t, os.Chmod(screen, 0o755))
	s.environ[0] = "PATH=" + filepath.Dir(screen) + string(os.PathListSeparator) + os.Getenv("PATH")
	s.environ = append(s.environ, "ORANGE_SECRET_HOOK="+key)
	kept, place := s.secret("ntfy.token", token), s.secret("slack.url", slack.URL+"/services/"+address)
	s.write("config/orange/config.json", fmt.Sprintf(`{"effects": "record", "sessions": "headless", "log_level": "debug", "notify": [
		{"kind": "webhook", "url": %q, "secret": "env:ORANGE_SECRET_HOOK"},
		{"kind": "ntfy", "url": %q, "secret": %q, "brief": true, "on": ["question"]},
		{"kind": "slack", "secret": %q, "projects": ["shop"]},
		{"kind": "slack", "secret": %q, "projects": ["elsewhere"]},
		{"kind": "webhook", "url": %q},
		{"kind": "desktop"}]}`, hook.URL, ntfy.URL+"/topic", "file:"+kept, "file:"+place, "file:"+place, away.URL+"/"+address))
	asks := func(summary string) string {
		var out struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		}
		check(t, json.Unmarshal([]byte(s.orange("task", "create", "--json", "--project", "shop", "--status", "clarification", "b-"+summary, summary)), &out))
		return out.Task.ID
	}
	first := asks("first")
	s.eventually("everybody hears of the first", func() bool {
		return len(hook.got()) == 1 && len(ntfy.got()) == 1 && len(slack.got()) == 1 && len(away.got()) > 0 && s.has("desktop")
	})
	var event struct{ ID, Kind, Task, Summary, Do string }
	check(t, json.Unmarshal([]byte(hook.got()[0]), &event))
	if event.Kind != "question" || event.Task != first || event.Summary != "first" || !strings.Contains(event.Do, first) {
		t.Errorf("the webhook says %+v", event)
	}
	if h := hook.heads[0]; h.Get("Orange-Signature") != notify.SignBody(key, []byte(hook.got()[0])) || h.Get("Orange-Delivery") != event.ID {
		t.Errorf("it is signed %v", h)
	}
	if h := ntfy.heads[0]; h.Get("Authorization") != "Bearer "+token || strings.Contains(ntfy.got()[0]+h.Get("Title"), "first") {
		t.Errorf("ntfy got %v %s", h, ntfy.got()[0])
	}
	s.eventually("how it went is known", func() bool {
		out := s.orange("notify", "list")
		return strings.Count(out, " ago") == 5 && strings.Contains(out, "answered 503") && strings.Contains(out, "not yet")
	})
	s.killServer()
	second := asks("second")
	s.eventually("everybody hears of the second", func() bool { return len(hook.got()) == 2 && len(ntfy.got()) == 2 && len(slack.got()) == 2 })
	s.orange("stop")
	tried := len(away.got())
	away.answer(http.StatusNoContent)
	s.orange("task", "list") // a server starts, and sends what is missing
	s.eventually("who was away hears of both", func() bool { return len(away.got()) == tried+2 })
	s.orange("task", "complete", first) // answered: it is not sent again
	s.orange("task", "update", second, "--summary", "another")
	s.orange("task", "update", string(old), "--summary", "another")
	third := asks("third")
	s.eventually("everybody hears of the third", func() bool {
		return len(hook.got()) == 3 && len(ntfy.got()) == 3 && len(slack.got()) == 3 && strings.Count(s.text("desktop"), "orange task answer") == 3
	})
	if last := hook.got()[2]; !strings.Contains(last, third) {
		t.Errorf("the last one is %s", last)
	}
	s.orange("stop")
	if found := s.filesWith([]string{key, token, address}, kept, place, filepath.Join(s.dir, "config/orange/config.json")); len(found) > 0 {
		t.Errorf("secrets are in %v", found)
	}
}

// filesWith lists the files of a shop with one of the words, but for some.
func (s *env) filesWith(words []string, but ...string) (found []string) {
	s.t.Helper()
	check(s.t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(strings.Join(but, "\n"), path) {
			return nil //nolint:nilerr // a file that is gone holds nothing
		}
		text, _ := os.ReadFile(path)
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				found = append(found, path)
			}
		}
		return nil
	}))
	return found
}
