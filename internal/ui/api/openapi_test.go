package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"

	"orange/internal/ui/api"
	"orange/internal/wire"
)

// described is the description as a program reads it.
var described = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := api.BuildDescription("1.2.3")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

func TestTheDescriptionIsValid(t *testing.T) {
	doc, err := described()
	must(t, err)
	must(t, doc.Validate(t.Context(), openapi3.EnableSchemaFormatValidation()))
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.2.3" {
		t.Errorf("%s %s", doc.OpenAPI, doc.Info.Version)
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Summary == "" || op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s %s is called %q and is about %q", method, path, op.OperationID, op.Summary)
			}
			ids[op.OperationID] = true
		}
	}
}

func TestEveryRouteIsDescribedAndTheReverse(t *testing.T) {
	doc, err := described()
	must(t, err)
	var routed, told []string
	for _, rt := range api.Routes() {
		routed = append(routed, rt.Method+" "+rt.Path)
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			told = append(told, method+" "+path)
		}
	}
	slices.Sort(routed)
	slices.Sort(told)
	if diff := cmp.Diff(routed, told); diff != "" {
		t.Error(diff)
	}
	r := full(t)
	for _, rt := range api.Routes() { // what is described is served
		path := strings.NewReplacer("{id}", "nobody", "{project}", "p", "{number}", "9", "{name}", "none", "{hash}", "none").Replace(rt.Path)
		if rt.Path == "/stop" || rt.Event != "" && !strings.Contains(rt.Path, "{") {
			continue
		}
		if got := r.ask(rt.Method, "/v1"+path, ""); strings.Contains(got.text, "is not served") {
			t.Errorf("%s %s: %s", rt.Method, path, got.text)
		}
	}
}

func TestTheDescriptionIsServed(t *testing.T) {
	r := open(t)
	for _, path := range []string{"/v1/openapi.json", "/api/v1/openapi.json"} {
		got := r.ask("GET", path, "")
		if got.status != http.StatusOK || got.body["openapi"] != "3.1.0" || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%d %.200s", got.status, got.text)
		}
	}
	doc, err := api.BuildDescription("1.2.3")
	must(t, err)
	want, err := json.Marshal(doc)
	must(t, err)
	if got := strings.TrimSpace(r.ask("GET", "/v1/openapi.json", "").text); got != string(want) {
		t.Error("what is served is not what is described")
	}
}

// TestEveryConstantIsDescribed reads the constants of the types whose values are listed.
func TestEveryConstantIsDescribed(t *testing.T) {
	for name, listed := range api.Enums() {
		pkg, kind, _ := strings.Cut(name, ".")
		files, err := filepath.Glob(filepath.Join("../../*", pkg, "*.go"))
		must(t, err)
		var found []string
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				found = append(found, constants(t, file, kind)...)
			}
		}
		slices.Sort(found)
		slices.Sort(listed)
		if diff := cmp.Diff(found, listed); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// constants are the values of a type in a file.
func constants(t *testing.T, file, kind string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
	must(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == kind {
			for i, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && spec.Names[i].IsExported() {
					s, err := strconv.Unquote(lit.Value)
					must(t, err)
					out = append(out, s)
				}
			}
		}
		return true
	})
	return out
}

// judge compares requests and answers with the description.
type judge struct {
	t      *testing.T
	router routers.Router
	seen   map[string]bool // operations that an answer was compared for
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	doc, err := described()
	must(t, err)
	router, err := gorillamux.NewRouter(doc)
	must(t, err)
	return &judge{t: t, router: router, seen: map[string]bool{}}
}

// ask makes a request that the description must allow, and checks its answer.
func (j *judge) ask(r *env, method, path, body string, headers ...string) reply {
	j.t.Helper()
	got := r.ask(method, path, body, headers...)
	req, err := http.NewRequest(method, "http://orange"+path, strings.NewReader(body))
	must(j.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	route, params, err := j.router.FindRoute(req)
	if err != nil {
		j.t.Fatalf("%s %s: %v", method, path, err)
	}
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, ExcludeResponseBody: got.header.Get("Content-Type") == "application/jsonl"}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil && got.status == http.StatusOK {
		j.t.Errorf("%s %s: the description does not allow what the server does: %v", method, path, err)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: got.status, Header: got.header, Body: io.NopCloser(bytes.NewReader([]byte(got.text))), Options: options}
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		j.t.Errorf("%s %s: %d %.2000s\n%v", method, path, got.status, got.text, err)
	}
	if got.status == http.StatusOK {
		j.seen[method+" "+route.Path] = true
	}
	return got
}

// stages puts tasks into several states, and returns their ids.
func (r *env) stages() map[string]string {
	r.t.Helper()
	out := map[string]string{"new": r.create("new"), "paused": r.create("paused"), "over": r.create("over"), "gone": r.create("gone")}
	signal := func(id, body string) {
		r.t.Helper()
		if got := r.ask("POST", "/v1/tasks/"+id+"/signals", body); got.status != http.StatusOK {
			r.t.Fatal(got.text)
		}
	}
	signal(out["paused"], `{"kind":"pause","note":"wait"}`)
	signal(out["over"], `{"kind":"request","verb":"cancel","note":"enough"}`)
	signal(out["gone"], `{"kind":"request","verb":"cancel"}`)
	r.settle()
	signal(out["gone"], `{"kind":"delete"}`)
	for _, branch := range []string{"live", "asked"} {
		made := r.ask("POST", "/v1/tasks", `{"project":"p","branch":"`+branch+`","summary":"s","spawn":true}`)
		if made.status != http.StatusOK {
			r.t.Fatal(made.text)
		}
		out[branch] = made.body["task"].(map[string]any)["id"].(string)
	}
	return out
}

func TestRealAnswersAreAsDescribed(t *testing.T) {
	r := full(t)
	j := newJudge(t)
	ids := r.stages()
	hash := r.ask("GET", "/v1/tasks/"+ids["new"], "").body["task"].(map[string]any)["setup"].(map[string]any)["workflow_hash"].(string)
	for _, id := range ids {
		for _, what := range []string{"", "/history", "/journal", "/journal?after=1", "/explain", "/chain", "/attempts", "/log?attempt=1", "/output", "/attach", "/screen?role=worker", "/diff", "/file?path=x&side=old"} {
			j.ask(r, "GET", "/v1/tasks/"+id+what, "")
		}
	}
	for _, path := range []string{
		"/hello", "/openapi.json", "/tasks", "/tasks?all=1&project=p", "/tasks?status=cancelled", "/inbox", "/inbox?project=p", "/state", "/state?all=1", "/state?project=p&at=5&all=1", "/state/summary", "/state/moves", "/state/summary?project=p&task=" + ids["new"], "/state/tasks", "/state/tasks?project=p&status=cancelled&all=1",
		"/workflows", "/workflows/" + hash, "/projects", "/where?path=/x", "/boards/p", "/boards/p/cards/1", "/boards/p/cards/1/history", "/trackers", "/trackers/lin/issues",
		"/workspaces", "/salvages?project=p", "/doctor", "/export", "/stats", "/stats?by=role&project=p&since=2026-01-01T00:00:00Z",
	} {
		if got := j.ask(r, "GET", "/v1"+path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
	for _, tt := range askedFor(ids) {
		if got := j.ask(r, tt.method, "/v1"+tt.path, tt.body, tt.headers...); got.status != tt.status {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, got.status, got.text)
		}
	}
	for _, rt := range api.Routes() {
		if rt.Event == "" && !j.seen[rt.Method+" "+rt.Path] && rt.Path != "/tasks/{id}/fork" { // no commits are recorded here; it answers like a creation
			t.Errorf("no answer of %s %s was compared", rt.Method, rt.Path)
		}
	}
}

type request struct {
	method, path, body string
	status             int
	headers            []string
}

// askedFor are requests that change something, and some that come to nothing.
func askedFor(ids map[string]string) []request {
	as := []string{wire.HeaderToken, ids["live"]}
	return []request{
		{"POST", "/tasks", `{"project":"p","branch":"b2","summary":"s","spawn":false,"effort":"high","context":"c"}`, 200, nil},
		{"POST", "/tasks", `{"project":"p","summary":"s","status":"working"}`, 409, nil},
		{"POST", "/tasks", `{"project":"nope","summary":"s"}`, 400, nil},
		{"POST", "/tasks/" + ids["new"] + "/signals", `{"kind":"update","fields":[{"name":"summary","from":"s","to":"t"}]}`, 200, nil},
		{"POST", "/tasks/" + ids["new"] + "/signals", `{"kind":"request","to":"done"}`, 409, nil},
		{"POST", "/tasks/" + ids["new"] + "/signals", `{"kind":"timer"}`, 400, nil},
		{"POST", "/tasks/nobody/signals", `{"kind":"pause"}`, 404, nil},
		{"POST", "/tasks/" + ids["new"] + "/fork", `{"seq":1}`, 400, nil},
		{"POST", "/tasks/" + ids["new"] + "/type", `{"role":"","text":"yes"}`, 200, nil},
		{"POST", "/tasks/" + ids["new"] + "/type", `{"text":""}`, 400, nil},
		{"POST", "/tasks/" + ids["new"] + "/keys", `{"key":"esc","seen":"now"}`, 200, nil},
		{"POST", "/tasks/" + ids["new"] + "/keys", `{"key":"esc","seen":"then"}`, 400, nil},
		{"POST", "/hooks", `{"harness":"claude","event":"Stop","payload":"e30="}`, 200, as},
		{"POST", "/hooks", `{"harness":"claude","event":"Stop","payload":"e30="}`, 400, nil},
		{"POST", "/projects", `{"name":"q","path":"/q","budget":{"day_attempts":3}}`, 200, nil},
		{"PATCH", "/projects/q", `{"pool_size":3,"workflow":null}`, 200, nil},
		{"PATCH", "/projects/q", `{"pool_size":3}`, 403, as},
		{"DELETE", "/projects/q", ``, 200, nil},
		{"POST", "/boards/p/cards", `{"title":"Pay","tags":["Ready"]}`, 200, nil},
		{"POST", "/boards/p/cards/1", `{"add_tags":["Ready"],"comment":"hi","claim":{"owner":"o","tag":"","until":"2026-01-02T09:00:00Z"}}`, 200, nil},
		{"GET", "/boards/p/cards/1", ``, 200, nil},
		{"GET", "/boards/p/cards/1/history", ``, 200, nil},
		{"POST", "/trackers", `{"name":"hub","kind":"github","every":1000}`, 200, nil},
		{"DELETE", "/trackers/hub", ``, 200, nil},
		{"POST", "/trackers/lin/sync", `{"fix":true}`, 200, nil},
		{"POST", "/trackers/lin/test", ``, 200, nil},
		{"POST", "/trackers/lin/dispatch", `{"dry":true}`, 200, nil},
		{"POST", "/forges/sync", ``, 200, nil},
		{"POST", "/doctor/board", `{"project":"p"}`, 200, nil},
		{"POST", "/workspaces/init", `{"project":"p","count":0}`, 200, nil},
		{"POST", "/workspaces/gc", `{"dry_run":true,"purge":true,"older":1000}`, 200, nil},
		{"POST", "/pause", ``, 200, nil},
		{"POST", "/resume", ``, 200, nil},
		{"POST", "/repair", ``, 200, nil},
		{"POST", "/import", `{"path":"/home"}`, 200, nil},
		{"POST", "/web", ``, 200, nil},
		{"POST", "/web/token", ``, 200, nil},
		{"GET", "/tasks", ``, 426, []string{wire.HeaderAPI, "2"}},
		{"POST", "/stop", ``, 200, []string{wire.HeaderAPI, "99"}},
	}
}

// TestUnknownFieldsAreRefusedByBoth makes sure that the server and its description agree
// about what is not understood.
func TestUnknownFieldsAreRefusedByBoth(t *testing.T) {
	r := full(t)
	doc, err := described()
	must(t, err)
	id := r.create("a")
	fill := strings.NewReplacer("{id}", id, "{project}", "p", "{number}", "1", "{name}", "p")
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			r.ask(method, "/v1"+fill.Replace(path), `{"colour":"red"}`).refused(t, http.StatusBadRequest, `unknown field "colour"`)
			schema := op.RequestBody.Value.Content["application/json"].Schema.Value
			if err := schema.VisitJSON(map[string]any{"colour": "red"}, openapi3.EnableJSONSchema2020()); err == nil {
				t.Errorf("%s %s: a field that nobody knows is allowed", method, path)
			}
		}
	}
}

// TestEventsAreAsDescribed checks what is streamed.
func TestEventsAreAsDescribed(t *testing.T) {
	doc, err := described()
	must(t, err)
	r := full(t)
	ids := r.stages()
	for path, item := range doc.Paths.Map() {
		content := contentOf(item.Get)["text/event-stream"]
		if content == nil {
			continue
		}
		events, _ := content.Extensions["x-events"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(events)) {
			ref := events[name].(map[string]any)["$ref"].(string)
			schema := doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
			s := r.listenTo("/v1"+strings.Replace(path, "{id}", ids["live"], 1), "")
			event, data := s.event()
			s.close()
			var value any
			must(t, json.Unmarshal(data, &value))
			if err := schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil || event != name {
				t.Errorf("%s: %s %.500s\n%v", path, event, data, err)
			}
		}
	}
}

// contentOf is what a request to read is answered with.
func contentOf(op *openapi3.Operation) openapi3.Content {
	if op == nil {
		return nil
	}
	return op.Responses.Value("200").Value.Content
}

func TestEveryRouteIsInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/API.md")
	must(t, err)
	for _, rt := range api.Routes() {
		if want := rt.Method + " /v1" + rt.Path; !strings.Contains(string(text), want) {
			t.Errorf("docs/API.md does not speak of %s", want)
		}
	}
}
