package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestAddWorktreeIsDoneOnce(t *testing.T) {
	t.Parallel()
	root := repository(t)
	dir := worktreeOf(t, root)
	write(t, dir, "work", "w")
	ctx := context.Background()
	commit := out(t, root, "rev-parse", "main")
	if err := New().AddWorktree(ctx, root, dir, commit); err != nil || !pathExists(dir, "work") {
		t.Errorf("the second time: %v", err)
	}
	admin, err := New().RegisteredDir(ctx, root, dir)
	if admin != filepath.Join(root, ".git/worktrees/w") || err != nil {
		t.Errorf("registered at %q, %v", admin, err)
	}
	if pathExists(admin, "locked") {
		t.Error("it is still locked")
	}
	if admin, err := New().RegisteredDir(ctx, root, filepath.Join(dir, "none")); admin != "" || err != nil {
		t.Errorf("got %q, %v", admin, err)
	}
}

// A worktree that is reached by another name of its folder is the same one.
func TestAddWorktreeBehindALink(t *testing.T) {
	t.Parallel()
	root := repository(t)
	base := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(base, link); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	commit := out(t, root, "rev-parse", "main")
	for range 2 {
		if err := New().AddWorktree(ctx, root, filepath.Join(link, "w"), commit); err != nil {
			t.Fatal(err)
		}
	}
	if admin, err := New().RegisteredDir(ctx, root, filepath.Join(base, "w")); admin == "" || err != nil {
		t.Errorf("got %q, %v", admin, err)
	}
}

func TestAddWorktreeInTheWay(t *testing.T) {
	t.Parallel()
	root := repository(t)
	ctx := context.Background()
	commit := out(t, root, "rev-parse", "main")
	dir := filepath.Join(t.TempDir(), "w")
	write(t, dir, "file", "f")
	wantError(t, New().AddWorktree(ctx, root, dir, commit), "is in the way")
	other := worktreeOf(t, repository(t))
	wantError(t, New().AddWorktree(ctx, root, other, commit), "is in the way")
	if !pathExists(dir, "file") || !pathExists(other, ".git") {
		t.Error("it was removed")
	}
	wantError(t, New().AddWorktree(ctx, root, filepath.Join(dir, "file", "w"), commit), "not a directory")
	wantError(t, New().AddWorktree(ctx, root, filepath.Join(t.TempDir(), "w"), "no-such-commit"), "invalid reference")
}

// Wherever the making of a worktree is cut short, the next one completes it.
func TestAddWorktreeAfterACrash(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]func(t *testing.T, admin, dir string){
		"complete, and not unlocked": func(*testing.T, string, string) {},
		"some files were written": func(t *testing.T, admin, dir string) {
			for _, file := range []string{filepath.Join(dir, "f"), filepath.Join(admin, "index")} {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			write(t, admin, "index.lock", "")
		},
		"only the folders": func(t *testing.T, admin, dir string) {
			for _, file := range []string{filepath.Join(dir, ".git"), filepath.Join(dir, "f"), filepath.Join(admin, "gitdir"), filepath.Join(admin, "HEAD")} {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		},
		"only the registration": func(t *testing.T, admin, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			commitFile(t, root, "f", "0")
			dir := worktreeOf(t, root)
			admin := filepath.Join(root, ".git/worktrees/w")
			do(t, root, "worktree", "lock", "--reason", making+dir, dir)
			crash(t, admin, dir)
			ctx := context.Background()
			if got, err := New().RegisteredDir(ctx, root, dir); got != "" || err != nil {
				t.Errorf("half made, and registered at %q, %v", got, err)
			}
			if err := New().AddWorktree(ctx, root, dir, out(t, root, "rev-parse", "main")); err != nil {
				t.Fatal(err)
			}
			if read(t, dir, "f") != "0" || out(t, dir, "status", "--porcelain") != "" || pathExists(admin, "locked") {
				t.Error("it is not complete")
			}
			if entries, err := os.ReadDir(filepath.Dir(admin)); len(entries) != 1 || err != nil {
				t.Errorf("registrations: %v, %v", entries, err)
			}
		})
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	root := repository(t)
	dir := worktreeOf(t, root)
	gone := worktreeOf(t, root)
	commitFile(t, dir, "lost", "l")
	ctx := context.Background()
	_, _, err := New().ForgetWorktree(ctx, root, dir, "task1")
	wantError(t, err, "it exists")
	for _, d := range []string{dir, gone} {
		if err := os.RemoveAll(d); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, New().AddWorktree(ctx, root, dir, "main"), "still registered")
	ref, _, err := New().ForgetWorktree(ctx, root, dir, "task1")
	if err != nil || salvaged(t, root, ref, "lost") != "l" {
		t.Fatalf("got %q, %v", ref, err)
	}
	if admin, _ := New().RegisteredDir(ctx, root, dir); admin != "" {
		t.Error("it is still registered")
	}
	if admin, _ := New().RegisteredDir(ctx, root, gone); admin == "" {
		t.Error("another one was forgotten, too")
	}
	if ref, _, err := New().ForgetWorktree(ctx, root, dir, "task1"); ref != "" || err != nil {
		t.Errorf("again: %q, %v", ref, err)
	}
	do(t, root, "worktree", "lock", gone) // an agent can do that
	if _, _, err := New().ForgetWorktree(ctx, root, gone, "task1"); err != nil {
		t.Error(err)
	}
	if admin, _ := New().RegisteredDir(ctx, root, gone); admin != "" {
		t.Error("a locked one is still registered")
	}
}

func TestRemoveWorktreeWithChangesIsRefused(t *testing.T) {
	t.Parallel()
	root := repository(t)
	dir := worktreeOf(t, root)
	write(t, dir, "work", "w")
	ctx := context.Background()
	if err := New().RemoveWorktree(ctx, dir); err == nil || !pathExists(dir, "work") {
		t.Errorf("it was removed: %v", err)
	}
	salvageAndClean(t, dir, "task1")
	if err := New().RemoveWorktree(ctx, dir); err != nil || pathExists(dir, ".git") {
		t.Errorf("it was not removed: %v", err)
	}
	if err := New().RemoveWorktree(ctx, root); err == nil || !pathExists(root, ".git") {
		t.Errorf("the main checkout was removed: %v", err)
	}
}

// Git gives up on a worktree that another command is making in that instant.
func TestACommandIsRunAgainWhileAWorktreeIsBeingMade(t *testing.T) {
	t.Parallel()
	root := repository(t)
	dir := worktreeOf(t, root)
	admin := filepath.Join(root, ".git/worktrees/w")
	write(t, admin, "commondir", "")
	ctx := context.Background()
	if _, err := New().runOnce(ctx, call{dir: root, args: []string{"worktree", "list"}}); err == nil {
		t.Skip("this git does not mind")
	}
	done := make(chan error)
	go func() {
		_, err := New().listCheckouts(ctx, root)
		done <- err
	}()
	write(t, admin, "commondir", "../..\n")
	if err := <-done; err != nil || !pathExists(dir, ".git") {
		t.Error(err)
	}
}
