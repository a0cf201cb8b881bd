package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTaskFileSync(t *testing.T) {
	t.Parallel()
	const stored = "---\nstatus: working\n---\nold body\n"
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, link, file string)
		want    string // the task's file
		orig    string // what is kept beside it
	}{
		"fine": {func(*testing.T, string, string) {}, stored, ""},
		"saved by rename": {func(t *testing.T, link, file string) {
			write(t, "/", link+"~", "---\nstatus: working\n---\nnew body\n")
			rename(t, link+"~", link)
			earlier(t, file)
		}, "---\nstatus: working\n---\nnew body\n", ""},
		"saved, and nothing changed": {func(t *testing.T, link, file string) {
			write(t, "/", link+"~", stored)
			rename(t, link+"~", link)
		}, stored, ""},
		"saved, and then Orange wrote": {func(t *testing.T, link, file string) {
			write(t, "/", link+"~", "---\nstatus: planning\n---\nnew body\n")
			rename(t, link+"~", link)
			earlier(t, link)
		}, "---\nstatus: working\n---\nnew body\n", stored},
		"saved without frontmatter, and then Orange wrote": {func(t *testing.T, link, file string) {
			write(t, "/", link+"~", "new body\n")
			rename(t, link+"~", link)
			earlier(t, link)
		}, "---\nstatus: working\n---\nnew body\n", stored},
		"saved as nonsense, and then Orange wrote": {func(t *testing.T, link, file string) {
			write(t, "/", link+"~", "\x00")
			rename(t, link+"~", link)
			earlier(t, link)
		}, "\x00", stored},
		"emptied": {func(t *testing.T, link, file string) {
			write(t, "/", link+"~", "")
			rename(t, link+"~", link)
			earlier(t, file)
		}, "", stored},
		"deleted":      {func(t *testing.T, link, file string) { remove(t, "/", link) }, stored, ""},
		"another link": {func(t *testing.T, link, file string) { remove(t, "/", link); symlink(t, "/elsewhere", link) }, stored, ""},
		"no task file": {func(t *testing.T, link, file string) {
			remove(t, "/", file)
			remove(t, "/", link)
			write(t, "/", link, "all\n")
		}, "all\n", ""},
		"taken already": {func(t *testing.T, link, file string) {
			remove(t, "/", link)
			write(t, "/", takenOf(link), "taken\n")
			earlier(t, file)
		}, "taken\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			write(t, "/", s.TaskFile, stored)
			link := filepath.Join(b.acquire(s), TaskFileName)
			tc.arrange(t, link, s.TaskFile)
			for range 2 {
				if err := b.RestoreTaskLink(context.Background(), s); err != nil {
					t.Fatal(err)
				}
				b.isReady(s)
				if got := content(t, "/", s.TaskFile); got != tc.want {
					t.Errorf("TASK.md is %q, want %q", got, tc.want)
				}
				if got := content(t, "/", s.TaskFile+".orig"); got != tc.orig {
					t.Errorf("TASK.md.orig is %q, want %q", got, tc.orig)
				}
			}
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// earlier makes a file older than any other.
func earlier(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func takenOf(link string) string {
	dir := filepath.Dir(link)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+TaskFileName)
}

func TestTaskFileSyncChangesOnlyTheTask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	s, other := b.slot(1), b.slot(2)
	if err := b.RestoreTaskLink(ctx, s); err != nil || there(b.Path(s.Name), "") {
		t.Errorf("there is no workspace: %v", err)
	}
	dir := b.acquire(s)
	if err := b.RestoreTaskLink(ctx, other); err != nil {
		t.Error(err)
	}
	b.isReady(s)
	remove(t, dir, TaskFileName)
	write(t, dir, TaskFileName+"/inner", "x")
	wantError(t, b.RestoreTaskLink(ctx, s), "move it away")
	if !there(dir, TaskFileName+"/inner") {
		t.Error("it was removed")
	}
}

// An editor that is still writing to the file it has put in the link's place writes to the
// task's file in the end.
func TestTaskFileSyncWhileAnEditorWrites(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	earlier(t, s.TaskFile)
	remove(t, dir, TaskFileName)
	f, err := os.Create(filepath.Join(dir, TaskFileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, part := range []string{"first half\n", "second half\n"} {
		if _, err := f.WriteString(part); err != nil {
			t.Fatal(err)
		}
		if err := b.RestoreTaskLink(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got := content(t, dir, TaskFileName); got != "first half\nsecond half\n" {
		t.Errorf("got %q", got)
	}
}
