package pathwatch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orange/internal/adapter/pathwatch"
)

func TestWaitSeesWhatHappensToAPath(t *testing.T) {
	touch := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	for _, tt := range []struct {
		name          string
		before, after func(root, path string) error
	}{
		{"it is created", nil, func(_, path string) error { return touch(path) }},
		{"it is removed", func(_, path string) error { return touch(path) }, func(_, path string) error { return os.Remove(path) }},
		{"it is replaced", func(_, path string) error { return touch(path) },
			func(root, path string) error { return errors.Join(touch(root+"/new"), os.Rename(root+"/new", path)) }},
		{"its folder is moved", nil, func(_, path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".aside") }},
		{"a folder above is moved", nil, func(root, _ string) error { return os.Rename(root+"/a", root+"/b") }},
		{"its folder is made", func(root, _ string) error { return os.RemoveAll(root + "/a") }, func(root, path string) error { return os.MkdirAll(filepath.Dir(path), 0o700) }},
		{"other things happen first", nil, func(root, path string) error {
			return errors.Join(touch(filepath.Join(filepath.Dir(path), "other")), touch(root+"/other"), touch(path))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "a", "b", "file")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.before != nil {
				if err := tt.before(root, path); err != nil {
					t.Fatal(err)
				}
			}
			w, err := pathwatch.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if err := tt.after(root, path); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := w.Wait(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	w, err := pathwatch.Open(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(10*time.Millisecond, cancel).Stop()
	for err = nil; err == nil; { // a mount somewhere is a change
		err = w.Wait(ctx)
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
