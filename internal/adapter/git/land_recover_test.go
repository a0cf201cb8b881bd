package git

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/internal/wait"
)

// manyFiles returns a checkout of main and a branch x, whose landing changes three files, adds
// two and removes one. Nothing is interrupted yet.
func manyFiles(t *testing.T) (root string) {
	t.Helper()
	root = repository(t)
	for _, name := range []string{"f1", "f2", "f3", "gone"} {
		commitFile(t, root, name, "old "+name+"\n")
	}
	do(t, root, "switch", "-q", "-c", "x")
	for _, name := range []string{"f1", "f2", "f3", "d1/new", "d1/other"} {
		write(t, root, name, "new "+name+"\n")
	}
	do(t, root, "rm", "-q", "gone")
	do(t, root, "add", ".")
	do(t, root, "commit", "-q", "-m", "x")
	do(t, root, "switch", "-q", "main")
	return root
}

// writeRecord writes the record of an interrupted landing of x.
func writeRecord(t *testing.T, root string, rec landRecord) {
	t.Helper()
	rec.What, rec.Target = "x", "main"
	text, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".git/"+recordName, string(text))
}

// killed lands x in another process, kills that process when git runs the hook or the filter that
// creates .git/begun, and returns the process id in .git/begun. The script waits for .git/go.
func killed(t *testing.T, root string) (pid int) {
	t.Helper()
	s := &storm{t: t, root: root, strategy: Auto, refused: map[string]string{}}
	process, heard := s.process([]string{"x"})
	wait.Until(t, "git waits", func() bool { return pathExists(root, ".git/begun") })
	if err := process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	heard()
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, root, ".git/begun")))
	if err != nil || !pathExists(root, ".git/"+recordName) {
		t.Fatalf("the record is not there, or no process: %v", err)
	}
	return pid
}

// pauseGit is a script that makes git wait.
func pauseGit(root string) string {
	return strings.ReplaceAll("test -e {git}/go || { echo $PPID >{git}/pid; mv {git}/pid {git}/begun; while ! test -e {git}/go; do sleep 0.02; done; }", "{git}", filepath.Join(root, ".git"))
}

// slowFilter makes git wait when it writes f2.
func slowFilter(t *testing.T, root string) {
	t.Helper()
	write(t, root, ".git/info/attributes", "f2 filter=slow\n")
	do(t, root, "config", "filter.slow.clean", "cat")
	do(t, root, "config", "filter.slow.smudge", "cat; "+pauseGit(root))
}

// revertAll changes every file of the landing of x in the way a user does who reverts parts of it.
func revertAll(t *testing.T, root string) {
	t.Helper()
	do(t, root, "checkout", "-q", "x~1", "--", "f1", "gone")
	do(t, root, "rm", "-q", "d1/new")
	remove(t, root, "d1/other")
	write(t, root, "f2", "")
	write(t, root, "f3", "old f3\n")
}

// wantUntouched recovers a landing and wants the checkout to stay as it is.
func wantUntouched(t *testing.T, root string, said ...string) {
	t.Helper()
	before, status := content(t, root), out(t, root, "status", "--porcelain")
	did, err := New().RecoverLanding(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range said {
		if !strings.Contains(did, want) {
			t.Errorf("it did %q, want %q", did, want)
		}
	}
	if now := out(t, root, "status", "--porcelain"); now != status || content(t, root) != before {
		t.Errorf("the checkout was\n%s\nand is\n%s", status, now)
	}
	if pathExists(root, ".git/"+recordName) {
		t.Error("the record is still there")
	}
}

// Git completes the landing of a killed process. What the user does to the checkout afterwards is
// not undone, although the record is still there.
func TestRecoverLeavesWhatCameAfterACompletedLanding(t *testing.T) {
	t.Parallel()
	root := manyFiles(t)
	hook(t, root, "post-merge", pauseGit(root))
	killed(t, root)
	write(t, root, ".git/go", "")
	wait.Until(t, "git has ended", func() bool { return !heldByAnother(t, root) })
	revertAll(t, root)
	wantUntouched(t, root, "was interrupted and is complete", "left as it is in "+root+": d1/new, d1/other, f1, f2, f3, gone")
}

// The same happens while git runs a slow hook and its process lives.
func TestLandLeavesWhatCameDuringAHook(t *testing.T) {
	t.Parallel()
	root := manyFiles(t)
	hook(t, root, "post-merge", pauseGit(root))
	s := &storm{t: t, root: root, strategy: Auto, refused: map[string]string{}}
	_, heard := s.process([]string{"x"})
	wait.Until(t, "git waits", func() bool { return pathExists(root, ".git/begun") })
	revertAll(t, root)
	before, status := content(t, root), out(t, root, "status", "--porcelain")
	write(t, root, ".git/go", "")
	heard()
	if now := out(t, root, "status", "--porcelain"); len(s.landed) != 1 || now != status || content(t, root) != before {
		t.Errorf("%v; the checkout was\n%s\nand is\n%s", s.refused, status, now)
	}
}

// A landing and its git are killed, and the user takes care of what they left. That is not undone
// either.
func TestRecoverLeavesWhatTheUserCleanedUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cleanUp func(t *testing.T, root string)
		said    string
	}{
		"squashed": {func(t *testing.T, root string) {
			do(t, root, "reset", "-q", "--hard")
			do(t, root, "clean", "-qfd")
			do(t, root, "merge", "-q", "--squash", "x")
		}, "left as it is in"},
		"merged and changed": {func(t *testing.T, root string) {
			do(t, root, "reset", "-q", "--hard")
			do(t, root, "clean", "-qfd")
			do(t, root, "merge", "-q", "x")
			revertAll(t, root)
		}, "is complete; left as it is in"},
		"reset": {func(t *testing.T, root string) {
			do(t, root, "reset", "-q", "--hard")
			do(t, root, "clean", "-qfd")
			remove(t, root, "f1")
		}, "left as it is in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := manyFiles(t)
			slowFilter(t, root)
			if err := syscall.Kill(killed(t, root), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			write(t, root, ".git/go", "")
			wait.Until(t, "git has ended", func() bool { return !heldByAnother(t, root) })
			remove(t, root, ".git/index.lock")
			tc.cleanUp(t, root)
			wantUntouched(t, root, tc.said)
		})
	}
}

// A git that is killed after it wrote the index, and before it moved the branch, leaves its files staged. The branch that it
// was about lands over them.
func TestABranchLandsOverWhatItsKilledGitStaged(t *testing.T) {
	t.Parallel()
	root := manyFiles(t)
	before, err := indexVersion(root)
	if err != nil {
		t.Fatal(err)
	}
	tip := out(t, root, "rev-parse", "x")
	writeRecord(t, root, landRecord{Boot: bootID(), Index: before, Landing: Landing{Checkout: root, Old: out(t, root, "rev-parse", "main"), New: tip}})
	do(t, root, "read-tree", "-m", "-u", "main", "x")
	if staged := out(t, root, "diff", "--cached", "--name-only"); staged == "" {
		t.Fatal("nothing is staged")
	}
	if _, err := New().MergeBranch(t.Context(), root, Merging{Branch: "x", Into: "main", Strategy: Auto}); err != nil {
		t.Fatal(err)
	}
	if status := out(t, root, "status", "--porcelain"); status != "" || out(t, root, "rev-parse", "main") != tip {
		t.Errorf("main is at %s, status:\n%s", out(t, root, "rev-parse", "main"), status)
	}
}

// A landing that wrote no files left none: where the target was checked out later, everything is
// the user's.
func TestRecoverLeavesALaterCheckout(t *testing.T) {
	t.Parallel()
	for _, boot := range []string{"", "an earlier one"} {
		root := manyFiles(t)
		rec := landRecord{Boot: boot, Landing: Landing{Old: out(t, root, "rev-parse", "main"), New: out(t, root, "rev-parse", "x")}}
		do(t, root, "switch", "-q", "--detach", "x")
		do(t, root, "update-ref", "refs/heads/main", "x")
		writeRecord(t, root, rec)
		do(t, root, "switch", "-q", "main")
		revertAll(t, root)
		wantUntouched(t, root, "is complete; left as it is in "+root+": ")
	}
}

// A git that ended before it wrote the index leaves no lock file if it was asked to end. Its files
// are taken back.
func TestRecoverTakesBackFilesWhileTheIndexIsAsItWas(t *testing.T) {
	t.Parallel()
	root := manyFiles(t)
	slowFilter(t, root)
	if err := syscall.Kill(killed(t, root), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	write(t, root, ".git/go", "")
	wait.Until(t, "git has ended", func() bool { return !heldByAnother(t, root) })
	if pathExists(root, ".git/index.lock") || out(t, root, "status", "--porcelain") == "" {
		t.Fatal("git did not end as expected")
	}
	did, err := New().RecoverLanding(context.Background(), root)
	if status := out(t, root, "status", "--porcelain"); err != nil || !strings.Contains(did, "nothing was changed; repaired in "+root) || status != "" {
		t.Errorf("%q, %v; the checkout is %q", did, err, status)
	}
}

// A repair that breaks off after git wrote the index is completed later.
func TestRecoverCompletesARepair(t *testing.T) {
	t.Parallel()
	root := manyFiles(t)
	broken := filepath.Join(root, ".git", "broken")
	write(t, root, ".git/info/attributes", "f2 filter=breaks\n")
	do(t, root, "config", "filter.breaks.clean", "cat")
	do(t, root, "config", "filter.breaks.smudge", "test ! -e "+broken+" && cat")
	do(t, root, "config", "filter.breaks.required", "true")
	hook(t, root, "reference-transaction", `test "$1" = prepared || exit 0; grep -q refs/heads/main || exit 0; touch `+broken+`; exit 1`)
	_, err := merge(root, "x", "main", Auto, "")
	wantError(t, err, "which is partly done")
	remove(t, root, ".git/broken")
	remove(t, root, ".git/hooks/reference-transaction")
	did, err := New().RecoverLanding(context.Background(), root)
	if status := out(t, root, "status", "--porcelain"); err != nil || !strings.Contains(did, "nothing was changed; repaired in "+root) || status != "" {
		t.Errorf("%q, %v; the checkout is %q", did, err, status)
	}
}

// Whoever comes upon an interrupted landing reports what became of it.
func TestAnInterruptedLandingIsReported(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(t *testing.T, g *Git, root string, l Landing) error{
		"a merge": func(t *testing.T, g *Git, root string, _ Landing) error {
			_, err := g.MergeBranch(t.Context(), root, Merging{Branch: "x", Into: "main", Strategy: Auto})
			return err
		},
		"a merge of another branch": func(t *testing.T, g *Git, root string, l Landing) error {
			do(t, root, "branch", "y", l.New)
			_, err := g.MergeBranch(t.Context(), root, Merging{Branch: "y", Into: "main", Strategy: Auto})
			return err
		},
		"a candidate": func(t *testing.T, g *Git, root string, _ Landing) error {
			_, _, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "x", Into: "main", Strategy: Auto})
			return err
		},
		"a landing": func(t *testing.T, g *Git, root string, l Landing) error { return g.LandCommit(t.Context(), root, l) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := manyFiles(t)
			l := Landing{What: "x", Target: "main", Old: out(t, root, "rev-parse", "main"), New: out(t, root, "rev-parse", "x"), Checkout: root}
			do(t, root, "merge", "-q", "x")
			writeRecord(t, root, landRecord{Landing: l})
			write(t, root, "f1", "old f1\n")
			l.Checkout = ""
			var reported []string
			if err := next(t, New().WithReport(func(did string) { reported = append(reported, did) }), root, l); err != nil {
				t.Fatal(err)
			}
			want := "the landing of x in main was interrupted and is complete; left as it is in " + root + ": f1"
			if len(reported) != 1 || reported[0] != want {
				t.Errorf("reported %q, want %q", reported, want)
			}
			if _, err := os.Lstat(filepath.Join(root, ".git", recordName)); err == nil || read(t, root, "f1") != "old f1\n" {
				t.Error("the record is still there, or f1 is not as it was")
			}
		})
	}
}

// Only git is killed. The error says so, and that trying again may help; it does.
func TestALandingWhoseGitIsKilledCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	if _, err := os.Lstat("/proc/self/fd"); err != nil {
		t.Skip("only Linux says which files are open")
	}
	root := manyFiles(t)
	slowFilter(t, root)
	failed := make(chan error, 1)
	go func() {
		_, err := merge(root, "x", "main", Auto, "")
		failed <- err
	}()
	wait.Until(t, "git waits", func() bool { return pathExists(root, ".git/begun") })
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, root, ".git/begun")))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".git/go", "")
	err = <-failed
	wantError(t, err, "merge x in "+root+": git merge was ended by signal killed; nothing was changed; repaired in "+root+": ")
	if !IsEndedBySignal(err) || !strings.HasSuffix(err.Error(), ": find out what ended it and try again") {
		t.Errorf("got %v", err)
	}
	if status := out(t, root, "status", "--porcelain"); status != "" {
		t.Errorf("the checkout is %q", status)
	}
	if _, err := merge(root, "x", "main", Auto, ""); err != nil || out(t, root, "status", "--porcelain") != "" {
		t.Errorf("again: %v", err)
	}
}

// A filter changes between the crash and the repair, so nobody has trusted it. Nothing is repaired
// without it, and nothing is lost; once it is trusted, the repair is made.
func TestRecoverWaitsForATrustedFilter(t *testing.T) {
	t.Parallel()
	for clean, boot := range map[string]string{"": "", "cat": "an earlier one"} {
		e := newGuardEnv(t)
		do(t, e.root, "config", "filter.lfs.smudge", "cat")
		if clean != "" {
			do(t, e.root, "config", "filter.lfs.clean", clean)
		}
		write(t, e.root, ".git/info/attributes", "*.big filter=lfs\n")
		commitFile(t, e.root, "a.big", "old\n")
		commitFile(t, e.root, "c.big", "old\n")
		do(t, e.dir, "reset", "-q", "--hard", "main")
		commitFile(t, e.dir, "a.big", "new\n")
		commitFile(t, e.dir, "b.big", "new\n")
		commitFile(t, e.dir, "c.big", "new\n")
		version, err := indexVersion(e.root)
		if err != nil {
			t.Fatal(err)
		}
		writeRecord(t, e.root, landRecord{Boot: boot, Index: version,
			Landing: Landing{Old: out(t, e.root, "rev-parse", "main"), New: out(t, e.root, "rev-parse", "x"), Checkout: e.root}})
		write(t, e.root, "a.big", "ne")
		write(t, e.root, "b.big", "new\n")
		write(t, e.root, "c.big", "new\n")
		write(t, e.root, ".git/index.lock", "")
		e.trust()
		do(t, e.root, "config", "filter.lfs.smudge", "cat -")
		before := content(t, e.root)
		_, err = e.git.RecoverLanding(t.Context(), e.root)
		wantError(t, err, "an earlier landing of x in main was interrupted: repair a.big, b.big, c.big in "+e.root+": files need the filter lfs: Orange does not run filter.lfs.smudge, which nobody has trusted: review it, then run orange project update shop --trust-git")
		if content(t, e.root) != before || !pathExists(e.root, ".git/index.lock") || !pathExists(e.root, ".git/"+recordName) {
			t.Errorf("something was changed: %q", content(t, e.root))
		}
		e.trust()
		did, err := e.git.RecoverLanding(t.Context(), e.root)
		if status := out(t, e.root, "status", "--porcelain"); err != nil || !strings.Contains(did, "nothing was changed; repaired in "+e.root) || status != "" || pathExists(e.root, ".git/"+recordName) {
			t.Errorf("%q, %v; the checkout is %q", did, err, status)
		}
	}
}
