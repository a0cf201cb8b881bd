package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipe is a listener of one connection that keeps no time but the test's.
type pipe struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error   { close(p.closed); return nil }
func (p *pipe) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// dialGuard connects to a site that has one page.
func dialGuard(t *testing.T, h http.HandlerFunc) net.Conn {
	t.Helper()
	s := New(SiteOptions{Log: slog.New(slog.DiscardHandler), Token: "t", Address: func() string { return "127.0.0.1:1" }})
	l := &pipe{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	far, near := net.Pipe()
	l.conns <- near
	server := &http.Server{Handler: s.guardRequests(h), IdleTimeout: 10 * time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		far.Close()
		server.Close()
		<-ended
	})
	return far
}

const asks = " HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAuthorization: Bearer t\r\n"

func TestWhatIsAskedForHasItsTime(t *testing.T) {
	tests := map[string]string{
		"a form":         "POST /x" + asks + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b",
		"chunks":         "POST /x" + asks + "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n",
		"nothing in it":  "POST /x" + asks + "Content-Length: 0\r\n\r\n",
		"a look":         "GET /x" + asks + "\r\n",
		"two in a row":   "GET /x" + asks + "\r\nPOST /x" + asks + "Content-Length: 3\r\n\r\na=b",
		"and then a GET": "POST /x" + asks + "Content-Length: 3\r\n\r\na=bGET /x" + asks + "\r\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := dialGuard(t, func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						t.Error(err)
					}
					select {
					case <-r.Context().Done():
						fmt.Fprint(w, "broken off: ", context.Cause(r.Context()))
					case <-time.After(10 * time.Minute):
						fmt.Fprint(w, "done")
					}
				})
				go io.WriteString(conn, text) //nolint:errcheck // a pipe
				in := bufio.NewReader(conn)
				for range strings.Count(text, "HTTP/1.1") {
					res, err := http.ReadResponse(in, nil)
					if err != nil {
						t.Fatal(err)
					}
					body, err := io.ReadAll(res.Body)
					if string(body) != "done" || err != nil {
						t.Errorf("%q, %v", body, err)
					}
				}
			})
		})
	}
}

func TestASlowClientIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		failed := make(chan error, 1)
		conn := dialGuard(t, func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.Copy(io.Discard, r.Body)
			failed <- err
		})
		io.WriteString(conn, "POST /x"+asks+"Content-Length: 3\r\n\r\na") //nolint:errcheck // a pipe
		go io.Copy(io.Discard, conn)                                      //nolint:errcheck // likewise
		if err := <-failed; err == nil || time.Since(began) != readTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestStreamsLiveAsLongAsTheirReader streams to one who asked for it in whatever way, and to
// one who stops reading.
func TestStreamsLiveAsLongAsTheirReader(t *testing.T) {
	for _, accept := range []string{"text/event-stream", "*/*"} {
		synctest.Test(t, func(t *testing.T) {
			left := make(chan time.Time, 1)
			conn := dialGuard(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				out := http.NewResponseController(w)
				for {
					_, err := fmt.Fprint(w, "data: x\n\n")
					if err = errors.Join(err, out.Flush()); err != nil {
						left <- time.Now()
						return
					}
					time.Sleep(15 * time.Minute)
				}
			})
			io.WriteString(conn, "GET /x"+asks+"Accept: "+accept+"\r\n\r\n") //nolint:errcheck // a pipe
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(res.Body)
			for range 8 { // two hours
				if line, err := lines.ReadString('\n'); err != nil || line != "data: x\n" {
					t.Fatalf("%q, %v", line, err)
				}
				lines.ReadString('\n') //nolint:errcheck // it is empty
			}
			stopped := time.Now()
			if wait := (<-left).Sub(stopped); wait != 15*time.Minute+writeTimeout {
				t.Errorf("who does not read is waited for %s", wait)
			}
		})
	}
}
