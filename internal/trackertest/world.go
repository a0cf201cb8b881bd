// Package trackertest is what every tracker must be able to do, as one suite: against a
// server that keeps state and speaks the tracker's real protocol, and that fails when it
// is told to.
package trackertest

import (
	"net/http"
	"testing"

	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// Columns and Tags are what every world begins with.
var (
	Columns = []string{"Backlog", "Started", "Finished", "Delivered", "Accepted", "Canceled"}
	Tags    = []string{"Ready", "Planned", "Claimed-Dev-1", "bug"}
)

// A World is a tracker's server with its people. Its own methods act at the server, as
// people do with their browsers: they never go through the port, and never fail.
type World interface {
	// OpenClient returns a client that knows nothing yet. It does not wait long for answers
	// that are lost.
	OpenClient(t testing.TB) trackers.Backend
	// AddIssue files an issue: title, description, author, column, tags, priority, parent and
	// blocked_by of the draft. It returns the key.
	AddIssue(t testing.TB, draft tracker.Issue) string
	MoveIssue(t testing.TB, key, column string)
	TagIssue(t testing.TB, key string, add, remove []string)
	CommentIssue(t testing.TB, key, author, text string)
	DescribeIssue(t testing.TB, key, text string)
	// ReadIssue is the issue as it is, comments included.
	ReadIssue(t testing.TB, key string) tracker.Issue
	RenameColumn(t testing.TB, from, to string)
	DeleteTag(t testing.TB, name string)
	// InjectFault makes the server fail from now on.
	InjectFault(f Fault)
	// CountWrites counts the requests so far that changed anything or tried to.
	CountWrites() int
}

// A Sender is a world whose tracker sends news.
type Sender interface {
	// TakeNews are the deliveries since it was last asked, signed with the right secret.
	TakeNews(t testing.TB) []Delivery
}

// A Linker is a world in which pull requests can be linked with issues.
type Linker interface {
	LinkPull(t testing.TB, key string, pr tracker.PR)
}

// A Keeper is a world that can say which secret its clients were given.
type Keeper interface {
	Secret() string
}

// A Limit is a world that cannot do everything: a real server, for one, does not fail
// when it is told to. What it cannot do is skipped.
type Limit interface {
	CanDo(what string) bool // a kind of fault, or what is named below
}

// What a world may be unable to do, besides failing.
const (
	Renames = "renames" // columns are renamed, tags deleted
	Apart   = "apart"   // it takes a tag on or off by itself, not only all of them as one list
)

// A Delivery is one piece of news as it comes over HTTP.
type Delivery struct {
	Header http.Header
	Body   []byte
}

// Kinds of faults.
const (
	Broken  = "broken"  // the server says that it failed, and did nothing
	Lost    = "lost"    // the write is made, and the answer never comes
	Limited = "limited" // too many requests: to be tried again a moment later
	Denied  = "denied"  // the secret is not good
)

// A Fault is how the next requests fail.
type Fault struct {
	Kind   string
	Times  int  // so many requests, then all is well again
	Writes bool // only those that change something
}
