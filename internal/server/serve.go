// Package server builds the server of one data folder from the runtime, the adapters and the API, and provides what the
// command line needs of them.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/adapter/lock"
	"orange/internal/adapter/logfile"
	"orange/internal/adapter/shim"
	"orange/internal/adapter/socket"
	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/workflowdir"
	"orange/internal/config"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/host"
	"orange/internal/runtime/effect"
	"orange/internal/runtime/local"
	"orange/internal/runtime/notifier"
	"orange/internal/runtime/trackers"
	"orange/internal/server/anchors"
	"orange/internal/server/boards"
	"orange/internal/server/delivery"
	"orange/internal/server/evidence"
	"orange/internal/server/forges"
	"orange/internal/server/gittrust"
	"orange/internal/server/health"
	"orange/internal/server/hints"
	"orange/internal/server/homestore"
	"orange/internal/server/inbox"
	"orange/internal/server/library"
	"orange/internal/server/measure"
	"orange/internal/server/metrics"
	"orange/internal/server/notifications"
	"orange/internal/server/page"
	"orange/internal/server/projects"
	"orange/internal/server/reach"
	"orange/internal/server/statistics"
	"orange/internal/server/terminals"
	"orange/internal/server/tracking"
	"orange/internal/ui/api"
	"orange/internal/ui/cli"
	"orange/internal/wire"
)

// defaultIdle is how long a server keeps running without requests and without work.
const defaultIdle = 10 * time.Minute

// Serve runs the server of a data folder until ctx ends, a request stops it, or it has been idle for long enough.
func Serve(ctx context.Context, cfg config.Config, version string, o cli.ServeOptions) (err error) {
	shim.ProtectServer()
	s, err := New(cfg, version, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Start(ctx); err != nil {
		return err
	}
	return s.Wait()
}

// Server is the server of one data folder. New sets every field but socket.
type Server struct {
	cfg              config.Config
	version          string
	options          cli.ServeOptions
	held             *lock.Lock
	logs             *logfile.LogFile
	socket           *socket.Listener // nil before Start
	store            *sqlite.Store
	log              *slog.Logger
	git              *git.Git
	trust            *gittrust.Trust
	runtime          *local.Runtime
	self             string // this program
	host             *host.Host
	executor         *effect.Executor // filled when all its parts are built
	boards           boards.Boards
	trackerService   *trackers.Service
	forges           *forges.Directory
	retrack          chan struct{} // receives when the list of trackers changed
	receivesWebhooks bool          // trackers send webhooks
	page             *page.Page
	measure          *measure.Service
	statistics       *statistics.Statistics
	inbox            *inbox.Inbox
	notifier         atomic.Pointer[notifier.Notifier]
	live             atomic.Pointer[config.Config] // the settings in use
	unread           atomic.Pointer[error]         // why config.json cannot be read; nil if it can
	channelsChanged  chan struct{}                 // receives when the notification channels changed
	level            *slog.LevelVar                // of the log
	anchors          *anchors.Anchors              // nil: no merge is anchored
	delivery         delivery.Service
	backups          *homestore.Backups
	fault            func(point string) // kills the process at a chosen point, for tests; nil: never
	api              *api.Server

	environment environment // what agents inherit a part of

	ctx    context.Context // of everything that Start starts
	stop   context.CancelFunc
	served chan error // receives the error of serving the API
	ends   []func()   // each waits for something that Start started, in the order of starting
}

// New locks a data folder and builds its server. Nothing runs before Start: no effect is performed, no timer fires and
// no client can connect. Close releases the folder.
func New(cfg config.Config, version string, o cli.ServeOptions) (*Server, error) {
	if err := os.MkdirAll(cfg.Home, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w; set ORANGE_HOME to a folder you may write", err)
	}
	if err := config.CheckHome(cfg.Home); err != nil {
		return nil, err
	}
	if cfg.Unsafe != nil {
		return nil, cfg.Unsafe
	}
	held, err := reach.TakeFolder(cfg)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, version: version, options: o, held: held, receivesWebhooks: o.Hooks != "", fault: crashAt(o.CrashAt, o.CrashPoint),
		runtime: new(local.Runtime), executor: new(effect.Executor), retrack: make(chan struct{}, 1), channelsChanged: make(chan struct{}, 1), level: new(slog.LevelVar), served: make(chan error, 1),
	}
	s.live.Store(&s.cfg)
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.buildParts(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) buildParts() (err error) {
	if s.logs, err = logfile.Open(filepath.Join(s.cfg.Home, "orange.log"), logfile.MaxSize); err != nil {
		return err
	}
	s.level.Set(parseLogLevel(s.cfg.LogLevel))
	s.log = slog.New(slog.NewJSONHandler(s.logs, &slog.HandlerOptions{Level: s.level}))
	for _, p := range s.cfg.Problems {
		s.log.Warn("a key of config.json is ignored", "component", "serve", "key", p.Key, "error", p.Err)
	}
	if s.store, err = homestore.Open(s.cfg.Home); err != nil {
		return err
	}
	s.git, s.trust = gittrust.New(s.cfg.Home, s.store)
	s.forges, s.backups = &forges.Directory{Git: s.git, Log: s.log}, homestore.NewBackups(s.store, s.cfg.Home, s.log)
	if s.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if s.cfg.Record {
		if err := host.RequireNoAgents(s.cfg.Home); err != nil {
			return err
		}
	}
	if s.host, err = s.newHost(); err != nil {
		return err
	}
	if err = s.buildRuntime(); err != nil {
		return err
	}
	s.boards = boards.New(s.store, s.runtime, s.log)
	s.inbox = inbox.New(inbox.Sources{
		Tasks: s.store, Paused: s.runtime.Paused, Projects: s.runtime.Projects, Definition: s.runtime.Definition, TaskFile: s.host.Folders.ReadTaskFile,
		Untrusted: s.trust.UntrustedNotice, Output: s.host.LastOutput, Message: s.host.LastMessage,
	})
	s.delivery = delivery.Service{Git: s.git, Forges: s.forges, Project: s.runtime.Project, TaskFile: s.host.Folders.ReadTaskFile, Log: s.log, Waits: &delivery.Waits{Clock: time.Now}, RequireApproval: s.newEvidence().RequireApproval}
	s.page, s.measure = s.newPage(), s.newMeasure()
	s.statistics = statistics.New(statistics.Sources{Rows: s.store.Rows, Definition: s.runtime.Definition})
	s.trackerService = s.newTrackerService()
	s.fillExecutor()
	s.notifier.Store(s.newNotifier())
	s.anchors = s.newAnchors()
	s.api = s.newAPI()
	return nil
}

// buildRuntime builds the runtime, with agents or with a recorder in their place.
func (s *Server) buildRuntime() error {
	options := local.RuntimeOptions{
		Store: s.store, Files: s.host.Folders.Dir, Log: s.log, EvidenceSource: s.newEvidence(), SpendQuery: s.store, Relations: s.store,
		Codes:    notifications.Codes{Config: s.settings, Git: s.git},
		Library:  workflowdir.New(s.cfg.UserWorkflows),
		Defaults: s.defaults,
		Priority: func(t *task.Task) int { return s.trackerService.PriorityOf(t) },
		Fault:    s.fault,
	}
	if s.cfg.Record {
		options.Performer = effect.Recorder{Command: []string{s.self, recordEffect}, Dir: filepath.Join(s.cfg.Home, "effects"), Env: []string{}}
		return s.runtime.Build(options)
	}
	options.Performer, options.Activity, options.TaskFileSync, options.Files = s.executor, s.host.Agents, s.host, s.host.Folders
	options.Absent, options.Message = s.host.AbsentAttempts, s.host.LastMessage
	options.Harnesses, options.Branch, options.HasBranch = s.checkHarness, s.projects().RequireUsableBranch, s.host.HasBranch
	return s.runtime.Build(options)
}

// Start performs pending effects and serves requests until ctx ends or Close is called. The caller must call Close even
// after an error.
func (s *Server) Start(ctx context.Context) (err error) {
	context.AfterFunc(ctx, s.stop)
	s.loadTrust(s.ctx)
	s.ends = append(s.ends, s.measure.Start(s.ctx))
	if !s.cfg.Record {
		shim.AdoptOrphans(s.ctx)
		s.adoptAttempts() // before effects of the last server are performed
	}
	if err := s.runtime.Start(); err != nil {
		return err
	}
	s.boards.CatchUp(s.trackerService.ReadCard)
	if s.socket, err = socket.Listen(s.cfg.Socket, s.cfg.FallbackSocket); err != nil {
		return err
	}
	s.runInBackground(reach.Reachable{Home: s.cfg.Home, Socket: s.socket, Held: s.held, Store: s.store.Paths(), Rescue: func(ctx context.Context) error { return s.backups.Rescue(ctx, false) }, Leave: s.stop, Log: s.log}.Watch)
	s.log.Info("serving", "component", "serve", "version", s.version, "pid", os.Getpid(), "home", s.cfg.Home)
	s.runInBackground(s.backups.Run)
	s.runInBackground(func(ctx context.Context) { s.delivery.RecoverLandings(ctx, s.runtime.Projects()) })
	ended, err := tracking.Watch(s.ctx, s.trackerService, s.options.Hooks, s.retrack)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, ended)
	if s.anchors != nil {
		s.runInBackground(s.anchors.FollowMerges)
	}
	s.runInBackground(s.runNotifier)
	s.runInBackground(s.watchSettings)
	if err := s.serveMetrics(); err != nil {
		return err
	}
	closed, err := s.page.Start(s.ctx, s.options.Web, page.Options{Input: s.options.WebInput || s.cfg.WebInput, EditorLink: s.cfg.EditorLink, Dev: s.options.Dev})
	s.ends = append(s.ends, closed)
	if err != nil {
		return err
	}
	if s.options.Web != "" && s.options.Say != nil {
		if at, err := s.page.OpenPage(s.ctx); err == nil {
			s.options.Say("The web page is at " + at.Login)
		}
	}
	s.runInBackground(func(ctx context.Context) {
		s.served <- s.api.Serve(ctx, s.socket, cmp.Or(s.options.Idle, defaultIdle))
	})
	return nil
}

// serveMetrics serves metrics if a person wants them. A taken port in the configuration does not keep the server from
// starting.
func (s *Server) serveMetrics() error {
	if s.options.Metrics == "" {
		return nil
	}
	ended, err := metrics.Serve(s.ctx, s.options.Metrics, metrics.Handler(s.statistics.MeasureTasks, s.version, s.log), s.log)
	s.ends = append(s.ends, ended)
	if usual, wrong := config.MetricsAddress(s.cfg.Metrics); err != nil && wrong == nil && usual == s.options.Metrics {
		s.log.Error("metrics are not served", "component", "metrics", "error", err)
		return nil
	}
	return err
}

// runInBackground calls f in a goroutine that Close waits for.
func (s *Server) runInBackground(f func(context.Context)) {
	var running sync.WaitGroup
	running.Go(func() { f(s.ctx) })
	s.ends = append(s.ends, running.Wait)
}

// Wait returns when a started server no longer serves requests.
func (s *Server) Wait() error { return <-s.served }

// Close ends everything that Start started, in reverse order, and releases the data folder. Agents keep running.
func (s *Server) Close() (err error) {
	s.stop()
	for _, wait := range slices.Backward(s.ends) {
		wait()
	}
	if s.socket != nil {
		s.log.Info("leaving", "component", "serve", "pid", os.Getpid())
	}
	if s.host != nil {
		s.host.StopWaiting()
	}
	s.runtime.Close()
	if s.host != nil {
		err = s.host.Close()
	}
	if s.backups != nil && !s.held.HasMoved() { // what was decided since the last copy
		err = errors.Join(err, s.backups.Rescue(context.Background(), true))
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.logs != nil {
		s.logs.Close() //nolint:errcheck // nothing can be said about a log that cannot be closed
	}
	if s.socket != nil { // clients take its absence as proof that everything is on disk
		s.socket.Remove() //nolint:errcheck // nothing listens on a socket that is left
	}
	return errors.Join(err, s.held.Release())
}

// newEvidence returns the source of evidence.
func (s *Server) newEvidence() evidence.Source {
	return evidence.Source{Git: s.git, Pull: s.forges.FindPullRequest, Required: s.forges.RequiredChecks, Host: s.host.Evidence(), Recording: s.cfg.Record}
}

// adoptAttempts watches the attempts that are not over.
func (s *Server) adoptAttempts() {
	tasks, err := s.store.UnsettledTasks()
	if err != nil {
		s.log.Error("find running agents", "component", "serve", "error", err)
	}
	s.host.AdoptAttempts(s.ctx, tasks)
}

// waitReasons returns why a task waits for a person.
func (s *Server) waitReasons(t *task.Task) []explain.WaitReason { return s.inbox.Reasons(t) }

// newPage returns the web page, closed.
func (s *Server) newPage() *page.Page {
	return page.New(page.Parts{
		Home: s.cfg.Home, Socket: s.cfg.Socket, At: func() string { return s.socket.Path() }, Web: s.cfg.Web, Self: s.self, Version: s.version, Settings: s.store,
		Workflow: workflowFiles(s.cfg).FindWorkflow, ToolEnv: s.host.ToolEnv, Agents: s.host.Agents, Log: s.log,
	})
}

// newAnchors returns the anchors of merges, or nil if the server only records effects.
func (s *Server) newAnchors() *anchors.Anchors {
	if s.cfg.Record {
		return nil
	}
	out, err := anchors.New(anchors.Sources{Journal: s.store, Git: s.git, Follow: s.runtime.FollowJournal, Projects: s.runtime.Projects, Fault: s.fault, Log: s.log})
	if err != nil {
		s.log.Error("find the merges to anchor", "component", "anchors", "error", err)
	}
	return out
}

// notifications returns the channels that notify people.
func (s *Server) notifications() notifications.Channels {
	return notifications.Channels{Config: *s.settings(), Task: s.store.Task, Reasons: s.waitReasons, SeenAt: s.page.SeenAt, Log: s.log}
}

// projects returns the registry of projects.
func (s *Server) projects() projects.Registry {
	return projects.Registry{Runtime: s.runtime, Git: s.git, Trust: s.trust, Host: s.host, Size: func() int { return max(s.settings().PoolSize, 0) }, Load: s.loadTrust}
}

// library returns the library of all workflows.
func (s *Server) library() library.Library {
	return library.Library{Tasks: s.store, Files: workflowdir.New(s.cfg.UserWorkflows), Projects: s.runtime.Projects}
}

// newChecks returns the checks of the data folder.
func (s *Server) newChecks() health.Checks {
	check := health.Checks{
		Store: s.store, Git: s.git, Trust: s.trust, Host: s.host, Projects: s.runtime.Projects, FindProgram: func(name string) (string, error) { return s.settings().FindProgram(name) }, Workspaces: s.workspaces().ListWorkspaces,
		Backups: s.backups.Check, Trackers: s.checkTrackers, Settings: s.checkSettings,
		Notifications: func(ctx context.Context) (string, error) { return s.notifications().Check(ctx) },
		Anchors:       func(context.Context) (string, error) { return "merges are only recorded, and none is anchored", nil },
	}
	if s.anchors != nil {
		check.Anchors = s.anchors.Check
	}
	return check
}

// repairRecords rebuilds the records from their journals.
func (s *Server) repairRecords(ctx context.Context) error {
	err := s.store.RepairRecords(ctx)
	s.runtime.ForgetRecords()
	return err
}

func (s *Server) newAPI() *api.Server {
	out := &api.Server{
		Engine: s.runtime, Control: control{s.runtime, s.trackerService, s.page, s.notifier.Load, s.receivesWebhooks || s.options.Metrics != ""}, Trackers: s.newTrackerRegistry(), Projects: s.projects(), Tasks: s.store, Workflows: s.library(), Folders: s.host.Folders, Boards: s.boards,
		Rows: s.store, Statistics: s.statistics, Measurements: s.measure, Changes: s.host, Library: s.library(), Page: s.page, Definition: s.runtime.Definition, VerifyChain: s.store.VerifyChainOf,
		Inbox: s.inbox.Load, QueuePlace: s.runtime.QueuePlace, Reasons: s.waitReasons, Transfer: transfer{s}, Where: projects.Places{Home: s.cfg.Home, Tasks: s.store, Projects: s.runtime.Projects, Git: s.git}.Find, Checks: s.newChecks().Run, Repair: s.repairRecords,
		GitPrograms: s.trust, Origins: shim.Origins{}, Stop: s.stop, Release: s.version, Home: s.cfg.Home, PID: os.Getpid(), Log: s.log,
	}
	out.Successors, out.Worktree = s.runtime.Successors, s.host.ExistingWorktree
	out.CreateFromIssue = s.trackerService.CreateFromIssue
	out.KeepEnvironment = func(e wire.Environment) { s.environment.keep(e, s.settings().AgentEnv) }
	if !s.cfg.Record {
		out.Hints = hints.Hints{
			Git: s.git, Project: s.runtime.Project, Definition: s.runtime.Definition, Tasks: s.store.EachTask, NoTmux: s.cfg.Sessions == "" && s.isHeadless(), Config: s.cfg.File(),
		}.ForNewTask
		shown := terminals.Viewer{Host: s.host, Definition: s.runtime.Definition}
		out.Identity, out.Attempts, out.Workspaces, out.Screens = s.host.Agents, shown, s.workspaces(), shown
	}
	return out
}

func parseLogLevel(name string) slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return l
}

// DescribeAPI returns the OpenAPI description of the server.
func DescribeAPI(version string) (any, error) { return api.BuildDescription(version) }
