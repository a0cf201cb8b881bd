package git

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhichFiles(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, ".gitignore", ".env\n/cache/\n")
	commitFile(t, root, "a*b", "tracked")
	for _, name := range []string{".env", "sub/.env", "cache/x", "cache/y", "new", "folder/1", "folder/2", "ä b", "acb"} {
		write(t, root, name, "x")
	}
	patterns := filepath.Join(t.TempDir(), "patterns")
	write(t, "/", patterns, "# what to copy\n.env\ncache/x\nnew\n")
	ctx := context.Background()
	for name, tc := range map[string]struct {
		ask  func() ([]string, error)
		want []string
	}{
		"untracked": {func() ([]string, error) { return New().UntrackedFiles(ctx, root) }, []string{"acb", "folder/", "new", "ä b"}},
		"tracked":   {func() ([]string, error) { return New().TrackedFiles(ctx, root, "a*b", "new", ".gitignore") }, []string{".gitignore", "a*b"}},
		"matching":  {func() ([]string, error) { return New().MatchingFiles(ctx, root, patterns) }, []string{".env", "cache/x", "new", "sub/.env"}},
		"ignored": {func() ([]string, error) {
			return New().IgnoredFiles(ctx, root, []string{".env", "new", "cache/x", "a*b"})
		}, []string{".env", "cache/x"}},
		"none so":    {func() ([]string, error) { return New().IgnoredFiles(ctx, root, []string{"new"}) }, nil},
		"none asked": {func() ([]string, error) { return New().IgnoredFiles(ctx, root, nil) }, nil},
	} {
		got, err := tc.ask()
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestDirty(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	commitFile(t, root, ".gitignore", "ignored\n")
	for _, step := range []struct {
		name, text string
		want       bool
	}{{"ignored", "i", false}, {"f", "1", true}, {"f", "0", false}, {"new", "n", true}} {
		write(t, root, step.name, step.text)
		if got, err := New().IsDirty(context.Background(), root); got != step.want || err != nil {
			t.Errorf("after %s is %q: %v, %v", step.name, step.text, got, err)
		}
	}
}
