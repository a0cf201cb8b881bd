package fakelinear

import (
	"context"
	"net/http/httptest"
	"testing"

	"orange/internal/adapter/linear"
	"orange/internal/core/tracker"
	"orange/internal/runtime/track"
	"orange/internal/trackertest"
)

// A World is a server with its people, for tests. What people do cannot fail.
type World struct {
	Server *Server
	URL    string // of Linear's interface
	opts   Options
	scope  string
}

var (
	_ trackertest.World  = (*World)(nil)
	_ trackertest.Sender = (*World)(nil)
	_ trackertest.Linker = (*World)(nil)
	_ trackertest.Keeper = (*World)(nil)
)

// Open starts a server that ends with the test.
func Open(t testing.TB, opts Options) *World {
	t.Helper()
	if opts.Token == "" {
		opts.Token = "lin_api_fake"
	}
	if opts.Secret == "" {
		opts.Secret = "lin_wh_fake"
	}
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return &World{Server: s, URL: h.URL + "/graphql", opts: opts, scope: "ENG/Shop"}
}

// Open returns a client of the team's project Shop.
func (w *World) Open(t testing.TB) track.Backend {
	t.Helper()
	give := func(secret string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return secret, nil }
	}
	return linear.New(linear.Options{
		URL: w.URL, Token: give(w.opts.Token), Scope: w.scope, WebhookSecret: give(w.opts.Secret), Now: w.opts.Now,
	})
}

// must ends a test that asks people for something that they cannot do.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Add files an issue.
func (w *World) Add(t testing.TB, draft tracker.Issue) string {
	t.Helper()
	key, err := w.Server.Add(draft)
	must(t, err)
	return key
}

// Move puts an issue into another column.
func (w *World) Move(t testing.TB, key, column string) {
	t.Helper()
	must(t, w.Server.Move(key, column))
}

// Tag sets tags and takes others off.
func (w *World) Tag(t testing.TB, key string, add, remove []string) {
	t.Helper()
	must(t, w.Server.Tag(key, add, remove))
}

// Comment says something about an issue.
func (w *World) Comment(t testing.TB, key, author, text string) {
	t.Helper()
	must(t, w.Server.Comment(key, author, text))
}

// Describe writes an issue's description anew.
func (w *World) Describe(t testing.TB, key, text string) {
	t.Helper()
	must(t, w.Server.Describe(key, text))
}

// Real is an issue as it is.
func (w *World) Real(t testing.TB, key string) tracker.Issue {
	t.Helper()
	is, err := w.Server.Real(key)
	must(t, err)
	return is
}

// RenameColumn gives a column another name.
func (w *World) RenameColumn(t testing.TB, from, to string) {
	t.Helper()
	must(t, w.Server.RenameColumn(from, to))
}

// DeleteTag deletes a tag.
func (w *World) DeleteTag(t testing.TB, name string) {
	t.Helper()
	must(t, w.Server.DeleteTag(name))
}

// Secret is the token that clients are given.
func (w *World) Secret() string { return w.opts.Token }

// Link attaches a pull request to an issue.
func (w *World) Link(t testing.TB, key string, pr tracker.PR) {
	t.Helper()
	must(t, w.Server.Link(key, pr))
}

// Fail makes the server fail from now on.
func (w *World) Fail(f trackertest.Fault) { w.Server.Fail(f) }

// Writes counts the requests that changed anything or tried to.
func (w *World) Writes() int { return w.Server.Writes() }

// News are the deliveries since it was last asked.
func (w *World) News(t testing.TB) []trackertest.Delivery {
	t.Helper()
	out, err := w.Server.Deliveries()
	must(t, err)
	return out
}
