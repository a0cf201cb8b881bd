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

// TrackerList is what is said about each tracker, and its last look.
type TrackerList struct {
	Trackers []tracker.Reading `json:"trackers"`
}

func (s *Server) listTrackers(*http.Request) (TrackerList, error) {
	list, err := s.Trackers.List()
	return TrackerList{nonNil(list)}, err
}

// A TrackerSet is a tracker as it is now written down.
type TrackerSet struct {
	Tracker tracker.Config `json:"tracker"`
}

func (s *Server) setTracker(r *http.Request, cfg tracker.Config) (TrackerSet, error) {
	cfg, err := s.Trackers.Set(r.Context(), cfg)
	return TrackerSet{cfg}, err
}

// Removed names a tracker that is not there any more.
type Removed struct {
	Removed string `json:"removed"`
}

func (s *Server) removeTracker(r *http.Request) (Removed, error) {
	name := r.PathValue("name")
	return Removed{name}, s.Trackers.Remove(r.Context(), name)
}

// IssueList are issues as they were last read.
type IssueList struct {
	Issues []tracker.Issue `json:"issues"`
}

func (s *Server) listIssues(r *http.Request) (IssueList, error) {
	list, err := s.Trackers.Issues(r.PathValue("name"))
	return IssueList{nonNil(list)}, err
}

// A SyncWish says how a tracker is looked at.
type SyncWish struct {
	Fix bool `json:"fix"` // put right what drifted
}

func (s *Server) syncTracker(r *http.Request, how SyncWish) (tracker.Report, error) {
	report, err := s.Trackers.Sync(r.Context(), r.PathValue("name"), how.Fix)
	return report, outside(err)
}

// News are lines about what was found.
type News struct {
	News []string `json:"news"`
}

func (s *Server) syncForges(r *http.Request) (News, error) {
	news, err := s.Trackers.SyncForges(r.Context())
	return News{nonNil(news)}, outside(err)
}

func (s *Server) testTracker(r *http.Request) (tracker.Trial, error) {
	trial, err := s.Trackers.Test(r.Context(), r.PathValue("name"))
	return trial, outside(err)
}

// A DispatchWish says how issues are dispatched.
type DispatchWish struct {
	Dry bool `json:"dry"` // only say what would be
}

func (s *Server) dispatch(r *http.Request, how DispatchWish) (tracker.Round, error) {
	round, err := s.Trackers.Dispatch(r.Context(), r.PathValue("name"), how.Dry)
	return round, outside(err)
}

// Findings are what the doctor found on a board.
type Findings struct {
	Findings []boardcheck.Finding `json:"findings"`
}

func (s *Server) examine(r *http.Request, x Examination) (Findings, error) {
	found, err := s.Trackers.Examine(r.Context(), x)
	return Findings{nonNil(found)}, outside(err)
}

// outside makes one line of what a tracker said: it is nothing that broke here.
func outside(err error) error {
	if err == nil {
		return nil
	}
	return task.Mistakef("%s", strings.Join(strings.Fields(fmt.Sprint(err)), " "))
}
