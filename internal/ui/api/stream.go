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
	// pingEvery is the interval of pings, which keep an idle stream open.
	pingEvery = 30 * time.Second
	// writeWithin is how long a client may take to accept one write. The server does not wait for a client that does
	// not read.
	writeWithin = 30 * time.Second
	piece       = 32 << 10
)

// boundedWriter writes to a client, and gives up if it does not read.
type boundedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// newBoundedWriter begins a response. It clears the deadline of the last response on this connection.
func newBoundedWriter(w http.ResponseWriter) *boundedWriter {
	p := &boundedWriter{w, http.NewResponseController(w)}
	p.setDeadline(time.Time{})
	return p
}

// setDeadline limits how long the next write may take. A connection without deadlines is written to without one.
func (p *boundedWriter) setDeadline(t time.Time) {
	p.control.SetWriteDeadline(t) //nolint:errcheck // see above
}

// Write implements io.Writer. The deadline of the last write holds until the response is flushed, after the request.
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

// Unwrap implements the interface of http.ResponseController.
func (p *boundedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// streamWaker wakes streams when something changed that no journal records.
type streamWaker struct {
	mu sync.Mutex
	ch chan struct{}
}

// wakeChannel returns a channel that closes at the next change.
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

// events is a stream of server-sent events. After an error it sends nothing.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

// openEvents begins a stream and flushes the headers, so that the client knows that it is open.
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

// flush reports whether the client is still connected.
func (e *events) flush() bool {
	if e.err == nil {
		e.err = e.control.Flush()
	}
	return e.err == nil
}

// sendEvent sends one event. It returns false if the client has disconnected.
func (e *events) sendEvent(event string, id int64, v any) bool {
	body, err := json.Marshal(v)
	if err != nil {
		e.err = err
		return false
	}
	e.addEvent(event, id, body)
	return e.flush()
}

// addEvent writes an event without flushing it.
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

// journalEvents streams the journal from a row on. A slow client misses nothing: it is served from the store, not from
// a buffer.
func (s *Server) journalEvents(w http.ResponseWriter, r *http.Request) {
	after, err := resumeAt(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	id := task.ID(r.URL.Query().Get(wire.ParamTask))
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

// resumeAt returns the row after which a stream begins.
func resumeAt(r *http.Request) (int64, error) {
	text := r.Header.Get(wire.HeaderLastEventID)
	if text == "" {
		text = r.URL.Query().Get(wire.ParamAfter)
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
