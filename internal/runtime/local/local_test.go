package local_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/taskdir"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
)

func TestLocalInMemory(t *testing.T) { runtimetest.Run(t, open) }

func TestLocalOnDisk(t *testing.T) { runtimetest.RunOn(t, onDisk, open) }

// open starts the runtime under test.
func open(t *testing.T, s runtimetest.Setup) runtimetest.Runtime {
	t.Helper()
	rt, err := local.Open(local.RuntimeOptions{
		Store: s.Store, Files: s.Folders, Library: library(s.Library), Performer: performer{s.Performer}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return driven{rt, s.Store}
}

// onDisk returns a world like that of an installation.
func onDisk(t *testing.T) runtimetest.World {
	t.Helper()
	home := t.TempDir()
	store, err := sqlite.Open(filepath.Join(home, "orange.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	folders := taskdir.New(filepath.Join(home, "tasks"))
	edit := func(project string, id task.ID, change func(string) string) error {
		file := filepath.Join(folders.Path(project, id), "TASK.md")
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, []byte(change(string(text))), 0o600)
	}
	return runtimetest.World{Store: store, Folders: folders, Edit: edit}
}

// driven is a Runtime as the suite speaks of it.
type driven struct {
	*local.Runtime
	from local.Archive
}

func (d driven) Export(ctx context.Context, w io.Writer) error {
	return d.Runtime.Export(ctx, d.from, w)
}

func (d driven) Restore(ctx context.Context, r io.Reader) (runtimetest.ImportSummary, error) {
	taken, err := d.Runtime.Restore(ctx, r)
	return runtimetest.ImportSummary(taken), err
}

type performer struct{ stage *runtimetest.FakePerformer }

func (p performer) Perform(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	session, ended, err := p.stage.Perform(ctx, t, e)
	return local.EffectResult{Session: session, Ended: ended}, err
}

type library func(name string) (text string, ok bool)

func (l library) Find(name, _ string) (file, text string, ok bool, err error) {
	text, ok = l(name)
	return name + ".yaml", text, ok, nil
}
