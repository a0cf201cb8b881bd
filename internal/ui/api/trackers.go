package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"orange/internal/core/boardcheck"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// Trackers are the places where issues live. Only looking, testing and dispatching ask
// them; everything else is answered with what is kept.
type Trackers interface {
	List() ([]tracker.Reading, error)
	Set(ctx context.Context, cfg tracker.Config) (tracker.Config, error)
	Remove(ctx context.Context, name string) error
	Issues(name string) ([]tracker.Issue, error)
	Sync(ctx context.Context, name string, fix bool) (tracker.Report, error)
	Test(ctx context.Context, name string) (tracker.Trial, error)
	Dispatch(ctx context.Context, name string, dry bool) (tracker.Round, error)
	SyncForges(ctx context.Context) (news []string, err error)
	Standing(t *task.Task) *tracker.Standing
	Examine(ctx context.Context, x Examination) ([]boardcheck.Finding, error)
}

// An Examination says which board the doctor looks at, and whether it mends what it can.
type Examination struct {
	Project string `json:"project,omitempty"` // its local board
	Tracker string `json:"tracker,omitempty"` // else this one
	Key     string `json:"key,omitempty"`     // one issue of it, "" for all
	Fix     bool   `json:"fix,omitempty"`
}

// routeTrackers adds the routes of trackers. A server without them has none.
func (s *Server) routeTrackers(mux *http.ServeMux) {
	if s.Trackers == nil {
		return
	}
	mux.HandleFunc("GET /v1/trackers", forPeople(s, s.listTrackers))
	mux.HandleFunc("POST /v1/trackers", s.setTracker)
	mux.HandleFunc("DELETE /v1/trackers/{name}", s.removeTracker)
	mux.HandleFunc("GET /v1/trackers/{name}/issues", forPeople(s, s.listIssues))
	mux.HandleFunc("POST /v1/trackers/{name}/sync", s.syncTracker)
	mux.HandleFunc("POST /v1/trackers/{name}/test", s.testTracker)
	mux.HandleFunc("POST /v1/trackers/{name}/dispatch", s.dispatch)
	mux.HandleFunc("POST /v1/forges/sync", s.syncForges)
	mux.HandleFunc("POST /v1/doctor/board", s.examine)
}

// forPeople keeps attempts from reading what is none of their business.
func forPeople(s *Server, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c := callerOf(r); c != nil {
			s.fail(w, http.StatusForbidden, notForAttempts(r, c))
			return
		}
		next(w, r)
	}
}

func (s *Server) listTrackers(w http.ResponseWriter, _ *http.Request) {
	list, err := s.Trackers.List()
	s.replyOr(w, map[string]any{"trackers": nonNil(list)}, err)
}

func (s *Server) setTracker(w http.ResponseWriter, r *http.Request) {
	var cfg tracker.Config
	err := read(r, &cfg)
	if err == nil {
		cfg, err = s.Trackers.Set(r.Context(), cfg)
	}
	s.replyOr(w, map[string]any{"tracker": cfg}, err)
}

func (s *Server) removeTracker(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	s.replyOr(w, map[string]any{"removed": name}, s.Trackers.Remove(r.Context(), name))
}

func (s *Server) listIssues(w http.ResponseWriter, r *http.Request) {
	list, err := s.Trackers.Issues(r.PathValue("name"))
	s.replyOr(w, map[string]any{"issues": nonNil(list)}, err)
}

func (s *Server) syncTracker(w http.ResponseWriter, r *http.Request) {
	var how struct {
		Fix bool `json:"fix"`
	}
	err := read(r, &how)
	var report tracker.Report
	if err == nil {
		report, err = s.Trackers.Sync(r.Context(), r.PathValue("name"), how.Fix)
	}
	s.replyOr(w, report, outside(err))
}

func (s *Server) syncForges(w http.ResponseWriter, r *http.Request) {
	news, err := s.Trackers.SyncForges(r.Context())
	s.replyOr(w, map[string]any{"news": nonNil(news)}, outside(err))
}

func (s *Server) testTracker(w http.ResponseWriter, r *http.Request) {
	trial, err := s.Trackers.Test(r.Context(), r.PathValue("name"))
	s.replyOr(w, trial, outside(err))
}

func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	var how struct {
		Dry bool `json:"dry"`
	}
	err := read(r, &how)
	var round tracker.Round
	if err == nil {
		round, err = s.Trackers.Dispatch(r.Context(), r.PathValue("name"), how.Dry)
	}
	s.replyOr(w, round, outside(err))
}

func (s *Server) examine(w http.ResponseWriter, r *http.Request) {
	var x Examination
	err := read(r, &x)
	var found []boardcheck.Finding
	if err == nil {
		found, err = s.Trackers.Examine(r.Context(), x)
	}
	s.replyOr(w, map[string]any{"findings": nonNil(found)}, outside(err))
}

// outside makes one line of what a tracker said: it is nothing that broke here.
func outside(err error) error {
	if err == nil {
		return nil
	}
	return task.Mistakef("%s", strings.Join(strings.Fields(fmt.Sprint(err)), " "))
}

// replyOr replies, or says what went wrong.
func (s *Server) replyOr(w http.ResponseWriter, v any, err error) {
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, v)
}
