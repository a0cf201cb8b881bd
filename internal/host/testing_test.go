package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// longest bounds every wait for something that must happen.
const longest = 90 * time.Second

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want[T any](t *testing.T, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
