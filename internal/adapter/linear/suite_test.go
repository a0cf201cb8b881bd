package linear_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orange/internal/adapter/linear"
	"orange/internal/runtime/track"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakelinear"
	"orange/internal/transport"
)

// published is the file that Linear publishes, beside the repository.
var published = filepath.Join("..", "..", "..", "..", "shared", "data", "linear-schema.graphql")

// official reads it, where it is.
func official(t *testing.T) *fakelinear.Schema {
	t.Helper()
	if _, err := os.Stat(published); err != nil {
		t.Skipf("the schema that Linear publishes is not here: %v", err)
	}
	schema, err := fakelinear.ReadSchema(published)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSuite(t *testing.T) {
	own, err := fakelinear.OwnSchema()
	if err != nil {
		t.Fatal(err)
	}
	trackertest.Run(t, func(t *testing.T) trackertest.World {
		return fakelinear.Open(t, fakelinear.Options{Schema: own})
	})
}

func TestSuiteWithThePublishedSchema(t *testing.T) {
	schema := official(t)
	trackertest.Run(t, func(t *testing.T) trackertest.World {
		return fakelinear.Open(t, fakelinear.Options{Schema: schema})
	})
}

// far is a world whose clients ask through the transport, for all of the team.
type far struct{ *fakelinear.World }

func (w far) Open(testing.TB) track.Port {
	const most = 4 << 10
	give := func(secret string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return secret, nil }
	}
	return linear.New(linear.Options{
		URL: w.URL, Token: give(w.Secret()), Scope: "ENG", WebhookSecret: give("lin_wh_fake"), Reads: transport.Safe,
		HTTP: &http.Client{Transport: transport.New(transport.Options{
			Name: "linear", Wait: func(int) time.Duration { return time.Millisecond },
			Limited: func(r *http.Response) bool { return linear.Limited(transport.Peek(r, most)) },
			Denied:  func(r *http.Response) bool { return linear.Denied(transport.Peek(r, most)) },
			Resets:  func(r *http.Response) time.Time { return linear.Resets(r.Header) },
		})},
	})
}

func TestSuiteThroughTheTransport(t *testing.T) {
	own, err := fakelinear.OwnSchema()
	if err != nil {
		t.Fatal(err)
	}
	trackertest.Run(t, func(t *testing.T) trackertest.World {
		return far{fakelinear.Open(t, fakelinear.Options{Schema: own})}
	})
}
