package api

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"orange/internal/core/diff"
	"orange/internal/core/screen"
	"orange/internal/core/task"
)

// A Screen is what the terminal of an agent shows, or the end of what one without a
// terminal wrote.
type Screen struct {
	Attempt int           `json:"attempt"` // 0: there is none
	Role    string        `json:"role"`
	Harness string        `json:"harness"`
	Alive   bool          `json:"alive"`
	Lines   []screen.Line `json:"lines"`
	Note    string        `json:"note,omitempty"` // why there is nothing to see
	At      time.Time     `json:"at"`
}

// Screens look at agents.
type Screens interface {
	// Screen is what the agent of a role shows; "" for the one at work.
	Screen(ctx context.Context, t task.Task, role string) (Screen, error)
	// Output reports, until the context ends, that the agent of a role wrote something.
	// Reports that nobody took are one.
	Output(ctx context.Context, t task.Task, role string) (<-chan struct{}, error)
	// Type types a person's text into the agent's terminal and presses Enter.
	Type(ctx context.Context, t task.Task, role, text string) error
}

// A Diff is what a task's branch changes.
type Diff struct {
	Base  string      `json:"base"` // commit it is compared with
	Files []diff.File `json:"files"`
	Cut   bool        `json:"cut"` // there is more than is shown
}

// Changes says what tasks changed.
type Changes interface {
	Diff(ctx context.Context, t task.Task) (base, text string, cut bool, err error)
}

func (s *Server) screen(w http.ResponseWriter, r *http.Request) {
	t, err := s.load(r)
	var out Screen
	if err == nil {
		out, err = s.Screens.Screen(r.Context(), t, r.URL.Query().Get("role"))
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	out.Lines = nonNil(out.Lines)
	s.reply(w, http.StatusOK, out)
}

// screensApart is the least time between two looks at one screen.
const screensApart = 50 * time.Millisecond

// screenEvents streams a screen, now and whenever it changes. It goes on with the next
// agent when one ends.
func (s *Server) screenEvents(w http.ResponseWriter, r *http.Request) {
	t, err := s.load(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	role, out := r.URL.Query().Get("role"), openStream(w)
	for s.screenOf(r.Context(), out, t.ID, role) {
	}
}

// screenOf streams the screen of the agents that a task has now. It says false if there
// is no more to stream.
func (s *Server) screenOf(ctx context.Context, out sse, id task.ID, role string) bool {
	_, moved, err := s.Engine.Follow(1<<62, id, 1) // before the record is read
	t, ok, wrong := s.Tasks.Task(id)
	if err != nil || wrong != nil || !ok || t.Deleted {
		return false
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wrote, err := s.Screens.Output(ctx, t, role)
	if err != nil {
		s.Log.Warn("watch a screen", "component", "api", "task", id, "error", err)
		return false
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for last := (Screen{}); ; {
		now, err := s.Screens.Screen(ctx, t, role)
		if err != nil {
			now = Screen{Note: err.Error(), At: time.Now().UTC()}
		}
		now.Lines = nonNil(now.Lines)
		if at := now.At; !reflect.DeepEqual(last, sameMoment(now)) {
			last, now.At = sameMoment(now), at
			if !out.send("screen", 0, now) {
				return false
			}
		}
		if !s.wait(ctx, screensApart) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-s.leaving:
			return false
		case <-moved:
			if s.otherAgents(&t) {
				return true
			}
			_, moved, _ = s.Engine.Follow(1<<62, id, 1)
		case <-wrote:
		case <-ping.C:
			out.ping()
		}
	}
}

// sameMoment is a screen without its time.
func sameMoment(s Screen) Screen {
	s.At = time.Time{}
	return s
}

// otherAgents says whether a task has other agents than it had.
func (s *Server) otherAgents(was *task.Task) bool {
	t, ok, err := s.Tasks.Task(was.ID)
	if err != nil || !ok || len(t.Attempts) != len(was.Attempts) || t.Session != was.Session {
		return true
	}
	for i := range t.Attempts {
		if t.Attempts[i].Number != was.Attempts[i].Number || t.Attempts[i].Running != was.Attempts[i].Running {
			return true
		}
	}
	return false
}

func (s *Server) typeIn(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Role string `json:"role"`
		Text string `json:"text"`
	}
	t, err := s.load(r)
	if err == nil {
		err = read(r, &in)
	}
	if err == nil {
		err = s.Screens.Type(r.Context(), t, in.Role, in.Text)
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]bool{"typed": true})
}

func (s *Server) diff(w http.ResponseWriter, r *http.Request) {
	t, err := s.load(r)
	out := Diff{}
	if err == nil {
		var text string
		out.Base, text, out.Cut, err = s.Changes.Diff(r.Context(), t)
		out.Files = nonNil(diff.Parse(text))
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, out)
}
