package git

import (
	"os/exec"
	"strings"
	"testing"
)

func TestHead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, root, dir string)
		branch  string
		none    bool // no commit
	}{
		"a detached worktree": {func(*testing.T, string, string) {}, "", false},
		"a branch in a file":  {func(t *testing.T, _, dir string) { do(t, dir, "switch", "-q", "-c", "a/b#$()'\"%;&ä") }, "a/b#$()'\"%;&ä", false},
		"a branch in the pack": {func(t *testing.T, _, dir string) {
			do(t, dir, "switch", "-q", "-c", "x/y")
			do(t, dir, "pack-refs", "--all")
		}, "x/y", false},
		"newer than its pack": {func(t *testing.T, _, dir string) {
			do(t, dir, "switch", "-q", "-c", "x")
			do(t, dir, "pack-refs", "--all")
			commit(t, dir)
		}, "x", false},
		"a branch without work": {func(t *testing.T, _, dir string) { do(t, dir, "switch", "-q", "--orphan", "new") }, "new", true},
		"a rebase under way": {func(t *testing.T, root, dir string) {
			do(t, dir, "switch", "-q", "-c", "x")
			commitFile(t, dir, "f", "a")
			commitFile(t, root, "f", "b")
			fails(t, dir, "rebase", "main")
		}, "", false},
		"a symbolic branch": {func(t *testing.T, _, dir string) {
			do(t, dir, "branch", "x")
			do(t, dir, "symbolic-ref", "refs/heads/alias", "refs/heads/x")
			do(t, dir, "symbolic-ref", "HEAD", "refs/heads/alias")
		}, "x", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			dir := worktreeOf(t, root)
			tc.arrange(t, root, dir)
			want := ""
			if !tc.none {
				want = out(t, dir, "rev-parse", "HEAD")
			}
			if commit, branch, err := New().Head(dir); commit != want || branch != tc.branch || err != nil {
				t.Errorf("got %q, %q, %v, want %q, %q", commit, branch, err, want, tc.branch)
			}
		})
	}
}

func TestHeadOfTheMainCheckoutAndOfNone(t *testing.T) {
	t.Parallel()
	root := repository(t)
	if commit, branch, err := New().Head(root); commit != out(t, root, "rev-parse", "HEAD") || branch != "main" || err != nil {
		t.Errorf("got %q, %q, %v", commit, branch, err)
	}
	_, _, err := New().Head(t.TempDir())
	wantError(t, err, "no such file")
}

// Git is not started for a branch, a pack or a detached HEAD.
func TestHeadStartsNoProcess(t *testing.T) {
	t.Parallel()
	root := repository(t)
	dir := worktreeOf(t, root)
	do(t, dir, "switch", "-q", "-c", "x")
	do(t, dir, "pack-refs", "--all")
	for _, d := range []string{root, dir} {
		if commit, _, err := (&Git{program: "no-such-git"}).Head(d); commit == "" || err != nil {
			t.Errorf("%s: got %q, %v", d, commit, err)
		}
	}
}

func TestHeadInAReftable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := exec.Command("git", "init", "-q", "--ref-format=reftable", "-b", "main", dir).Run(); err != nil {
		t.Skip("this git has no reftable")
	}
	commit(t, dir)
	if commit, branch, err := New().Head(dir); commit != out(t, dir, "rev-parse", "HEAD") || branch != "main" || err != nil {
		t.Errorf("got %q, %q, %v", commit, branch, err)
	}
}

// A store of another kind is recognised by the name it writes.
func TestHeadAsksGitIfItsFilesDoNotSuffice(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, text := range []string{"ref: refs/heads/.invalid\n", "ref: refs/other/main\n", "ref: refs/heads/../../config\n"} {
		write(t, root, ".git/HEAD", text)
		if _, _, known, err := readHead(root); known || err != nil {
			t.Errorf("%q: known %v, %v", text, known, err)
		}
	}
}

func FuzzFindPacked(f *testing.F) {
	hash := strings.Repeat("a1", 20)
	f.Add("# pack-refs with: peeled fully-peeled sorted\n"+hash+" refs/heads/x\n^"+hash+"\n", "refs/heads/x")
	f.Add("", "")
	f.Add(hash+" refs/heads/xy\n", "refs/heads/x")
	f.Fuzz(func(t *testing.T, text, ref string) {
		commit, err := findPacked(strings.NewReader(text), ref)
		if err == nil && commit != "" && (!isHash(commit) || !strings.Contains(text, commit+" "+ref)) {
			t.Errorf("found %q for %q in %q", commit, ref, text)
		}
	})
}
