package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/ui/api"
	"orange/internal/wire"
)

// An event as a client receives it.
type heard struct {
	id    int64
	entry journal.Entry
}

// stream is a client that listens.
type stream struct {
	t     testing.TB
	lines *bufio.Scanner
	close func()
	last  string // id of the last event
}

// follow connects to the events. It may name the last one that was seen.
func (r *env) follow(query string, last int64) *stream {
	r.t.Helper()
	id := ""
	if last > 0 {
		id = strconv.FormatInt(last, 10)
	}
	return r.listenTo("/v1/events"+query, id)
}

// listenTo connects to a stream.
func (r *env) listenTo(path, last string) *stream {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute) // what never comes is not waited for
	req, err := http.NewRequestWithContext(ctx, "GET", "http://orange"+path, nil)
	must(r.t, err)
	req.Header.Set(wire.HeaderAPI, "1")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := r.client.Do(req)
	must(r.t, err)
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		r.t.Fatalf("%d %s", res.StatusCode, got)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	return &stream{t: r.t, lines: lines, last: last, close: func() {
		cancel()
		res.Body.Close() //nolint:errcheck // the client leaves
	}}
}

// event reads one event.
func (s *stream) event() (name string, data []byte) {
	s.t.Helper()
	for s.lines.Scan() {
		switch key, value, _ := strings.Cut(s.lines.Text(), ": "); key {
		case "id":
			s.last = value
		case "event":
			name = value
		case "data":
			return name, []byte(value)
		}
	}
	s.t.Fatalf("the stream ended: %v", s.lines.Err())
	return "", nil
}

// next reads one entry of the journal.
func (s *stream) next() heard {
	s.t.Helper()
	name, data := s.event()
	if name != "entry" {
		s.t.Fatalf("event %q", name)
	}
	var out heard
	must(s.t, json.Unmarshal(data, &out.entry))
	var err error
	out.id, err = strconv.ParseInt(s.last, 10, 64)
	must(s.t, err)
	return out
}

// update changes a task's summary, which is one entry.
func (r *env) update(id string, n int) {
	r.t.Helper()
	body := fmt.Sprintf(`{"kind":"update","fields":[{"name":"summary","to":"number %d"}]}`, n)
	if got := r.ask("POST", "/v1/tasks/"+id+"/signals", body); got.status != http.StatusOK {
		r.t.Error(got.text)
	}
}

func TestAReconnectedClientGetsEveryEventOnce(t *testing.T) {
	r := open(t)
	const writers, updates = 3, 15
	ids := make([]string, writers)
	for i := range ids {
		ids[i] = r.create(fmt.Sprintf("b%d", i))
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	for _, id := range ids {
		wait.Go(func() {
			for n := range updates {
				r.update(id, n)
			}
		})
	}
	var last int64
	seqs := map[task.ID]int{}
	for n := 0; n < writers*(updates+1); {
		s := r.follow("", last)
		for range 7 { // then the line breaks
			e := s.next()
			if e.id != last+1 || e.entry.Seq != seqs[e.entry.Task]+1 {
				t.Fatalf("row %d after %d, entry %d after %d", e.id, last, e.entry.Seq, seqs[e.entry.Task])
			}
			last, seqs[e.entry.Task] = e.id, e.entry.Seq
			if n++; n == writers*(updates+1) {
				break
			}
		}
		s.close()
	}
}

func TestEventsOfOneTaskAndFromARow(t *testing.T) {
	r := open(t)
	a, b := r.create("a"), r.create("b")
	r.update(a, 1)
	r.update(b, 1)
	s := r.follow("?task="+a, 0)
	defer s.close()
	for _, want := range []int64{1, 3} {
		if e := s.next(); e.id != want || string(e.entry.Task) != a {
			t.Errorf("row %d of %s, want %d of %s", e.id, e.entry.Task, want, a)
		}
	}
	r.update(b, 2)
	r.update(a, 2)
	if e := s.next(); e.id != 6 || string(e.entry.Task) != a {
		t.Errorf("row %d of %s", e.id, e.entry.Task)
	}
	late := r.follow("?after=2", 0)
	defer late.close()
	if e := late.next(); e.id != 3 {
		t.Errorf("row %d after row 2", e.id)
	}
	both := r.follow("?after=1", 4) // what the client saw counts more than where it began
	defer both.close()
	if e := both.next(); e.id != 5 {
		t.Errorf("row %d after row 4", e.id)
	}
}

func TestAStoppingServerEndsItsStreams(t *testing.T) {
	r := open(t)
	r.create("a")
	s := r.follow("", 0)
	defer s.close()
	s.next()
	must(t, r.stop())
	if s.lines.Scan() && s.lines.Text() != "" {
		t.Errorf("after the end: %q", s.lines.Text())
	}
}

// still is an engine in which nothing happens, or whose store is broken.
type still struct {
	api.Engine
	err  error
	more chan struct{}
}

func (s still) FollowJournal(int64, task.ID, int) ([]journal.Row, <-chan struct{}, error) {
	return nil, s.more, s.err
}

// streamWriter is a client's end of a stream.
type streamWriter struct {
	header http.Header
	lines  chan string
	broken error
}

func (w *streamWriter) Header() http.Header { return w.header }
func (w *streamWriter) WriteHeader(int)     {}
func (w *streamWriter) Flush()              {}
func (w *streamWriter) Write(b []byte) (int, error) {
	if w.broken != nil {
		return 0, w.broken
	}
	w.lines <- string(b)
	return len(b), nil
}

func TestAQuietStreamIsPinged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &api.Server{Engine: still{more: make(chan struct{})}, Log: quiet()}
		ctx, cancel := context.WithCancel(t.Context())
		w := &streamWriter{header: http.Header{}, lines: make(chan string, 9)}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/v1/events", nil).WithContext(ctx))
		}()
		began := time.Now()
		if got := <-w.lines; got != ": orange\n\n" {
			t.Errorf("the first line is %q", got)
		}
		for n := range 3 {
			if got, at := <-w.lines, time.Since(began); got != ": ping\n\n" || at != time.Duration(n+1)*30*time.Second {
				t.Errorf("%q after %s", got, at)
			}
		}
		cancel() // the client leaves
		<-done
	})
}

func TestAStreamEndsWithItsClientOrItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct{ store, line error }{
			"the store is broken": {store: errors.New("it is damaged")},
			"the client left":     {line: errors.New("broken pipe")},
		} {
			more := make(chan struct{})
			close(more)
			rows := &once{still: still{more: more, err: tt.store}}
			s := &api.Server{Engine: rows, Log: quiet()}
			w := &streamWriter{header: http.Header{}, lines: make(chan string, 9), broken: tt.line}
			s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/v1/events", nil))
			if rows.asked != 1 {
				t.Errorf("%s: asked %d times", name, rows.asked)
			}
		}
	})
}

// once has one row, if its store works.
type once struct {
	still
	asked int
}

func (o *once) FollowJournal(int64, task.ID, int) ([]journal.Row, <-chan struct{}, error) {
	o.asked++
	return []journal.Row{{ID: 1, Entry: json.RawMessage(`{}`)}}, o.more, o.err
}
