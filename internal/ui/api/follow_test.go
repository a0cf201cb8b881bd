package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"orange/internal/core/journal"
	"orange/internal/core/overview"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/api"
	"orange/internal/ui/client"
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
	r     *rig
	query string // ends with & or ?
	state overview.State
	line  *stream
	last  string
}

func (r *rig) view(query string) *viewer {
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
	v.state.Apply(c)
	return c
}

// lose breaks the connection.
func (v *viewer) lose() {
	if v.line != nil {
		v.line.close()
		v.line = nil
	}
}

// catchUp hears changes until the viewer sees what there is.
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

// TestWhoeverFollowsSeesWhatThereIs is what the stream is for: whatever happens, and
// whenever the line breaks, a state with its changes applied is the state.
func TestWhoeverFollowsSeesWhatThereIs(t *testing.T) {
	r := open(t)
	must(t, r.runtime.AddProject(task.Project{Name: "q", Path: "/q", PoolSize: 2}))
	must(t, r.stop())
	facts := newGlasses()
	r.server.Sights = facts
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
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
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

func TestWhatNoJournalTellsReachesStreams(t *testing.T) {
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
	err := cl.Follow(ctx, client.Live{After: state.Row,
		Opened: func() error { opened++; return nil }, Lost: func(error) { lost++ },
		Change: func(ch overview.Change) error {
			changes++
			state.Apply(ch)
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

// ticker is an engine and a store in which rows appear.
type ticker struct {
	api.Engine
	api.Tasks
	mu   sync.Mutex
	rows []journal.Row
	more chan struct{}
}

func newTicker() *ticker { return &ticker{more: make(chan struct{})} }

// tick adds a row of a task.
func (k *ticker) tick(id task.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows = append(k.rows, journal.Row{ID: int64(len(k.rows) + 1), Entry: fmt.Appendf(nil, `{"task":%q}`, id)})
	close(k.more)
	k.more = make(chan struct{})
}

func (k *ticker) Follow(after int64, _ task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows := k.rows[min(int(after), len(k.rows)):]
	return rows[:min(limit, len(rows))], k.more, nil
}

func (k *ticker) LastRow() (int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return int64(len(k.rows)), nil
}

func (k *ticker) Task(id task.ID) (task.Task, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return task.Task{ID: id, Seq: len(k.rows), Project: "p", Attempts: []task.Attempt{{Number: 1}}}, true, nil
}

func (k *ticker) FindTasks(prefix string, _ int) ([]task.ID, error) {
	return []task.ID{task.ID(prefix)}, nil
}

func (k *ticker) server() *api.Server {
	return &api.Server{Engine: k, Tasks: k, Rows: k, Control: calm{never}, Projects: none{}, Log: quiet(),
		Definition: func(*task.Task) (*workflow.Definition, error) { return nil, io.EOF }}
}

type registry = api.Projects

type none struct{ registry }

func (none) Projects() []task.Project { return nil }

// listening is a client in a bubble that hears a stream.
func listening(s *api.Server, path string) (w *wire, leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w = &wire{header: http.Header{}, lines: make(chan string, 5000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil).WithContext(ctx))
	}()
	return w, func() {
		cancel()
		<-done
	}
}

func TestWhatHappensQuicklyIsToldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTicker()
		w, leave := listening(k.server(), "/v1/state/events")
		defer leave()
		synctest.Wait()
		if len(w.lines) != 2 { // the greeting and a first change
			t.Fatalf("%d lines", len(w.lines))
		}
		time.Sleep(time.Second)
		k.tick("a")
		synctest.Wait()
		if len(w.lines) != 3 {
			t.Error("what comes alone is not told at once")
		}
		for n := range 1000 { // in a second
			k.tick(task.ID(fmt.Sprint("t", n%10)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := len(w.lines) - 3; got < 40 || got > 52 {
			t.Errorf("a thousand events are %d changes", got)
		}
		rows, last := map[string]bool{}, ""
		for len(w.lines) > 0 {
			last = <-w.lines
			if rows[last] {
				t.Errorf("told twice: %s", last)
			}
			rows[last] = true
		}
		if !strings.HasPrefix(last, "id: 1001\n") {
			t.Errorf("the last one is %.60s", last)
		}
	})
}

// TestALongGapIsToldInFull has more rows than are read at a time, of which the client
// wants none.
func TestALongGapIsToldInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTicker()
		for range 4001 {
			k.tick("a")
		}
		w, leave := listening(k.server(), "/v1/state/events?project=q")
		defer leave()
		time.Sleep(time.Second)
		synctest.Wait()
		if len(w.lines) != 2 {
			t.Errorf("%d lines for a client that wants none", len(w.lines))
		}
		other, gone := listening(k.server(), "/v1/state/events?after=1")
		defer gone()
		time.Sleep(time.Second)
		synctest.Wait()
		last := ""
		for len(other.lines) > 0 {
			last = <-other.lines
		}
		if !strings.HasPrefix(last, "id: 4001\n") {
			t.Errorf("the last one is %.60s", last)
		}
	})
}

// stuck connects, asks and never reads.
func (p *pipes) stuck(path string) net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: orange\r\n\r\n") //nolint:errcheck // heard or not
	return client
}

func TestAClientThatNeverReadsIsGivenUp(t *testing.T) {
	for _, path := range []string{"/v1/state/events", "/v1/events", "/v1/hello", "/v1/tasks/a/screen/events"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				k, p := newTicker(), newPipes()
				s := k.server()
				s.Screens = newTheatre()
				ended := make(chan error, 1)
				go func() { ended <- s.Serve(t.Context(), p, time.Minute) }() // leaves when nobody is served for a minute
				defer p.stuck(path).Close()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > 3*time.Minute {
					t.Errorf("it was served for %s", took)
				}
			})
		})
	}
}

func TestAClientThatNeverReadsDoesNotKeepTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, p := newTicker(), newPipes()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- k.server().Serve(ctx, p, 0) }()
		defer p.stuck("/v1/state/events").Close()
		synctest.Wait()
		began := time.Now()
		stop()
		if err := <-ended; err != nil || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// A reader that takes its time is waited for.
func TestASlowClientMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, p := newTicker(), newPipes()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- k.server().Serve(ctx, p, 0) }()
		conn := p.stuck("/v1/state/events")
		var wait sync.WaitGroup
		defer wait.Wait()
		wait.Go(func() {
			for n := range 100 {
				time.Sleep(100 * time.Millisecond)
				k.tick(task.ID(fmt.Sprint("t", n)))
			}
		})
		var text strings.Builder
		for !strings.Contains(text.String(), `"id":"t99"`) { // a few bytes, and a rest
			buf := make([]byte, 100)
			n, err := conn.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(buf[:n])
			time.Sleep(20 * time.Millisecond)
		}
		for n := range 100 {
			if !strings.Contains(text.String(), fmt.Sprintf(`"id":"t%d"`, n)) {
				t.Errorf("t%d is missing", n)
			}
		}
		conn.Close() //nolint:errcheck // the client leaves
		stop()
		<-ended
	})
}

// TestAWalkEndsWithItsClient makes sure that the past costs nothing when nobody waits.
func TestAWalkEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &endless{ticker: newTicker()}
		s := k.server()
		s.Engine = k
		handler := s.Handler()
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		for range 5 {
			wait.Go(func() {
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/state?at=99999999999", nil).WithContext(ctx))
			})
		}
		time.Sleep(5 * time.Second)
		cancel()
		wait.Wait()
		if k.most > 2 {
			t.Errorf("%d walk at once", k.most)
		}
	})
}

// endless is a journal without an end, and counts who reads it.
type endless struct {
	*ticker
	mu        sync.Mutex
	now, most int
}

func (e *endless) Follow(after int64, _ task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
	e.mu.Lock()
	e.now++
	e.most = max(e.most, e.now)
	e.mu.Unlock()
	time.Sleep(time.Second)
	e.mu.Lock()
	e.now--
	e.mu.Unlock()
	rows := make([]journal.Row, limit)
	for i := range rows {
		id := task.ID(fmt.Sprintf("%021d", after+int64(i)))
		body, _ := json.Marshal(journal.Entry{Task: id, Seq: 1, Type: journal.TaskCreated, New: &signal.New{Project: "p"}})
		rows[i] = journal.Row{ID: after + int64(i) + 1, Entry: body}
	}
	return rows, nil, nil
}
