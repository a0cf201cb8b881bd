package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/lock"
	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/workflowdir"
	"orange/internal/config"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/server/homestore"
	"orange/internal/server/reach"
	"orange/internal/ui/cli"
	"orange/internal/wait"
)

// TestMain lets the test binary be the process that writes effects down.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		if code, ok := RunHelper(os.Args[1], os.Args[2]); ok {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// owingHome returns the configuration of a data folder whose journal owes effects of several tasks.
func owingHome(t *testing.T, tasks int) config.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // a socket's path may have 108 bytes
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary folder
	vars := map[string]string{"ORANGE_HOME": filepath.Join(dir, "home"), "ORANGE_EFFECTS": "record", "XDG_RUNTIME_DIR": dir}
	cfg, err := config.Load(func(name string) string { return vars[name] }, func() (string, error) { return dir, nil })
	check(t, err)
	check(t, os.MkdirAll(cfg.Home, 0o700))
	store, err := sqlite.Open(homestore.Path(cfg.Home))
	check(t, err)
	check(t, store.SaveProject(task.Project{Name: "shop", Path: dir, DefaultBranch: "main", PoolSize: tasks}))
	still, err := local.New(local.RuntimeOptions{
		Store: store, Relations: store, Library: workflowdir.New(cfg.UserWorkflows), Defaults: func() local.Defaults { return local.Defaults{Harness: "claude", Review: "claude"} }, Still: true, Log: slog.New(slog.DiscardHandler),
	})
	check(t, err)
	for i := range tasks {
		_, err := still.Create(t.Context(), signal.NewTask{New: signal.New{Project: "shop", Branch: fmt.Sprint("b", i), Summary: "owed", Spawn: true}, Actor: task.Human})
		check(t, err)
	}
	owed, err := store.UnsettledTasks()
	check(t, err)
	if len(owed) != tasks || len(owed[0].Pending) == 0 {
		t.Fatalf("the journal owes nothing: %+v", owed)
	}
	still.Close()
	check(t, store.Close())
	return cfg
}

// What holds the folder is a server or a restore, and only one of them can be stopped.
func TestARestoreSaysWhatHoldsTheFolder(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // a socket's path may have 108 bytes
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary folder
	vars := map[string]string{"ORANGE_HOME": filepath.Join(dir, "home"), "XDG_RUNTIME_DIR": dir}
	cfg, err := config.Load(func(name string) string { return vars[name] }, func() (string, error) { return dir, nil })
	check(t, err)
	check(t, os.MkdirAll(cfg.Home, 0o700))
	for _, tt := range []struct {
		name string
		take func() (*lock.Lock, error)
		says string
		stop bool // orange stop finds it
	}{
		{"a server", func() (*lock.Lock, error) { return reach.TakeFolder(cfg) }, "a server uses it (pid %d); run orange stop, then orange doctor --restore", true},
		{"a restore", func() (*lock.Lock, error) { return reach.TakeForRestore(cfg) }, "a restore is in progress already (pid %d): wait until it ends, then try again", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			held, err := tt.take()
			check(t, err)
			defer held.Release() //nolint:errcheck // the end of the test
			_, err = RestoreStore(t.Context(), cfg, cli.RestoreOptions{})
			if want := "restore the store: " + fmt.Sprintf(tt.says, os.Getpid()); err == nil || err.Error() != want {
				t.Errorf("a restore says %v, want %s", err, want)
			}
			_, err = New(cfg, "test", cli.ServeOptions{})
			if err == nil || strings.Contains(err.Error(), "orange stop") != tt.stop {
				t.Errorf("a server says %v", err)
			}
			if owner, ok := reach.FindOwner(cfg.Home); ok != tt.stop || ok && owner.Terminate == nil {
				t.Errorf("orange stop finds %+v, %v", owner, ok)
			}
		})
	}
}

func effectsOf(cfg config.Config) string {
	var out strings.Builder
	for _, file := range homestore.GlobIn(cfg.Home, "effects/*") {
		text, _ := os.ReadFile(file) // it may be written now
		out.Write(text)
	}
	return out.String()
}

// A server that was built and not started does nothing, and nothing of it is left when it is closed.
func TestAServerThatIsNotStartedDoesNothing(t *testing.T) {
	cfg := owingHome(t, 1)
	before := runtime.NumGoroutine()
	s, err := New(cfg, "test", cli.ServeOptions{})
	check(t, err)
	time.Sleep(200 * time.Millisecond)
	if did := effectsOf(cfg); did != "" {
		t.Errorf("it did %s", did)
	}
	if _, err := os.Stat(cfg.Socket); err == nil {
		t.Error("it listens")
	}
	check(t, s.Close())
	wait.Until(t, fmt.Sprintf("at most %d goroutines are left", before), func() bool { return runtime.NumGoroutine() <= before }, func() any { return runtime.NumGoroutine() })
	again, err := New(cfg, "test", cli.ServeOptions{}) // the folder is free
	check(t, err)
	check(t, again.Close())
}

// A server with many pending effects performs them as soon as it is started. The race detector watches.
func TestAStartedServerPerformsPendingEffects(t *testing.T) {
	cfg := owingHome(t, 8)
	s, err := New(cfg, "test", cli.ServeOptions{}) // is closed while effects are performed
	check(t, err)
	check(t, s.Start(t.Context()))
	check(t, s.Close())
	s, err = New(cfg, "test", cli.ServeOptions{})
	check(t, err)
	check(t, s.Start(t.Context()))
	pending := 0
	wait.Until(t, "no effect is pending", func() bool {
		tasks, err := s.store.UnsettledTasks()
		check(t, err)
		pending = 0
		for _, one := range tasks {
			pending += len(one.Pending)
		}
		return pending == 0 && effectsOf(cfg) != ""
	}, func() any { return pending })
	check(t, s.Close())
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}
