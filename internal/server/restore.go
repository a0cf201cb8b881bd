package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"orange/internal/adapter/logfile"
	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/workflowdir"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/server/gittrust"
	"orange/internal/server/homestore"
	"orange/internal/server/reach"
	"orange/internal/server/restore"
	"orange/internal/ui/cli"
)

// RestoreStore restores a lost or damaged store, without a server. It takes the newest intact store, ends the agents
// that this store does not know, adds the tasks that it does not know, and pauses the tasks of which it has an earlier
// record. It can be repeated after it was interrupted at any point.
func RestoreStore(ctx context.Context, cfg config.Config, o cli.RestoreOptions) (report cli.Restored, err error) {
	if _, err := os.Stat(cfg.Home); errors.Is(err, fs.ErrNotExist) {
		return report, fmt.Errorf("restore the store: the data folder %s does not exist; set ORANGE_HOME to the right one", cfg.Home)
	}
	cfg.Record = false // end unknown agents even if the next server only records effects
	held, err := reach.TakeForRestore(cfg)
	var running cli.ServerRunningError
	if errors.As(err, &running) {
		return report, fmt.Errorf("restore the store: a server uses it (pid %d); run orange stop, then orange doctor --restore", running.PID)
	}
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	logs, err := logfile.Open(filepath.Join(cfg.Home, "orange.log"), logfile.MaxSize)
	if err != nil {
		return report, err
	}
	defer logs.Close() //nolint:errcheck // nothing can be said about a log that cannot be closed
	fault := crashAt(o.CrashAt, o.CrashPoint)
	if fault == nil {
		fault = func(string) {}
	}
	if err := restore.PlaceStore(ctx, cfg.Home, &report, fault); err != nil {
		return report, err
	}
	store, err := sqlite.Open(homestore.Path(cfg.Home))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s := &Server{cfg: cfg, store: store, log: slog.New(slog.NewJSONHandler(logs, nil))}
	s.live.Store(&s.cfg)
	s.git, s.trust = gittrust.New(cfg.Home, store)
	s.loadTrust(ctx)
	if s.self, err = os.Executable(); err != nil {
		return report, fmt.Errorf("find this program: %w", err)
	}
	if s.host, err = s.newHost(); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.host.Close()) }()
	return report, restore.Run(ctx, restore.Parts{
		Home: cfg.Home, Store: store, Host: s.host, Git: s.git, Fault: fault,
		OpenRuntime: func() (*local.Runtime, error) { return s.openStill(fault) },
		AddProject: func(ctx context.Context, p task.Project) (task.Project, error) {
			return s.projects().RegisterProject(ctx, p)
		},
	}, &report)
}

// openStill opens the runtime of a store that is being restored. The runtime performs no effects.
func (s *Server) openStill(fault func(string)) (_ *local.Runtime, err error) {
	s.runtime, err = local.Open(local.RuntimeOptions{
		Store: s.store, Files: s.host.Folders.Dir, Log: s.log, Library: workflowdir.New(s.cfg.UserWorkflows), Defaults: s.defaults,
		Relations: s.store, Still: true, Fault: fault,
	})
	return s.runtime, err
}
