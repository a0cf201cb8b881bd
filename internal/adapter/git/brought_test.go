package git

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFindBrought(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		work   func(t *testing.T, root, w string) // in the worktree w, until the work is handed over
		after  func(t *testing.T, root, w string)
		handed bool // with a known head
		own    bool
		left   int
		files  string // what its own commits change
	}{
		"merged as it was": {handed: true, own: true, files: "first second", work: twoCommits, after: func(t *testing.T, root, w string) { do(t, root, "merge", "-q", "--ff-only", "feature") }},
		"merged, and brought up to date": {handed: true, own: true, files: "first second", work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, root, "merge", "-q", "--no-edit", "feature")
			do(t, w, "merge", "-q", "--ff-only", "main")
		}},
		"another commit, and merged": {handed: true, own: true, files: "first second third", work: twoCommits, after: func(t *testing.T, root, w string) {
			commitFile(t, w, "third", "third")
			do(t, root, "merge", "-q", "--no-edit", "feature")
		}},
		"merged, and moved back": {handed: true, own: true, files: "first second", work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, root, "merge", "-q", "--no-edit", "feature")
			do(t, w, "reset", "-q", "--hard", "HEAD~2")
		}},
		"merged, and moved to what came before": {handed: true, own: true, files: "first second", work: twoCommits, after: func(t *testing.T, root, w string) {
			before := out(t, root, "rev-parse", "main")
			do(t, root, "merge", "-q", "--no-edit", "feature")
			do(t, w, "reset", "-q", "--hard", before)
		}},
		"reset to a newer main": {handed: true, left: 2, work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "reset", "-q", "--hard", "main")
		}},
		"moved with branch -f": {handed: true, left: 2, work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "checkout", "-q", "--detach")
			do(t, root, "branch", "-f", "feature", "main")
		}},
		"moved with update-ref": {handed: true, left: 2, work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, root, "update-ref", "refs/heads/feature", "main")
		}},
		"another task committed in the same second": {handed: true, left: 2, work: twoCommits, after: func(t *testing.T, root, w string) {
			write(t, root, "third", "third")
			do(t, root, "add", "third")
			do(t, root, "commit", "-q", "-C", "feature")
			do(t, w, "reset", "-q", "--hard", "main")
		}},
		"rebased and merged": {handed: true, own: true, files: "first second", work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "rebase", "-q", "main")
			do(t, root, "merge", "-q", "--ff-only", "feature")
		}},
		"rebased with other changes": {handed: true, own: true, files: "first second", work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "rebase", "-q", "main")
			write(t, w, "second", "another second")
			do(t, w, "commit", "-qa", "--amend", "--no-edit")
			do(t, root, "merge", "-q", "--ff-only", "feature")
		}},
		"one of two commits": {handed: true, own: true, left: 1, files: "first", work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "rebase", "-q", "--onto", "main", "feature~2", "feature~1")
			do(t, w, "checkout", "-qB", "feature")
			do(t, root, "merge", "-q", "--ff-only", "feature")
		}},
		"squashed by hand": {handed: true, own: true, files: "first second", work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "reset", "-q", "--soft", "HEAD~2")
			do(t, w, "commit", "-qm", "both")
			do(t, w, "rebase", "-q", "main")
			do(t, root, "merge", "-q", "--ff-only", "feature")
		}},
		"written again": {handed: true, own: true, left: 2, work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "reset", "-q", "--hard", "main")
			commitFile(t, w, "third", "third")
			do(t, root, "merge", "-q", "--ff-only", "feature")
		}},
		"the commits are gone": {handed: true, own: true, work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, w, "reset", "-q", "--hard", "main")
			do(t, root, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
			do(t, w, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
			do(t, w, "update-ref", "-d", "ORIG_HEAD")
			do(t, root, "gc", "-q", "--prune=now")
		}}, // nothing is known of them any more
		"no commit, fast-forwarded": {after: func(t *testing.T, root, w string) { do(t, w, "merge", "-q", "--ff-only", "main") }},
		"no commit, fetched": {after: func(t *testing.T, root, w string) {
			do(t, w, "checkout", "-q", "--detach")
			do(t, root, "fetch", "-q", ".", "main:feature")
		}},
		"no commit, rebased": {after: func(t *testing.T, root, w string) { do(t, w, "rebase", "-q", "main") }},
		"no commit, pulled": {after: func(t *testing.T, root, w string) {
			do(t, w, "pull", "-q", "--ff-only", root, "main")
		}},
		"merged before anybody looked": {own: true, work: twoCommits, after: func(t *testing.T, root, w string) {
			do(t, root, "merge", "-q", "--no-edit", "feature")
		}},
		"no record of moves": {own: true, after: func(t *testing.T, root, w string) {
			do(t, root, "reflog", "expire", "--expire=all", "refs/heads/feature")
			do(t, w, "-c", "core.logAllRefUpdates=false", "merge", "-q", "--ff-only", "main")
			do(t, root, "reflog", "expire", "--expire=all", "refs/heads/feature")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			w := filepath.Join(t.TempDir(), "w")
			do(t, root, "worktree", "add", "-q", "-b", "feature", w)
			base := out(t, root, "rev-parse", "main")
			if tt.work != nil {
				tt.work(t, root, w)
			}
			head := ""
			if tt.handed {
				head = out(t, root, "rev-parse", "feature")
			}
			if name != "merged as it was" {
				commitFile(t, root, "newer", "newer")
			}
			tt.after(t, root, w)
			b, err := New().FindBrought(t.Context(), root, "feature", "main", base, head)
			if err != nil || b.Own != tt.own || len(b.LeftBehind) != tt.left {
				t.Fatalf("%+v, %v; want own %v, %d left behind", b, err, tt.own, tt.left)
			}
			if tt.files == "" {
				return
			}
			if files := strings.Fields(out(t, root, "diff", "--name-only", b.Base, b.Head)); strings.Join(files, " ") != tt.files {
				t.Errorf("%+v changes %q, want %q", b, files, tt.files)
			}
		})
	}
}

func twoCommits(t *testing.T, _, w string) {
	t.Helper()
	commitFile(t, w, "first", "first")
	commitFile(t, w, "second", "second")
}
