package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"orange/internal/core/signal"
	"orange/internal/ui/client"
	"orange/internal/ui/web"
	"orange/internal/wire"
)

// lastVia is what the page said about the last request that changed something.
func (w *backend) lastVia(t *testing.T) (signal.Via, string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var v signal.Via
	for i := len(w.headers) - 1; i >= 0; i-- {
		if text := w.headers[i].Get(wire.HeaderVia); text != "" {
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			return v, text
		}
	}
	return v, ""
}

func TestThePageSaysForWhomItAsks(t *testing.T) {
	var overMCP string
	w := newBoardBackend(t)
	h := newEnv(t, w, func(o *web.SiteOptions) {
		o.Describe = func(*http.Request) signal.Via { return signal.Via{PID: 9, Program: "firefox"} }
		o.MCP = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { overMCP = client.ViaHeader(r.Context()) })
	})
	v := h.visitor(t)
	res, _ := v.get("/?token=" + token)
	v.cookies = res.Cookies()
	v.get("/inbox")
	if _, text := w.lastVia(t); text != "" {
		t.Errorf("those who look are looked for: %s", text)
	}
	if res, body := v.form("/act/"+workingTask, url.Values{"do": {"pause"}}); res.StatusCode >= 400 {
		t.Fatal(res.StatusCode, body)
	}
	got, text := w.lastVia(t)
	if got.Kind != signal.ViaPage || len(got.Session) != 8 || got.PID != 9 || got.Program != "firefox" {
		t.Errorf("a form: %s", text)
	}
	name, sum, _ := strings.Cut(v.cookies[0].Value, ".")
	for _, secret := range []string{token, sum, name, got.Session + "."} {
		if strings.Contains(text, secret) || strings.Contains(v.cookies[0].Value, got.Session) {
			t.Errorf("%s gives the session away", text)
		}
	}
	r := v.request("POST", "/api/v1/tasks/"+workingTask+"/signals", `{"kind":"pause"}`)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set(wire.HeaderVia, `{"kind":"tracker","account":"forged"}`)
	v.do(r)
	if got, text := w.lastVia(t); got.Kind != signal.ViaToken || got.Account != "" || got.Session != "" || strings.Contains(text, token) {
		t.Errorf("a program with the token: %s", text)
	}
	r = v.request("POST", "/mcp", "{}")
	r.Header.Set("Authorization", "Bearer "+token)
	v.do(r)
	if !strings.Contains(overMCP, `"kind":"mcp"`) || !strings.Contains(overMCP, "firefox") {
		t.Errorf("MCP: %q", overMCP)
	}
}

// TestACodeIsGivenBackOnThePage is for browsers without script.
func TestACodeIsGivenBackOnThePage(t *testing.T) {
	w := newBoardBackend(t)
	w.code = "123456"
	h := newEnv(t, w)
	v := h.visitor(t)
	res, _ := v.get("/?token=" + token)
	v.cookies = res.Cookies()
	fields := url.Values{"do": {"move:working"}, "back": {"/inbox"}, "note": {"<b>now</b>"}}
	res, body := v.form("/act/"+pendingTask, fields)
	for _, want := range []string{`action="/act/` + pendingTask + `"`, `name="code"`, `name="do" value="move:working"`, `name="note" value="&lt;b&gt;now&lt;/b&gt;"`, "a code was sent by notification"} {
		if res.StatusCode != http.StatusConflict || !strings.Contains(body, want) {
			t.Errorf("%d without %s: %s", res.StatusCode, want, body)
		}
	}
	fields.Set("code", " 123456 ")
	if res, body := v.form("/act/"+pendingTask, fields); res.StatusCode != http.StatusSeeOther {
		t.Errorf("with the code: %d %s", res.StatusCode, body)
	}
	if got := w.last(); got.Confirm != "123456" || got.To != "working" || got.Note != "<b>now</b>" {
		t.Errorf("the server heard %+v", got)
	}
}
