package scriptedmodel

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is a request as a real CLI sends it, cut down to what matters.
type sample struct {
	Path    string          `json:"path"`
	Request json.RawMessage `json:"request"`
}

func readSample(t *testing.T, name string) sample {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// unstreamed returns the same request without the wish for a stream.
func (s sample) unstreamed(t *testing.T) sample {
	t.Helper()
	path, _, _ := strings.Cut(s.Path, "?")
	if strings.Contains(path, ":stream") {
		return sample{Path: strings.Replace(path, ":streamGenerateContent", ":generateContent", 1), Request: s.Request}
	}
	var fields map[string]any
	if err := json.Unmarshal(s.Request, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "stream")
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return sample{Path: s.Path, Request: text}
}

// at is the moment at which the models of these tests answer.
var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newModel(t *testing.T, scripts ...Script) *Model {
	t.Helper()
	m, err := New(scripts)
	if err != nil {
		t.Fatal(err)
	}
	m.now = func() time.Time { return at }
	return m
}

func post(m *Model, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w
}

func workAndMore() []Script {
	return []Script{
		{Name: "work", Turns: []Turn{{Shell: "echo one > one.txt && cat one.txt"}, {Shell: "echo two"}, {Text: "The work is done."}}},
		{Name: "more", Turns: []Turn{{Text: "There is no more to do."}}},
	}
}

func TestRealRequestsAreAnswered(t *testing.T) {
	played := func(protocol, script string, turn int, tools ...string) Request {
		return Request{Number: 1, Kind: Played, Protocol: protocol, Stream: true, Script: script, Turn: turn, Tools: tools, Usage: ordinaryUsage()}
	}
	side := func(protocol string) Request {
		return Request{Number: 1, Kind: Side, Protocol: protocol, Stream: true, Turn: -1, Usage: ordinaryUsage()}
	}
	for name, want := range map[string]Request{
		"anthropic-first":            played("anthropic", "work", 0, "Bash", "Read"),
		"anthropic-after-a-call":     played("anthropic", "work", 1, "Bash", "Read"),
		"anthropic-resumed":          played("anthropic", "more", 0, "Bash", "Read"),
		"anthropic-interjected":      played("anthropic", "more", 0, "Bash", "Read"),
		"anthropic-title":            side("anthropic"),
		"responses-first":            played("responses", "work", 0, "exec_command", "write_stdin"),
		"responses-after-a-call":     played("responses", "work", 1, "exec_command", "write_stdin"),
		"responses-resumed":          played("responses", "more", 0, "exec_command", "write_stdin"),
		"responses-title":            side("responses"),
		"chat-opencode-first":        played("chat", "work", 0, "bash", "read"),
		"chat-opencode-after-a-call": played("chat", "work", 1, "bash", "read"),
		"chat-opencode-title":        side("chat"),
		"chat-pi-after-a-call":       played("chat", "work", 1, "read", "bash"),
		"chat-pi-resumed":            played("chat", "more", 0, "read", "bash"),
		"gemini-first":               played("gemini", "work", 0, "read_file", "run_shell_command"),
		"gemini-after-a-call":        played("gemini", "work", 1, "read_file", "run_shell_command"),
		"gemini-resumed":             played("gemini", "more", 0, "read_file", "run_shell_command"),
	} {
		t.Run(name, func(t *testing.T) {
			s := readSample(t, name)
			text := "== streamed\n" + answerTo(t, s, want)
			want.Stream = false
			text += "== whole\n" + answerTo(t, s.unstreamed(t), want)
			compareFile(t, name+".golden", text)
		})
	}
}

// answerTo sends a request to a model, checks its log and returns the answer.
func answerTo(t *testing.T, s sample, want Request) string {
	t.Helper()
	m := newModel(t, workAndMore()...)
	w := post(m, s.Path, string(s.Request))
	got := m.Requests()[0]
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Request{}, "Method", "Path", "Model", "Prompt", "Answer", "Ended")); diff != "" {
		t.Errorf("the log differs (-want +got):\n%s", diff)
	}
	return fmt.Sprintf("%d %s\n\n%s\n", w.Code, w.Header().Get("Content-Type"), w.Body)
}

func TestErrorsLookLikeThoseOfTheProvider(t *testing.T) {
	turns := []Turn{
		{Status: 400, Message: "the request is bad"},
		{Status: 401, Message: "who are you"},
		{Status: 429, Message: "slow down"},
		{Status: 429, Message: "the limit is used up", ResetSeconds: 3600},
		{Status: 500},
	}
	for _, protocol := range []string{"anthropic", "responses", "chat-opencode", "gemini"} {
		t.Run(protocol, func(t *testing.T) {
			s := readSample(t, protocol+"-first")
			var text strings.Builder
			for _, turn := range turns {
				w := post(newModel(t, Script{Name: "work", Turns: []Turn{turn}}), s.Path, string(s.Request))
				fmt.Fprintf(&text, "== %d\n", w.Code)
				if err := w.Header().Write(&text); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&text, "\n%s\n", w.Body)
			}
			compareFile(t, protocol+"-errors.golden", strings.ReplaceAll(text.String(), "\r\n", "\n"))
		})
	}
}

func compareFile(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(saved), text); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}
