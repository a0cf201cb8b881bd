package mcp_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/ui/mcp"
)

// bearer shows a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// site serves the tools to a person and to an attempt of task two.
func site(t *testing.T, o *env, log io.Writer) string {
	t.Helper()
	options := options()
	options.Follow = o.client
	who := func(r *http.Request) (mcp.Caller, func(), error) {
		token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case !shown:
			return mcp.Caller{}, nil, mcp.ErrNoToken
		case token == "person":
			return mcp.Caller{API: o.client}, func() {}, nil
		case token == "attempt":
			return mcp.Caller{API: o.client, Task: idTwo, Role: "worker", Attempt: 1}, func() {}, nil
		}
		return mcp.Caller{}, nil, errors.New("nobody's")
	}
	s := httptest.NewServer(mcp.Handler(t.Context(), options, who, slog.New(slog.NewTextHandler(log, nil))))
	t.Cleanup(s.Close)
	return s.URL
}

func reach(t *testing.T, url, token string) *sdk.ClientSession {
	return reachWith(t, url, token, newClient(nil), "")
}

// reachWith is reach with a client that can do more, and with a version of the protocol; "" for the newest.
func reachWith(t *testing.T, url, token string, c *sdk.Client, version string) *sdk.ClientSession {
	t.Helper()
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestOverHTTPEverybodyIsWhoTheirTokenSays(t *testing.T) {
	o := newEnv(t)
	url := site(t, o, io.Discard)
	person, attempt := reach(t, url, "person"), reach(t, url, "attempt")
	if _, text, refused := call(t, person, "update", args{"to": "x"}); !refused || !strings.Contains(text, "give the id of a task") {
		t.Errorf("a person without a task: %q", text)
	}
	call(t, person, "update", args{"task": idOne, "to": "x"})
	call(t, attempt, "update", args{"to": "y"})
	want := `signal ` + idOne + ` {"kind":"request","actor":"human","to":"x"}` + "\n" + `signal ` + idTwo + ` {"kind":"request","actor":"worker","attempt":1,"to":"y"}`
	if o.said() != want {
		t.Errorf("asked %s", o.said())
	}
	if v, _, _ := call(t, person, "list", args{}); v["total"] != 2.0 {
		t.Errorf("%v", v)
	}
}

func TestWithoutAGoodTokenNothingIsSaid(t *testing.T) {
	var log strings.Builder
	url := site(t, newEnv(t), &log)
	for name, tt := range map[string]struct{ header, challenge string }{
		"none":           {"", `Bearer realm="orange"`},
		"a wrong one":    {"Bearer geheim", `Bearer realm="orange", error="invalid_token"`},
		"another scheme": {"Basic person", `Bearer realm="orange"`},
		"no scheme":      {"person", `Bearer realm="orange"`},
	} {
		t.Run(name, func(t *testing.T) {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if tt.header != "" {
				req.Header.Set("Authorization", tt.header)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") != tt.challenge || strings.Contains(string(body), "tools") {
				t.Errorf("%d %q %q", res.StatusCode, res.Header.Get("WWW-Authenticate"), body)
			}
		})
	}
	if log.String() != "" { // a caller who guesses could fill it
		t.Errorf("the log says %s", log.String())
	}
}

func TestOverHTTPBadRequestsAreRefused(t *testing.T) {
	url := site(t, newEnv(t), io.Discard)
	for name, tt := range map[string]struct {
		method, host, body string
		want               int
	}{
		"reading":      {http.MethodGet, "", "", http.StatusMethodNotAllowed},
		"too much":     {http.MethodPost, "", strings.Repeat(" ", 5<<20), http.StatusRequestEntityTooLarge},
		"no JSON":      {http.MethodPost, "", "hello", http.StatusBadRequest},
		"another name": {http.MethodPost, "evil.example", "{}", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			req, _ := http.NewRequestWithContext(t.Context(), tt.method, url, strings.NewReader(tt.body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Host = tt.host
			res, err := (&http.Client{Transport: bearer("person")}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != tt.want {
				t.Errorf("got %s, want %d", res.Status, tt.want)
			}
		})
	}
}
