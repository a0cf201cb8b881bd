package web_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

func TestWorkflowPages(t *testing.T) {
	s := newTaskBackend(t)
	v := s.open(false).visitor(t)
	text, _ := builtin.Text("orange")
	shipped, err := workflow.Parse("orange.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		path   string
		status int
		want   []string
		never  []string
	}{
		"the list": {"/workflows", 200, []string{"studio", "user", "/x/&lt;img", `href="/workflows/` + s.def.Hash + `"`}, nil},
		"one": {"/workflows/" + s.def.Hash, 200, []string{
			`<svg class="drawing"`, `href="#state-reviewing"`, `<tr id="state-reviewing">`, "pending, working, reviewing, asking", "as request-changes",
			`<tr id="L5">`, "&lt;b&gt;well&lt;/b&gt;", "Searches every state", `action="/workflows/` + s.def.Hash + `/simulate"`, `href="#L`,
		}, []string{"Every property", "Not every property", `class="chart"`}},
		"one that comes with the program": {"/workflows/" + shipped.Hash, 200, []string{"orange.yaml", "agent-review", ">clean</span>: 10 states"}, nil},
		"one that cannot be read":         {"/workflows/broken", 200, []string{"b.yaml:", `<tr id="L1">`}, []string{`id="verify"`}},
		"one that is not there":           {"/workflows/nothing", 404, []string{"no task uses this workflow"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			res, body := v.get(tt.path)
			if res.StatusCode != tt.status {
				t.Fatalf("status %d: %s", res.StatusCode, body)
			}
			says(t, body, tt.want, tt.never)
			harmless(t, "the page", body)
		})
	}
}

func TestAWorkflowIsVerifiedWhenAPersonAsks(t *testing.T) {
	s := newTaskBackend(t)
	v := s.open(false).visitor(t)
	path := "/workflows/" + s.def.Hash
	for range 2 { // the second time it is known
		res, body := v.form(path+"/verify", url.Values{})
		if res.StatusCode != 303 || !strings.HasPrefix(res.Header.Get("Location"), path+"?said=") {
			t.Fatalf("status %d to %s: %s", res.StatusCode, res.Header.Get("Location"), body)
		}
	}
	_, body := v.get(path)
	says(t, body, []string{"never-stalls", "every task can always move on, by an agent, the engine or a person", "holds", "states,", "Every property holds."}, []string{"Searches every state"})
	harmless(t, "the report", body)
	if res, body := v.form("/workflows/flawed/verify", url.Values{}); res.StatusCode != 303 {
		t.Fatalf("status %d: %s", res.StatusCode, body)
	}
	_, body = v.get("/workflows/flawed")
	says(t, body, []string{"Not every property holds", "violated", `id="violation-1" open`, "What happens", `<li><a href="#L`}, nil)
	if res, _ := v.form("/workflows/broken/verify", url.Values{}); res.StatusCode != 409 {
		t.Errorf("one that cannot be read: status %d", res.StatusCode)
	}
	if res, _ := v.get(path + "/verify"); res.StatusCode == 200 {
		t.Error("a look at a page searches")
	}
}

// TestAWorkflowIsSearchedElsewhere has somebody else do the search.
func TestAWorkflowIsSearchedElsewhere(t *testing.T) {
	s := newTaskBackend(t)
	h := s.open(false)
	broken := true
	h.shut()
	h.opts.Verify = func(_ context.Context, def *workflow.Definition, maxStates int) (verify.Report, error) {
		if broken {
			return verify.Report{}, errors.New("search the workflow: it was killed")
		}
		return verify.Report{OK: true, Complete: true, Workflow: def.Name, States: 4711, Transitions: maxStates}, nil
	}
	h.open(t, "127.0.0.1:0")
	v := h.visitor(t)
	path := "/workflows/" + s.def.Hash
	if res, body := v.form(path+"/verify", url.Values{}); res.StatusCode != 500 || !strings.Contains(body, "it was killed") {
		t.Errorf("a search that fails: %d %s", res.StatusCode, body)
	}
	broken = false
	if res, body := v.form(path+"/verify", url.Values{}); res.StatusCode != 303 {
		t.Errorf("status %d: %s", res.StatusCode, body)
	}
	_, body := v.get(path)
	says(t, body, []string{"4,711 states, 300,000 transitions", "Every property holds."}, nil)
}

func TestAWorkflowIsSimulatedWhenAPersonAsks(t *testing.T) {
	s := newTaskBackend(t)
	v := s.open(false).visitor(t)
	path := "/workflows/" + s.def.Hash
	for name, f := range map[string]url.Values{
		"no number": {"runs": {"x"}, "seed": {"1"}}, "none": {"runs": {"0"}, "seed": {"1"}}, "too many": {"runs": {"20001"}, "seed": {"1"}},
		"no seed": {"runs": {"5"}}, "a seed below nothing": {"runs": {"5"}, "seed": {"-1"}},
	} {
		if res, body := v.form(path+"/simulate", f); res.StatusCode != 400 {
			t.Errorf("%s: status %d: %s", name, res.StatusCode, body)
		}
	}
	var pages []string
	for range 2 {
		if res, body := v.form(path+"/simulate", url.Values{"runs": {"450"}, "seed": {"7"}}); res.StatusCode != 303 {
			t.Fatalf("status %d: %s", res.StatusCode, body)
		}
		_, body := v.get(path)
		pages = append(pages, body)
	}
	says(t, pages[0], []string{`<svg class="chart"`, "450 runs, seed 7", `value="450"`, `value="7"`, "end in done", "agents at work"}, nil)
	harmless(t, "the plots", pages[0])
	if pages[0] != pages[1] {
		t.Error("the same seed gives something else")
	}
}
