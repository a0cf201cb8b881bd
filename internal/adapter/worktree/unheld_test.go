package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
)

// A marker that names a task which does not hold the workspace keeps the slot from nobody, and what that task left is kept
// under its id.
func TestAcquireTakesASlotThatTheMarkedTaskDoesNotHold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, b *env, dir string)
		files   map[string]string // of the salvage
	}{
		"its folder is there": {func(*testing.T, *env, string) {}, map[string]string{"f": "changed", "new": "n", "staged": "s"}},
		"its folder was moved away": {func(t *testing.T, b *env, dir string) {
			check(t, os.Rename(b.home, b.home+".away"))
		}, map[string]string{"staged": "s"}},
		"its folder was moved away, and the next one is begun": {func(t *testing.T, b *env, dir string) {
			check(t, os.Rename(b.home, b.home+".away"))
			write(t, dir, "late", "l")
		}, map[string]string{"staged": "s"}},
		"its folder is no worktree any more": {func(t *testing.T, b *env, dir string) { remove(t, dir, ".git") }, map[string]string{"staged": "s"}},
	} {
		for how, take := range map[string]func(*Pool, context.Context, Slot) error{"acquire": (*Pool).Acquire, "sync": (*Pool).SyncTaskFile} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				first := b.slot(1)
				dir := b.acquire(first)
				write(t, dir, "staged", "s")
				do(t, dir, "add", "staged")
				write(t, dir, "f", "changed")
				write(t, dir, "new", "n")
				tc.arrange(t, b, dir)
				holder := first.Task
				b.Holds = func(id task.ID, workspace string) (bool, error) { return id == holder && workspace == first.Name, nil }
				second := b.slot(2)
				notes := noted(&second)
				wantError(t, take(b.Pool, context.Background(), second), "is bound to task "+string(first.Task))
				holder = second.Task
				check(t, take(b.Pool, context.Background(), second))
				b.isReady(second)
				if told := strings.Join(*notes, "\n"); !strings.Contains(told, "that of task "+string(first.Task)+", which does not hold it") {
					t.Errorf("a person is told %q", told)
				}
				ref := "refs/orange/salvage/" + string(first.Task) + "/1"
				for file, want := range tc.files {
					if got := b.salvaged(ref, file); got != want {
						t.Errorf("%s is %q in the salvage, want %q", file, got, want)
					}
				}
				if late := filepath.Join(b.root, asideName, "p--1", string(first.Task), "folder"); strings.Contains(name, "begun") && content(t, late, "late") != "l" {
					t.Error("a file is gone")
				}
				b.release(second)
				b.isClear(second.Name)
			})
		}
	}
}

// A crash between two steps loses nothing either.
func TestAcquireOfAnUnheldSlotCanBeRepeated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.slot(1)
	dir := b.acquire(first)
	write(t, dir, "f", "changed")
	b.Holds = func(task.ID, string) (bool, error) { return false, nil }
	second := b.slot(2)
	b.fault = func(step string) error {
		if step == "salvage" {
			return os.ErrClosed
		}
		return nil
	}
	if err := b.Acquire(context.Background(), second); err == nil {
		t.Fatal("nothing failed")
	}
	b.fault = nil
	b.acquire(second)
	b.isReady(second)
	if got := b.salvaged("refs/orange/salvage/"+string(first.Task)+"/1", "f"); got != "changed" {
		t.Errorf("kept %q", got)
	}
}

// A marker that cannot be read keeps nobody from the slot: the record says whose it is.
func TestAMarkerThatIsDamaged(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "damaged": "{\"task\"", "without a task": "{}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Holds = func(task.ID, string) (bool, error) { return false, nil }
			first, second := b.slot(1), b.slot(2)
			dir := b.acquire(first)
			write(t, dir, "f", "changed")
			write(t, b.admin(first.Name), bindingName, text)
			check(t, b.SyncTaskFile(context.Background(), first))
			if content(t, dir, "f") != "changed" {
				t.Error("the work is gone")
			}
			write(t, b.admin(first.Name), bindingName, text)
			notes := noted(&first)
			ref := b.release(first)
			if !strings.HasPrefix(ref, "refs/orange/salvage/"+string(first.Task)+"/") || b.salvaged(ref, "f") != "changed" {
				t.Errorf("salvage %q", ref)
			}
			if told := strings.Join(*notes, "\n"); !strings.Contains(told, bindingName+".damaged") {
				t.Errorf("a person is told %q", told)
			}
			b.isClear(first.Name)
			write(t, b.admin(first.Name), bindingName, text)
			write(t, b.admin(first.Name), lastName, text)
			write(t, dir, "f", "later")
			b.acquire(second)
			b.isReady(second)
			if got := b.salvaged("refs/orange/salvage/p--1/1", "f"); got != "later" {
				t.Errorf("kept %q", got)
			}
		})
	}
}

// The record decides for gc and for workspaces that are made in advance too.
func TestMarkersOfTasksThatHoldNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.slot(1)
	dir := b.acquire(first)
	write(t, dir, "staged", "s")
	do(t, dir, "add", "staged")
	b.Holds = func(task.ID, string) (bool, error) { return false, nil }
	ctx := context.Background()
	swept, err := b.GC(ctx, nil, nil, Sweep{Dry: true})
	if err != nil || len(swept.Removed) != 1 || !slices.Equal(swept.Removed[0].Unsaved, []string{"staged"}) {
		t.Errorf("got %+v, %v", swept, err)
	}
	swept, err = b.GC(ctx, nil, nil, Sweep{})
	if err != nil || len(swept.Removed) != 1 || b.salvaged(swept.Removed[0].Salvage, "staged") != "s" || there(dir, "") {
		t.Errorf("got %+v, %v", swept, err)
	}
	b.acquire(first)
	write(t, dir, "again", "a")
	do(t, dir, "add", "again")
	check(t, os.RemoveAll(dir))
	check(t, b.MakeWorkspaces(ctx, b.project, 1))
	b.isClear(first.Name)
	list, err := git.New().ListSalvages(ctx, b.project.Path)
	if err != nil || len(list) != 2 || list[1].Task != string(first.Task) || b.salvaged(list[1].Ref, "again") != "a" {
		t.Errorf("got %+v, %v", list, err)
	}
}
