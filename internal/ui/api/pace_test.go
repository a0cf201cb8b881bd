package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/api"
	"orange/internal/view/overview"
)

// ticker is an engine and a store in which rows appear.
type ticker struct {
	api.Engine
	api.Tasks
	mu   sync.Mutex
	rows []journal.Row
	more chan struct{}
	asks int // how often Follow was called
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

func (k *ticker) FollowJournal(after int64, _ task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asks++
	rows := k.rows[min(int(after), len(k.rows)):]
	return rows[:min(limit, len(rows))], k.more, nil
}

func (k *ticker) LastRow() (int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return int64(len(k.rows)), nil
}

func (k *ticker) MovedRows(int) ([]int64, error) { return nil, nil }

func (k *ticker) Task(id task.ID) (task.Task, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return task.Task{ID: id, Seq: len(k.rows), Project: "p", Agents: task.Agents{Attempts: []task.Attempt{{Number: 1}}}}, true, nil
}

func (k *ticker) NamedTasks(name string) ([]task.Named, error) {
	return []task.Named{{ID: task.ID(name)}}, nil
}

func (k *ticker) server() *api.Server {
	return &api.Server{Engine: k, Tasks: k, Rows: k, Control: calm{never}, Projects: none{}, Log: quiet(),
		Definition: func(*task.Task) (*workflow.Definition, error) { return nil, io.EOF }}
}

type registry = api.Projects

type none struct{ registry }

func (none) Projects() []task.Project { return nil }

// listening is a client in a bubble that reads a stream.
func listening(s *api.Server, path string) (w *streamWriter, leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w = &streamWriter{header: http.Header{}, lines: make(chan string, 5000)}
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

func TestQuickChangesAreSentTogether(t *testing.T) {
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

// TestALongGapIsReportedInFull has more rows than are read at a time, of which the client
// wants none.
func TestALongGapIsReportedInFull(t *testing.T) {
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
	io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: orange\r\n\r\n") //nolint:errcheck // the server may be gone
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

func (e *endless) FollowJournal(after int64, _ task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
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
		body, _ := json.Marshal(journal.Entry{Task: id, Seq: 1, Type: journal.TaskCreated, Creation: journal.Creation{New: &signal.New{Project: "p"}}})
		rows[i] = journal.Row{ID: after + int64(i) + 1, Entry: body}
	}
	return rows, nil, nil
}

// TestManyTasksAreSentInPieces makes sure that a client which breaks off between them
// hears the rest.
func TestManyTasksAreSentInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTicker()
		for n := range 1900 {
			k.tick(task.ID(fmt.Sprint("t", n)))
		}
		w, leave := listening(k.server(), "/v1/state/events")
		defer leave()
		time.Sleep(time.Second)
		synctest.Wait()
		if len(w.lines) < 3 {
			t.Fatalf("%d lines", len(w.lines))
		}
		<-w.lines
		var state overview.State
		for n := 0; len(w.lines) > 0; n++ {
			id, data, _ := strings.Cut(<-w.lines, "event: change\ndata: ")
			for !strings.HasSuffix(data, "\n\n") { // written in pieces
				data += <-w.lines
			}
			var c overview.Change
			must(t, json.Unmarshal([]byte(data), &c))
			if len(c.Tasks) > 1000 || n == 0 && (id != "" || c.Row != 0) || n > 0 && id != "id: 1900\n" {
				t.Errorf("%d tasks in event %q", len(c.Tasks), id)
			}
			state.ApplyChange(c)
		}
		if len(state.Tasks) != 1900 || state.Row != 1900 {
			t.Errorf("%d tasks at row %d", len(state.Tasks), state.Row)
		}
	})
}
