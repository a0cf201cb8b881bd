package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

// change reads one change of a state.
func (s *stream) change() overview.Change {
	s.t.Helper()
	name, data := s.event()
	if name != "change" {
		s.t.Fatalf("event %q", name)
	}
	var out overview.Change
	must(s.t, json.Unmarshal(data, &out))
	if s.last != strconv.FormatInt(out.Row, 10) && out.Row > 0 {
		s.t.Errorf("event %s has row %d", s.last, out.Row)
	}
	return out
}

// viewer keeps a state up to date.
type viewer struct {
	r     *env
	query string // ends with & or ?
	state overview.State
	line  *stream
	last  string
}

func (r *env) view(query string) *viewer {
	r.t.Helper()
	v := &viewer{r: r, query: query, state: r.look(query)}
	v.last = strconv.FormatInt(v.state.Row, 10)
	return v
}

// hear takes one change, on a connection that is made if there is none.
func (v *viewer) hear() overview.Change {
	v.r.t.Helper()
	if v.line == nil {
		v.line = v.r.listenTo("/v1/state/events"+v.query, v.last)
	}
	c := v.line.change()
	v.last = v.line.last
	v.state.ApplyChange(c)
	return c
}

// lose breaks the connection.
func (v *viewer) lose() {
	if v.line != nil {
		v.line.close()
		v.line = nil
	}
}

// catchUp reads changes until the viewer has the present state.
func (v *viewer) catchUp() {
	v.r.t.Helper()
	for range 10_000 {
		if same(v.state, v.r.look(v.query)) == "" {
			return
		}
		v.hear()
	}
	v.r.t.Fatal(same(v.state, v.r.look(v.query)))
}

// TestFollowingStartsWithWhatExists is what the stream is for: whatever happens, and
// whenever the line breaks, a state with its changes applied is the state.
func TestFollowingStartsWithWhatExists(t *testing.T) {
	t.Parallel()
	r := open(t)
	must(t, r.runtime.AddProject(task.Project{Name: "q", Path: "/q", PoolSize: 2}))
	must(t, r.stop())
	facts := newGlasses()
	r.server.Measurements = facts
	r.listen(r.server.Home + "/g")
	h := history{r: r}
	viewers := []*viewer{r.view("?"), r.view("?all=1&"), r.view("?project=q&")}
	rapid.Check(t, func(rt *rapid.T) {
		for _, v := range viewers {
			switch rapid.IntRange(0, 3).Draw(rt, "line") {
			case 0:
				v.lose()
			case 1:
				if v.line == nil { // the first one on a line always comes
					v.hear()
				}
			}
		}
		for range rapid.IntRange(1, 2).Draw(rt, "steps") {
			h.step(rt)
			switch rapid.IntRange(0, 9).Draw(rt, "else") {
			case 0:
				r.ask("POST", "/v1/"+rapid.SampledFrom([]string{"pause", "resume"}).Draw(rt, "hold"), "").holds(t, "paused")
			case 1, 2:
				facts.see(rapid.SampledFrom(h.ids).Draw(rt, "seen"), h.n)
			case 3:
				r.ask("PATCH", "/v1/projects/q", fmt.Sprintf(`{"pool_size":%d}`, 1+h.n%9)).holds(t, "pool_size")
			}
		}
		for _, v := range viewers {
			if rapid.IntRange(0, 5).Draw(rt, "looks") == 0 {
				v.catchUp()
			}
		}
	})
	for _, v := range viewers {
		v.catchUp()
		v.lose()
	}
	must(t, r.runtime.SetPaused(false))
}

func TestChangesOutsideTheJournalReachStreams(t *testing.T) {
	r := open(t)
	v := r.view("?")
	defer v.lose()
	if first := v.hear(); len(first.Projects) != 1 || first.Paused {
		t.Errorf("%+v", first)
	}
	for _, tt := range []struct {
		method, path, body string
		seen               func(overview.Change) bool
	}{
		{"POST", "/v1/pause", "", func(c overview.Change) bool { return c.Paused }},
		{"POST", "/v1/resume", "", func(c overview.Change) bool { return !c.Paused }},
		{"POST", "/v1/projects", `{"name":"q","path":"/q"}`, func(c overview.Change) bool { return len(c.Projects) == 2 }},
		{"PATCH", "/v1/projects/q", `{"pool_size":7}`, func(c overview.Change) bool { return c.Projects[1].Pool == 7 }},
		{"DELETE", "/v1/projects/q", "", func(c overview.Change) bool { return len(c.Projects) == 1 }},
	} {
		r.ask(tt.method, tt.path, tt.body).holds(t, "{")
		if c := v.hear(); !tt.seen(c) || c.Row != 0 || c.Tasks == nil || c.Gone == nil {
			t.Errorf("%s %s: %+v", tt.method, tt.path, c)
		}
	}
}

func TestTasksThatAreGoneOrNotWanted(t *testing.T) {
	r := open(t)
	a, b := r.create("a"), r.create("b")
	open, all := r.view("?"), r.view("?all=1&")
	defer open.lose()
	defer all.lose()
	for _, v := range []*viewer{open, all} {
		v.hear()
	}
	cancel := func(id string) {
		r.ask("POST", "/v1/tasks/"+id+"/signals", `{"kind":"request","verb":"cancel"}`).holds(t, "cancelled")
		r.settle()
	}
	cancel(a)
	open.catchUp()
	all.catchUp()
	if names(open.state) != "b" || names(all.state) != "a b" {
		t.Errorf("over: %q, %q", names(open.state), names(all.state))
	}
	cancel(b)
	r.ask("POST", "/v1/tasks/"+b+"/signals", `{"kind":"delete"}`).holds(t, "deleted")
	open.catchUp()
	for gone := false; !gone; {
		gone = slices.Contains(all.hear().Gone, task.ID(b))
	}
	if names(open.state) != "" || names(all.state) != "a" {
		t.Errorf("deleted: %q, %q", names(open.state), names(all.state))
	}
}

// cutter passes connections on to a server, and cuts each after a while.
type cutter struct {
	mu    sync.Mutex
	rand  *rand.Rand
	cuts  int // that are left
	conns []net.Conn
}

// serve listens at path until the test ends.
func (c *cutter) serve(t *testing.T, path, to string) {
	l, err := net.Listen("unix", path)
	must(t, err)
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			on, err := net.Dial("unix", to)
			if err != nil {
				from.Close() //nolint:errcheck // it cannot be served
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, from, on)
			c.mu.Unlock()
			wait.Go(func() { io.Copy(on, from) }) //nolint:errcheck // cut
			wait.Go(func() { c.pass(from, on) })
		}
	})
	t.Cleanup(func() {
		l.Close() //nolint:errcheck // it is over
		c.mu.Lock()
		for _, conn := range c.conns {
			conn.Close() //nolint:errcheck // it is over
		}
		c.mu.Unlock()
		wait.Wait()
	})
}

// pass copies an answer, or a part of it.
func (c *cutter) pass(to, from net.Conn) {
	c.mu.Lock()
	limit := int64(1 << 40)
	if c.cuts--; c.cuts >= 0 {
		limit = 500 + c.rand.Int64N(40_000)
	}
	c.mu.Unlock()
	io.CopyN(to, from, limit) //nolint:errcheck // cut
	to.Close()                //nolint:errcheck // cut
	from.Close()              //nolint:errcheck // cut
}

// TestAThousandEventsOverABadLine follows with the real client while lines break.
func TestAThousandEventsOverABadLine(t *testing.T) {
	t.Parallel()
	r := open(t)
	const tasks, events = 20, 1000
	var ids []task.ID
	for i := range tasks {
		ids = append(ids, task.ID(r.create(fmt.Sprint("b", i))))
	}
	c := &cutter{rand: rand.New(rand.NewPCG(1, 2)), cuts: 6}
	state := r.look("")
	c.serve(t, r.server.Home+"/cut", r.server.Home+"/s")
	cl := client.New(r.server.Home + "/cut")
	defer cl.Close()
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for _, id := range ids {
		wait.Go(func() {
			for n := range events / tasks {
				sig := signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "summary", To: fmt.Sprint("n", n)}}}
				if _, err := r.runtime.Submit(t.Context(), id, sig); err != nil {
					t.Error(err)
				}
			}
		})
	}
	defer wait.Wait()
	opened, lost, changes := 0, 0, 0
	err := cl.FollowState(ctx, client.FollowOptions{After: state.Row,
		Opened: func() error { opened++; return nil }, Lost: func(error) { lost++ },
		Change: func(ch overview.Change) error {
			changes++
			state.ApplyChange(ch)
			if ch.Row >= tasks+events {
				stop()
			}
			return nil
		}})
	if err != context.Canceled {
		t.Errorf("it ended with %v", err)
	}
	if diff := same(state, r.look("")); diff != "" || lost == 0 || opened < 2 || changes >= events {
		t.Errorf("opened %d times, lost %d, %d changes: %s", opened, lost, changes, diff)
	}
}
