package api

import (
	"fmt"
	"net/http"
	"reflect"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// access is who may use a route.
type access string

const (
	anybody  access = "anybody"                              // the caller is not identified
	people   access = "a person"                             // never an attempt
	everyone access = "a person or an attempt"               // for writes, the engine decides
	ownTask  access = "a person, or an attempt of this task" // the output of other agents is not for it
	family   access = "a person, or an attempt of this task, of its parent or of a child of its"
	ownBoard access = "a person, or an attempt of a task of the project"
)

// part is a component that not every server has.
type part int

const (
	nothing part = iota
	agents       // like screens and workspaces: only where agents are started
	screens
	workspaces
	boards // without them, like trackers, the route does not exist
	trackers
)

// A route is one operation of the API. The server, its description and the access checks are all built from it.
type route struct {
	method  string
	path    string // below wire.Root
	who     access
	summary string
	query   []param
	must    []string // required fields of a request
	needs   part
	work    work
	group   string
}

// muxPattern returns the route's pattern for the mux.
func (rt *route) muxPattern() string { return rt.method + " " + wire.Root + rt.path }

// A param is a value in the query of a request.
type param struct {
	name  string
	about string
	kind  string // of JSON Schema; "" is a string
	must  bool
}

// work is how a route handles a request, and the types that it reads and writes.
type work struct {
	in    reflect.Type // nil: it reads no body
	out   reflect.Type
	event string // name of the events of a stream, whose data is out; "" for a single response
	lines bool   // the response is JSON lines
	or    string // content type that the body may have instead of JSON
	do    func(*Server, http.ResponseWriter, *http.Request)
}

// handleQuery returns work that reads no body.
func handleQuery[Out any](f func(*Server, *http.Request) (Out, error)) work {
	return work{out: reflect.TypeFor[Out](), do: func(s *Server, w http.ResponseWriter, r *http.Request) {
		out, err := f(s, r)
		s.replyOr(w, out, err)
	}}
}

// handleBody returns work that reads a body.
func handleBody[In, Out any](f func(*Server, *http.Request, In) (Out, error)) work {
	return work{in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), do: func(s *Server, w http.ResponseWriter, r *http.Request) {
		var in In
		var out Out
		err := decodeBody(r, &in)
		if err == nil {
			out, err = f(s, r, in)
		}
		s.replyOr(w, out, err)
	}}
}

// handleRaw returns work that writes its response itself.
func handleRaw[Out any](do func(*Server, http.ResponseWriter, *http.Request)) work {
	return work{out: reflect.TypeFor[Out](), do: do}
}

// handleStream returns work that sends events.
func handleStream[Data any](event string, do func(*Server, http.ResponseWriter, *http.Request)) work {
	return work{out: reflect.TypeFor[Data](), event: event, do: do}
}

// readsBody declares what work reads that reads its body itself: JSON of a type, or another content type.
func (w work) readsBody(in reflect.Type, or string) work {
	w.in, w.or = in, or
	return w
}

// asLines declares that the response is JSON lines.
func (w work) asLines() work {
	w.lines = true
	return w
}

// serveRoute returns the handler of a route.
func (s *Server) serveRoute(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c := callerOf(r); c != nil {
			if err := s.checkAccess(rt, r, c); err != nil {
				s.failWith(w, err)
				return
			}
		}
		if !s.hasPart(rt.needs) {
			s.failWith(w, task.Mistakef("this server writes effects down and starts no agents (effects: record)"))
			return
		}
		s.keepEnvironment(r)
		rt.work.do(s, w, r)
	}
}

// hasPart reports whether this server has a part.
func (s *Server) hasPart(p part) bool {
	switch p {
	case agents:
		return s.Attempts != nil
	case screens:
		return s.Screens != nil
	case workspaces:
		return s.Workspaces != nil
	case boards:
		return s.Boards != nil
	case trackers:
		return s.Trackers != nil
	}
	return true
}

// isServed reports whether this server has a route at all.
func (s *Server) isServed(rt *route) bool {
	return rt.needs != boards && rt.needs != trackers || s.hasPart(rt.needs)
}

// A forbiddenError is the reason why a caller may not use a route.
type forbiddenError struct{ text string }

func (f *forbiddenError) Error() string { return f.text }

func forbidf(format string, args ...any) error {
	return &forbiddenError{text: fmt.Sprintf(format, args...)}
}

// checkAccess returns why an attempt may not use a route, or nil if it may.
func (s *Server) checkAccess(rt *route, r *http.Request, c *agent.Caller) error {
	switch rt.who {
	case people:
		return notForAttempts(r, c)
	case ownTask:
		id, err := s.findTask(r)
		if err == nil && id != c.Task {
			err = forbidf("this is attempt %d of task %s: it may look at its own task only", c.Attempt, c.Task)
		}
		return err
	case family:
		return s.allowFamily(r, c)
	case ownBoard:
		t, ok, err := s.Tasks.Task(c.Task)
		if err == nil && (!ok || t.Project != r.PathValue("project")) {
			err = forbidf("this is attempt %d of task %s: it may read only the board of its own project", c.Attempt, c.Task)
		}
		return err
	}
	return nil
}

// allowFamily permits an attempt to read its own task, its parent and its children.
func (s *Server) allowFamily(r *http.Request, c *agent.Caller) error {
	id, err := s.findTask(r)
	if err != nil || id == c.Task {
		return err
	}
	own, _, err := s.Tasks.Task(c.Task)
	if err != nil || own.Parent == id {
		return err
	}
	other, _, err := s.Tasks.Task(id)
	if err == nil && other.Parent != c.Task {
		err = forbidf("this is attempt %d of task %s: it may look at the attempts of its own task, its parent and its children only", c.Attempt, c.Task)
	}
	return err
}
