package github_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"orange/internal/adapter/github"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakegithub"
	"orange/internal/transport"
)

var (
	_ trackers.Backend       = (*github.Tracker)(nil)
	_ trackers.WebhookParser = (*github.Tracker)(nil)
	_ trackers.Forge         = (*github.Forge)(nil)
	_ trackertest.World      = fakegithub.IssueWorld{}
	_ trackertest.Sender     = fakegithub.IssueWorld{}
	_ trackertest.Linker     = fakegithub.IssueWorld{}
	_ trackertest.Keeper     = fakegithub.IssueWorld{}
	_ trackertest.ForgeWorld = fakegithub.PullWorld{}
)

func always(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// serve starts a GitHub whose requests and answers are compared with the description.
func serve(t testing.TB, o fakegithub.FakeOptions) *fakegithub.FakeServer {
	t.Helper()
	o.Wrap = checked(t)
	s, err := fakegithub.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// clients reach a server.
func clients(t testing.TB, s *fakegithub.FakeServer) (*github.Tracker, *github.Forge) {
	t.Helper()
	tr, f, err := github.New(github.RepositoryOptions{URL: s.URL(), Scope: s.Scope(), Token: always(s.Secret()), WebhookSecret: always(s.WebhookSecret())})
	if err != nil {
		t.Fatal(err)
	}
	return tr, f
}

func port(t testing.TB, s *fakegithub.FakeServer) trackers.Backend {
	tr, _ := clients(t, s)
	return tr
}

func forge(t testing.TB, s *fakegithub.FakeServer) trackers.Forge {
	_, f := clients(t, s)
	return f
}

func TestTracker(t *testing.T) {
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World {
		return fakegithub.IssueWorld{FakeServer: serve(t, fakegithub.FakeOptions{}), Client: port}
	})
}

// TestTrackerBelowTheTransport plays the same as it is wired in the product, where requests
// are tried again on the way.
func TestTrackerBelowTheTransport(t *testing.T) {
	client := func(t testing.TB, s *fakegithub.FakeServer) trackers.Backend {
		wire := transport.New(transport.ClientOptions{Name: "github", Wait: func(int) time.Duration { return 0 }})
		tr, _, err := github.New(github.RepositoryOptions{URL: s.URL(), Scope: s.Scope(), Token: always(s.Secret()), WebhookSecret: always(s.WebhookSecret()), HTTP: &http.Client{Transport: wire}})
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World {
		return fakegithub.IssueWorld{FakeServer: serve(t, fakegithub.FakeOptions{}), Client: client}
	})
}

func TestForge(t *testing.T) {
	trackertest.RunForge(t, func(t *testing.T) trackertest.ForgeWorld {
		return fakegithub.PullWorld{FakeServer: serve(t, fakegithub.FakeOptions{}), Client: forge}
	})
}
