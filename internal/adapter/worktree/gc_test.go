package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
	"orange/internal/testneeds"
)

// withLibrary gives the project a submodule at lib, and the workspace of a task a checkout
// of it.
func (b *env) withLibrary(s Slot) (dir, lib string) {
	b.t.Helper()
	source := filepath.Join(b.t.TempDir(), "library")
	do(b.t, b.t.TempDir(), "init", "-q", "--initial-branch=main", source)
	commitFile(b.t, source, "s", "0")
	commitFile(b.t, source, ".gitignore", "*.o\n")
	do(b.t, b.project.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "lib")
	do(b.t, b.project.Path, "commit", "-q", "-m", "lib")
	dir = b.acquire(s)
	do(b.t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	return dir, filepath.Join(dir, "lib")
}

// Settings that someone has written are kept, and no other task gets them.
func TestSettingsOfAHarnessAreSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	s.Exclude = []string{".claude/settings.local.json", ".gemini/settings.json", "copied"}
	s.Ours = func(file string, text []byte) bool { return file == ".gemini/settings.json" && string(text) == "hooks" }
	write(t, b.project.Path, "copied", "the person's own")
	dir := b.acquire(s)
	write(t, dir, ".claude/settings.local.json", "allowed for good")
	write(t, dir, ".gemini/settings.json", "hooks")
	write(t, dir, "copied", "the person's own")
	b.release(s)
	b.isClear(s.Name)
	aside := filepath.Join(b.root, asideName, "p--1", string(s.Task))
	if got := content(t, aside, ".claude/settings.local.json"); got != "allowed for good" {
		t.Errorf("set aside: %q", got)
	}
	if there(aside, ".gemini") || there(aside, "copied") || there(dir, ".gemini") || there(dir, "copied") {
		t.Error("what Orange wrote, or a copy, was kept")
	}

	s = b.slot(2)
	s.Exclude = []string{".gemini/settings.json", "copied"}
	dir = b.acquire(s)
	write(t, dir, ".gemini/settings.json", "hooks, and more")
	write(t, dir, "copied", "changed")
	b.release(s)
	aside = filepath.Join(b.root, asideName, "p--1", string(s.Task))
	if got := content(t, aside, ".gemini/settings.json") + content(t, aside, "copied"); got != "hooks, and morechanged" {
		t.Errorf("set aside: %q", got)
	}
}

// What was set aside is deleted on demand only, and only if it is old.
func TestGCPurgesWhatWasSetAsideLongAgo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	old, recent := filepath.Join(b.root, asideName, "p--1", "old"), filepath.Join(b.root, asideName, "p--1", "recent")
	write(t, old, "node_modules/x/y", "y")
	write(t, recent, ".env", "KEY=1")
	write(t, b.root, filepath.Join(asideName, purgedName, "half/x"), "left by a crash")
	if err := os.Chmod(filepath.Join(old, "node_modules/x"), 0o500); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-15 * 24 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	projects := []task.Project{b.project}
	fortnight := 14 * 24 * time.Hour
	for _, how := range []Sweep{{}, {Older: fortnight}, {Purge: true, Older: 2 * fortnight}, {Dry: true, Purge: true}} {
		swept, err := b.GC(ctx, projects, nil, how)
		if err != nil || !there(old, "node_modules/x/y") || !there(recent, ".env") {
			t.Fatalf("%+v: %+v, %v", how, swept, err)
		}
		if !how.Dry && (len(swept.Kept) != 2 || !strings.Contains(swept.Kept[0].Reason, "15d ago") || swept.Kept[0].Path != old) {
			t.Errorf("%+v: %+v", how, swept)
		}
		if how.Dry && len(swept.Purged) != 2 {
			t.Errorf("%+v: %+v", how, swept)
		}
	}
	swept, err := b.GC(ctx, projects, nil, Sweep{Purge: true, Older: fortnight})
	if err != nil || len(swept.Purged) != 1 || swept.Purged[0].Path != old || len(swept.Kept) != 1 || swept.Kept[0].Path != recent {
		t.Errorf("got %+v, %v", swept, err)
	}
	if there(old, "") || !there(recent, ".env") || there(b.root, filepath.Join(asideName, purgedName)) {
		t.Error("the wrong ones are gone")
	}
}

// Setting files aside makes their folder young again.
func TestTheAgeOfWhatWasSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	w, err := b.openWorkspace(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"cache/x", "cache/y"} {
		write(t, dir, file, "x")
		if err := w.setAside(string(s.Task), []string{file}); err != nil {
			t.Fatal(err)
		}
		list, err := b.listAsides()
		if err != nil || len(list) != 1 || list[0].Age > time.Hour {
			t.Fatalf("got %+v, %v", list, err)
		}
		past := time.Now().Add(-100 * time.Hour)
		if err := os.Chtimes(list[0].Path, past, past); err != nil {
			t.Fatal(err)
		}
	}
}

// Wherever a removal is cut short, the next one completes it and everything is found.
func TestGCAfterACrashAtAnyStep(t *testing.T) {
	testneeds.Processes(t)
	t.Parallel()
	ctx := context.Background()
	for n := 1; ; n++ {
		b := newBench(t)
		s := b.slot(1)
		dir, lib := b.withLibrary(s)
		commitFile(t, lib, "s", "committed")
		do(t, dir, "commit", "-q", "-a", "-m", "lib")
		b.release(s)
		// Someone continues to work in a workspace that no task has.
		write(t, lib, "s", "changed")
		write(t, lib, "x.o", "built")
		write(t, dir, "f", "staged")
		do(t, dir, "add", "f")
		write(t, dir, "f", "changed")
		write(t, dir, ".env", "KEY=1")
		write(t, dir, "cache/deep/x", "x")
		write(t, dir, ".gitignore", "/cache/\n.env\nnotes\n")
		write(t, dir, "some/notes", "n")

		crashed := b.crashAt(n)
		swept, err := b.GC(ctx, nil, nil, Sweep{})
		hit := crashed()
		if hit && (len(swept.Kept) == 0 || !strings.Contains(swept.Kept[0].Reason, errCrash.Error())) {
			t.Fatalf("step %d: %+v, %v", n, swept, err)
		}
		b.Pool = New(b.root, b.git) // another process
		if swept, err = b.GC(ctx, nil, nil, Sweep{}); err != nil {
			t.Fatalf("step %d: %+v, %v", n, swept, err)
		}
		if there(dir, "") || there(b.admin("p--1"), "") {
			t.Fatalf("step %d: it is still there: %+v", n, swept)
		}
		b.foundAgain(s, n)
		if !hit {
			if n < 5 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

// foundAgain finds everything that TestGCAfterACrashAtAnyStep left in the workspace.
func (b *env) foundAgain(s Slot, n int) {
	b.t.Helper()
	list, err := git.New().ListSalvages(context.Background(), b.project.Path)
	if err != nil || len(list) == 0 {
		b.t.Fatalf("step %d: %+v, %v", n, list, err)
	}
	last := list[len(list)-1]
	if got := b.salvaged(last.Ref, "f"); got != "changed" {
		b.t.Errorf("step %d: f is %q", n, got)
	}
	if got := b.salvaged(last.Staged, "f"); got != "staged" {
		b.t.Errorf("step %d: staged was %q", n, got)
	}
	kept := ""
	for _, sub := range last.Submodules {
		kept += do(b.t, sub.Repository, "log", "--format=", "-p", sub.Ref, "--", "s")
	}
	if !strings.Contains(kept, "+committed") || !strings.Contains(kept, "+changed") {
		b.t.Errorf("step %d: of the submodule: %s", n, kept)
	}
	aside := filepath.Join(b.root, asideName, s.Name, string(s.Task))
	for file, want := range map[string]string{"lib/x.o": "built", ".env": "KEY=1", "cache/deep/x": "x", "some/notes": "n"} {
		if got := content(b.t, aside, file); got != want {
			b.t.Errorf("step %d: %s is %q", n, file, got)
		}
	}
}
