package git

import (
	"context"
	"testing"
)

func TestPristineIsOnlyWhatNeedsNoClearing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, dir string)
		want    bool
	}{
		"nothing was touched": {func(*testing.T, string) {}, true},
		"an ignored file":     {func(t *testing.T, dir string) { write(t, dir, "x.cache", "c") }, true},
		"a changed file":      {func(t *testing.T, dir string) { write(t, dir, "f", "1") }, false},
		"an untracked file":   {func(t *testing.T, dir string) { write(t, dir, "new", "1") }, false},
		"a staged file":       {func(t *testing.T, dir string) { write(t, dir, "f", "1"); do(t, dir, "add", "f") }, false},
		"a deleted file":      {func(t *testing.T, dir string) { do(t, dir, "rm", "-q", "f") }, false},
		"a commit of its own": {func(t *testing.T, dir string) { commitFile(t, dir, "g", "1") }, false},
		"a branch":            {func(t *testing.T, dir string) { do(t, dir, "switch", "-q", "-c", "b") }, false},
		"a file that is hidden": {func(t *testing.T, dir string) {
			do(t, dir, "update-index", "--assume-unchanged", "f")
			write(t, dir, "f", "1")
		}, false},
		"another repository": {func(t *testing.T, dir string) { do(t, dir, "init", "-q", "vendored") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			commitFile(t, root, ".gitignore", "*.cache\n")
			commitFile(t, root, "f", "0")
			dir := worktreeOf(t, root)
			g := New()
			commit, _, err := g.Head(dir)
			if err != nil {
				t.Fatal(err)
			}
			do(t, dir, "checkout", "-q", "--detach")
			tc.arrange(t, dir)
			got, err := g.IsPristine(context.Background(), dir, commit)
			if err != nil || got != tc.want {
				t.Errorf("pristine %v, %v", got, err)
			}
		})
	}
}
