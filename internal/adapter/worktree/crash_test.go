package worktree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"orange/internal/core/task"
	"orange/internal/testneeds"
)

var errCrash = errors.New("crash")

// crashAt makes the pool stop before the n-th step of the next call; it reports whether there
// were that many.
func (b *env) crashAt(n int) (crashed func() bool) {
	steps, hit := 0, false
	b.fault = func(string) error {
		steps++
		if steps == n {
			hit = true
			return errCrash
		}
		return nil
	}
	return func() bool { b.fault = nil; return hit }
}

func TestAcquireAfterACrashAtAnyStep(t *testing.T) {
	testneeds.Processes(t)
	t.Parallel()
	for n := 1; ; n++ {
		b := newBench(t)
		write(t, b.project.Path, ".worktreeinclude", ".env\n")
		write(t, b.project.Path, ".env", "KEY=1")
		first := b.slot(1)
		dir := b.acquire(first)
		b.release(first)
		write(t, dir, "leftover", "l")
		write(t, dir, "f", "late")

		s := b.slot(2)
		s.Setup = "mkdir -p cache; echo x >>cache/ran"
		crashed := b.crashAt(n)
		err := b.Acquire(context.Background(), s)
		if !crashed() {
			if err != nil {
				t.Fatal(err)
			}
			if n < 10 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("step %d: %v", n, err)
		}
		b.Pool = New(b.root, b.git) // another process
		b.acquire(s)
		b.isReady(s)
		ref := "refs/orange/salvage/" + string(first.Task)
		if got := b.salvaged(ref+"/1", "leftover") + b.salvaged(ref+"/1", "f"); got != "llate" {
			t.Errorf("step %d: kept %q", n, got)
		}
		if there(b.project.Path, ".git/"+ref+"/2") {
			t.Errorf("step %d: kept twice", n)
		}
		if content(t, dir, ".env") != "KEY=1" || content(t, dir, "cache/ran") == "" {
			t.Errorf("step %d: it is not complete", n)
		}
	}
}

func TestReleaseAfterACrashAtAnyStep(t *testing.T) {
	testneeds.Processes(t)
	t.Parallel()
	for n := 1; ; n++ {
		b := newBench(t)
		s := b.slot(1)
		s.Teardown = "mkdir -p cache; echo x >>cache/ran"
		dir := b.acquire(s)
		commitFile(t, dir, "done", "d")
		write(t, dir, "f", "changed")
		write(t, dir, "new", "n")
		write(t, dir, ".gitignore", "/cache/\n.env\nnotes\n")
		write(t, dir, "notes", "ignored by the task")
		remove(t, dir, TaskFileName)
		write(t, dir, TaskFileName, "---\nid: x\n---\nedited\n")

		crashed := b.crashAt(n)
		_, err := b.Release(context.Background(), s)
		if !crashed() {
			if err != nil {
				t.Fatal(err)
			}
			if n < 9 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("step %d: %v", n, err)
		}
		b.Pool = New(b.root, b.git)
		ref := b.release(s)
		b.isClear(s.Name)
		if want := "refs/orange/salvage/" + string(s.Task) + "/1"; ref != want {
			t.Errorf("step %d: salvage %q", n, ref)
		}
		if got := b.salvaged(ref, "f") + b.salvaged(ref, "new"); got != "changedn" {
			t.Errorf("step %d: kept %q", n, got)
		}
		if content(t, b.root, filepath.Join(asideName, "p--1", string(s.Task), "notes")) != "ignored by the task" {
			t.Errorf("step %d: the notes are gone", n)
		}
		if got := content(t, "/", s.TaskFile); got != "---\nid: x\n---\nedited\n" {
			t.Errorf("step %d: TASK.md is %q", n, got)
		}
		if got := content(t, dir, "cache/ran"); got != "x\n" {
			t.Errorf("step %d: the teardown ran %q", n, got)
		}
	}
}

// Three workspaces serve fifty tasks at the same time, each with work that must not be
// lost. Crashes come and go.
func TestThreeWorkspacesAndFiftyTasks(t *testing.T) {
	testneeds.Processes(t)
	t.Parallel()
	b := newBench(t)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	b.fault = func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(15) == 0 {
			return errCrash
		}
		return nil
	}
	const tasks = 50
	var turns [3][]Slot
	for n := range tasks {
		s := b.slot(n)
		s.Name = fmt.Sprintf("p--%d", n%3+1)
		turns[n%3] = append(turns[n%3], s)
	}
	refs := make(map[task.ID]string, tasks)
	var wg sync.WaitGroup
	for _, slots := range turns {
		wg.Go(func() {
			for _, s := range slots {
				ref, err := b.turn(s)
				if err != nil {
					t.Errorf("%s: %v", s.Branch, err)
					return
				}
				mu.Lock()
				refs[s.Task] = ref
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for n := range tasks {
		s := b.slot(n)
		if got := b.salvaged(refs[s.Task], "new"); got != s.Branch {
			t.Errorf("%s: the work at %q is %q", s.Branch, refs[s.Task], got)
		}
		if got := do(t, b.project.Path, "show", s.Branch+":done"); got != s.Branch {
			t.Errorf("%s: the branch has %q", s.Branch, got)
		}
	}
	for _, name := range b.project.WorkspaceNames() {
		b.isClear(name)
	}
}

// turn returns what one task does with its workspace.
func (b *env) turn(s Slot) (ref string, err error) {
	ctx := context.Background()
	if err := untilDone(func() error { return b.Acquire(ctx, s) }); err != nil {
		return "", err
	}
	dir := b.Path(s.Name)
	for _, name := range []string{"done", "new", "cache/x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s.Branch), 0o644); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{{"add", "done"}, {"commit", "-q", "-m", "done"}} {
		if text, err := try(dir, args...); err != nil {
			return "", fmt.Errorf("%s: %w", text, err)
		}
	}
	err = untilDone(func() error { ref, err = b.Release(ctx, s); return err })
	return ref, err
}

// untilDone calls again what a crash has cut short.
func untilDone(do func() error) error {
	for range 200 {
		if err := do(); !errors.Is(err, errCrash) {
			return err
		}
	}
	return errors.New("it never gets through")
}
