package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// An entry that git cannot read is kept as it is, and so is what can be read of it.
func TestForgetMovesADamagedEntry(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, admin string){
		"an empty index":            func(t *testing.T, admin string) { write(t, admin, "index", "") },
		"an empty HEAD":             func(t *testing.T, admin string) { write(t, admin, "HEAD", "") },
		"an empty index and HEAD":   func(t *testing.T, admin string) { write(t, admin, "index", ""); write(t, admin, "HEAD", "") },
		"a HEAD that names nothing": func(t *testing.T, admin string) { write(t, admin, "HEAD", "ref: nowhere/at/all\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, dir, lib := withSubmodule(t)
			ctx := context.Background()
			admin := out(t, dir, "rev-parse", "--absolute-git-dir")
			commitFile(t, lib, "s", "committed")
			do(t, dir, "switch", "-q", "--detach")
			do(t, dir, "commit", "-q", "-a", "-m", "lib")
			commitFile(t, dir, "lost", "l")
			damage(t, admin)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}

			// While the salvage cannot be written, the entry stays.
			do(t, root, "update-ref", "refs/orange/salvage/task1", "main")
			if _, moved, err := New().ForgetWorktree(ctx, root, dir, "task1"); err == nil || moved != "" || !pathExists(admin, "logs/HEAD") {
				t.Fatalf("moved to %q, %v", moved, err)
			}
			do(t, root, "update-ref", "-d", "refs/orange/salvage/task1")

			ref, moved, err := New().ForgetWorktree(ctx, root, dir, "task1")
			if err != nil || salvaged(t, root, ref, "lost") != "l" {
				t.Fatalf("got %q, %v", ref, err)
			}
			if pathExists(admin, "") || !pathExists(moved, "logs/HEAD") || filepath.Dir(filepath.Dir(moved)) != filepath.Join(root, ".git/orange") {
				t.Errorf("moved to %q", moved)
			}
			list, err := New().ListSalvages(ctx, root)
			if err != nil || len(list) != 1 || list[0].Ref != ref || len(list[0].Submodules) != 1 {
				t.Fatalf("got %+v, %v", list, err)
			}
			if s := list[0].Submodules[0]; s.Path != "lib" || out(t, s.Repository, "show", s.Ref+":s") != "committed" {
				t.Errorf("kept %+v", s)
			}
			if ref, moved, err := New().ForgetWorktree(ctx, root, dir, "task1"); ref != "" || moved != "" || err != nil {
				t.Errorf("again: %q, %q, %v", ref, moved, err)
			}
		})
	}
}
