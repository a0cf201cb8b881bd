package git

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// brokenOff returns a checkout of main with an interrupted landing of x: the record exists, and
// main has not moved. The machine has crashed, so anything may be left. x changes f, adds dir/new
// and removes gone.
func brokenOff(t *testing.T) (root string, rec landRecord) {
	t.Helper()
	root = repository(t)
	commitFile(t, root, "f", "0\n")
	commitFile(t, root, "gone", "0\n")
	commitFile(t, root, "mine", "0\n")
	do(t, root, "switch", "-q", "-c", "x")
	commitFile(t, root, "f", "new\n")
	commitFile(t, root, "dir/new", "new\n")
	do(t, root, "rm", "-q", "gone")
	do(t, root, "commit", "-q", "-m", "remove gone")
	do(t, root, "switch", "-q", "main")
	rec = landRecord{Boot: "an earlier one", Landing: Landing{What: "x", Target: "main", Old: out(t, root, "rev-parse", "main"), New: out(t, root, "rev-parse", "x"), Checkout: root}}
	text, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".git/"+recordName, string(text))
	return root, rec
}

func TestRecover(t *testing.T) {
	t.Parallel()
	index := func(t *testing.T, root string) { do(t, root, "read-tree", "x") }
	files := func(t *testing.T, root string) {
		write(t, root, "f", "new\n")
		write(t, root, "dir/new", "new\n")
		if err := os.Remove(filepath.Join(root, "gone")); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, root string)
		status  string // afterwards, of main
		did     string
		moved   bool // main is at x
	}{
		"nothing was done":       {func(*testing.T, string) {}, "", "nothing was changed", false},
		"some files":             {func(t *testing.T, root string) { write(t, root, "dir/new", "new\n") }, "", "repaired", false},
		"a file that is cut off": {func(t *testing.T, root string) { write(t, root, "dir/new", "ne"); write(t, root, "f", "") }, "", "repaired in", false},
		"all files":              {files, "", "nothing was changed; repaired", false},
		"files and index":        {func(t *testing.T, root string) { files(t, root); index(t, root) }, "", "nothing was changed; repaired", false},
		"files, index and branch": {func(t *testing.T, root string) {
			files(t, root)
			index(t, root)
			do(t, root, "update-ref", "refs/heads/main", "x")
		}, "", "is complete", true},
		"only the branch": {func(t *testing.T, root string) { do(t, root, "update-ref", "refs/heads/main", "x") }, "", "is complete; repaired", true},
		"the user's own changes": {func(t *testing.T, root string) {
			files(t, root)
			write(t, root, "f", "the user's own\n")
			write(t, root, "mine", "mine\n")
			write(t, root, "staged", "mine\n")
			do(t, root, "add", "staged")
			write(t, root, "untracked", "mine\n")
		}, " M f\n M mine\nA  staged\n?? untracked", "left as it is", false},
		"the user has staged something": {func(t *testing.T, root string) {
			write(t, root, "dir/new", "mine\n")
			do(t, root, "add", "dir/new")
			write(t, root, "f", "new\n")
		}, "A  dir/new", "repaired", false},
		"the user has committed something": {func(t *testing.T, root string) {
			files(t, root)
			commitFile(t, root, "mine", "1\n")
		}, "", "now; repaired", false},
		"the user has gone to another branch": {func(t *testing.T, root string) {
			write(t, root, "dir/new", "new\n")
			do(t, root, "switch", "-q", "-c", "other")
		}, "?? dir/", "nothing was changed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, rec := brokenOff(t)
			tc.arrange(t, root)
			tip := out(t, root, "rev-parse", "main")
			did, err := New().RecoverLanding(context.Background(), root)
			if err != nil || !strings.Contains(did, tc.did) {
				t.Errorf("it did %q, %v, want %q", did, err, tc.did)
			}
			if now := out(t, root, "rev-parse", "main"); now != tip || (now == rec.New) != tc.moved {
				t.Errorf("main was at %s and is at %s", tip, now)
			}
			if status := out(t, root, "status", "--porcelain"); status != tc.status {
				t.Errorf("the checkout is %q, want %q", status, tc.status)
			}
			if pathExists(root, ".git/"+recordName) {
				t.Error("the record is still there")
			}
			if did, err := New().RecoverLanding(context.Background(), root); did != "" || err != nil {
				t.Errorf("again: %q, %v", did, err)
			}
		})
	}
}

// Git removes the commit of an interrupted landing with everything that no branch reaches. The
// record is then useless, and must not prevent other landings.
func TestRecoverWithoutTheCommit(t *testing.T) {
	t.Parallel()
	root, rec := brokenOff(t)
	rec.New = strings.Repeat("1", len(rec.New))
	text, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".git/"+recordName, string(text))
	did, err := New().RecoverLanding(context.Background(), root)
	if err != nil || !strings.Contains(did, "is gone: check what is left with git -C "+root+" status") || pathExists(root, ".git/"+recordName) {
		t.Errorf("%q, %v", did, err)
	}
	if _, err := merge(root, "x", "main", Auto, ""); err != nil {
		t.Error(err)
	}
}

// The next landing puts right what the last one left.
func TestLandAfterABrokenLanding(t *testing.T) {
	t.Parallel()
	root, rec := brokenOff(t)
	write(t, root, "f", "new\n")
	write(t, root, "dir/new", "ne")
	write(t, root, "mine", "mine\n")
	if commit, err := merge(root, "x", "main", Auto, ""); err != nil || commit != rec.New {
		t.Fatalf("%s, %v", commit, err)
	}
	if status := out(t, root, "status", "--porcelain"); status != " M mine" {
		t.Errorf("the checkout is %q", status)
	}
}

// Nothing of the user's is overwritten, not even what git would overwrite silently.
func TestLandLeavesTheUsersFilesAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, root string)
		want    string // error; "" if it lands
	}{
		"deleted": {func(t *testing.T, root string) { remove(t, root, "f") }, "move them away: f"},
		"staged":  {func(t *testing.T, root string) { write(t, root, "f", "mine\n"); do(t, root, "add", "f") }, "move them away: f"},
		"ignored": {func(t *testing.T, root string) {
			write(t, root, ".git/info/exclude", "new\n")
			write(t, root, "dir/new", "mine\n")
		}, "move them away: dir/new"},
		"a file, no folder": {func(t *testing.T, root string) { write(t, root, "dir", "mine\n") }, "move them away: dir"},
		"assumed": {func(t *testing.T, root string) {
			do(t, root, "update-index", "--assume-unchanged", "f")
			write(t, root, "f", "mine\n")
		}, "move them away: f"},
		"staged the same": {func(t *testing.T, root string) {
			write(t, root, "f", "new\n")
			do(t, root, "add", "f")
			write(t, root, "f", "more\n")
		}, ""},
		"only its time": {func(t *testing.T, root string) { write(t, root, "f", "0\n") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _ := brokenOff(t)
			remove(t, root, ".git/"+recordName)
			tc.arrange(t, root)
			before := content(t, root)
			status := out(t, root, "status", "--porcelain")
			_, err := merge(root, "x", "main", Auto, "")
			if tc.want == "" {
				if err != nil || name == "staged the same" && read(t, root, "f") != "more\n" {
					t.Errorf("f is %q, %v", read(t, root, "f"), err)
				}
				return
			}
			wantError(t, err, tc.want)
			if now := content(t, root); now != before {
				t.Errorf("the files were %q and are %q", before, now)
			}
			if now := out(t, root, "status", "--porcelain"); now != status {
				t.Errorf("the checkout was %q and is %q", status, now)
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// content returns all files of a checkout with what is in them.
func content(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case !d.IsDir():
			text, err := os.ReadFile(path)
			b.WriteString(strings.TrimPrefix(path, root) + ": " + string(text) + "\n")
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A waiting landing reports which landing it waits for.
func TestLandWaitsAndSaysForWhom(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	held, err := New().takeLanding(context.Background(), root, Landing{What: "another"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = New().takeLanding(ctx, root, Landing{What: "x"})
	wantError(t, err, "is held by the landing of another by process")
	var locked *LockError
	if !errors.As(err, &locked) {
		t.Errorf("got %T", err)
	}
	held.release()
	if _, err := merge(root, "x", "main", Auto, ""); err != nil {
		t.Error(err)
	}
}

// The users of a shared repository land in turn, also where an older version left a lock that only its user may write.
func TestTheLockOfASharedRepository(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]bool{"new": false, "left by an older version": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _ := forMerge(t)
			dir := filepath.Join(root, ".git")
			if old {
				write(t, dir, landingName, "")
			}
			for mode, want := range map[os.FileMode]os.FileMode{0o755: 0o644, 0o775: 0o664} {
				if err := os.Chmod(dir, mode); err != nil {
					t.Fatal(err)
				}
				held, err := New().takeLanding(t.Context(), root, Landing{})
				if err != nil {
					t.Fatal(err)
				}
				if err := held.writeRecord(&landRecord{}); err != nil {
					t.Fatal(err)
				}
				for _, file := range []string{landingName, recordName} {
					if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode().Perm()&want != want {
						t.Errorf("%s in a folder with %v: %v, want %v", file, mode, info.Mode(), want)
					}
				}
				held.release()
			}
		})
	}
}

// A commit is signed if the user has configured that, and gpg's message is passed on.
func TestMergeIsSigned(t *testing.T) {
	t.Parallel()
	root, dir := forMerge(t)
	do(t, root, "config", "commit.gpgSign", "true")
	gpg := filepath.Join(t.TempDir(), "gpg")
	do(t, root, "config", "gpg.program", gpg)
	program := func(script string) {
		write(t, filepath.Dir(gpg), "gpg", "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(gpg, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(`echo 'gpg: signing failed: No secret key' >&2; exit 2`)
	_, err := merge(root, "x", "main", MergeCommit, "")
	wantError(t, err, "gpg: signing failed: No secret key: make signing work")
	program("cat >/dev/null; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2; echo '-----BEGIN PGP SIGNATURE-----'")
	commit, err := merge(root, "x", "main", MergeCommit, "")
	if err != nil {
		t.Fatal(err)
	}
	if text := out(t, dir, "cat-file", "commit", commit); !strings.Contains(text, "gpgsig -----BEGIN") {
		t.Errorf("it is not signed:\n%s", text)
	}
}

// A signer that leaves a process behind is not waited for.
func TestTheTextOfASignatureEnds(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	gpg := filepath.Join(t.TempDir(), "gpg")
	do(t, root, "config", "gpg.program", gpg)
	do(t, root, "config", "user.signingkey", "k")
	write(t, filepath.Dir(gpg), "gpg", "#!/bin/sh\necho 'gpg: no key' >&2\n(while test -e "+gpg+" && ! test -e "+gpg+".go; do sleep 0.05; done) &\nexit 2\n")
	if err := os.Chmod(gpg, 0o755); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		said <- New().askGPG(context.Background(), call{dir: root, args: []string{"commit-tree"}}, gpgHidden)
	}()
	select {
	case why := <-said:
		if want := gpgHidden + ": gpg: no key"; why != want {
			t.Errorf("%q, want %q", why, want)
		}
	case <-time.After(time.Minute):
		t.Error("it is waited for")
	}
	write(t, filepath.Dir(gpg), "gpg.go", "")
}

// A lock file of git that goes away again is waited for.
func TestMergeWaitsForALock(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	write(t, root, ".git/index.lock", "")
	time.AfterFunc(300*time.Millisecond, func() { _ = os.Remove(filepath.Join(root, ".git/index.lock")) })
	g := New()
	g.lockTimeout = time.Minute
	if _, err := g.MergeBranch(context.Background(), root, Merging{Branch: "x", Into: "main", Strategy: Auto}); err != nil {
		t.Error(err)
	}
}

// heldByAnother reports whether another process holds the landing lock.
func heldByAnother(t *testing.T, root string) bool {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(root, ".git", landingName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it gives the lock back
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}
