package trackertest

import (
	"testing"

	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// A ForgeWorld is a forge's server with its people and its automation.
type ForgeWorld interface {
	OpenClient(t testing.TB) trackers.Forge
	BaseBranch() string
	// PushBranch creates a commit on a branch, and the branch if necessary, and returns the
	// commit.
	PushBranch(t testing.TB, branch string) string
	AddCheck(t testing.TB, commit string, c tracker.Check)
	// AddReview adds a review to a pull request: verdict, text, author.
	AddReview(t testing.TB, number int, r tracker.Review)
	ClosePull(t testing.TB, number int)
	// RequireChecks protects the base branch: pull requests must pass these checks.
	RequireChecks(t testing.TB, names ...string)
	InjectFault(f Fault)
}
