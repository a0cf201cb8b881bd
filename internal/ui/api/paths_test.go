package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/ui/api"
	"orange/internal/wire"
)

// TestBothNamesOfAPathAreTheSame asks for every route by either name.
func TestBothNamesOfAPathAreTheSame(t *testing.T) {
	r := full(t)
	id := r.create("a")
	fill := strings.NewReplacer("{id}", id, "{project}", "p", "{number}", "1", "{name}", "none", "{hash}", "none")
	moments := regexp.MustCompile(`"at":"[^"]*"`)
	for _, rt := range api.Routes() {
		if rt.Event != "" {
			continue
		}
		path := fill.Replace(rt.Path)
		for _, version := range []string{"1", "99"} {
			if rt.Path == "/stop" {
				continue // once is enough, and comes last
			}
			var got [2]reply
			for i, under := range []string{"/v1", "/api/v1"} {
				got[i] = r.ask(rt.Method, under+path, `{"colour":"red"}`, wire.HeaderAPI, version)
			}
			a, b := moments.ReplaceAllString(got[0].text, ""), moments.ReplaceAllString(got[1].text, "")
			if diff := cmp.Diff(a, b); diff != "" || got[0].status != got[1].status {
				t.Errorf("%s %s: %d and %d\n%s", rt.Method, path, got[0].status, got[1].status, diff)
			}
			if rt.Path == "/hello" && got[1].status != http.StatusOK || version == "99" && rt.Path != "/hello" && got[1].status != http.StatusUpgradeRequired {
				t.Errorf("%s %s: %d to version %s", rt.Method, path, got[1].status, version)
			}
		}
	}
	for _, path := range []string{"/boards/a%2Fb", "/workflows/%2e%2e", "/junk", "/tasks/" + id + "/junk"} {
		a, b := r.ask("GET", "/v1"+path, ""), r.ask("GET", "/api/v1"+path, "")
		if a.status != b.status || a.text != b.text {
			t.Errorf("%s: %d %s, %d %s", path, a.status, a.text, b.status, b.text)
		}
	}
	for _, path := range []string{"/api", "/api/", "/api/v1", "/api/hello", "/apiv1/hello", "/api/api/v1/hello"} {
		r.ask("GET", path, "").refused(t, http.StatusNotFound, "is not served")
	}
	if got := r.ask("POST", "/api/v1/stop", "", wire.HeaderAPI, "99"); got.status != http.StatusOK {
		t.Errorf("stop: %d %s", got.status, got.text)
	}
	must(t, r.stop())
}

func TestOtherMethods(t *testing.T) {
	r := full(t)
	id := r.create("a")
	for _, under := range []string{"/v1", "/api/v1"} {
		for path, want := range map[string]int{"/hello": 200, "/tasks": 200, "/tasks/" + id: 200, "/tasks/nobody": 404, "/state": 200, "/stop": 404, "/junk": 404} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://orange"+under+path, nil)
			must(t, err)
			res, err := r.client.Do(req)
			must(t, err)
			text, err := io.ReadAll(res.Body)
			must(t, err)
			if res.StatusCode != want || len(text) > 0 || res.Header.Get(wire.HeaderAPI) != "1" {
				t.Errorf("HEAD %s%s: %d %s", under, path, res.StatusCode, text)
			}
		}
		for _, tt := range [][2]string{{"PUT", "/tasks"}, {"DELETE", "/state"}, {"POST", "/hello"}, {"GET", "/stop"}, {"GET", "/web"}, {"OPTIONS", "/tasks"}} {
			r.ask(tt[0], under+tt[1], "").refused(t, http.StatusNotFound, "is not served")
		}
	}
}

func TestAnAttemptAsksOnlyForWhatTheTableSays(t *testing.T) {
	r := full(t)
	mine, other := r.create("mine"), r.create("other")
	as := []string{wire.HeaderToken, mine}
	own := strings.NewReplacer("{id}", mine, "{project}", "p", "{number}", "1", "{name}", "none", "{hash}", "none")
	others := strings.NewReplacer("{id}", other, "{project}", "q", "{number}", "1")
	for _, rt := range api.Routes() {
		method, path := rt.Method, "/v1"+own.Replace(rt.Path)
		if rt.Event != "" {
			continue
		}
		got := r.ask(method, path, `{}`, as...)
		if want := rt.Who == "a person"; want != (got.status == http.StatusForbidden) {
			t.Errorf("%s %s is for %s: %d %s", method, path, rt.Who, got.status, got.text)
		}
		if !strings.Contains(rt.Who, "attempt of") {
			continue
		}
		r.ask(method, "/v1"+others.Replace(rt.Path), `{}`, as...).refused(t, http.StatusForbidden, "own")
	}
	r.ask("GET", "/v1/tasks/"+other+"/screen/events", "", as...).refused(t, http.StatusForbidden, "its own task only")
	r.ask("GET", "/v1/tasks/"+other[:10]+"/screen", "", as...).refused(t, http.StatusForbidden, "its own task only")
	// It may read its parent and its children.
	var made struct {
		Task task.Task `json:"task"`
	}
	must(t, json.Unmarshal([]byte(r.ask("POST", "/v1/tasks", `{"project":"p","branch":"child","summary":"s","parent":"`+mine+`"}`).text), &made))
	child := string(made.Task.ID)
	for _, tt := range []struct {
		who, of string
		want    int
	}{{mine, child, 200}, {child, mine, 200}, {child, other, 403}, {other, mine, 403}, {other, child, 403}} {
		if got := r.ask("GET", "/v1/tasks/"+tt.of+"/attempts", "", wire.HeaderToken, tt.who); got.status != tt.want {
			t.Errorf("task %s asks for the attempts of %s: %d %s, want %d", tt.who, tt.of, got.status, got.text, tt.want)
		}
	}
	r.ask("GET", "/v1/tasks/nobody/screen", "", as...).refused(t, http.StatusNotFound, "not found")
	for _, path := range []string{"/v1/web", "/v1/web/token", "/v1/tasks/" + mine + "/type", "/v1/junk"} {
		r.ask("POST", path, `{"text":"x"}`, as...).refused(t, http.StatusForbidden, "is a person's to ask for")
	}
	if got := r.ask("GET", "/v1/tasks/"+other+"/screen", ""); got.status != http.StatusOK {
		t.Errorf("a person: %d %s", got.status, got.text)
	}
	if typed := r.server.Screens.(*theatre).typed; len(typed) > 0 {
		t.Errorf("typed %q", typed)
	}
}
