package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// diverged returns a repository in which the branch b has two commits and main has another one
// since.
func diverged(t *testing.T) (g *Git, root string) {
	t.Helper()
	g, root = New(), repository(t)
	do(t, root, "switch", "-q", "-c", "b")
	commitFile(t, root, "one", "1\n")
	commitFile(t, root, "two", "2\n")
	do(t, root, "switch", "-q", "main")
	commitFile(t, root, "main-only", "x\n")
	return g, root
}

// A squash and a rebase have the tree of a merge, no merge commit, and leave the branch alone.
func TestCandidatesWithoutAMergeCommit(t *testing.T) {
	for strategy, commits := range map[string]int{Squash: 1, Rebase: 2} {
		t.Run(strategy, func(t *testing.T) {
			g, root := diverged(t)
			tip, head := out(t, root, "rev-parse", "main"), out(t, root, "rev-parse", "b")
			merged, _, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: Auto})
			if err != nil {
				t.Fatal(err)
			}
			m := Merging{Branch: "b", Into: "main", Strategy: strategy, Title: "What it is for"}
			c, landed, err := g.BuildCandidate(t.Context(), root, m)
			if err != nil || landed != "" || c.Tree != merged.Tree || c.Tip != tip || c.Head != head {
				t.Fatalf("%+v, %q, %v", c, landed, err)
			}
			if n := len(strings.Fields(out(t, root, "rev-list", "--no-merges", tip+".."+c.Commit))); n != commits || out(t, root, "rev-list", "--merges", tip+".."+c.Commit) != "" {
				t.Errorf("%d commits", n)
			}
			if out(t, root, "rev-parse", "b") != head || out(t, root, "rev-parse", "main") != tip {
				t.Error("a branch moved")
			}
			if message := out(t, root, "log", "-1", "--format=%B", c.Commit); strategy == Squash && message != "What it is for\n\n* change one\n* change two" || strategy == Rebase && message != "change two" {
				t.Errorf("%q", message)
			}
			land := Landing{Target: "main", What: "b", Old: c.Tip, New: c.Commit}
			if err := g.LandCommit(t.Context(), root, land); err != nil {
				t.Fatal(err)
			}
			commitFile(t, root, "later", "y\n")
			if err := g.LandCommit(t.Context(), root, land); err != nil {
				t.Errorf("it landed before others moved the target on: %v", err)
			}
			again, _, err := g.BuildCandidate(t.Context(), root, m)
			if err != nil || again.Commit != c.Commit || again.Tree != c.Tree || again.Tip != out(t, root, "rev-parse", c.Commit+"^") {
				t.Errorf("what is there already lands again: %+v, %v", again, err)
			}
		})
	}
}

// A branch that takes back what it did changes nothing, so no commit of the target has brought its changes.
func TestABranchThatChangesNothingIsACandidate(t *testing.T) {
	g, root := diverged(t)
	do(t, root, "switch", "-q", "b")
	do(t, root, "revert", "--no-edit", "HEAD", "HEAD~1")
	do(t, root, "switch", "-q", "main")
	c, landed, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: Squash})
	if err != nil || landed != "" || c.Commit != c.Tip {
		t.Errorf("%+v, %q, %v", c, landed, err)
	}
}

// A branch whose conflict was resolved by a merge is not rebased commit by commit: that would
// conflict again.
func TestARebaseKeepsTheResolutionOfAConflict(t *testing.T) {
	g, root := diverged(t)
	do(t, root, "switch", "-q", "b")
	commitFile(t, root, "f", "mine\n")
	do(t, root, "switch", "-q", "main")
	commitFile(t, root, "f", "theirs\n")
	m := Merging{Branch: "b", Into: "main", Strategy: Rebase, Title: "Resolved"}
	var conflict *ConflictError
	if _, _, err := g.BuildCandidate(t.Context(), root, m); !errors.As(err, &conflict) || strings.Join(conflict.Files, " ") != "f" {
		t.Fatalf("%v", err)
	}
	do(t, root, "switch", "-q", "b")
	do(t, root, "merge", "-q", "--no-commit", "-X", "ours", "main")
	write(t, root, "f", "both\n")
	do(t, root, "add", "-A")
	do(t, root, "commit", "-q", "--no-edit")
	do(t, root, "switch", "-q", "main")
	commitFile(t, root, "more", "z\n")
	c, _, err := g.BuildCandidate(t.Context(), root, m)
	if err != nil {
		t.Fatal(err)
	}
	if got := out(t, root, "show", c.Commit+":f"); got != "both" || out(t, root, "rev-parse", c.Commit+"^") != c.Tip || out(t, root, "show", c.Commit+":more") != "z" {
		t.Errorf("f is %q", got)
	}
}

// withRemote gives a repository a bare remote with its branch main, and a clone of another
// person.
func withRemote(t *testing.T, root string) (remote, person string) {
	t.Helper()
	remote, person = filepath.Join(t.TempDir(), "origin.git"), filepath.Join(t.TempDir(), "person")
	do(t, t.TempDir(), "init", "-q", "--bare", "--initial-branch=main", remote)
	do(t, root, "remote", "add", "origin", remote)
	do(t, root, "push", "-q", "origin", "main")
	do(t, t.TempDir(), "clone", "-q", remote, person)
	return remote, person
}

func TestThePushIsTheSwap(t *testing.T) {
	g, root := diverged(t)
	remote, person := withRemote(t, root)
	m := Merging{Branch: "b", Into: "main", Strategy: Auto, Remote: "origin"}
	c, _, err := g.BuildCandidate(t.Context(), root, m)
	if err != nil {
		t.Fatal(err)
	}
	commitFile(t, person, "of-a-person", "p\n")
	do(t, person, "push", "-q")
	if err := g.PushLanding(t.Context(), root, "origin", "main", c.Commit); !errors.Is(err, ErrMoved) {
		t.Fatalf("%v", err)
	}
	theirs := out(t, remote, "rev-parse", "main")
	if c, _, err = g.BuildCandidate(t.Context(), root, m); err != nil || c.Tip != theirs {
		t.Fatalf("it is built on %s, not on %s: %v", c.Tip, theirs, err)
	}
	if err := g.PushLanding(t.Context(), root, "origin", "main", c.Commit); err != nil {
		t.Fatal(err)
	}
	write(t, root, "two", "uncommitted\n")
	var changes *LocalChangesError
	if err := g.FollowLanding(t.Context(), root, "origin", Landing{Target: "main", What: "b", New: c.Commit}); !errors.As(err, &changes) || strings.Join(changes.Files, " ") != "two" {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(root, "two")); err != nil {
		t.Fatal(err)
	}
	if err := g.FollowLanding(t.Context(), root, "origin", Landing{Target: "main", What: "b", New: c.Commit}); err != nil {
		t.Error(err)
	}
	for _, at := range []string{remote, root} {
		if got := out(t, at, "rev-parse", "main"); got != c.Commit {
			t.Errorf("main of %s is at %s", at, got)
		}
	}
	if out(t, root, "status", "--porcelain") != "" {
		t.Error("the checkout does not agree with the branch")
	}
}

func TestARemoteRefusesInItsOwnWords(t *testing.T) {
	g, root := diverged(t)
	remote, person := withRemote(t, root)
	hook := filepath.Join(remote, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'the freeze ends on Monday' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	head := out(t, root, "rev-parse", "b")
	do(t, root, "merge", "-q", "b")
	err := g.PushLanding(t.Context(), root, "origin", "main", out(t, root, "rev-parse", "main"))
	wantError(t, err, "pre-receive hook declined: the freeze ends on Monday")
	var away *RemoteError
	if errors.Is(err, ErrMoved) || errors.As(err, &away) {
		t.Errorf("it is not final: %#v", err)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	commitFile(t, person, "of-a-person", "p\n")
	do(t, person, "push", "-q")
	_, _, err = g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: Auto, Remote: "origin", Tip: head})
	wantError(t, err, "main here and at origin have each commits that the other does not have: bring them together with git pull --no-rebase origin main in a checkout of main")
	do(t, root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
	if c, _, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: Auto, Remote: "origin", Tip: head}); err != nil || c.Tip != out(t, root, "rev-parse", "main") {
		t.Errorf("the advice does not help: %+v, %v", c, err)
	}
	do(t, root, "remote", "set-url", "origin", filepath.Join(t.TempDir(), "nowhere"))
	if _, _, err = g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: Auto, Remote: "origin"}); !errors.As(err, &away) {
		t.Errorf("%v", err)
	}
}
