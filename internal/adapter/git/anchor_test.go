package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func addAnchor(root, text string) error {
	at := time.Unix(1700000000, 0)
	return New().AddAnchor(context.Background(), root, "abc", text, at, func(texts []string) bool { return slices.Contains(texts, text) })
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	write(t, root, "f", "the user's own\n")
	hook := filepath.Join(root, ".git", "hooks", "reference-transaction")
	write(t, root, ".git/hooks/reference-transaction", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	do(t, root, "config", "commit.gpgSign", "true")
	do(t, root, "config", "gpg.program", "/nonexistent")
	status, branches := out(t, root, "status", "--porcelain"), out(t, root, "branch", "--all")
	if texts, err := New().AnchorTexts(context.Background(), root, "abc"); err != nil || len(texts) != 0 {
		t.Errorf("%q, %v", texts, err)
	}
	want := []string{"one\n\nRow: 1\n", "two\n\n  indented\nRow: 2\n"}
	for range 2 { // what is there is not added again
		for _, text := range want {
			if err := addAnchor(root, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if texts, err := New().AnchorTexts(context.Background(), root, "abc"); err != nil || !slices.Equal(texts, want) {
		t.Errorf("%q, %v", texts, err)
	}
	if got := out(t, root, "log", "--format=%an %at %s", "refs/orange/journal/abc"); got != "Orange 1700000000 two\nOrange 1700000000 one" {
		t.Errorf("%q", got)
	}
	if got := out(t, root, "status", "--porcelain"); got != status {
		t.Errorf("the checkout was %q and is %q", status, got)
	}
	if got := out(t, root, "branch", "--all"); got != branches {
		t.Errorf("the branches were %q and are %q", branches, got)
	}
	remove(t, root, ".git/hooks/reference-transaction")
	do(t, root, "gc", "-q", "--prune=now")
	do(t, root, "fsck", "--strict")
	if texts, err := New().AnchorTexts(context.Background(), root, "abc"); err != nil || len(texts) != 2 {
		t.Errorf("after gc: %q, %v", texts, err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	do(t, root, "clone", "-q", root, clone)
	if got := out(t, clone, "for-each-ref", "refs/orange"); got != "" {
		t.Errorf("a clone has %q", got)
	}
	if err := New().AddAnchor(context.Background(), root, "../x", "x", time.Now(), func([]string) bool { return false }); err == nil {
		t.Error("a name with a path is taken")
	}
}

// AddAnchor waits while others move the ref, and no anchor is lost.
func TestAnchorsAtTheSameTime(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			if err := addAnchor(root, fmt.Sprintf("anchor %d\n", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	texts, err := New().AnchorTexts(context.Background(), root, "abc")
	slices.Sort(texts)
	if err != nil || strings.Join(texts, "") != "anchor 0\nanchor 1\nanchor 2\n" {
		t.Errorf("%q, %v", texts, err)
	}
}

// An anchor is read as it was written, regardless of refs/replace/.
func TestAnchorsAreNotReplaced(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	if err := addAnchor(root, "true\n"); err != nil {
		t.Fatal(err)
	}
	do(t, root, "replace", out(t, root, "rev-parse", "refs/orange/journal/abc"), out(t, root, "rev-parse", "HEAD"))
	if texts, err := New().AnchorTexts(context.Background(), root, "abc"); err != nil || !slices.Equal(texts, []string{"true\n"}) {
		t.Errorf("%q, %v", texts, err)
	}
}

// A merge that is done already names the commit by which it was done.
func TestMergeAgainNamesTheSameCommit(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{FastForward, MergeCommit} {
		root, _ := forMerge(t)
		if strategy == MergeCommit {
			commitFile(t, root, "g", "main moved")
		}
		first, err := merge(root, "x", "main", strategy, "")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			commitFile(t, root, "h", time.Now().String())
			do(t, root, "switch", "-q", "-C", "other", "main")
			commitFile(t, root, "i", time.Now().String())
			do(t, root, "switch", "-q", "main")
			do(t, root, "merge", "-q", "--no-ff", "-m", "merge other", "other")
		}
		if again, err := merge(root, "x", "main", strategy, ""); err != nil || again != first {
			t.Errorf("%s: %s and %s, %v", strategy, first, again, err)
		}
		within, err := New().CommitsContaining(context.Background(), root, first)
		if err != nil || !within[first] || !within[out(t, root, "rev-parse", "main")] || within[out(t, root, "rev-parse", first+"^1")] || within[""] {
			t.Errorf("%v, %v", within, err)
		}
	}
	root, _ := forMerge(t)
	for text, want := range map[string]string{"main": out(t, root, "rev-parse", "main"), "nothing": "", "deadbeef": "", strings.Repeat("0", 40): "", "--all": ""} {
		if got, err := New().ResolveCommit(context.Background(), root, text); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
