// Package trackertest is a test suite for trackers and forges: against a server that keeps
// state, implements the tracker's real protocol, and fails on demand.
package trackertest

import (
	"net/http"
	"testing"

	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// Columns and Tags are those of every new world.
var (
	Columns = []string{"Backlog", "Started", "Finished", "Delivered", "Accepted", "Canceled"}
	Tags    = []string{"Ready", "Planned", "Claimed-Dev-1", "bug"}
)

// A World is a tracker's server with its people. Its own methods act at the server, like people
// in their browsers: they never use the client, and never fail.
type World interface {
	// OpenClient returns a client without any state. It has a short timeout for lost responses.
	OpenClient(t testing.TB) trackers.Backend
	// AddIssue creates an issue with title, description, author, column, tags, priority, parent
	// and blocked_by of the draft. It returns the key.
	AddIssue(t testing.TB, draft tracker.Issue) string
	MoveIssue(t testing.TB, key, column string)
	TagIssue(t testing.TB, key string, add, remove []string)
	CommentIssue(t testing.TB, key, author, text string)
	DescribeIssue(t testing.TB, key, text string)
	// ReadIssue returns the issue as it is, with its comments.
	ReadIssue(t testing.TB, key string) tracker.Issue
	RenameColumn(t testing.TB, from, to string)
	DeleteTag(t testing.TB, name string)
	// InjectFault makes the server fail from now on.
	InjectFault(f Fault)
	// CountWrites returns the number of requests so far that changed something or tried to.
	CountWrites() int
}

// A Sender is a world whose tracker sends webhooks.
type Sender interface {
	// TakeDeliveries returns the deliveries since the last call, signed with the right secret.
	TakeDeliveries(t testing.TB) []Delivery
}

// A Linker is a world in which pull requests can be linked with issues.
type Linker interface {
	LinkPull(t testing.TB, key string, pr tracker.PR)
}

// A Keeper is a world that knows the secret of its clients.
type Keeper interface {
	Secret() string
}

// A Limit is a world that cannot do everything: a real server, for example, does not fail on
// demand. Stories that need what it cannot do are skipped.
type Limit interface {
	CanDo(what string) bool // a kind of fault, or a constant below
}

// What a world may be unable to do, besides failing.
const (
	Renames = "renames" // renaming columns, deleting tags
	Apart   = "apart"   // adding or removing a single tag, not only replacing the whole list
)

// A Delivery is one webhook request.
type Delivery struct {
	Header http.Header
	Body   []byte
}

// Kinds of faults.
const (
	Broken  = "broken"  // the server reports that it failed, and did nothing
	Lost    = "lost"    // the write is made, and the response is lost
	Limited = "limited" // too many requests: try again a moment later
	Denied  = "denied"  // the secret is not accepted
)

// A Fault is how the next requests fail.
type Fault struct {
	Kind   string
	Times  int  // number of requests; later ones succeed
	Writes bool // only requests that change something
}
