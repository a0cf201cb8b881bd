//go:build forge

package forge_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// pull opens a pull request with the adapter.
func (w *world) pull(t *testing.T, branch, title string) tracker.PR {
	t.Helper()
	pr, err := w.OpenClient(t).CreatePR(t.Context(), tracker.NewPR{Branch: branch, Base: "main", Title: title})
	must(t, err)
	return pr
}

// later returns the adapter an hour later, when nothing has changed recently.
func (w *world) later(t *testing.T) trackers.Forge {
	t.Helper()
	return w.adapter(t, nil, func() time.Time { return time.Now().Add(time.Hour) })
}

// unmerged checks, with git, that a commit is not in the base.
func (w *world) unmerged(t *testing.T, number int, commit string) {
	t.Helper()
	w.git(t, "fetch", "--quiet", "origin")
	if strings.Contains(w.git(t, "rev-list", "origin/main"), commit) {
		t.Errorf("pull request %d was merged", number)
	}
}

// until waits until the forge has done something.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !so() {
		select {
		case <-late:
			t.Fatalf("it does not happen that %s", what)
		case <-tick.C:
		}
	}
}

func refused(t *testing.T, err error, why string) {
	t.Helper()
	var no *board.Refusal
	if !errors.As(err, &no) || !strings.Contains(err.Error(), why) {
		t.Errorf("no refusal that says %q: %v", why, err)
	}
}

func number(t *testing.T, id string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(id, 10, 64)
	must(t, err)
	return n
}

// merge merges a pull request, as soon as Gitea has checked whether it merges cleanly.
func (w *world) merge(t *testing.T, number int, head string) {
	t.Helper()
	until(t, "the merge", func() bool {
		err := w.OpenClient(t).MergePR(t.Context(), number, head)
		if err != nil && strings.Contains(err.Error(), "try again in a moment") {
			return false
		}
		must(t, err)
		return true
	})
}
