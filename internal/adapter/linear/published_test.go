//go:build linear

package linear_test

import (
	"os"
	"testing"

	"orange/internal/trackertest"
	"orange/internal/trackertest/fakelinear"
)

func TestSuiteWithThePublishedSchema(t *testing.T) {
	schema, err := fakelinear.ReadSchema(os.Getenv("ORANGE_LINEAR_SCHEMA"))
	if err != nil {
		t.Fatal(err)
	}
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World {
		return fakelinear.OpenWorld(t, fakelinear.FakeOptions{Schema: schema})
	})
}
