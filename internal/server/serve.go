// Package server puts the parts of Orange together: the runtime, the adapters and the API of
// one data folder, and what the command line needs of them.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"orange/internal/adapter/attend"
	"orange/internal/adapter/git"
	"orange/internal/adapter/harness"
	"orange/internal/adapter/lock"
	"orange/internal/adapter/logfile"
	"orange/internal/adapter/socket"
	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/taskdir"
	"orange/internal/adapter/workflowdir"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/runtime/effect"
	"orange/internal/runtime/herald"
	"orange/internal/runtime/local"
	"orange/internal/runtime/track"
	"orange/internal/ui/api"
	"orange/internal/ui/cli"
)

// defaultIdle is when a server leaves that nobody asks and that waits for nothing.
const defaultIdle = 10 * time.Minute

// Serve runs the server of a data folder until ctx ends, it is told to stop, or it
// has been idle for long enough.
func Serve(ctx context.Context, cfg config.Config, version string, o cli.ServeOptions) (err error) {
	attend.ProtectServer()
	if err := os.MkdirAll(cfg.Home, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w; set ORANGE_HOME to a folder you may write", err)
	}
	if err := config.CheckHome(cfg.Home); err != nil {
		return err
	}
	held, err := takeFolder(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	s := &server{cfg: cfg, version: version, held: held}
	defer s.removeSocket() // that it is gone says that all is on the disk
	logs, err := logfile.Open(filepath.Join(cfg.Home, "orange.log"), logfile.MaxSize)
	if err != nil {
		return err
	}
	defer logs.Close() //nolint:errcheck // nothing can be said about a log that cannot be closed
	s.log = slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: level(cfg.LogLevel)}))
	if s.store, err = openHomeStore(cfg.Home); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	s.git, s.trust = guardedGit(cfg.Home, s.store)
	return s.run(ctx, o)
}

// server is the parts of one data folder, put together.
type server struct {
	cfg     config.Config
	version string
	held    *lock.Lock
	socket  *socket.Listener // nil before it listens
	store   *sqlite.Store
	log     *slog.Logger
	git     *git.Git
	trust   *gitTrust
	folders *taskdir.Dir
	runtime *local.Runtime
	self    string     // this program
	id      string     // of the data folder
	company *company   // nil: effects are written down and no agents run
	news    sync.Mutex // see boards
	office  *track.Office
	forges  forges
	retrack chan struct{} // the trackers are not the same any more
	hears   bool          // news of trackers come in over HTTP
	page    *webPage
	sights  *sights
	moves   moves
	herald  *herald.Herald
	anchors *anchors           // nil: no merge is anchored
	fault   func(point string) // kills the process when it is told to; nil: never

	backedUp  chan struct{}         // closes when the first backup was made, or failed
	backupErr atomic.Pointer[error] // how the last one went
}

func (s *server) run(ctx context.Context, o cli.ServeOptions) (err error) {
	if s.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	s.folders = taskdir.New(tasksFolder(s.cfg.Home))
	s.page, s.sights = &webPage{s: s}, newSights(s)
	s.fault = crashAt(o.CrashAt, o.CrashPoint)
	s.office, s.retrack = s.newOffice(), make(chan struct{}, 1)
	s.loadTrust(ctx)
	if err := s.open(ctx, o); err != nil {
		return err
	}
	defer s.close()
	s.office.Tasks, s.office.Seen = s.runtime, s.sights.saw
	s.catchUp()
	if s.socket, err = socket.Listen(s.cfg.Socket, s.cfg.Spare); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	kept := s.stayReachable(ctx, stop)
	defer func() { stop(); kept() }()
	defer s.sights.start(ctx)()
	s.log.Info("serving", "component", "serve", "version", s.version, "pid", os.Getpid(), "home", s.cfg.Home)
	idle := o.Idle
	if idle == 0 {
		idle = defaultIdle
	}
	copied := s.backUp(ctx)
	defer func() { stop(); copied() }()
	ended, err := s.track(ctx, o.Hooks)
	if err != nil {
		return err
	}
	heard := s.announce(ctx)
	anchored := s.anchorMerges(ctx, s.fault)
	var recovered sync.WaitGroup
	defer recovered.Wait()
	recovered.Go(func() { s.recoverLandings(ctx) })
	closed, err := s.page.start(ctx, o.Web, o.WebInput || s.cfg.WebInput)
	if err == nil && o.Web != "" && o.Say != nil {
		if at, err := s.page.Open(ctx); err == nil {
			o.Say("The web page is at " + at.Login)
		}
	}
	if err == nil {
		err = s.api(stop).Serve(ctx, s.socket, idle)
	}
	stop()
	closed()
	heard()
	anchored()
	ended()
	s.log.Info("leaving", "component", "serve", "pid", os.Getpid())
	return err
}

// open starts the runtime, with agents or with a recorder in their place.
func (s *server) open(ctx context.Context, o cli.ServeOptions) (err error) {
	options := local.Options{
		Store: s.store, Files: s.folders, Log: s.log, Prober: s.prober(), Ledger: s.store, Kin: s.store,
		Codes:    codes{s.cfg, s.git},
		Library:  workflowdir.New(s.cfg.UserWorkflows),
		Workflow: s.cfg.Workflow, Harness: cmp.Or(s.cfg.Harness, "claude"), Review: s.cfg.ReviewHarness,
		Fault: s.fault,
	}
	if s.cfg.Record {
		if err := noLivingAttempts(s.cfg.Home); err != nil {
			return err
		}
		options.Review = cmp.Or(options.Review, "claude")
		options.Performer = effect.Recorder{Command: []string{s.self, recordEffect}, Dir: filepath.Join(s.cfg.Home, "effects"), Env: []string{}}
		s.runtime, err = local.Open(options)
		return err
	}
	attend.AdoptOrphans(ctx)
	if s.company, err = s.hire(); err != nil {
		return err
	}
	if first, ok := harness.First(exec.LookPath); ok {
		options.Harness = cmp.Or(s.cfg.Harness, first)
	}
	options.Performer, options.Pulse, options.Healer = s.company.doer, s.company.agents, s.company.worktrees
	options.Absent, options.Message = s.company.agents.Absent, s.lastMessage
	options.Files = withAttempts{Dir: s.folders, root: s.company.agents.Root}
	options.Commit, options.Harnesses, options.Branch = s.company.worktrees.commit, s.checkHarness, s.company.worktrees.usable
	options.Opened = func(r *local.Runtime) { // before effects of the last server are driven
		s.runtime = r
		s.adopt()
	}
	_, err = local.Open(options)
	return err
}

// prober looks evidence up.
func (s *server) prober() prober {
	return prober{git: s.git, pull: s.pull, workspace: s.workspaceFolder, recording: s.cfg.Record, began: func(id task.ID, attempt int) (time.Time, bool) {
		if s.company == nil {
			return time.Time{}, false
		}
		return s.company.agents.Began(id, attempt)
	}}
}

// workspaceFolder is where a workspace is.
func (s *server) workspaceFolder(name string) string {
	return filepath.Join(s.cfg.Home, "workspaces", name)
}

// adopt looks after the attempts that are not over.
func (s *server) adopt() {
	tasks, err := s.store.Unsettled()
	if err != nil {
		s.log.Error("look for live agents", "component", "serve", "error", err)
	}
	s.company.agents.Adopt(tasks)
}

// withAttempts are the folders of tasks, which go together with those of their attempts.
type withAttempts struct {
	*taskdir.Dir
	root string
}

// Remove implements local.Files.
func (w withAttempts) Remove(project string, id task.ID) error {
	if err := w.Dir.Remove(project, id); err != nil || !id.Valid() {
		return err
	}
	return os.RemoveAll(filepath.Join(w.root, string(id)))
}

// close waits until nothing moves any more. Agents go on.
func (s *server) close() {
	if s.company == nil {
		s.runtime.Close()
		return
	}
	s.company.agents.Stop()
	s.runtime.Close()
	s.company.close()
}

func (s *server) api(stop func()) *api.Server {
	out := &api.Server{
		Engine: s.runtime, Control: control{s.runtime, s.office, s.page, s.herald, s.hears}, Trackers: trackers{s.office, s}, Projects: projects{s}, Tasks: s.store, Workflows: library{s}, Folders: s.folders, Boards: s.boards(),
		Rows: s.store, Sights: s.sights, Changes: changes{s}, Library: library{s}, Page: s.page, Definition: s.runtime.Definition, VerifyChain: s.store.VerifyChainOf,
		Inbox: s.inbox, Reasons: s.waitReasons, Transfer: transfer{s}, Where: s.where, Checks: s.checks, Repair: s.repair,
		GitPrograms: s.trust, Origins: origins{}, Stop: stop, Release: s.version, Home: s.cfg.Home, PID: os.Getpid(), Log: s.log,
	}
	if c := s.company; c != nil {
		out.Identity, out.Attempts, out.Workspaces, out.Screens = identity{c.agents}, attemptsView{c}, c.worktrees, screens{s}
	}
	return out
}

func level(name string) slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return l
}

// DescribeAPI returns the OpenAPI description of the server.
func DescribeAPI(version string) (any, error) { return api.Describe(version) }
