package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// out runs git for a test and returns what it prints.
func out(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_OPTIONAL_LOCKS=0")
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimRight(string(text), "\n")
}

// fails runs git for a test and wants it to fail, as a merge with conflicts does.
func fails(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_EDITOR=:")
	if text, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("git %q works: %s", args, text)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commitFile commits one file.
func commitFile(t *testing.T, dir, name, text string) {
	t.Helper()
	write(t, dir, name, text)
	do(t, dir, "add", "--force", "--", name)
	do(t, dir, "commit", "--quiet", "-m", "change "+name)
}

// worktreeOf makes a worktree of root, detached at main.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func worktreeOf(t *testing.T, root string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "w")
	if err := New().AddWorktree(context.Background(), root, dir, out(t, root, "rev-parse", "main")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// salvaged returns what the work kept at a ref has of a file.
func salvaged(t *testing.T, dir, ref, name string) string {
	t.Helper()
	return out(t, dir, "show", ref+":"+name)
}

// salvageAndClean does both and wants them to work.
func salvageAndClean(t *testing.T, dir, name string) string {
	t.Helper()
	ctx := context.Background()
	ref, err := New().SalvageWork(ctx, dir, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := New().CleanWorktree(ctx, dir, name); err != nil {
		t.Fatal(err)
	}
	if s := out(t, dir, "status", "--porcelain"); s != "" {
		t.Errorf("after Clean there is still: %s", s)
	}
	return ref
}
