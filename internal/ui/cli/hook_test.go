package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/agent"
	"orange/internal/ui/client"
)

// heard is what the fake server received from a hook.
type heard struct {
	Harness, Event string
	Payload        *string
}

func (w *env) hooked(t *testing.T) heard {
	t.Helper()
	var h heard
	if len(w.asked) != 1 {
		t.Fatalf("asked %q", w.asked)
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(w.asked[0], "POST /v1/hooks ")), &h); err != nil {
		t.Fatal(err)
	}
	if h.Payload != nil {
		text, err := base64.StdEncoding.DecodeString(*h.Payload)
		if err != nil {
			t.Fatal(err)
		}
		*h.Payload = string(text)
	}
	return h
}

// hookable lets the server take everybody for an attempt: only attempts report events.
func hookable(w *env) { w.asAttempt(agent.Caller{Task: idOne, Attempt: 1, Role: "worker"}) }

// unending is a pipe to which nobody writes and that nobody closes.
func unending(t *testing.T) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { write.Close(); read.Close() })
	return read
}

func TestHook(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	big := strings.Repeat("x", 1<<20)
	tests := []struct {
		name  string
		args  []string
		stdin io.Reader
		want  string // the payload; "-" for none
	}{
		{"payload from standard input", []string{"claude", "Stop"}, strings.NewReader(`{"a":1}`), `{"a":1}`},
		{"payload as the last argument", []string{"codex", "Stop", `{"b":2}`}, strings.NewReader(""), `{"b":2}`},
		{"both", []string{"codex", "Stop", `{"b":2}`}, strings.NewReader(`{"a":1}`), `{"a":1}`},
		{"nothing to read", []string{"codex", "Stop", `{"b":2}`}, null, `{"b":2}`},
		{"no payload", []string{"pi", "Stop"}, strings.NewReader(""), "-"},
		{"the longest payload", []string{"pi", "Stop"}, strings.NewReader(big), big},
		{"a payload that is too long", []string{"pi", "Stop"}, strings.NewReader(big + "x"), "-"},
		{"standard input never ends", []string{"codex", "Stop", `{"b":2}`}, unending(t), `{"b":2}`},
		{"an argument like a flag", []string{"codex", "Stop", "--bogus"}, strings.NewReader("x"), "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newEnv(t)
			w.Stdin = tt.stdin
			hookable(w)
			if code := w.run(t, append([]string{"hook"}, tt.args...)...); code != 0 || w.out.Len()+w.err.Len() > 0 {
				t.Errorf("exit %d, %q, %q", code, w.out.String(), w.err.String())
			}
			h := w.hooked(t)
			if h.Harness != tt.args[0] || h.Event != "Stop" {
				t.Errorf("got %+v", h)
			}
			if none := h.Payload == nil || *h.Payload == ""; none != (tt.want == "-") || !none && *h.Payload != tt.want {
				t.Errorf("got %.40v, want %.40q", h.Payload, tt.want)
			}
		})
	}
}

func TestAHookNeverFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		args    string
		prepare func(*env)
	}{
		{"no server", "hook claude Stop", func(w *env) { w.server.Close() }},
		{"no data folder", "hook claude Stop", func(w *env) { w.Config.Home, w.Config.Socket = "/nowhere", "/nowhere/s" }},
		{"a broken configuration", "hook claude Stop", func(w *env) { w.ConfigErr = errors.New("config.json:1:1: x") }},
		{"refused", "hook claude Stop", func(w *env) { w.api.Identity = identity{err: errors.New("no")} }},
		{"it broke", "hook claude Stop", func(w *env) { hookable(w); w.fails["/v1/hooks"] = errors.New("no") }},
		{"no event", "hook claude", nil},
		{"nothing at all", "hook", nil},
		{"an unknown flag", "hook --bogus=1 claude Stop", nil},
		{"a broken flag", "hook --json=perhaps claude Stop", nil},
		{"the server hangs", "hook claude Stop", func(w *env) {
			w.handle = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		}},
		{"the server is cut off", "hook claude Stop", func(w *env) {
			w.handle = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newEnv(t)
			w.Start = func() (client.Child, error) { t.Error("a server was started"); return nil, errors.New("no") }
			if tt.prepare != nil {
				tt.prepare(w)
			}
			if code := w.run(t, strings.Fields(tt.args)...); code != 0 || w.out.Len()+w.err.Len() > 0 {
				t.Errorf("exit %d, %q, %q", code, w.out.String(), w.err.String())
			}
			if _, err := os.Stat(filepath.Join(w.Config.Home, "orange.db")); err == nil {
				t.Error("a data folder was made")
			}
		})
	}
}

func TestAHookSaysWhatHappenedIfAsked(t *testing.T) {
	tell(t, []story{
		{name: "heard", args: "hook claude Stop --json", prepare: hookable, out: `{"heard":true}` + "\n"},
		{name: "not heard", args: "hook claude Stop --json", prepare: func(w *env) { w.server.Close() }, out: `{"error":"no server is running: start one with orange serve","heard":false}` + "\n"},
		{name: "not understood", args: "hook claude --json", out: `{"error":"give the harness and the event","heard":false}` + "\n"},
	})
}
