package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
