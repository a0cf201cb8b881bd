// Package fakelinear is a server that answers like Linear and keeps state: it checks every
// request against a schema, executes it on its state, and signs deliveries about changes. It
// fails on demand. It has one team, and implements as much of Linear as Orange uses; it returns
// an error for everything else.
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

// Me is the token's account.
const Me = "orange"

// FakeOptions configure a server.
type FakeOptions struct {
	Schema *Schema          // nil for OwnSchema
	Token  string           // the only token that is accepted; "" accepts any
	Secret string           // signs deliveries
	File   string           // stores the state; "" for nowhere
	Now    func() time.Time // nil for the clock

	// OwnHand makes it rewrite Markdown as Linear does, which loses hidden lines.
	OwnHand bool
}

// A FakeServer is one Linear with one team. It is safe for concurrent use.
type FakeServer struct {
	opts FakeOptions
	mux  *http.ServeMux

	mu          sync.Mutex
	st          *state
	occurrences []occurrence // not sent yet
	fault       trackertest.Fault
	requests    int
	writes      int
	limits      int // requests that were refused because of a limit
}

// New returns a server with the initial columns and tags of every world, or with the state in
// its file.
func New(opts FakeOptions) (*FakeServer, error) {
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
	s := &FakeServer{opts: opts, mux: http.NewServeMux()}
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

func (s *FakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// newState returns an unused workspace. Some labels belong to the workspace.
func newState() *state {
	st := &state{Team: team{Key: "ENG", Name: "Engineering"}}
	st.Team.ID = st.newID()
	st.Projects = []project{{ID: st.newID(), Name: "Shop"}, {ID: st.newID(), Name: "Tools"}}
	types := map[string]string{"Backlog": "backlog", "Accepted": "completed", "Canceled": "canceled"}
	for _, name := range trackertest.Columns {
		st.States = append(st.States, column{ID: st.newID(), Name: name, Type: cmp.Or(types[name], "started")})
	}
	for i, name := range trackertest.Tags {
		st.Labels = append(st.Labels, &teamLabel{ID: st.newID(), Name: name, Team: i%2 == 0})
	}
	st.Labels = append(st.Labels, &teamLabel{ID: st.newID(), Name: "Area", Team: true, Group: true})
	st.ensureUser(Me)
	return st
}

// CountRequests returns the number of requests to Linear's interface so far.
func (s *FakeServer) CountRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// CountWrites returns the number of requests that changed something or tried to.
func (s *FakeServer) CountWrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// InjectFault makes the server fail from now on.
func (s *FakeServer) InjectFault(f trackertest.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// nextFault counts a request and returns how it fails, or "" if it does not.
func (s *FakeServer) nextFault(write bool) string {
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

// changeState changes the state and saves it.
func (s *FakeServer) changeState(do func(*state) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := do(s.st); err != nil {
		return err
	}
	return s.saveState()
}

var errNoIssue = errors.New("there is no such issue")

// changeIssue changes an issue.
func (s *FakeServer) changeIssue(key string, do func(*state, *issue) error) error {
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

// storedText returns how a text is stored.
func (s *FakeServer) storedText(text string) string {
	if s.opts.OwnHand {
		return inOwnHand(text)
	}
	return text
}

func removeString(list []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == gone })
}
