package api

import (
	"context"
	"math"
	"net/http"
	"reflect"
	"slices"
	"time"

	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/wire"
)

// Screens reads the terminals of agents.
type Screens interface {
	// ReadScreen returns the screen of a role's agent; "" for the agent at work.
	ReadScreen(ctx context.Context, t task.Task, role string) (wire.Screen, error)
	// WatchOutput sends, until the context ends, when the agent of a role wrote something. Unreceived notifications are
	// combined into one.
	WatchOutput(ctx context.Context, t task.Task, role string) (<-chan struct{}, error)
	// TypeText types a person's text into the agent's terminal and presses Enter.
	TypeText(ctx context.Context, t task.Task, role, text string) error
	// PressKey presses a key for a person, if the terminal still shows what the person saw.
	PressKey(ctx context.Context, t task.Task, in wire.KeyInput) error
}

// Changes returns what tasks changed.
type Changes interface {
	TaskDiff(ctx context.Context, t task.Task) (diff.Comparison, error)
	// TaskFile returns a file of the task's branch on the old or the new side of TaskDiff.
	TaskFile(ctx context.Context, t task.Task, path string, old bool) (content []byte, cut bool, err error)
}

func (s *Server) readScreen(r *http.Request) (wire.Screen, error) {
	t, err := s.loadTask(r)
	if err != nil {
		return wire.Screen{}, err
	}
	out, err := s.Screens.ReadScreen(r.Context(), t, r.URL.Query().Get(wire.ParamRole))
	out.Lines = nonNilLines(out.Lines)
	return out, err
}

// nonNilLines replaces nil lines by empty ones.
func nonNilLines(lines []ansi.Line) []ansi.Line {
	out := make([]ansi.Line, len(lines))
	for i, l := range lines {
		out[i] = nonNil(l)
	}
	return out
}

// screensApart is the minimum time between two reads of one screen.
const screensApart = 50 * time.Millisecond

// screenEvents streams a screen, now and whenever it changes. When an agent ends it continues with the next one.
func (s *Server) screenEvents(w http.ResponseWriter, r *http.Request) {
	t, err := s.loadTask(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	stream := screenStream{s: s, out: openEvents(w), id: t.ID, role: r.URL.Query().Get(wire.ParamRole), ping: ping.C}
	for stream.streamAgents(r.Context()) {
	}
}

// screenStream streams the screens of one role of a task.
type screenStream struct {
	s    *Server
	out  *events
	id   task.ID
	role string
	ping <-chan time.Time
	last *wire.Screen // the last screen sent, without its time
}

// streamAgents streams the screen of the agents that a task has now. It returns false if there is nothing more to
// stream.
func (l *screenStream) streamAgents(ctx context.Context) bool {
	moved, t, ok := l.loadRecord()
	if !ok {
		return false
	}
	ctx, stop := context.WithCancel(ctx) // stops WatchOutput
	defer stop()
	wrote, err := l.s.Screens.WatchOutput(ctx, t, l.role)
	if err != nil {
		l.s.Log.Warn("watch a screen", "component", "api", "task", l.id, "error", err)
		return false
	}
	for {
		if !l.sendScreen(ctx, t) || !l.s.waitUnlessLeaving(ctx, screensApart) {
			return false
		}
		for wait := true; wait; {
			select {
			case <-ctx.Done():
				return false
			case <-l.s.leaving:
				return false
			case <-moved: // any task; quick successions are read together
				if !l.s.waitUnlessLeaving(ctx, screensApart) {
					return false
				}
				var now task.Task
				if moved, now, ok = l.loadRecord(); !ok || otherAgents(&t, &now) {
					return ok
				}
			case _, more := <-wrote:
				if wait = false; !more { // no more output; one last read follows
					wrote = nil
				}
			case <-l.ping:
				if !l.out.sendPing() {
					return false
				}
			}
		}
	}
}

// loadRecord reads the task, and returns a channel that closes with the next change of any task.
func (l *screenStream) loadRecord() (<-chan struct{}, task.Task, bool) {
	_, moved, err := l.s.Engine.FollowJournal(math.MaxInt64, l.id, 1) // before the record is read
	if err != nil {
		return nil, task.Task{}, false
	}
	t, ok, err := l.s.Tasks.Task(l.id)
	return moved, t, err == nil && ok && !t.Deleted
}

// sendScreen sends the screen if it differs from the last one. It returns false if the client has disconnected.
func (l *screenStream) sendScreen(ctx context.Context, t task.Task) bool {
	now, err := l.s.Screens.ReadScreen(ctx, t, l.role)
	if err != nil {
		now = wire.Screen{Note: ansi.OneLine(err.Error()), At: time.Now().UTC()}
	}
	now.Lines = nonNilLines(now.Lines)
	bare := now
	bare.At = time.Time{}
	if l.last != nil && reflect.DeepEqual(*l.last, bare) {
		return true
	}
	l.last = &bare
	return l.out.sendEvent(wire.EventScreen, 0, now)
}

// otherAgents reports whether a task's agents changed.
func otherAgents(was, now *task.Task) bool {
	return now.TmuxSession != was.TmuxSession || !slices.EqualFunc(now.Attempts, was.Attempts, func(a, b task.Attempt) bool {
		return a.Number == b.Number && a.Running == b.Running
	})
}

func (s *Server) typeIn(r *http.Request, in wire.TerminalInput) (wire.InputAccepted, error) {
	t, err := s.loadTask(r)
	if err == nil {
		err = s.Screens.TypeText(r.Context(), t, in.Role, in.Text)
	}
	return wire.InputAccepted{Typed: true}, err
}

func (s *Server) pressKey(r *http.Request, in wire.KeyInput) (wire.InputAccepted, error) {
	t, err := s.loadTask(r)
	if err == nil {
		err = s.Screens.PressKey(r.Context(), t, in)
	}
	return wire.InputAccepted{Typed: true}, err
}

func (s *Server) readDiff(r *http.Request) (wire.Diff, error) {
	t, err := s.loadTask(r)
	if err != nil {
		return wire.Diff{}, err
	}
	c, err := s.Changes.TaskDiff(r.Context(), t)
	if err != nil {
		return wire.Diff{}, err
	}
	return wire.Diff{Base: c.Base, Head: c.Head, Files: nonNil(c.Files), Cut: c.Cut, Worktree: c.Worktree, Problem: c.Problem}, nil
}

func (s *Server) readFile(r *http.Request) (wire.FileContent, error) {
	t, err := s.loadTask(r)
	if err != nil {
		return wire.FileContent{}, err
	}
	q := r.URL.Query()
	path, side := q.Get(wire.ParamPath), q.Get(wire.ParamSide)
	if path == "" || side != "" && side != wire.SideOld {
		return wire.FileContent{}, task.Mistakef("the request names no file, or an unknown side: pass path, and side=old for the old side")
	}
	content, cut, err := s.Changes.TaskFile(r.Context(), t, path, side == wire.SideOld)
	return wire.FileContent{Path: path, Content: nonNil(content), Cut: cut}, err
}
