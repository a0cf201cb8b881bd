package scriptedmodel

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAServerListensOnLoopbackUntilItIsClosed(t *testing.T) {
	s, err := Start(workAndMore())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
		t.Errorf("it listens at %s", s.URL())
	}
	first := readSample(t, "anthropic-first")
	response, err := http.Post(s.URL()+first.Path, "application/json", strings.NewReader(string(first.Request)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || !strings.Contains(string(body), "message_stop") {
		t.Errorf("the answer is not whole: %v\n%s", err, body)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("it still listens after it was closed")
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	if _, err := Start([]Script{{Name: "A"}}); err == nil {
		t.Error("a script that is not valid was taken")
	}
	s, err := Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := StartAt(strings.TrimPrefix(s.URL(), "http://"), nil); err == nil {
		t.Error("two servers listen at one address")
	}
}

func TestWhatElseCLIsAskIsAnswered(t *testing.T) {
	for address, want := range map[string]struct {
		status int
		kind   RequestOutcome
		body   string
	}{
		"GET /v1/models":                       {200, Listed, `"id":"scripted-1"`},
		"GET /v1beta/models":                   {200, Listed, `"name":"models/scripted-1"`},
		"POST /v1/messages/count_tokens":       {200, Listed, `{"input_tokens":100}`},
		"POST /v1beta/models/gem:countTokens":  {200, Listed, `{"totalTokens":100}`},
		"HEAD /":                               {200, Listed, ``},
		"GET /":                                {200, Listed, ``},
		"POST /v1/embeddings":                  {404, Unknown, `does not serve /v1/embeddings`},
		"GET /backend-api/codex/config/latest": {404, Unknown, `does not serve`},
	} {
		t.Run(address, func(t *testing.T) {
			method, path, _ := strings.Cut(address, " ")
			m := newModel(t)
			w := httptest.NewRecorder()
			m.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			if w.Code != want.status || !strings.Contains(w.Body.String(), want.body) {
				t.Errorf("the answer is %d %s", w.Code, w.Body)
			}
			if got := m.Requests()[0]; got.Kind != want.kind || got.Path != path || got.Method != method {
				t.Errorf("the log says %+v", got)
			}
		})
	}
}

func TestARequestIsAwaited(t *testing.T) {
	m := newModel(t)
	isUnknown := func(r Request) bool { return r.Kind == Unknown }
	found := make(chan Request)
	go func() {
		r, err := m.Await(t.Context(), isUnknown)
		if err != nil {
			t.Error(err)
		}
		found <- r
	}()
	post(m, "/v1/models", "")
	post(m, "/nowhere", "")
	if r := <-found; r.Number != 2 {
		t.Errorf("request %d was found, not 2", r.Number)
	}
	if r, err := m.Await(t.Context(), isUnknown); err != nil || r.Number != 2 {
		t.Errorf("what was asked before is not found: %d, %v", r.Number, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Await(gone, func(Request) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestAModelThatThinksStopsWhenNobodyWaits(t *testing.T) {
	m := newModel(t, Script{Name: "slow", Turns: []Turn{{Text: "Hm.", DelayMillis: int(time.Hour.Milliseconds())}}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan string)
	go func() {
		w := httptest.NewRecorder()
		body := `{"messages":[{"role":"user","content":"[[script:slow]]"}],"tools":[{"name":"Bash"}]}`
		m.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body)).WithContext(ctx))
		ended <- w.Body.String()
	}()
	if _, err := m.Await(t.Context(), func(r Request) bool { return r.Script == "slow" }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-ended; got != "" {
		t.Errorf("it still answered %q", got)
	}
}

func TestAModelThatThinksAnswersInTheEnd(t *testing.T) {
	m := newModel(t, Script{Name: "slow", Turns: []Turn{{Text: "Hm.", DelayMillis: 1}}})
	w := post(m, "/v1/messages", `{"messages":[{"role":"user","content":"[[script:slow]]"}],"tools":[{"name":"Bash"}]}`)
	if !strings.Contains(w.Body.String(), "Hm.") {
		t.Errorf("the answer is %s", w.Body)
	}
}

func TestARequestThatIsTooLargeIsRefused(t *testing.T) {
	m := newModel(t)
	if w := post(m, "/v1/messages", strings.Repeat(" ", maxBody+1)); w.Code != http.StatusBadRequest {
		t.Errorf("it was answered with %d", w.Code)
	}
}
