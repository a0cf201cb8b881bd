package github_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// npmDir returns a folder with node_modules, where GitHub's own descriptions are, "" if there
// is none.
func npmDir() string { return os.Getenv("ORANGE_NPM_DIR") }

// used are the operations of GitHub that the adapter knows.
var used = map[string][]string{
	"/user":                                                               {"get"},
	"/repos/{owner}/{repo}/labels":                                        {"get"},
	"/repos/{owner}/{repo}/labels/{name}":                                 {"get"},
	"/repos/{owner}/{repo}/issues":                                        {"get"},
	"/repos/{owner}/{repo}/pulls":                                         {"get", "post"},
	"/repos/{owner}/{repo}/issues/{issue_number}":                         {"get", "patch"},
	"/repos/{owner}/{repo}/issues/{issue_number}/comments":                {"get", "post"},
	"/repos/{owner}/{repo}/issues/{issue_number}/labels":                  {"post"},
	"/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}":           {"delete"},
	"/repos/{owner}/{repo}/issues/{issue_number}/sub_issues":              {"get"},
	"/repos/{owner}/{repo}/issues/{issue_number}/dependencies/blocked_by": {"get"},
	"/repos/{owner}/{repo}/issues/{issue_number}/timeline":                {"get"},
	"/repos/{owner}/{repo}/pulls/{pull_number}":                           {"get"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/merge":                     {"put"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/update-branch":             {"put"},
	"/repos/{owner}/{repo}/branches/{branch}":                             {"get"},
	"/repos/{owner}/{repo}/rules/branches/{branch}":                       {"get"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/reviews":                   {"get"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/comments":                  {"get"},
	"/repos/{owner}/{repo}/commits/{ref}/check-runs":                      {"get"},
	"/repos/{owner}/{repo}/commits/{ref}/status":                          {"get"},
}

// description is GitHub's description of its API, reduced to what is used: all of it
// would take many seconds to load.
var description = sync.OnceValues(func() (routers.Router, error) {
	text, err := os.ReadFile(filepath.Join(npmDir(), "node_modules/@octokit/openapi/generated/api.github.com.json"))
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	small, err := reduce(all)
	if err != nil {
		return nil, err
	}
	if text, err = json.Marshal(small); err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// reduce keeps the operations that are used and what they refer to.
func reduce(all map[string]any) (map[string]any, error) {
	paths, parts := map[string]any{}, map[string]any{}
	every, _ := all["paths"].(map[string]any)
	for path, methods := range used {
		from, _ := every[path].(map[string]any)
		kept := map[string]any{}
		for _, m := range methods {
			if from[m] == nil {
				return nil, fmt.Errorf("GitHub describes no %s %s", m, path)
			}
			kept[m] = from[m]
		}
		paths[path] = kept
		if err := follow(all, kept, parts); err != nil {
			return nil, err
		}
	}
	return map[string]any{
		"openapi": all["openapi"], "info": map[string]any{"title": "GitHub", "version": "1"}, "paths": paths, "components": parts,
	}, nil
}

// follow copies what a value refers to, all the way, and drops examples.
func follow(all map[string]any, value any, into map[string]any) error {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if err := follow(all, one, into); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, is := v["examples"].(map[string]any); is {
			delete(v, "examples")
		}
		if ref, ok := v["$ref"].(string); ok {
			parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
			if len(parts) != 2 {
				return fmt.Errorf("%s leads elsewhere", ref)
			}
			kind, _ := into[parts[0]].(map[string]any)
			if kind == nil {
				kind = map[string]any{}
				into[parts[0]] = kind
			}
			if _, done := kind[parts[1]]; !done {
				from, _ := all["components"].(map[string]any)[parts[0]].(map[string]any)
				kind[parts[1]] = from[parts[1]]
				return follow(all, from[parts[1]], into)
			}
			return nil
		}
		for _, one := range v {
			if err := follow(all, one, into); err != nil {
				return err
			}
		}
	}
	return nil
}

// checked compares every request and every answer with GitHub's description. An answer
// with a status that GitHub does not describe for the operation (401, 429 and most 5xx) is
// not compared, and neither is one without a body (304). kin-openapi has no rule for the
// format uri, so that such a string may be any.
func checked(t testing.TB) func(http.Handler) http.Handler {
	if npmDir() == "" {
		t.Log("ORANGE_NPM_DIR is not set: requests and answers are not compared with GitHub's OpenAPI description")
		return nil
	}
	router, err := description()
	if err != nil {
		t.Fatalf("read GitHub's description: %v", err)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			in, err := validRequest(router, r)
			if err != nil {
				t.Errorf("%s %s is not what GitHub describes: %v", r.Method, r.URL, err)
			}
			rec := &recorder{ResponseWriter: w, code: http.StatusOK}
			next.ServeHTTP(rec, r)
			if in == nil || !described(in, rec.code) {
				return
			}
			err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
				RequestValidationInput: in, Status: rec.code, Header: w.Header(), Body: io.NopCloser(&rec.body),
				Options: &openapi3filter.Options{MultiError: false},
			})
			if err != nil {
				t.Errorf("the answer to %s %s is not what GitHub describes: %.1500v", r.Method, r.URL, err)
			}
		})
	}
}

func validRequest(router routers.Router, r *http.Request) (*openapi3filter.RequestValidationInput, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	again := func() { r.Body = io.NopCloser(bytes.NewReader(body)) }
	again()
	defer again()
	route, params, err := router.FindRoute(r)
	if err != nil {
		return nil, err
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, ExcludeReadOnlyValidations: true},
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		return in, err
	}
	return in, known(route, r)
}

// known returns the parameters of the query that GitHub does not have.
func known(route *routers.Route, r *http.Request) error {
	var names []string
	for _, p := range route.Operation.Parameters {
		names = append(names, p.Value.Name)
	}
	for name := range r.URL.Query() {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is no parameter %q", name)
		}
	}
	return nil
}

func described(in *openapi3filter.RequestValidationInput, code int) bool {
	return code != http.StatusNotModified && in.Route.Operation.Responses.Status(code) != nil
}

// recorder keeps what passes through it.
type recorder struct {
	http.ResponseWriter
	code int
	body bytes.Buffer
}

func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}
