package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
)

// withOrigin returns a clone, its bare origin, and another clone of that.
func withOrigin(t *testing.T) (root, origin, other string) {
	t.Helper()
	first := repository(t)
	base := t.TempDir()
	origin, root, other = filepath.Join(base, "origin"), filepath.Join(base, "root"), filepath.Join(base, "other")
	do(t, first, "clone", "-q", "--bare", first, origin)
	do(t, first, "clone", "-q", origin, root)
	do(t, first, "clone", "-q", origin, other)
	return root, origin, other
}

func TestHasRemote(t *testing.T) {
	t.Parallel()
	root, _, _ := withOrigin(t)
	ctx := context.Background()
	for remote, want := range map[string]bool{"origin": true, "upstream": false, "": false, "--all": false} {
		if got, err := New().HasRemote(ctx, root, remote); got != want || err != nil {
			t.Errorf("%q: %v, %v", remote, got, err)
		}
	}
	if got, err := New().HasRemote(ctx, repository(t), "origin"); got || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	root, origin, other := withOrigin(t)
	ctx := context.Background()
	for _, branch := range []string{"x", "a/ä", `y#$()'"%;&`} {
		do(t, root, "switch", "-q", "-c", branch, "main")
		commit(t, root)
		for range 2 {
			if err := New().PushBranch(ctx, root, "origin", branch); err != nil {
				t.Fatalf("%s: %v", branch, err)
			}
		}
		if got := out(t, origin, "rev-parse", "refs/heads/"+branch); got != out(t, root, "rev-parse", "HEAD") {
			t.Errorf("%s: origin has %s", branch, got)
		}
	}
	do(t, other, "fetch", "-q")
	do(t, other, "switch", "-q", "x")
	commit(t, other)
	do(t, other, "push", "-q")
	do(t, root, "switch", "-q", "x")
	commit(t, root)
	before := out(t, origin, "rev-parse", "x")
	wantError(t, New().PushBranch(ctx, root, "origin", "x"), "fetch and rebase, then push again")
	if out(t, origin, "rev-parse", "x") != before {
		t.Error("it was forced")
	}
	wantError(t, New().PushBranch(ctx, root, "upstream", "x"), "no remote")
	wantError(t, New().PushBranch(ctx, root, "--mirror", "x"), "no remote")
	wantError(t, New().PushBranch(ctx, root, "origin", "none"), "there is no branch none")
	wantError(t, New().PushBranch(ctx, root, "origin", "+x"), "there is no branch +x")
	wantError(t, New().PushBranch(ctx, root, "origin", ":x"), "not a name")
}

func TestPushIsDeclined(t *testing.T) {
	t.Parallel()
	root, origin, _ := withOrigin(t)
	write(t, origin, "hooks/pre-receive", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(origin, "hooks/pre-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	do(t, root, "switch", "-q", "-c", "x")
	commit(t, root)
	wantError(t, New().PushBranch(context.Background(), root, "origin", "x"), "does not accept x")
}

// An address may contain a secret, and the remote may print anything.
func TestWhatARemoteSaysIsFitToBeShown(t *testing.T) {
	t.Parallel()
	root, _, _ := withOrigin(t)
	do(t, root, "switch", "-q", "-c", "x")
	commit(t, root)
	do(t, root, "remote", "set-url", "origin", "https://me:s3cret@127.0.0.1:1/x.git")
	err := New().PushBranch(context.Background(), root, "origin", "x")
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	do(t, root, "remote", "set-url", "origin", "ext::sh -c 'printf \"\\033[31mred\\n\" >&2; exit 1'")
	err = New().PushBranch(context.Background(), root, "origin", "x")
	if err == nil || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("got %q", err)
	}
	if got := makePrintable("a\x1b[1m https://u:p@h/x \x00\u009b"); strings.ContainsAny(got, "\x1b\x00\u009b") || strings.Contains(got, "p@") {
		t.Errorf("got %q", got)
	}
}

// Nothing asks for a password: there is no program for it, and no terminal in a separate
// session.
func TestNoQuestionsAreAsked(t *testing.T) {
	t.Parallel()
	if !pathExists("/", "proc/self/stat") {
		t.Skip("sessions cannot be told apart here")
	}
	root, _, _ := withOrigin(t)
	found := filepath.Join(t.TempDir(), "found")
	script := filepath.Join(t.TempDir(), "remote.sh")
	write(t, "/", script, `{ echo "$GIT_ASKPASS $SSH_ASKPASS $GIT_TERMINAL_PROMPT"; cat /proc/self/stat; } >`+found+"\nexit 1\n")
	do(t, root, "remote", "set-url", "origin", "ext::sh "+script)
	if _, err := New().runNetwork(context.Background(), root, "ls-remote", "origin"); err == nil {
		t.Error("there is a remote")
	}
	asks, stat, _ := strings.Cut(read(t, "/", found), "\n")
	if asks != "false false 0" {
		t.Errorf("got %q", asks)
	}
	if session := sessionOf(stat); session == "" || session == sessionOf(read(t, "/", "proc/self/stat")) {
		t.Errorf("it has the session of its caller: %s", session)
	}
}

// sessionOf returns the session in the line that the system has about a process.
func sessionOf(stat string) string {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:]) // state, parent, group, session
	if len(fields) < 4 {
		return ""
	}
	return fields[3]
}

func TestDeleteRemoteBranch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, root, origin, other string)
		want    string // error; "" if it is deleted
	}{
		"merged at origin": {func(t *testing.T, _, _, other string) {
			do(t, other, "merge", "-q", "--no-ff", "-m", "m", "origin/x")
			do(t, other, "push", "-q", "origin", "main")
		}, ""},
		"merged here only": {func(t *testing.T, root, _, _ string) { do(t, root, "merge", "-q", "x") }, ""},
		"not merged":       {func(*testing.T, string, string, string) {}, "is not in main: Orange does not delete it"},
		"merged, and then it went on": {func(t *testing.T, root, _, other string) {
			do(t, root, "merge", "-q", "x")
			do(t, other, "switch", "-q", "x")
			commit(t, other)
			do(t, other, "push", "-q", "origin", "x")
		}, "is not in main: Orange does not delete it"},
		"not there":      {func(t *testing.T, _, origin, _ string) { do(t, origin, "branch", "-D", "x") }, ""},
		"no such remote": {func(t *testing.T, root, _, _ string) { do(t, root, "remote", "remove", "origin") }, "no remote"},
		"nobody answers": {func(t *testing.T, root, _, _ string) { do(t, root, "remote", "set-url", "origin", "/nowhere") }, "check the network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, origin, other := withOrigin(t)
			do(t, root, "switch", "-q", "-c", "x")
			commit(t, root)
			do(t, root, "push", "-q", "origin", "x")
			do(t, root, "switch", "-q", "main")
			do(t, other, "fetch", "-q")
			tc.arrange(t, root, origin, other)
			err := New().DeleteRemoteBranch(ctx, root, "x", "main", task.Candidate{})
			left := out(t, origin, "for-each-ref", "refs/heads/x") != ""
			if tc.want != "" {
				wantError(t, err, tc.want)
			} else if err != nil {
				t.Error(err)
			}
			if left != (tc.want != "") {
				t.Errorf("it is left at origin: %v", left)
			}
			if out(t, root, "for-each-ref", "refs/heads/x") == "" {
				t.Error("the branch here is gone")
			}
		})
	}
	root, _, _ := withOrigin(t)
	wantError(t, New().DeleteRemoteBranch(ctx, root, "main", "main", task.Candidate{}), "is the default branch")
	wantError(t, New().DeleteRemoteBranch(ctx, root, "--all", "main", task.Candidate{}), "not a name")
}
