package web

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// connection remembers that the process at the other end of a connection is not an agent. Finding out
// means reading every process of the machine, which is too slow for every page view. Requests that
// change something always check.
type connection struct {
	mu        sync.Mutex
	checkedAt time.Time // when the process was last checked
}

// recheckInterval is how long the result of a check is valid for reading.
const recheckInterval = time.Minute

type connectionKey struct{}

// ConnContext is for the field ConnContext of http.Server. Without it, every request checks the
// process that sent it.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, new(connection))
}

// mayRead refuses agents. An agent reads its own task with its own token instead.
func (s *Site) mayRead(r *http.Request) error {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return s.mayAct(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.o.Now()
	if age := now.Sub(c.checkedAt); age >= 0 && age < recheckInterval {
		return nil
	}
	err := s.mayAct(r)
	if err == nil {
		c.checkedAt = now
	}
	return err
}

// How long a request body may take to arrive, and how long each write of a response may take. The time
// to compute a response is not limited here: a search may take minutes, and a stream lasts as long as
// its reader.
const (
	readTimeout  = 30 * time.Second
	writeTimeout = time.Minute
)

// withDeadlines limits how long a client can hold a connection without sending its request or reading
// the response. The server removes the read deadline once it has read the whole body, and then reads
// on to notice that the client left; a request without a body gets no read deadline, because the
// deadline would abort it.
func withDeadlines(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	out := &deadlineWriter{ResponseWriter: w, conn: http.NewResponseController(w)}
	out.extendDeadline()
	if r.Body != nil && r.Body != http.NoBody {
		out.conn.SetReadDeadline(time.Now().Add(readTimeout)) //nolint:errcheck // a connection that has none
	}
	return out
}

// deadlineWriter is a response writer that extends the write deadline with each write.
type deadlineWriter struct {
	http.ResponseWriter
	conn *http.ResponseController
}

func (t *deadlineWriter) extendDeadline() { t.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) } //nolint:errcheck // a connection that has none

// Unwrap returns the underlying writer, for http.ResponseController.
func (t *deadlineWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *deadlineWriter) WriteHeader(status int) {
	t.extendDeadline()
	t.ResponseWriter.WriteHeader(status)
}

func (t *deadlineWriter) Write(p []byte) (int, error) {
	t.extendDeadline()
	return t.ResponseWriter.Write(p)
}

// FlushError flushes the response, for http.ResponseController.
func (t *deadlineWriter) FlushError() error {
	t.extendDeadline()
	return t.conn.Flush()
}

// Flush implements http.Flusher.
func (t *deadlineWriter) Flush() { t.FlushError() } //nolint:errcheck // the client left
