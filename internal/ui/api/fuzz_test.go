package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"orange/internal/ui/api"
	"orange/internal/wire"
)

// FuzzBodies sends any body to every route that reads one.
func FuzzBodies(f *testing.F) {
	r := full(f)
	id := r.create("b")
	fill := strings.NewReplacer("{id}", id, "{project}", "p", "{number}", "1", "{name}", "lin", "{hash}", "none")
	type place struct{ method, path string }
	var places []place
	for _, rt := range api.Routes() {
		if rt.Method != http.MethodGet && rt.Path != "/stop" {
			places = append(places, place{rt.Method, "/v1" + fill.Replace(rt.Path)})
		}
	}
	for i, seed := range []string{
		"", "{}", "null", "[]", `{"kind":"request","to":"done"}`, `{"project":"p","summary":"s"}`, `{"kind":"update","fields":[{"name":"branch","to":"x"}]}`, `{"seq":-1}`, `{"text":"\n"}`,
		`{"path":"/home"}`, `{"name":"hub","kind":"github","every":1000}`, `{"title":"Pay","tags":["Ready"]}`, `{"harness":"claude","event":"Stop","payload":"e30="}`,
	} {
		f.Add(uint8(i), []byte(seed))
		f.Add(uint8(5*i), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		at := places[int(which)%len(places)]
		req, err := http.NewRequestWithContext(t.Context(), at.method, "http://orange"+at.path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(wire.HeaderAPI, "1")
		req.Header.Set("Content-Type", "application/json")
		res, err := r.client.Do(req)
		if err != nil {
			t.Fatalf("%s %s %q: %v", at.method, at.path, body, err)
		}
		defer res.Body.Close() //nolint:errcheck // read to its end
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode < 400 {
			return
		}
		var said struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(text, &said); err != nil || said.Error == "" || strings.ContainsAny(said.Error, "\n\r") {
			t.Errorf("%s %s %q: %d %s", at.method, at.path, body, res.StatusCode, text)
		}
	})
}
