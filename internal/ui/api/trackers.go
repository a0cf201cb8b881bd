package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"orange/internal/core/boardcheck"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/wire"
)

// Trackers are the configured trackers. Only Sync, Test and Dispatch contact them; everything else uses stored data.
type Trackers interface {
	List() ([]tracker.Reading, error)
	SaveTracker(ctx context.Context, cfg tracker.Config) (tracker.Config, error)
	RemoveTracker(ctx context.Context, name string) error
	ListIssues(name string) ([]tracker.Issue, error)
	Sync(ctx context.Context, name string, fix bool) (tracker.Report, error)
	Test(ctx context.Context, name string) (tracker.Trial, error)
	Dispatch(ctx context.Context, name string, dry bool) (tracker.Round, error)
	SyncForges(ctx context.Context) (news []string, err error)
	IssueStatus(t *task.Task) *tracker.IssueStatus
	CheckBoard(ctx context.Context, x wire.BoardCheckRequest) ([]boardcheck.Finding, error)
}

func (s *Server) listTrackers(*http.Request) (wire.TrackerList, error) {
	list, err := s.Trackers.List()
	return wire.TrackerList{Trackers: nonNil(list)}, err
}

func (s *Server) setTracker(r *http.Request, cfg tracker.Config) (wire.TrackerUpdate, error) {
	cfg, err := s.Trackers.SaveTracker(r.Context(), cfg)
	return wire.TrackerUpdate{Tracker: cfg}, err
}

func (s *Server) removeTracker(r *http.Request) (wire.RemovedTracker, error) {
	name := r.PathValue("name")
	return wire.RemovedTracker{Removed: name}, s.Trackers.RemoveTracker(r.Context(), name)
}

func (s *Server) listIssues(r *http.Request) (wire.IssueList, error) {
	list, err := s.Trackers.ListIssues(r.PathValue("name"))
	return wire.IssueList{Issues: nonNil(list)}, err
}

func (s *Server) syncTracker(r *http.Request, how wire.SyncRequest) (tracker.Report, error) {
	report, err := s.Trackers.Sync(r.Context(), r.PathValue("name"), how.Fix)
	return report, asTrackerMistake(err)
}

func (s *Server) syncForges(r *http.Request) (wire.SyncReport, error) {
	news, err := s.Trackers.SyncForges(r.Context())
	return wire.SyncReport{News: nonNil(news)}, asTrackerMistake(err)
}

func (s *Server) testTracker(r *http.Request) (tracker.Trial, error) {
	trial, err := s.Trackers.Test(r.Context(), r.PathValue("name"))
	return trial, asTrackerMistake(err)
}

func (s *Server) dispatchIssues(r *http.Request, how wire.DispatchRequest) (tracker.Round, error) {
	round, err := s.Trackers.Dispatch(r.Context(), r.PathValue("name"), how.Dry)
	return round, asTrackerMistake(err)
}

func (s *Server) checkBoard(r *http.Request, x wire.BoardCheckRequest) (wire.BoardCheckResult, error) {
	found, err := s.Trackers.CheckBoard(r.Context(), x)
	return wire.BoardCheckResult{Findings: nonNil(found)}, asTrackerMistake(err)
}

// asTrackerMistake turns an error of a tracker into a Mistake of one line, because it is not a failure of the server.
func asTrackerMistake(err error) error {
	if err == nil {
		return nil
	}
	return task.Mistakef("%s", strings.Join(strings.Fields(fmt.Sprint(err)), " "))
}
