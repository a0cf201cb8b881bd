package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/atomicfile"
)

func TestFollowLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, err := range []error{
		os.MkdirAll(at("deep/inner"), 0o700),
		os.WriteFile(at("deep/file"), nil, 0o600),
		os.Symlink(at("deep/file"), at("to a file")),
		os.Symlink("deep/new", at("to a new file")),
		os.Symlink("to a new file", at("to a link")),
		os.Symlink("deep/inner", at("folder")),
		os.Symlink("folder/../new", at("through the folder above")),
		os.Symlink("none/new", at("to a missing folder")),
		os.Symlink("circle", at("circle")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"deep/file":                "deep/file",
		"deep/new":                 "deep/new",
		"to a file":                "deep/file",
		"to a new file":            "deep/new",
		"to a link":                "deep/new",
		"folder/new":               "deep/inner/new",
		"through the folder above": "deep/new",
	} {
		if got, err := atomicfile.FollowLinks(at(name)); err != nil || got != at(want) {
			t.Errorf("%s leads to %s, %v", name, got, err)
		}
	}
	if got, err := atomicfile.FollowLinks(at("to a missing folder")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %s, %v", got, err)
	}
	if got, err := atomicfile.FollowLinks(at("circle")); err == nil {
		t.Errorf("a circle leads to %s", got)
	}
}
