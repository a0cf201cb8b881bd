package homestore

import (
	"os"
	"path/filepath"
	"testing"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The path of a data folder may have characters that mean something in a pattern.
func TestTracesAreFoundBelowAnyName(t *testing.T) {
	home := filepath.Join(t.TempDir(), "data [1]*")
	for _, dir := range []string{"attempts/4vGJk2mXq0aTz1Lw8RbYd/1", "attempts/4vGJk2mXq0aTz1Lw8RbYd/2", "workspaces/shop--1", "workspaces/.aside"} {
		check(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	if found, err := tracesIn(home); err != nil || found != (traces{attempts: 1, workspaces: 1}) {
		t.Errorf("%+v, %v", found, err)
	}
	if found := GlobIn(home, "attempts/*/*"); len(found) != 2 || found[1] != filepath.Join(home, "attempts/4vGJk2mXq0aTz1Lw8RbYd/2") {
		t.Errorf("%q", found)
	}
}
