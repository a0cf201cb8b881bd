package trackertest

import (
	"testing"

	"orange/internal/core/tracker"
	"orange/internal/runtime/track"
)

// A ForgeWorld is a forge's server with its people and its machines.
type ForgeWorld interface {
	Open(t testing.TB) track.Forge
	Base() string
	// Push makes a commit on a branch, the branch too if need be, and returns it.
	Push(t testing.TB, branch string) string
	Check(t testing.TB, commit string, c tracker.Check)
	// Review leaves one on a pull request: verdict, text, author.
	Review(t testing.TB, number int, r tracker.Review)
	Close(t testing.TB, number int)
	Fail(f Fault)
}
