package server

import (
	"context"
	"time"

	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/runtime/notifier"
	"orange/internal/runtime/trackers"
	"orange/internal/server/forges"
	"orange/internal/server/page"
	"orange/internal/server/tracking"
)

// newTrackerService returns the service that works with trackers.
func (s *Server) newTrackerService() *trackers.Service {
	return &trackers.Service{
		Store: s.store, Tasks: s.runtime, Seen: s.measure.KeepPullRequest, Connect: s.newConnector().Connect, Forge: s.forges.ProjectForge, Log: s.log, Now: time.Now,
		Fetch: func(ctx context.Context, p task.Project) error {
			return s.git.FetchBranch(ctx, p.Path, forges.Origin, p.DefaultBranch)
		},
	}
}

func (s *Server) newConnector() tracking.Connector {
	return tracking.Connector{Store: s.store, Runtime: s.runtime, Boards: s.boards, Log: s.log}
}

// newTrackerRegistry returns the registry of trackers for the API.
func (s *Server) newTrackerRegistry() tracking.Registry {
	out := tracking.Registry{Service: s.trackerService, Connector: s.newConnector(), Changed: s.trackersChanged}
	if !s.cfg.Record {
		out.CheckHarness = s.checkHarness
	}
	return out
}

// checkTrackers names the trackers that do not respond and the issues that drifted.
func (s *Server) checkTrackers(context.Context) (string, error) {
	return tracking.Check(s.trackerService)
}

// trackersChanged makes the watchers of trackers read the list of trackers again.
func (s *Server) trackersChanged() {
	select {
	case s.retrack <- struct{}{}:
	default:
	}
}

// control implements api.Control with the runtime. It is busy while trackers must be watched.
type control struct {
	*local.Runtime
	trackerService   *trackers.Service
	page             *page.Page
	notifier         func() *notifier.Notifier
	receivesWebhooks bool // trackers send webhooks
}

// Busy implements api.Control.
func (c control) Busy() bool {
	return c.receivesWebhooks || c.page.KeepsServer() || c.notifier().Busy() || c.Runtime.Busy() || c.trackerService.HasWatched()
}
