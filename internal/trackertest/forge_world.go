package trackertest

import (
	"testing"

	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// A ForgeWorld is a forge's server with its people and its machines.
type ForgeWorld interface {
	OpenClient(t testing.TB) trackers.Forge
	BaseBranch() string
	// PushBranch makes a commit on a branch, the branch too if need be, and returns it.
	PushBranch(t testing.TB, branch string) string
	AddCheck(t testing.TB, commit string, c tracker.Check)
	// AddReview leaves one on a pull request: verdict, text, author.
	AddReview(t testing.TB, number int, r tracker.Review)
	ClosePull(t testing.TB, number int)
	InjectFault(f Fault)
}
