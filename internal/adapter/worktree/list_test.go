package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
)

func TestList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	write(t, dir, "f", "1")
	stranger := b.slot(2)
	stranger.Name = "p--2"
	b.acquire(stranger)
	write(t, b.Path("p--4"), "file", "no worktree")
	write(t, b.Path("other--1"), "file", "another project's")
	main := do(t, b.project.Path, "rev-parse", "main")
	got, err := b.ListWorkspaces([]task.Project{b.project}, map[string]task.ID{"p--1": s.Task, "p--3": id(3)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Workspace{
		{Name: "p--1", Project: "p", Path: dir, Task: s.Task, Marker: s.Task, Branch: s.Branch, Commit: main, Exists: true, Dirty: true},
		{Name: "p--2", Project: "p", Path: b.Path("p--2"), Marker: id(2), Branch: "task/2", Commit: main, Exists: true,
			Problem: "the record binds it to no task, its marker file to task " + string(id(2))},
		{Name: "p--3", Project: "p", Path: b.Path("p--3"), Task: id(3),
			Problem: "the record binds it to task " + string(id(3)) + ", its marker file to no task"},
		{Name: "p--4", Project: "p", Path: b.Path("p--4"), Exists: true, Problem: b.Path("p--4") + " is not a worktree of " + b.project.Path + ": Orange moves it aside when a task needs the workspace"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	got, err = b.ListWorkspaces([]task.Project{b.project}, map[string]task.ID{"p--1": s.Task, "p--2": id(2)})
	if err != nil || got[0].Exists || !strings.Contains(got[0].Problem, "is gone") || got[1].Problem != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if list, err := New(filepath.Join(b.home, "none"), b.git).ListWorkspaces([]task.Project{b.project}, nil); len(list) != 3 || list[0].Problem != "" || err != nil {
		t.Errorf("an empty pool: %+v, %v", list, err)
	}
	gone := b.project
	gone.Path = t.TempDir()
	if list, err := b.ListWorkspaces([]task.Project{gone}, nil); err != nil || !strings.Contains(list[0].Problem, "not a git repository") {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestGC(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	if err := b.MakeWorkspaces(ctx, b.project, 8); err != nil {
		t.Fatal(err)
	}
	removed := b.project
	removed.Name = "old"
	if err := b.MakeWorkspaces(ctx, removed, 1); err != nil {
		t.Fatal(err)
	}
	write(t, b.Path("p--4"), "cache/x", "an ignored file is no change")
	write(t, b.Path("p--5"), "f", "changed")
	do(t, b.Path("p--6"), "init", "-q", "cache/repo")
	marked := b.slot(7)
	marked.Name = "p--7"
	b.acquire(marked)
	write(t, b.Path("p--1"), "f", "in the pool")
	write(t, b.Path("x--1"), "f", "no worktree")
	write(t, b.Path("not a workspace"), "f", "f")
	do(t, b.Path("old--1"), "switch", "-q", "--detach")
	commitFile(t, b.Path("old--1"), "lost", "l")
	projects, bound := []task.Project{b.project}, map[string]task.ID{"p--8": id(8)}

	swept, err := b.GC(ctx, projects, bound, Sweep{Dry: true})
	if err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(b.root, asideName, "p--4", "p--4")
	if diff := cmp.Diff([]Removed{
		{Name: "old--1", Path: b.Path("old--1"), Unsaved: []string{"commits on no branch"}},
		{Name: "p--4", Path: b.Path("p--4"), Aside: aside},
		{Name: "p--5", Path: b.Path("p--5"), Unsaved: []string{"f"}},
	}, swept.Removed); diff != "" {
		t.Error(diff)
	}
	if !there(b.Path("p--4"), "cache/x") || !there(b.Path("old--1"), "f") || do(t, b.project.Path, "for-each-ref", "refs/orange") != "" || there(aside, "") {
		t.Fatal("something was done")
	}
	if swept, err = b.GC(ctx, projects, bound, Sweep{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Removed{
		{Name: "old--1", Path: b.Path("old--1"), Salvage: "refs/orange/salvage/old--1/1"},
		{Name: "p--4", Path: b.Path("p--4"), Aside: aside},
		{Name: "p--5", Path: b.Path("p--5"), Salvage: "refs/orange/salvage/p--5/1"},
	}, swept.Removed); diff != "" {
		t.Error(diff)
	}
	for _, r := range swept.Removed {
		if there(r.Path, "") || there(b.admin(r.Name), "") {
			t.Errorf("%s is still there", r.Name)
		}
	}
	kept := swept.Kept
	if content(t, aside, "cache/x") != "an ignored file is no change" {
		t.Error("an ignored file is gone")
	}
	if b.salvaged("refs/orange/salvage/p--5/1", "f") != "changed" || b.salvaged("refs/orange/salvage/old--1/1", "lost") != "l" {
		t.Error("work is gone")
	}
	for i, want := range []string{"move away " + b.Path("p--6") + "/cache/repo", "binds it to task " + string(id(7)), "bound to task " + string(id(8)), "not a git repository"} {
		if i >= len(kept) || !strings.Contains(kept[i].Reason, want) || !there(kept[i].Path, "") {
			t.Errorf("kept: %+v, want %s", kept, want)
		}
	}
	if content(t, b.Path("p--1"), "f") != "in the pool" {
		t.Error("a workspace of the pool was touched")
	}
}

// One whose work cannot be kept stays, and files that were set aside are pointed out.
func TestGCKeepsWhatCannotBeKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	s := b.slot(1)
	dir := b.acquire(s)
	commitFile(t, dir, ".gitignore", "packages\n")
	write(t, dir, "packages/x", "x")
	b.release(s)
	write(t, dir, "f", "changed")
	write(t, b.admin("p--1"), "index.lock", "")
	swept, err := b.GC(ctx, nil, nil, Sweep{})
	kept := swept.Kept
	if err != nil || len(swept.Removed) != 0 || len(kept) != 2 || !strings.Contains(kept[0].Reason, "index.lock") {
		t.Fatalf("got %+v, %v", swept, err)
	}
	if aside := kept[1]; aside.Name != "p--1" || content(t, aside.Path, "packages/x") != "x" {
		t.Errorf("set aside: %+v", aside)
	}
	if content(t, dir, "f") != "changed" {
		t.Error("it was cleared")
	}
	// The repository of a project may be gone altogether.
	if err := os.RemoveAll(b.project.Path); err != nil {
		t.Fatal(err)
	}
	swept, err = b.GC(ctx, nil, nil, Sweep{})
	if err != nil || len(swept.Removed) != 0 || len(swept.Kept) != 2 || content(t, dir, "f") != "changed" {
		t.Errorf("got %+v, %v", swept, err)
	}
}
