package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

const (
	// pingEvery keeps an event stream from looking dead.
	pingEvery = 30 * time.Second
	// writeWithin is how long a client may take to make room for a piece of what is
	// written to it. One that reads nothing must not be waited for.
	writeWithin = 30 * time.Second
	piece       = 32 << 10
)

// boundedWriter writes to a client, and gives up on one that does not read.
type boundedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// newBoundedWriter begins an answer. What the last one on this connection was bounded by does
// not count.
func newBoundedWriter(w http.ResponseWriter) *boundedWriter {
	p := &boundedWriter{w, http.NewResponseController(w)}
	p.setDeadline(time.Time{})
	return p
}

// setDeadline bounds how long the next write may take. Who cannot be bounded is written to all
// the same.
func (p *boundedWriter) setDeadline(t time.Time) {
	p.control.SetWriteDeadline(t) //nolint:errcheck // see above
}

// Write implements io.Writer. The bound of the last piece holds until it is flushed,
// after the request.
func (p *boundedWriter) Write(b []byte) (n int, err error) {
	for {
		part := b[n:min(n+piece, len(b))]
		p.setDeadline(time.Now().Add(writeWithin))
		done, err := p.ResponseWriter.Write(part)
		if n += done; err != nil || n == len(b) {
			return n, err
		}
	}
}

// Unwrap lets a controller find what it controls.
func (p *boundedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// streamWaker wakes streams when something changed that no journal tells.
type streamWaker struct {
	mu sync.Mutex
	ch chan struct{}
}

// wakeChannel returns a channel that closes when the bell rings.
func (b *streamWaker) wakeChannel() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *streamWaker) wakeAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// events is a stream of server-sent events. After an error it is silent.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

// openEvents begins a stream, so that the client knows that it is heard.
func openEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", wire.TypeEventStream)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	e := &events{w: w, control: http.NewResponseController(w)}
	e.writeText(": orange\n\n")
	e.flush()
	return e
}

func (e *events) writeText(text string) {
	if e.err == nil {
		_, e.err = e.w.Write([]byte(text))
	}
}

// flush says whether the client is still there.
func (e *events) flush() bool {
	if e.err == nil {
		e.err = e.control.Flush()
	}
	return e.err == nil
}

// sendEvent sends one event. It says false if the client has left.
func (e *events) sendEvent(event string, id int64, v any) bool {
	body, err := json.Marshal(v)
	if err != nil {
		e.err = err
		return false
	}
	e.addEvent(event, id, body)
	return e.flush()
}

// addEvent writes an event that is not flushed yet.
func (e *events) addEvent(event string, id int64, body []byte) {
	text := fmt.Sprintf("event: %s\ndata: %s\n\n", event, body)
	if id > 0 {
		text = fmt.Sprintf("id: %d\n%s", id, text)
	}
	e.writeText(text)
}

func (e *events) sendPing() bool {
	e.writeText(": ping\n\n")
	return e.flush()
}

// journalEvents streams the journal from a row on. A client that reads slowly misses
// nothing: it is served from the store, not from a buffer.
func (s *Server) journalEvents(w http.ResponseWriter, r *http.Request) {
	after, err := resumeAt(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	id := task.ID(r.URL.Query().Get("task"))
	out := openEvents(w)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		rows, more, err := s.Engine.FollowJournal(after, id, 500)
		if err != nil {
			s.Log.Error("follow the journal", "component", "api", "error", err)
			return
		}
		if len(rows) > 0 {
			if after, err = out.addEntries(rows); err != nil {
				s.Log.Error("follow the journal", "component", "api", "error", err)
				return
			}
			if !out.flush() {
				return
			}
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.leaving:
			return
		case <-more:
		case <-ping.C:
			if !out.sendPing() {
				return
			}
		}
	}
}

// addEntries adds rows of the journal, and returns the last one.
func (e *events) addEntries(rows []journal.Row) (last int64, err error) {
	for i := range rows {
		text, err := rows[i].EntryJSON()
		if err != nil {
			return last, err
		}
		last = rows[i].ID
		e.addEvent(wire.EventEntry, last, text)
	}
	return last, nil
}

// resumeAt is the row after which a stream begins.
func resumeAt(r *http.Request) (int64, error) {
	text := r.Header.Get(wire.HeaderLastEventID)
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0, task.Mistakef("Last-Event-ID %q is not a row: give the id of the last event seen", text)
	}
	return n, nil
}
