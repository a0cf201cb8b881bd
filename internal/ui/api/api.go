// Package api serves Orange over HTTP and JSON. It turns requests into signals and records into responses; it decides
// nothing.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/doctor"
	"orange/internal/wire"
)

// Engine accepts signals.
type Engine interface {
	Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error)
	Create(ctx context.Context, w signal.NewTask) (engine.Answer, error)
	Explain(ctx context.Context, id task.ID) (explain.Explanation, error)
	FollowJournal(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
	ForkTask(ctx context.Context, id task.ID, seq int, by signal.NewTask) (engine.Answer, error)
	RecordRefusal(id task.ID, sig signal.Signal, why string) // records what was refused before a decision
}

// Control pauses and resumes all tasks, and reports whether anything is in progress.
type Control interface {
	SetPaused(paused bool) error
	Paused() bool
	Busy() bool
}

// Tasks reads from the store.
type Tasks interface {
	Task(id task.ID) (task.Task, bool, error)
	NamedTasks(name string) ([]task.Named, error) // at least those that task.ChooseNamed would choose
	EachTask(f task.Filter, yield func(fold []byte) error) error
	Journal(id task.ID, after int) ([]journal.Entry, error)
	UnsettledFinished() ([]task.Task, error)
	Children(parent task.ID) ([]task.Reference, error)
}

// Workflows are the texts that tasks are pinned to.
type Workflows interface {
	Workflow(hash string) (name, file, text string, ok bool, err error)
}

// Folders are the task folders for people and agents.
type Folders interface {
	Path(project string, id task.ID) string
	ReadTaskFile(project string, id task.ID) (taskfile.Document, error)
}

// Server handles requests.
type Server struct {
	Engine       Engine
	Control      Control
	Projects     Projects
	Tasks        Tasks
	Workflows    Workflows
	Folders      Folders
	Transfer     Transfer
	Identity     Identity // nil: callers are not verified
	Origins      Origins  // nil: the origin of requests is unknown
	Attempts     Attempts // nil, like Workspaces: this server starts no agents
	Workspaces   Workspaces
	Boards       Boards   // nil: there are none
	Trackers     Trackers // likewise
	Rows         Rows
	Statistics   Statistics
	Measurements Measurements // nil: only journals are known
	Screens      Screens      // nil: there are no agents
	Changes      Changes
	Library      Library
	Page         Page // nil: there is no web page

	VerifyChain func(ctx context.Context, id task.ID) (chain journal.Chain, broken, err error) // up to the last row of a task

	Definition func(t *task.Task) (*workflow.Definition, error)
	Inbox      func(ctx context.Context, project string) ([]explain.Item, error)
	QueuePlace func(id task.ID) task.QueuePlace      // the place of a task in its landing queue; nil: unknown
	Reasons    func(*task.Task) []explain.WaitReason // why a task waits for a person; nil: unknown
	Successors func() map[task.ID][]task.Reference   // by task, the open tasks that are after it; nil: unknown
	Worktree   func(*task.Task) string               // the folder in which the agents of a task work, "" while there is none; nil: unknown
	Where      func(ctx context.Context, path string) (wire.Location, error)

	// CreateFromIssue creates a task for the issue that w.Issue names; nil: there are no trackers.
	CreateFromIssue func(ctx context.Context, w signal.NewTask) (engine.Answer, error)

	Checks  func(ctx context.Context) []doctor.Result
	Repair  func(ctx context.Context) error
	Stop    func() // asks the process to stop
	Release string // version of the program
	Home    string
	PID     int
	Log     *slog.Logger

	GitPrograms GitPrograms // nil: unknown

	Hints           func(ctx context.Context, w *signal.NewTask, t *task.Task) []string // what a person should know about a new task; nil: nothing
	KeepEnvironment func(wire.Environment)                                              // keeps what agents may have of a person's environment; nil: nothing is kept

	streamWaker streamWaker // signals changes that no journal records
	records     recordCache
	walks       chan struct{} // limits concurrent reads of the whole journal
	description descriptionCache
	active      atomic.Int64
	touched     chan struct{}   // a request ended
	leaving     <-chan struct{} // closes when the server stops
}

// Handler returns the routes.
func (s *Server) Handler() http.Handler {
	if s.walks == nil {
		s.walks = make(chan struct{}, maxWalks)
	}
	mux, known := http.NewServeMux(), map[string]access{}
	for _, rt := range allRoutes() {
		if s.isServed(&rt) {
			mux.HandleFunc(rt.muxPattern(), s.serveRoute(&rt))
			known[rt.muxPattern()] = rt.who
		}
	}
	mux.HandleFunc("/", s.handleUnknown)
	return s.wrapHandler(mux, known)
}

// handleUnknown responds to requests for unknown paths.
func (s *Server) handleUnknown(w http.ResponseWriter, r *http.Request) {
	if c := callerOf(r); c != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.failWith(w, notForAttempts(r, c))
		return
	}
	s.replyFailure(w, http.StatusNotFound, fmt.Errorf("%s %s is not served", r.Method, r.URL.Path))
}

// wrapHandler counts the request, checks the version and recovers from panics.
func (s *Server) wrapHandler(next *http.ServeMux, known map[string]access) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		w := newBoundedWriter(to)
		s.active.Add(1)
		defer func() {
			s.active.Add(-1)
			select {
			case s.touched <- struct{}{}:
			default:
			}
		}()
		r = underAPI(r)
		w.Header().Set(wire.HeaderAPI, strconv.Itoa(wire.Version))
		w.Header().Set(wire.HeaderVersion, s.Release)
		if got := r.Header.Get(wire.HeaderAPI); got != "" && got != strconv.Itoa(wire.Version) && !anyVersion(r) {
			s.replyFailure(w, http.StatusUpgradeRequired, fmt.Errorf("the server speaks version %d of the interface and this client version %s: run orange restart, then try again", wire.Version, got))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody(r))
		_, pattern := next.Handler(r)
		if r, ok := s.identifyCaller(w, r, known[pattern]); ok {
			next.ServeHTTP(w, s.withVia(r))
		}
	})
}

// underAPI returns a request for a path below wire.Alias as one below wire.Root.
func underAPI(r *http.Request) *http.Request {
	path, ok := strings.CutPrefix(r.URL.Path, wire.Alias+"/")
	if !ok {
		return r
	}
	out, u := new(http.Request), *r.URL
	*out, out.URL = *r, &u
	u.Path, u.RawPath = wire.Root+"/"+path, strings.TrimPrefix(u.RawPath, strings.TrimSuffix(wire.Alias, wire.Root))
	return out
}

// anyVersion reports whether a request means the same to every version: hello and stop.
func anyVersion(r *http.Request) bool {
	return r.URL.Path == wire.Root+wire.PathHello || r.URL.Path == wire.Root+wire.PathStop
}

// maxBody returns the size limit of a request's body. An import carries a whole installation.
func maxBody(r *http.Request) int64 {
	if r.URL.Path == wire.Root+wire.PathImport {
		return 4 << 30
	}
	return 4 << 20
}

func (s *Server) replyJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.replyFailure(w, http.StatusInternalServerError, fmt.Errorf("encode the reply: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		s.Log.Debug("the client left", "component", "api", "error", err)
	}
}

// replyOr sends v, or the error.
func (s *Server) replyOr(w http.ResponseWriter, v any, err error) {
	if err != nil {
		s.failWith(w, err)
		return
	}
	status := http.StatusOK
	if a, ok := v.(wire.Answer); ok && a.Decision.Verdict == engine.Refuse {
		status = http.StatusConflict
	}
	s.replyJSON(w, status, v)
}

func (s *Server) replyFailure(w http.ResponseWriter, status int, err error) {
	s.replyJSON(w, status, wire.Failure{Error: oneLine(err)})
}

// failWith sends an error with the HTTP status that fits it.
func (s *Server) failWith(w http.ResponseWriter, err error) {
	var mistake *task.Mistake
	var refusal *board.Refusal
	var tooLarge *http.MaxBytesError
	var no *forbiddenError
	var none *notFoundError
	switch {
	case errors.As(err, &no):
		s.replyFailure(w, http.StatusForbidden, err)
	case errors.As(err, &none), errors.Is(err, task.ErrNotFound), errors.Is(err, board.ErrNotFound):
		s.replyFailure(w, http.StatusNotFound, err)
	case errors.Is(err, task.ErrClosing):
		s.replyFailure(w, http.StatusServiceUnavailable, err)
	case errors.As(err, &mistake), errors.As(err, &refusal):
		s.replyFailure(w, http.StatusBadRequest, err)
	case errors.As(err, &tooLarge):
		s.replyFailure(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the request has more than %d bytes", tooLarge.Limit))
	case errors.Is(err, context.Canceled): // the client went away, or the server closes
		s.replyFailure(w, http.StatusServiceUnavailable, err)
	default:
		s.Log.Error("a request broke", "component", "api", "error", err)
		s.replyFailure(w, http.StatusInternalServerError, err)
	}
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// decodeBody decodes the request's body.
func decodeBody(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return task.Mistakef("the request is not understood: %v", err)
	}
	if d.More() {
		return task.Mistakef("the request is not understood: something follows the first value")
	}
	return nil
}
