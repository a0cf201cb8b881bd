// Package fakelinear is a server that answers like Linear and keeps what it is told: it
// checks every request against a schema, runs what the request selects over its state,
// and signs news of what happens. It fails when it is told to. It knows one team, and
// as much of Linear as Orange uses; what it does not know it says.
package fakelinear

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"orange/internal/trackertest"
)

// Me is the account that the token belongs to.
const Me = "orange"

// Options say how a server begins.
type Options struct {
	Schema *Schema          // nil for OwnSchema
	Token  string           // the only one that is taken; "" takes any
	Secret string           // with which news is signed
	File   string           // keeps the state, "" for nowhere
	Now    func() time.Time // nil for the clock

	// OwnHand has it rewrite Markdown as Linear does, hidden lines lost.
	OwnHand bool
}

// A Server is one Linear with one team. It is safe for concurrent use.
type Server struct {
	opts Options
	mux  *http.ServeMux

	mu       sync.Mutex
	st       *state
	news     []occurrence // not sent yet
	fault    trackertest.Fault
	requests int
	writes   int
	limits   int // requests that were turned away as too many
}

// New returns a server with the columns and tags that every world begins with, or with
// the state that its file holds.
func New(opts Options) (*Server, error) {
	if opts.Schema == nil {
		own, err := OwnSchema()
		if err != nil {
			return nil, err
		}
		opts.Schema = own
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Secret = cmp.Or(opts.Secret, "lin_wh_fake")
	s := &Server{opts: opts, mux: http.NewServeMux()}
	st, err := restoreState(opts.File)
	if err != nil {
		return nil, err
	}
	if st == nil {
		st = newState()
	}
	s.st = st
	s.mux.HandleFunc("POST /graphql", s.serveGraphQL)
	s.mux.HandleFunc("GET /issues", s.showIssues)
	s.mux.HandleFunc("POST /people/move", s.personMoves)
	s.mux.HandleFunc("POST /people/comment", s.personComments)
	return s, nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// newState returns a workspace that nobody has used yet. Some labels are everybody's.
func newState() *state {
	st := &state{Team: team{Key: "ENG", Name: "Engineering"}}
	st.Team.ID = st.newID()
	st.Projects = []project{{ID: st.newID(), Name: "Shop"}, {ID: st.newID(), Name: "Tools"}}
	types := map[string]string{"Backlog": "backlog", "Accepted": "completed", "Canceled": "canceled"}
	for _, name := range trackertest.Columns {
		st.States = append(st.States, column{ID: st.newID(), Name: name, Type: cmp.Or(types[name], "started")})
	}
	for i, name := range trackertest.Tags {
		st.Labels = append(st.Labels, &label{ID: st.newID(), Name: name, Team: i%2 == 0})
	}
	st.Labels = append(st.Labels, &label{ID: st.newID(), Name: "Area", Team: true, Group: true})
	st.ensureUser(Me)
	return st
}

// CountRequests counts the requests to Linear's interface so far.
func (s *Server) CountRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// CountWrites counts those of them that changed anything or tried to.
func (s *Server) CountWrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// InjectFault makes the server fail from now on.
func (s *Server) InjectFault(f trackertest.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// nextFault says how a request fails, "" if it does not, and counts the request.
func (s *Server) nextFault(write bool) string {
	s.requests++
	if write {
		s.writes++
	}
	if s.fault.Times <= 0 || s.fault.Writes && !write {
		return ""
	}
	s.fault.Times--
	return s.fault.Kind
}

// changeState does something to the state and keeps it.
func (s *Server) changeState(do func(*state) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := do(s.st); err != nil {
		return err
	}
	return s.saveState()
}

var errNoIssue = errors.New("there is no such issue")

// changeIssue does something to an issue, which changes by it.
func (s *Server) changeIssue(key string, do func(*state, *issue) error) error {
	return s.changeState(func(st *state) error {
		i := st.findIssue(key)
		if i == nil {
			return errNoIssue
		}
		if err := do(st, i); err != nil {
			return err
		}
		i.Updated = st.nextTime(s.opts.Now())
		return nil
	})
}

// storedText returns what is stored of a text.
func (s *Server) storedText(text string) string {
	if s.opts.OwnHand {
		return inOwnHand(text)
	}
	return text
}

func removeString(list []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == gone })
}
