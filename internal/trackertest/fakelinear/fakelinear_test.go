package fakelinear_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakelinear"
)

// asked is a response over HTTP.
type asked struct {
	status int
	header http.Header
	Data   map[string]any
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
}

func ask(t *testing.T, w *fakelinear.World, query string, vars map[string]any) asked {
	t.Helper()
	return askAs(t, w, w.Secret(), query, vars)
}

func askAs(t *testing.T, w *fakelinear.World, token, query string, vars map[string]any) (a asked) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(text), "{") {
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatal(err)
		}
	}
	a.status, a.header = resp.StatusCode, resp.Header
	return a
}

func draft(title, column string, tags ...string) tracker.Issue {
	return tracker.Issue{Card: board.Card{Title: title, Author: "alice", Column: column, Tags: tags}}
}

func TestItAnswersWhatIsSelected(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	for i := range 5 {
		w.AddIssue(t, draft(fmt.Sprint("Issue ", i), "Backlog", "bug"))
	}
	w.CommentIssue(t, "ENG-1", "helper[bot]", "hello")
	for name, tc := range map[string]struct {
		query string
		vars  map[string]any
		want  string
	}{
		"names of its own": {`{ me: viewer { __typename n: displayName } }`, nil, `{"me":{"__typename":"User","n":"orange"}}`},
		"fragments, of types and of interfaces": {
			`query { issue(id: "ENG-1") { ...A ... on Node { id2: __typename } ... on Issue @skip(if: true) { url } ... on Issue @include(if: true) { number } } } fragment A on Issue { identifier state { name } ...B } fragment B on Issue { state { type } }`,
			nil, `{"issue":{"identifier":"ENG-1","id2":"Issue","number":1,"state":{"name":"Backlog","type":"backlog"}}}`},
		"the newest first":  {`{ issues(first: 2) { nodes { identifier } pageInfo { hasNextPage hasPreviousPage } } }`, nil, `{"issues":{"nodes":[{"identifier":"ENG-5"},{"identifier":"ENG-4"}],"pageInfo":{"hasNextPage":true,"hasPreviousPage":false}}}`},
		"the last ones":     {`{ issues(last: 2) { nodes { identifier } pageInfo { hasNextPage hasPreviousPage } } }`, nil, `{"issues":{"nodes":[{"identifier":"ENG-2"},{"identifier":"ENG-1"}],"pageInfo":{"hasNextPage":false,"hasPreviousPage":true}}}`},
		"by last change":    {`{ issues(first: 1, orderBy: updatedAt) { nodes { identifier } } }`, nil, `{"issues":{"nodes":[{"identifier":"ENG-1"}]}}`},
		"filters":           {`query($f: IssueFilter) { issues(filter: $f) { nodes { identifier } } }`, map[string]any{"f": map[string]any{"and": []any{map[string]any{"title": map[string]any{"in": []any{"Issue 1", "Issue 2"}}}, map[string]any{"title": map[string]any{"neq": "Issue 2"}}}}}, `{"issues":{"nodes":[{"identifier":"ENG-2"}]}}`},
		"without a project": {`{ issues(filter: {project: {null: true}}) { nodes { identifier } } }`, nil, `{"issues":{"nodes":[]}}`},
		"with a project":    {`{ issues(first: 1, filter: {project: {null: false}}) { nodes { identifier } } }`, nil, `{"issues":{"nodes":[{"identifier":"ENG-5"}]}}`},
		"of no team":        {`{ issueLabels(filter: {team: {null: true}}) { nodes { name team { key } } } }`, nil, `{"issueLabels":{"nodes":[{"name":"bug","team":null},{"name":"Planned","team":null}]}}`},
		"who said what":     {`{ issue(id: "ENG-1") { comments { nodes { body user { displayName app } issue { identifier } } } parent { id } description } }`, nil, `{"issue":{"comments":{"nodes":[{"body":"hello","issue":{"identifier":"ENG-1"},"user":{"app":true,"displayName":"helper[bot]"}}]},"description":null,"parent":null}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, w, tc.query, tc.vars)
			if len(got.Errors) > 0 || got.status != 200 {
				t.Fatalf("%d %+v", got.status, got.Errors)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Data); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestItRefusesWhatLinearRefuses(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	w.AddIssue(t, draft("One", "Backlog"))
	update := `mutation($i: IssueUpdateInput!) { issueUpdate(id: "ENG-1", input: $i) { success } }`
	say := `mutation($i: CommentCreateInput!) { commentCreate(input: $i) { success } }`
	in := func(v map[string]any) map[string]any { return map[string]any{"i": v} }
	for name, tc := range map[string]struct {
		query  string
		vars   map[string]any
		status int
		code   string
		says   string
	}{
		"a field that is not there":      {`{ viewer { nope } }`, nil, 400, "GRAPHQL_VALIDATION_FAILED", "nope"},
		"no GraphQL":                     {`{`, nil, 400, "GRAPHQL_VALIDATION_FAILED", ""},
		"a value of another type":        {`query($n: Int) { issues(first: $n) { nodes { id } } }`, map[string]any{"n": "x"}, 400, "GRAPHQL_VALIDATION_FAILED", ""},
		"an input that is not there":     {update, in(map[string]any{"nope": 1}), 400, "GRAPHQL_VALIDATION_FAILED", "nope"},
		"a variable that is not there":   {`{ viewer { id } }`, map[string]any{"x": 1}, 400, "INVALID_INPUT", "x"},
		"too large a page":               {`{ issues(first: 251) { nodes { id } } }`, nil, 200, "INVALID_INPUT", ""},
		"a cursor of another list":       {`{ issues(after: "x") { nodes { id } } }`, nil, 200, "INVALID_INPUT", ""},
		"too much at once":               {`{ issues(first: 250) { nodes { comments(first: 250) { nodes { id } } } } }`, nil, 400, "INPUT_ERROR", "too complex"},
		"an issue that is not there":     {`{ issue(id: "ENG-9") { id } }`, nil, 200, "INPUT_ERROR", "Entity not found: Issue"},
		"a state that is not there":      {update, in(map[string]any{"stateId": "x"}), 200, "INPUT_ERROR", "Entity not found: WorkflowState"},
		"a state by its name":            {update, in(map[string]any{"stateId": "Started"}), 200, "INPUT_ERROR", "Entity not found: WorkflowState"},
		"a label that is not there":      {update, in(map[string]any{"addedLabelIds": []any{"bug"}, "title": "T"}), 200, "INPUT_ERROR", "Entity not found: IssueLabel"},
		"a title that is empty":          {update, in(map[string]any{"title": ""}), 200, "INVALID_INPUT", ""},
		"an id that is none":             {say, in(map[string]any{"issueId": "ENG-1", "body": "x", "id": "x"}), 200, "INVALID_INPUT", ""},
		"a comment on nothing":           {say, in(map[string]any{"issueId": "ENG-9", "body": "x"}), 200, "INPUT_ERROR", "Entity not found: Issue"},
		"a comment that says nothing":    {say, in(map[string]any{"issueId": "ENG-1", "body": " "}), 200, "INVALID_INPUT", ""},
		"a comment of an id that exists": {say, in(map[string]any{"issueId": "ENG-1", "body": "x", "id": "00000000-0000-4000-8000-000000000001"}), 200, "INPUT_ERROR", "conflict on insert of Comment"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "exists") {
				ask(t, w, tc.query, tc.vars)
			}
			before := w.ReadIssue(t, "ENG-1")
			got := ask(t, w, tc.query, tc.vars)
			if len(got.Errors) != 1 || got.status != tc.status || got.Errors[0].Extensions["code"] != tc.code || !strings.Contains(got.Errors[0].Message, tc.says) {
				t.Errorf("%d %+v", got.status, got.Errors)
			}
			if diff := cmp.Diff(before, w.ReadIssue(t, "ENG-1")); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := askAs(t, w, "lin_api_other", `{ viewer { id } }`, nil); got.status != 401 || got.Errors[0].Extensions["code"] != "AUTHENTICATION_ERROR" {
		t.Errorf("another token: %d %+v", got.status, got.Errors)
	}
	if got := askAs(t, w, "Bearer "+w.Secret(), `{ viewer { id } }`, nil); got.status != 401 {
		t.Errorf("a personal key is not a bearer's: %d", got.status)
	}
}

func TestFaults(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	w.AddIssue(t, draft("One", "Backlog"))
	const see, do = `{ viewer { id } }`, `mutation { issueUpdate(id: "ENG-1", input: {title: "Two"}) { success } }`
	w.InjectFault(trackertest.Fault{Kind: trackertest.Broken, Times: 1, Writes: true})
	if got := ask(t, w, see, nil); got.status != 200 {
		t.Errorf("a read is hit by a fault of writes: %d", got.status)
	}
	if got := ask(t, w, do, nil); got.status != 500 || w.ReadIssue(t, "ENG-1").Card.Title != "One" {
		t.Errorf("broken: %d", got.status)
	}
	w.InjectFault(trackertest.Fault{Kind: trackertest.Limited, Times: 2})
	first, second := ask(t, w, do, nil), ask(t, w, do, nil)
	if first.status != 400 || second.status != 429 || first.Errors[0].Extensions["code"] != "RATELIMITED" || second.header.Get("Retry-After") != "0" || w.ReadIssue(t, "ENG-1").Card.Title != "One" {
		t.Errorf("limited: %+v, %+v", first, second)
	}
	w.InjectFault(trackertest.Fault{Kind: trackertest.Denied, Times: 1})
	if got := ask(t, w, see, nil); got.status != 401 {
		t.Errorf("denied: %d", got.status)
	}
	w.InjectFault(trackertest.Fault{Kind: trackertest.Lost, Times: 1})
	body := strings.NewReader(`{"query":` + fmt.Sprintf("%q", do) + `}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", w.Secret())
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Error("an answer that is lost came")
	}
	if w.ReadIssue(t, "ENG-1").Card.Title != "Two" {
		t.Error("what was asked for is not done")
	}
	if w.CountWrites() != 4 || w.Server.CountRequests() != 6 {
		t.Errorf("%d writes of %d requests", w.CountWrites(), w.Server.CountRequests())
	}
}

// deliveryFields are the fields of Linear's webhooks that are always there, and those that the fake sends besides, which have
// a question mark.
var deliveryFields = map[string]string{
	"":                   "action createdAt data organizationId type webhookId webhookTimestamp url?",
	"Attachment":         "createdAt groupBySource id issueId metadata title updatedAt url",
	"Comment":            "body createdAt id reactionData updatedAt issue? issueId? user? userId?",
	"Comment.issue":      "id identifier team teamId title url",
	"Comment.issue.team": "id key name",
	"Comment.user":       "email id name url",
	"Issue": "createdAt id identifier labelIds labels number previousIdentifiers priority priorityLabel prioritySortOrder reactionData sortOrder " +
		"state stateId subscriberIds teamId title updatedAt url description? team?",
	"Issue.state": "color id name type",
	"Issue.team":  "id key name",
	"IssueLabel":  "color createdAt id isGroup name updatedAt",
}

func TestDeliveriesHaveTheFormOfLinears(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog", "bug"))
	w.CommentIssue(t, key, "bob", "hello")
	w.LinkPull(t, key, tracker.PR{Number: 1, URL: "https://github.com/acme/shop/pull/1", State: tracker.Open})
	w.DeleteTag(t, "bug")
	kinds := map[string]bool{}
	for _, d := range w.TakeDeliveries(t) {
		var body map[string]any
		if err := json.Unmarshal(d.Body, &body); err != nil {
			t.Fatal(err)
		}
		kind, _ := body["type"].(string)
		kinds[kind] = true
		if d.Header.Get("Linear-Event") != kind {
			t.Errorf("%q is sent as %q", kind, d.Header.Get("Linear-Event"))
		}
		checkDelivery(t, "", body)
		checkDelivery(t, kind, body["data"])
	}
	if len(kinds) != 4 {
		t.Errorf("deliveries of %v", kinds)
	}
	if more := w.TakeDeliveries(t); len(more) != 0 {
		t.Errorf("%d more", len(more))
	}
}

// checkDelivery compares an object of a delivery with the fields of its kind, and what it holds likewise.
func checkDelivery(t *testing.T, kind string, value any) {
	t.Helper()
	object, ok := value.(map[string]any)
	if deliveryFields[kind] == "" || !ok {
		t.Errorf("%s: %v", kind, value)
		return
	}
	known := map[string]bool{}
	for field := range strings.FieldsSeq(deliveryFields[kind]) {
		name, optional := strings.CutSuffix(field, "?")
		known[name] = true
		v, has := object[name]
		if !has && !optional {
			t.Errorf("%s lacks %s", kind, name)
		}
		if inner := kind + "." + name; deliveryFields[inner] != "" && has {
			checkDelivery(t, inner, v)
		}
	}
	for name := range object {
		if !known[name] {
			t.Errorf("%s has no %s", kind, name)
		}
	}
}

func TestTheStateOutlivesTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{File: file})
	key := w.AddIssue(t, draft("One", "Backlog", "bug"))
	w.CommentIssue(t, key, "bob", "hello")
	w.LinkPull(t, key, tracker.PR{Number: 1, URL: "https://github.com/acme/shop/pull/1"})
	if got := ask(t, w, `mutation { issueUpdate(id: "ENG-1", input: {title: "Two"}) { success } }`, nil); len(got.Errors) > 0 {
		t.Fatal(got.Errors)
	}
	again := fakelinear.OpenWorld(t, fakelinear.FakeOptions{File: file})
	if diff := cmp.Diff(w.ReadIssue(t, key), again.ReadIssue(t, key)); diff != "" || again.ReadIssue(t, key).Card.Title != "Two" {
		t.Error(diff)
	}
	if next := again.AddIssue(t, draft("Another", "Started")); next != "ENG-2" {
		t.Errorf("the next issue is %s", next)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".state-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fakelinear.New(fakelinear.FakeOptions{File: file}); err == nil {
		t.Error("a state that is broken is taken")
	}
}

func TestPages(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	w.AddIssue(t, draft("One", "Backlog", "bug"))
	post := func(path string, v url.Values) int {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(v.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		w.Server.ServeHTTP(rec, r)
		return rec.Code
	}
	for name, tc := range map[string]struct {
		path string
		form url.Values
		want int
	}{
		"a move":             {"/people/move", url.Values{"key": {"ENG-1"}, "column": {"Started"}}, 204},
		"a comment":          {"/people/comment", url.Values{"key": {"ENG-1"}, "author": {"bob"}, "text": {"HOLD\nplease"}}, 204},
		"to nowhere":         {"/people/move", url.Values{"key": {"ENG-1"}, "column": {"Nope"}}, 400},
		"about nothing":      {"/people/comment", url.Values{"key": {"ENG-9"}, "author": {"bob"}, "text": {"x"}}, 400},
		"of nobody":          {"/people/comment", url.Values{"key": {"ENG-1"}, "text": {"x"}}, 400},
		"something unknown":  {"/people/delete", url.Values{}, 404},
		"that says nothing":  {"/people/comment", url.Values{"key": {"ENG-1"}, "author": {"bob"}}, 400},
		"an issue not there": {"/people/move", url.Values{"key": {"ENG-9"}, "column": {"Started"}}, 400},
	} {
		if got := post(tc.path, tc.form); got != tc.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	for path, want := range map[string]string{
		"/issues":        `[{"key":"ENG-1","title":"One","state":"Started","states":["Backlog","Started"],"tags":["bug"],"comments":[{"author":"bob","text":"HOLD\nplease"}]}]` + "\n",
		"/issues?text=1": "ENG-1    Started    One [bug]\n         bob: HOLD\n",
	} {
		rec := httptest.NewRecorder()
		w.Server.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		if diff := cmp.Diff(want, rec.Body.String()); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}
