package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFileContent(t *testing.T) {
	root := repository(t)
	put := func(dir, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(root, "src/a.txt", "before\n")
	do(t, root, "add", "-A")
	do(t, root, "commit", "--quiet", "-m", "base")
	c := feature(t, root)
	put(c.Worktree, "src/a.txt", "after\n")
	put(c.Worktree, "new.bin", "\x00\x01\xff")
	do(t, c.Worktree, "add", "-A")
	do(t, c.Worktree, "commit", "--quiet", "-m", "work")
	put(c.Worktree, "src/a.txt", "not committed\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(c.Worktree, "link")); err != nil {
		t.Fatal(err)
	}
	elsewhere := c
	elsewhere.Worktree = ""
	for _, one := range []struct {
		what  Comparison
		path  string
		old   bool
		limit int
		want  string
		cut   bool
	}{
		{c, "src/a.txt", true, 100, "before\n", false},
		{c, "src/a.txt", false, 100, "not committed\n", false},
		{elsewhere, "src/a.txt", false, 100, "after\n", false},
		{c, "new.bin", false, 100, "\x00\x01\xff", false},
		{c, "src/a.txt", false, 3, "not", true},
		{elsewhere, "src/a.txt", false, 3, "aft", true},
	} {
		got, cut, err := New().FileContent(context.Background(), one.what, one.path, one.old, one.limit)
		if err != nil || string(got) != one.want || cut != one.cut {
			t.Errorf("%s: %q, %v, %v", one.path, got, cut, err)
		}
	}
	for _, path := range []string{"new.bin", "nothing", "src"} {
		if got, _, err := New().FileContent(context.Background(), c, path, true, 100); !errors.Is(err, ErrNoFile) {
			t.Errorf("before the changes %s is %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"link", "../x", "/etc/passwd", "", "src", "nothing", "src/../../x"} {
		if got, _, err := New().FileContent(context.Background(), c, path, false, 100); !errors.Is(err, ErrNoFile) {
			t.Errorf("%q is %q, %v", path, got, err)
		}
	}
}
