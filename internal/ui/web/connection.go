package web

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// connection is what is remembered of a connection: that the process at its other end is
// no agent. To find that out takes a look at every process of the machine, which nobody
// who turns pages should wait for; whoever changes something waits.
type connection struct {
	mu     sync.Mutex
	looked time.Time // when it was found out
}

// looksAgain is how long a process may look before it is looked at again.
const looksAgain = time.Minute

type connectionKey struct{}

// ConnContext is for http.Server: without it every request is looked into.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, new(connection))
}

// mayLook keeps agents from what people see, for they see what is theirs with a token of
// their own.
func (s *Site) mayLook(r *http.Request) error {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return s.mayAct(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.o.Now()
	if age := now.Sub(c.looked); age >= 0 && age < looksAgain {
		return nil
	}
	err := s.mayAct(r)
	if err == nil {
		c.looked = now
	}
	return err
}

// How long a request may take to arrive, and each part of an answer to be taken. What is
// done in between takes its own time: a search has minutes, a stream lives as long as its
// reader.
const (
	readTimeout  = 30 * time.Second
	writeTimeout = time.Minute
)

// withDeadlines bounds how long those hold a connection who do not send, or do not take what is
// sent. The server lifts the bound of a body when all of it was read, and reads on to learn
// that a client left: where there is no body, a bound would break the request off.
func withDeadlines(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	out := &deadlineWriter{ResponseWriter: w, conn: http.NewResponseController(w)}
	out.extendDeadline()
	if r.Body != nil && r.Body != http.NoBody {
		out.conn.SetReadDeadline(time.Now().Add(readTimeout)) //nolint:errcheck // a connection that has none
	}
	return out
}

// deadlineWriter is an answer of which each part must be taken in time.
type deadlineWriter struct {
	http.ResponseWriter
	conn *http.ResponseController
}

func (t *deadlineWriter) extendDeadline() { t.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) } //nolint:errcheck // a connection that has none

// Unwrap is for http.ResponseController.
func (t *deadlineWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *deadlineWriter) WriteHeader(status int) {
	t.extendDeadline()
	t.ResponseWriter.WriteHeader(status)
}

func (t *deadlineWriter) Write(p []byte) (int, error) {
	t.extendDeadline()
	return t.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (t *deadlineWriter) FlushError() error {
	t.extendDeadline()
	return t.conn.Flush()
}

// Flush implements http.Flusher.
func (t *deadlineWriter) Flush() { t.FlushError() } //nolint:errcheck // the client left
