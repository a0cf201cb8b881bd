package api_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// screen reads one screen.
func (s *stream) screen() (wire.Screen, string) {
	s.t.Helper()
	name, data := s.event()
	if name != "screen" {
		s.t.Fatalf("event %q", name)
	}
	var out wire.Screen
	must(s.t, json.Unmarshal(data, &out))
	return out, lineText(out)
}

func lineText(s wire.Screen) string {
	var lines []string
	for _, l := range s.Lines {
		text := ""
		for _, run := range l {
			text += run.Text
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "|")
}

func TestAScreenIsRead(t *testing.T) {
	r := full(t)
	h := r.server.Screens.(*theatre)
	id := r.create("a")
	r.ask("GET", "/v1/tasks/"+id+"/screen", "").holds(t, `"lines":[]`, `"role":""`)
	h.put(task.ID(id), "one\n\n\x1b[31mtwo\x1b[0m")
	r.ask("GET", "/v1/tasks/"+id+"/screen?role=worker", "").holds(t, `"role":"worker"`, `"lines":[[{"text":"one"}],[],[{"text":"two","fg":"1"}]]`)
	r.ask("POST", "/v1/tasks/"+id+"/type", `{"role":"worker","text":"yes"}`).holds(t, `{"typed":true}`)
	r.ask("POST", "/v1/tasks/"+id+"/type", `{"role":"worker","text":""}`).refused(t, http.StatusBadRequest, "give a text")
	r.ask("POST", "/v1/tasks/"+id+"/keys", `{"key":"enter","seen":"now"}`).holds(t, `{"typed":true}`)
	r.ask("POST", "/v1/tasks/"+id+"/keys", `{"key":"enter","seen":"before"}`).refused(t, http.StatusBadRequest, "shows something else")
	r.ask("GET", "/v1/tasks/"+id+"/file?path=x", "").holds(t, `"content":"YgpjCg=="`, `"cut":true`)
	r.ask("GET", "/v1/tasks/"+id+"/file?path=x&side=old", "").holds(t, `"content":"YQo="`, `"cut":false`)
	r.ask("GET", "/v1/tasks/"+id+"/file?path=y", "").refused(t, http.StatusBadRequest, "no such file")
	r.ask("GET", "/v1/tasks/"+id+"/file?path=x&side=left", "").refused(t, http.StatusBadRequest, "unknown side")
	if len(h.typed) != 2 || h.typed[0] != id+" worker yes" || h.typed[1] != id+"  key enter" {
		t.Errorf("%q", h.typed)
	}
	h.broken = errors.New("the terminal\nis gone")
	r.ask("GET", "/v1/tasks/"+id+"/screen", "").refused(t, http.StatusInternalServerError, "is gone")
	for _, what := range []string{"/screen", "/screen/events", "/diff"} {
		r.ask("GET", "/v1/tasks/nobody"+what, "").refused(t, http.StatusNotFound, "not found")
	}
	r.ask("GET", "/v1/tasks/"+id+"/diff", "").holds(t, `"base":"abc"`, `"cut":true`, `"files":[{`, `"worktree":"/w","problem":"p"`)
	r.ask("GET", "/v1/tasks/"+r.create("lost")+"/diff", "").refused(t, http.StatusInternalServerError, "the branch is gone")
}

// TestAScreenContinuesWithTheNextAgent follows a task whose agent is replaced and that is
// deleted in the end.
func TestAScreenContinuesWithTheNextAgent(t *testing.T) {
	r := full(t)
	h := r.server.Screens.(*theatre)
	made := r.ask("POST", "/v1/tasks", `{"project":"p","branch":"a","summary":"s","spawn":true}`)
	id := task.ID(made.body["task"].(map[string]any)["id"].(string))
	r.settle()
	s := r.listenTo("/v1/tasks/"+string(id)+"/screen/events", "")
	defer s.close()
	if now, text := s.screen(); now.Attempt != 1 || text != "" {
		t.Fatalf("%+v", now)
	}
	h.put(id, "hello")
	if _, text := s.screen(); text != "hello" {
		t.Errorf("%q", text)
	}
	_, err := r.runtime.Submit(t.Context(), id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker", Attempt: 1, Code: 1})
	must(t, err)
	if now, _ := s.screen(); now.Attempt == 1 {
		t.Errorf("%+v", now)
	}
	r.ask("POST", "/v1/tasks/"+string(id)+"/signals", `{"kind":"request","verb":"cancel"}`).holds(t, "cancelled")
	r.settle()
	r.ask("POST", "/v1/tasks/"+string(id)+"/signals", `{"kind":"delete"}`).holds(t, "deleted")
	for s.lines.Scan() { // ends with the task
	}
	if err := s.lines.Err(); err != nil {
		t.Error(err)
	}
}

// TestNothingIsLeftOfAScreenThatNobodyWatches runs in a bubble, which notices what is.
func TestNothingIsLeftOfAScreenThatNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, h := newTicker(), newTheatre()
		s := k.server()
		s.Screens = h
		w, leave := listening(s, "/v1/tasks/a/screen/events")
		synctest.Wait()
		if len(w.lines) != 2 {
			t.Fatalf("%d lines", len(w.lines))
		}
		for range 1000 { // other tasks are none of its business: for a second
			k.tick("b")
			time.Sleep(time.Millisecond)
		}
		k.mu.Lock()
		if k.asks > 25 {
			t.Errorf("the journal is read %d times in a second", k.asks)
		}
		k.mu.Unlock()
		if h.looked() != 1 || len(w.lines) != 2 {
			t.Errorf("%d looks, %d lines", h.looked(), len(w.lines))
		}
		text := ""
		for range 1000 { // in a second: it is looked at now and then
			text = time.Now().String()
			h.put("a", text)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		if looks := h.looked(); looks > 25 || looks < 10 {
			t.Errorf("%d looks in a second", looks)
		}
		lines := len(w.lines)
		h.put("a", text) // the same again
		time.Sleep(time.Second)
		if len(w.lines) != lines {
			t.Error("a screen is sent that did not change")
		}
		time.Sleep(time.Minute)
		if len(w.lines) != lines+2 {
			t.Errorf("%d lines in a quiet minute", len(w.lines)-lines)
		}
		synctest.Wait()
		h.mu.Lock()
		close(h.wrote["a"]) // the agent is gone and writes no more
		h.mu.Unlock()
		time.Sleep(time.Second)
		if looks := h.looked(); looks > 30 {
			t.Errorf("%d looks at what is over", looks)
		}
		leave()
		<-h.ends
	})
}

func TestAScreenThatCannotBeReadSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, h := newTicker(), newTheatre()
		h.broken = errors.New("tmux says:\n\x1b[31mno server")
		s := k.server()
		s.Screens = h
		w, leave := listening(s, "/v1/tasks/a/screen/events")
		<-w.lines
		if got := <-w.lines; !strings.Contains(got, `"note":"tmux says:`) || strings.Contains(got, "u001b") {
			t.Errorf("%s", got)
		}
		leave()
	})
}
