package git

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// do runs git for a test, with an author and without the user's own settings.
func do(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_EDITOR=:")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestMain isolates the tests from the user's git settings: git knows no user.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "maintenance.auto", "GIT_CONFIG_VALUE_0": "false",
		"GIT_ALLOW_PROTOCOL": "file:ext:https", // clones of submodules, and remotes that are a script
	} {
		_ = os.Setenv(name, value)
	}
	if order := os.Getenv(stormOrder); order != "" {
		mergeAll(order)
		return
	}
	os.Exit(m.Run())
}

// repository creates a repository with a commit on main.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	do(t, dir, "init", "--quiet", "--template=", "--initial-branch=main")
	commit(t, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	do(t, dir, "commit", "--quiet", "--allow-empty", "-m", rand.Text()) // equal commits would be one
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line with %q", err, want)
	}
}

func TestRoot(t *testing.T) {
	root := repository(t)
	deep := filepath.Join(root, "-a folder", "ä")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, dir := range []string{root, deep} {
		if got, err := New().FindRoot(ctx, dir); got != root || err != nil {
			t.Errorf("%s: got %q, %v", dir, got, err)
		}
	}
	_, err := New().FindRoot(ctx, t.TempDir())
	wantError(t, err, "not a git repository")
	_, err = New().FindRoot(ctx, filepath.Join(root, "none"))
	wantError(t, err, "there is no folder")
}

func TestRootIgnoresTheCallersRepository(t *testing.T) {
	t.Setenv("GIT_DIR", filepath.Join(repository(t), ".git"))
	_, err := New().FindRoot(context.Background(), t.TempDir())
	wantError(t, err, "not a git repository")
}

func TestDefaultBranch(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(t *testing.T) string
		want string
	}{
		"what origin says": {func(t *testing.T) string {
			origin := repository(t)
			do(t, origin, "switch", "--quiet", "-c", "trunk")
			clone := filepath.Join(t.TempDir(), "clone")
			do(t, origin, "clone", "--quiet", origin, clone)
			do(t, clone, "switch", "--quiet", "-c", "feature")
			return clone
		}, "trunk"},
		"main": {func(t *testing.T) string {
			dir := repository(t)
			do(t, dir, "switch", "--quiet", "-c", "feature")
			return dir
		}, "main"},
		"master": {func(t *testing.T) string {
			dir := repository(t)
			do(t, dir, "branch", "-m", "master")
			do(t, dir, "switch", "--quiet", "-c", "feature")
			return dir
		}, "master"},
		"the current one": {func(t *testing.T) string {
			dir := repository(t)
			do(t, dir, "branch", "-m", "development")
			return dir
		}, "development"},
		"a repository without a commit": {func(t *testing.T) string {
			dir := t.TempDir()
			do(t, dir, "init", "--quiet", "--initial-branch=first")
			return dir
		}, "first"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := New().DefaultBranch(context.Background(), tc.make(t)); got != tc.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestCurrentBranch(t *testing.T) {
	root := repository(t)
	ctx := context.Background()
	if got, err := New().CurrentBranch(ctx, root); got != "main" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	do(t, root, "switch", "--quiet", "--detach")
	_, err := New().CurrentBranch(ctx, root)
	wantError(t, err, "no branch is checked out")
	_, err = New().CurrentBranch(ctx, t.TempDir())
	wantError(t, err, "not a git repository")
}

// history returns a repository in which branches are merged in different ways.
func history(t *testing.T) string {
	t.Helper()
	origin := repository(t)
	root := filepath.Join(t.TempDir(), "clone")
	do(t, origin, "clone", "--quiet", origin, root)
	for _, name := range []string{"done", "open", "ahead/of"} {
		do(t, root, "switch", "--quiet", "-c", name, "main")
		commit(t, root)
	}
	commit(t, root)
	do(t, root, "switch", "--quiet", "main")
	do(t, root, "merge", "--quiet", "--no-ff", "-m", "m", "done")
	// Only origin has it, and only origin has merged it.
	do(t, origin, "switch", "--quiet", "-c", "remote")
	commit(t, origin)
	do(t, origin, "switch", "--quiet", "main")
	do(t, origin, "merge", "--quiet", "remote")
	do(t, root, "fetch", "--quiet")
	return root
}

func TestMergedAndCommits(t *testing.T) {
	root := history(t)
	for name, tc := range map[string]struct {
		branch, main string
		merged       bool
		detail       string
		commits      int
		counted      string
	}{
		"merged":                   {"done", "main", true, `^branch done \([0-9a-f]{7}\) is in main$`, 0, "commit the work first"},
		"not merged":               {"open", "main", false, `^branch open \([0-9a-f]{7}\) is not in main: merge it first$`, 1, "are not in main: 1"},
		"two commits ahead":        {"ahead/of", "main", false, "is not in main", 2, "are not in main: 2"},
		"merged at origin":         {"remote", "main", true, "is in main", 0, "no commit"},
		"no such branch":           {"none", "main", false, "^there is no branch none: create it, or give the task the branch it has$", 0, "there is no branch none"},
		"a folder of branches":     {"ahead", "main", false, "there is no branch ahead", 0, "there is no branch"},
		"no default branch":        {"done", "trunk", false, "there is no branch trunk", 0, "there is no branch trunk"},
		"an option":                {"--help", "main", false, "there is no branch --help", 0, "there is no branch"},
		"a revision":               {"done@{0}", "main", false, "there is no branch", 0, "there is no branch"},
		"a pattern":                {"*", "main", false, "there is no branch", 0, "there is no branch"},
		"a way up":                 {"../tags/x", "main", false, "there is no branch", 0, "there is no branch"},
		"nothing":                  {"", "main", false, "there is no branch", 0, "there is no branch"},
		"a default like an option": {"done", "-x", false, "there is no branch -x", 0, "there is no branch -x"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			merged, detail, err := New().IsMerged(ctx, root, tc.branch, tc.main)
			if err != nil || merged != tc.merged || !regexp.MustCompile(tc.detail).MatchString(detail) {
				t.Errorf("merged: %v, %q, %v", merged, detail, err)
			}
			n, counted, err := New().CountCommits(ctx, root, tc.branch, tc.main)
			if err != nil || n != tc.commits || !strings.Contains(counted, tc.counted) {
				t.Errorf("commits: %d, %q, %v", n, counted, err)
			}
		})
	}
	_, _, err := New().IsMerged(context.Background(), t.TempDir(), "a", "b")
	wantError(t, err, "not a git repository")
}

func TestWithoutGit(t *testing.T) {
	_, err := (&Git{program: "no-such-git"}).FindRoot(context.Background(), t.TempDir())
	wantError(t, err, "install git")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().FindRoot(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
