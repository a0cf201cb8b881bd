package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestWhatATaskIsAfterIsNamedLikeEveryTask(t *testing.T) {
	r := open(t)
	r.server.Successors = r.runtime.Successors
	login, cart := r.create("login"), r.create("cart")
	a := r.ask("POST", "/v1/tasks", `{"project":"p","branch":"checkout","summary":"Sell it","after":["login","p/cart"],"spawn":true}`)
	if a.status != http.StatusOK || !strings.Contains(a.text, `"after":["`+login+`","`+cart+`"]`) {
		t.Fatal(a.text)
	}
	if got := r.ask("GET", "/v1/tasks/login", ""); !strings.Contains(got.text, `"unblocks":[{"id":`) || !strings.Contains(got.text, `"branch":"checkout","status":"pending"`) {
		t.Error(got.text)
	}
	if got := r.ask("GET", "/v1/tasks/checkout/explain", ""); !strings.Contains(got.text, `"after":[{"id":"`+login+`","branch":"login","state":"open"}`) {
		t.Error(got.text)
	}
	if got := r.ask("GET", "/v1/state/tasks", ""); strings.Count(got.text, `"unblocks":1`) != 2 {
		t.Error(got.text)
	}
	for body, want := range map[string]string{
		`{"kind":"update","fields":[{"name":"add_after","to":"nobody"}]}`:   `"nobody\" is no id, branch or summary`,
		`{"kind":"update","fields":[{"name":"add_after","to":"checkout"}]}`: `login -> checkout -> login`,
		`{"kind":"update","fields":[{"name":"after","to":"cart,login"}]}`:   `a task cannot be after itself`,
	} {
		if got := r.ask("POST", "/v1/tasks/login/signals", body); got.status < 400 || !strings.Contains(got.text, strings.ReplaceAll(want, ">", `\u003e`)) && !strings.Contains(got.text, want) {
			t.Errorf("%s: %d %s", body, got.status, got.text)
		}
	}
	if got := r.ask("POST", "/v1/tasks/checkout/signals", `{"kind":"update","fields":[{"name":"drop_after","to":"cart"}]}`); got.status != http.StatusOK || strings.Contains(got.text, cart+`","branch":"cart","state"`) {
		t.Errorf("%d %s", got.status, got.text)
	}
}

func TestATaskNamesItsChildren(t *testing.T) {
	r := open(t)
	parent := r.create("login")
	for _, branch := range []string{"login-form", "login-tests"} {
		if a := r.ask("POST", "/v1/tasks", `{"project":"p","branch":"`+branch+`","summary":"Part","parent":"`+parent+`"}`); a.status != http.StatusOK {
			t.Fatal(a.text)
		}
	}
	if a := r.ask("POST", "/v1/tasks/login-tests/signals", `{"kind":"request","verb":"cancel"}`); a.status != http.StatusOK {
		t.Fatal(a.text)
	}
	got := r.ask("GET", "/v1/tasks/login", "")
	for _, want := range []string{`"children":[{"id":`, `"branch":"login-form","status":"pending"}`, `"branch":"login-tests","status":"cancelled"}`} {
		if !strings.Contains(got.text, want) {
			t.Errorf("no %s in %s", want, got.text)
		}
	}
	if got := r.ask("GET", "/v1/tasks/login-form", ""); strings.Contains(got.text, "children") {
		t.Error(got.text)
	}
}

// A client cannot say that a predecessor has landed.
func TestNobodySaysFromOutsideWhatBecameOfAPredecessor(t *testing.T) {
	r := open(t)
	login := r.create("login")
	if a := r.ask("POST", "/v1/tasks", `{"project":"p","branch":"cart","summary":"s","after":["login"],"spawn":true}`); a.status != http.StatusOK {
		t.Fatal(a.text)
	}
	for _, body := range []string{
		`{"kind":"ready","predecessors":[{"id":"` + login + `","state":"landed"}]}`,
		`{"kind":"tracker","actor":"tracker","word":"predecessor","predecessors":[{"id":"` + login + `","state":"landed"}]}`,
	} {
		r.ask("POST", "/v1/tasks/cart/signals", body)
		if got := r.ask("GET", "/v1/tasks/cart", ""); !strings.Contains(got.text, `"status":"pending"`) || !strings.Contains(got.text, `"state":"open"`) {
			t.Errorf("%s: %s", body, got.text)
		}
	}
}
