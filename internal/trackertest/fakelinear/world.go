package fakelinear

import (
	"context"
	"net/http/httptest"
	"testing"

	"orange/internal/adapter/linear"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
)

// A World is a server with its people, for tests. Actions of people cannot fail.
type World struct {
	Server *FakeServer
	URL    string // of Linear's interface
	opts   FakeOptions
	scope  string
}

var (
	_ trackertest.World  = (*World)(nil)
	_ trackertest.Sender = (*World)(nil)
	_ trackertest.Linker = (*World)(nil)
	_ trackertest.Keeper = (*World)(nil)
)

// OpenWorld starts a server that ends with the test.
func OpenWorld(t testing.TB, opts FakeOptions) *World {
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

// OpenClient returns a client of the team's project Shop.
func (w *World) OpenClient(t testing.TB) trackers.Backend {
	t.Helper()
	give := func(secret string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return secret, nil }
	}
	return linear.New(linear.TrackerOptions{
		URL: w.URL, Token: give(w.opts.Token), Scope: w.scope, WebhookSecret: give(w.opts.Secret), Now: w.opts.Now,
	})
}

// requireNoError ends a test that requires something impossible of people.
func requireNoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// AddIssue creates an issue.
func (w *World) AddIssue(t testing.TB, draft tracker.Issue) string {
	t.Helper()
	key, err := w.Server.AddIssue(draft)
	requireNoError(t, err)
	return key
}

// MoveIssue moves an issue to another column.
func (w *World) MoveIssue(t testing.TB, key, column string) {
	t.Helper()
	requireNoError(t, w.Server.MoveIssue(key, column))
}

// TagIssue adds and removes tags.
func (w *World) TagIssue(t testing.TB, key string, add, remove []string) {
	t.Helper()
	requireNoError(t, w.Server.TagIssue(key, add, remove))
}

// CommentIssue comments on an issue.
func (w *World) CommentIssue(t testing.TB, key, author, text string) {
	t.Helper()
	requireNoError(t, w.Server.CommentIssue(key, author, text))
}

// DescribeIssue replaces the description of an issue.
func (w *World) DescribeIssue(t testing.TB, key, text string) {
	t.Helper()
	requireNoError(t, w.Server.DescribeIssue(key, text))
}

// ReadIssue returns an issue as it is.
func (w *World) ReadIssue(t testing.TB, key string) tracker.Issue {
	t.Helper()
	is, err := w.Server.ReadIssue(key)
	requireNoError(t, err)
	return is
}

// RenameColumn renames a column.
func (w *World) RenameColumn(t testing.TB, from, to string) {
	t.Helper()
	requireNoError(t, w.Server.RenameColumn(from, to))
}

// DeleteTag deletes a tag.
func (w *World) DeleteTag(t testing.TB, name string) {
	t.Helper()
	requireNoError(t, w.Server.DeleteTag(name))
}

// Secret returns the token for clients.
func (w *World) Secret() string { return w.opts.Token }

// LinkPull attaches a pull request to an issue.
func (w *World) LinkPull(t testing.TB, key string, pr tracker.PR) {
	t.Helper()
	requireNoError(t, w.Server.LinkPull(key, pr))
}

// InjectFault makes the server fail from now on.
func (w *World) InjectFault(f trackertest.Fault) { w.Server.InjectFault(f) }

// CountWrites returns the number of requests that changed something or tried to.
func (w *World) CountWrites() int { return w.Server.CountWrites() }

// TakeDeliveries returns the deliveries since the last call.
func (w *World) TakeDeliveries(t testing.TB) []trackertest.Delivery {
	t.Helper()
	out, err := w.Server.SignedDeliveries()
	requireNoError(t, err)
	return out
}
