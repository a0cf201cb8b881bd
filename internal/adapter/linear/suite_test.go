package linear_test

import (
	"os"
	"path/filepath"
	"testing"

	"orange/internal/trackertest"
	"orange/internal/trackertest/fakelinear"
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
