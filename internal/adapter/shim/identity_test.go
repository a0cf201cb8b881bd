package shim_test

import (
	"os"
	"path/filepath"
	"testing"

	"orange/internal/adapter/shim"
)

func TestADataFolderKeepsItsIDAndACopyGetsAnother(t *testing.T) {
	dir := t.TempDir()
	home, moved, replaced, copied := filepath.Join(dir, "home"), filepath.Join(dir, "moved"), filepath.Join(dir, "replaced"), filepath.Join(dir, "copied")
	attempt := func(home, name string) string { return filepath.Join(home, "attempts", "t", "1", name) }
	identify := func(home string) string {
		t.Helper()
		id, err := dataFolder(home).EnsureIdentity(home)
		if err != nil || len(id) != 16 {
			t.Fatalf("%q, %v", id, err)
		}
		return id
	}
	exist := func(home string, want bool, names ...string) {
		t.Helper()
		for _, name := range names {
			if _, err := os.Stat(attempt(home, name)); (err == nil) != want {
				t.Errorf("%s: %v", attempt(home, name), err)
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(attempt(home, "claim.json")), 0o700))
	for _, name := range []string{"claim.json", "started.json", "output.log"} {
		must(os.WriteFile(attempt(home, name), []byte("{}"), 0o600))
	}
	id := identify(home)
	if again := identify(home); again != id {
		t.Errorf("%s became %s", id, again)
	}

	must(os.Rename(home, moved))
	if got := identify(moved); got != id {
		t.Errorf("moved, %s became %s", id, got)
	}
	must(os.CopyFS(replaced, os.DirFS(moved)))
	must(os.RemoveAll(moved))
	must(os.Rename(replaced, moved))
	if got := identify(moved); got != id {
		t.Errorf("put back from a copy, %s became %s", id, got)
	}
	exist(moved, true, "claim.json", "started.json", "output.log")

	must(os.CopyFS(copied, os.DirFS(moved)))
	other := identify(copied)
	if other == id || identify(copied) != other || identify(moved) != id {
		t.Errorf("the copy of %s is %s", id, other)
	}
	exist(copied, false, "claim.json", "started.json")
	exist(copied, true, "output.log")
	exist(moved, true, "claim.json", "started.json")

	must(os.WriteFile(filepath.Join(moved, "folder.id"), []byte("{"), 0o600))
	if got := identify(moved); got == id {
		t.Error("a damaged id was read")
	}
	exist(moved, true, "claim.json", "started.json")
	if _, err := (shim.DataFolder{}).EnsureIdentity(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that is not there has an id")
	}
}
