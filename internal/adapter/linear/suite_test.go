package linear_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"orange/internal/adapter/linear"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakelinear"
	"orange/internal/transport"
)

func TestSuite(t *testing.T) {
	own, err := fakelinear.OwnSchema()
	if err != nil {
		t.Fatal(err)
	}
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World {
		return fakelinear.OpenWorld(t, fakelinear.FakeOptions{Schema: own})
	})
}

// far is a world whose clients ask through the transport, for all of the team.
type far struct{ *fakelinear.World }

func (w far) OpenClient(testing.TB) trackers.Backend {
	const most = 4 << 10
	give := func(secret string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return secret, nil }
	}
	return linear.New(linear.TrackerOptions{
		URL: w.URL, Token: give(w.Secret()), Scope: "ENG", WebhookSecret: give("lin_wh_fake"), Reads: transport.MarkSafe,
		HTTP: &http.Client{Transport: transport.New(transport.ClientOptions{
			Name: "linear", Wait: func(int) time.Duration { return time.Millisecond },
			Limited: func(r *http.Response) bool { return linear.IsRateLimited(transport.PeekBody(r, most)) },
			Denied:  func(r *http.Response) bool { return linear.IsDenied(transport.PeekBody(r, most)) },
			Resets:  func(r *http.Response) time.Time { return linear.ResetTime(r.Header) },
		})},
	})
}

func TestSuiteThroughTheTransport(t *testing.T) {
	own, err := fakelinear.OwnSchema()
	if err != nil {
		t.Fatal(err)
	}
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World {
		return far{fakelinear.OpenWorld(t, fakelinear.FakeOptions{Schema: own})}
	})
}
