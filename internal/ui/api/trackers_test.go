package api_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/wire"
)

// fakeTrackers is a place with one tracker, and writes down what was asked.
type fakeTrackers struct {
	asked []string
	err   error
}

func (y *fakeTrackers) note(what string) error {
	y.asked = append(y.asked, what)
	return y.err
}

func (y *fakeTrackers) List() ([]tracker.Reading, error) {
	return []tracker.Reading{{Config: tracker.Config{Name: "lin", Kind: tracker.Linear, Token: "env:LINEAR_API_KEY"}, At: morning, Problem: "away", Issues: 3, Tasks: 1}}, y.note("list")
}

func (y *fakeTrackers) SaveTracker(_ context.Context, cfg tracker.Config) (tracker.Config, error) {
	return cfg, y.note("set " + cfg.Name + " " + cfg.Kind)
}

func (y *fakeTrackers) RemoveTracker(_ context.Context, name string) error {
	return y.note("remove " + name)
}

func (y *fakeTrackers) ListIssues(name string) ([]tracker.Issue, error) {
	if name == "empty" {
		return nil, y.note("issues " + name)
	}
	return []tracker.Issue{{Key: "ENG-1", Card: board.Card{Title: "Cart", Column: "Backlog"}, ReadAt: morning}}, y.note("issues " + name)
}

func (y *fakeTrackers) Sync(_ context.Context, name string, fix bool) (tracker.Report, error) {
	return tracker.Report{Tracker: name, Issues: 2, News: []string{"n"}, Drift: []tracker.Drift{{Ref: "lin:ENG-1", Want: "Started", Have: "Backlog"}}}, y.note(flag("sync "+name, fix))
}

func flag(what string, on bool) string {
	if on {
		return what + "!"
	}
	return what
}

func (y *fakeTrackers) Test(_ context.Context, name string) (tracker.Trial, error) {
	return tracker.Trial{Tracker: name, Account: "orange-bot", Missing: []string{}}, y.note("test " + name)
}

func (y *fakeTrackers) Dispatch(_ context.Context, name string, dry bool) (tracker.Round, error) {
	return tracker.Round{Tracker: name, Choices: []tracker.Choice{{Key: "ENG-1", Dispatch: true, Reason: "it is next"}}}, y.note(flag("dispatch "+name, dry))
}

func (y *fakeTrackers) SyncForges(context.Context) ([]string, error) { return nil, y.note("forges") }

func (y *fakeTrackers) IssueStatus(t *task.Task) *tracker.IssueStatus {
	if t.TrackerRef == "" {
		return nil
	}
	return &tracker.IssueStatus{Ref: t.TrackerRef, Column: "Backlog", Want: "Started", ReadAt: morning}
}

func (y *fakeTrackers) CheckBoard(_ context.Context, x wire.BoardCheckRequest) ([]boardcheck.Finding, error) {
	return []boardcheck.Finding{{Card: "board:p/1", Anomaly: boardcheck.Anomaly{Type: boardcheck.StaleClaim, Text: "odd"}}}, y.note(flag("examine "+x.Project+x.Tracker+" "+x.Key, x.Fix))
}

// tracking is a server with one tracker.
func tracking(t *testing.T) (*env, *fakeTrackers) {
	t.Helper()
	r, _ := guarded(t)
	must(t, r.stop())
	y := &fakeTrackers{}
	r.server.Trackers = y
	r.listen(r.server.Home + "/u")
	return r, y
}

// trackerRoutes are all of them, with what they ask for.
var trackerRoutes = []struct{ method, path, body, asks, holds string }{
	{"GET", "/v1/trackers", "", "list", `"trackers":[{"config":{"name":"lin","kind":"linear","project":"","token":"env:LINEAR_API_KEY"},"at":"2026-01-02T08:00:00Z","problem":"away","issues":3,"tasks":1}]`},
	{"POST", "/v1/trackers", `{"name":"hub","kind":"github"}`, "set hub github", `"tracker":{"name":"hub","kind":"github"`},
	{"DELETE", "/v1/trackers/lin", "", "remove lin", `"removed":"lin"`},
	{"GET", "/v1/trackers/lin/issues", "", "issues lin", `"issues":[{"key":"ENG-1"`},
	{"GET", "/v1/trackers/empty/issues", "", "issues empty", `"issues":[]`},
	{"POST", "/v1/trackers/lin/sync", `{}`, "sync lin", `"news":["n"],"drift":[{"task":"","ref":"lin:ENG-1"`},
	{"POST", "/v1/trackers/lin/sync", `{"fix":true}`, "sync lin!", `"tracker":"lin"`},
	{"POST", "/v1/trackers/lin/test", `{}`, "test lin", `"account":"orange-bot"`},
	{"POST", "/v1/trackers/lin/dispatch", `{"dry":true}`, "dispatch lin!", `"choices":[{"key":"ENG-1"`},
	{"POST", "/v1/trackers/lin/dispatch", `{}`, "dispatch lin", `"dispatch":true`},
	{"POST", "/v1/forges/sync", `{}`, "forges", `"news":[]`},
	{"POST", "/v1/doctor/board", `{"project":"p","key":"3","fix":true}`, "examine p 3!", `"findings":[{"card":"board:p/1"`},
}

func TestTrackersOverHTTP(t *testing.T) {
	r, y := tracking(t)
	for _, tt := range trackerRoutes {
		y.asked = nil
		r.ask(tt.method, tt.path, tt.body).holds(t, tt.holds)
		if !slices.Equal(y.asked, []string{tt.asks}) {
			t.Errorf("%s %s asks %q", tt.method, tt.path, y.asked)
		}
	}
}

func TestTrackersAreForPeople(t *testing.T) {
	r, y := tracking(t)
	mine := r.create("mine")
	for _, tt := range trackerRoutes {
		r.ask(tt.method, tt.path, tt.body, wire.HeaderToken, mine).refused(t, http.StatusForbidden, "is a person's to ask for")
	}
	if len(y.asked) > 0 {
		t.Errorf("asked %q", y.asked)
	}
}

func TestAnErrorOfATrackerIsOneLine(t *testing.T) {
	r, y := tracking(t)
	for _, tt := range trackerRoutes {
		y.err = task.Mistakef("there is no tracker %q: see orange tracker list", "lin")
		r.ask(tt.method, tt.path, tt.body).refused(t, http.StatusBadRequest, `there is no tracker "lin": see orange tracker list`)
	}
	y.err = errors.New("dial tcp:\n\tno route\r\nto host")
	for _, tt := range trackerRoutes {
		if tt.method == "POST" && tt.path != "/v1/trackers" {
			r.ask(tt.method, tt.path, tt.body).refused(t, http.StatusBadRequest, "dial tcp: no route to host")
		}
	}
	y.err, y.asked = nil, nil
	for _, tt := range []struct{ path, body string }{
		{"/v1/trackers", `[]`}, {"/v1/trackers", `{"bogus":1}`}, {"/v1/trackers/lin/sync", `{"fix":"yes"}`}, {"/v1/trackers/lin/dispatch", `{"dry":1}`}, {"/v1/doctor/board", `"x"`},
	} {
		r.ask("POST", tt.path, tt.body).refused(t, http.StatusBadRequest, "not understood")
	}
	if len(y.asked) > 0 {
		t.Errorf("asked %q", y.asked)
	}
}

func TestATaskShowsWhereItsIssueStands(t *testing.T) {
	r, _ := tracking(t)
	a, err := r.runtime.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: "x", Summary: "s", TrackerRef: "lin:ENG-1"}})
	must(t, err)
	r.ask("GET", "/v1/tasks/"+string(a.Task.ID), "").holds(t, `{"ref":"lin:ENG-1","column":"Backlog","want":"Started","read_at":"2026-01-02T08:00:00Z"}`)
	if got := r.ask("GET", "/v1/tasks/"+r.create("bare"), ""); strings.Contains(got.text, `"read_at"`) {
		t.Errorf("%s", got.text)
	}
}

func TestAServerWithoutTrackers(t *testing.T) {
	r := open(t)
	for _, tt := range trackerRoutes {
		r.ask(tt.method, tt.path, tt.body).refused(t, http.StatusNotFound, "is not served")
	}
}
