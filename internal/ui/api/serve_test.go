package api_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/api"
)

// pipes is a listener without a network, for a bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// get asks over a connection of its own.
func (p *pipes) get(path string) (string, error) {
	client, server := net.Pipe()
	p.conns <- server
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return client, nil },
	}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get("http://orange" + path)
	if err != nil {
		return "", err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

// calm is a control that is busy if its field says so.
type calm struct{ busy func() bool }

func (c calm) SetPaused(bool) error { return nil }
func (c calm) Paused() bool         { return false }
func (c calm) Busy() bool           { return c.busy() }

func never() bool { return false }

func TestAnIdleServerLeaves(t *testing.T) {
	const idle = 10 * time.Minute
	began := time.Time{}
	tests := []struct {
		name string
		idle time.Duration
		busy func() bool
		play func(t *testing.T, p *pipes, stop func())
		want time.Duration
	}{
		{"when nobody asks", idle, never, nil, idle},
		{"after the last request", idle, never, func(t *testing.T, p *pipes, _ func()) {
			time.Sleep(9 * time.Minute)
			if _, err := p.get("/v1/hello"); err != nil {
				t.Error(err)
			}
		}, 19 * time.Minute},
		{"when the engine has nothing to wait for", idle, func() bool { return time.Since(began) < 25*time.Minute }, nil, 30 * time.Minute},
		{"never, if it is told so", 0, never, func(_ *testing.T, _ *pipes, stop func()) {
			time.Sleep(1000 * time.Hour)
			stop()
		}, 1000 * time.Hour},
		{"when it is told to", idle, never, func(_ *testing.T, _ *pipes, stop func()) {
			time.Sleep(time.Minute)
			stop()
		}, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began = time.Now()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				p := newPipes()
				s := &api.Server{Control: calm{tt.busy}, Log: quiet(), Stop: stop}
				if tt.play != nil {
					go tt.play(t, p, stop)
				}
				if err := s.Serve(ctx, p, tt.idle); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != tt.want {
					t.Errorf("it left after %s, want %s", took, tt.want)
				}
			})
		})
	}
}

// A listener that breaks is an error, not an end.
func TestAServerSaysWhyItCannotListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &api.Server{Control: calm{never}, Log: quiet()}
		if err := s.Serve(t.Context(), deaf{newPipes()}, time.Minute); !errors.Is(err, errDeaf) {
			t.Error(err)
		}
	})
}

var errDeaf = errors.New("too many open files")

type deaf struct{ *pipes }

func (deaf) Accept() (net.Conn, error) { return nil, errDeaf }

// slow is an engine that takes its time.
type slow struct {
	api.Engine
	reached, goOn chan struct{}
}

func (s slow) Create(context.Context, signal.NewTask) (engine.Answer, error) {
	close(s.reached)
	<-s.goOn
	return engine.Answer{Task: task.Task{ID: "done"}}, nil
}

func TestARequestUnderWayIsAnsweredBeforeTheServerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		e := slow{reached: make(chan struct{}), goOn: make(chan struct{})}
		p := newPipes()
		s := &api.Server{Engine: e, Control: calm{never}, Log: quiet()}
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, p, 0) }()
		client, server := net.Pipe()
		p.conns <- server
		transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
		answer := make(chan string, 1)
		go func() {
			res, err := (&http.Client{Transport: transport}).Post("http://orange/v1/tasks", "application/json", strings.NewReader(`{"project":"p","summary":"s"}`))
			if err != nil {
				answer <- err.Error()
				return
			}
			defer res.Body.Close() //nolint:errcheck // read to its end
			text, _ := io.ReadAll(res.Body)
			answer <- string(text)
		}()
		<-e.reached
		stop()
		synctest.Wait()
		close(e.goOn)
		if got := <-answer; !strings.Contains(got, `"id":"done"`) {
			t.Errorf("the answer is %q", got)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// torn is a store whose list breaks off.
type torn struct {
	api.Tasks
	records int
}

func (l torn) EachTask(_ task.Filter, yield func([]byte) error) error {
	for range l.records {
		if err := yield([]byte(`{"id":"` + strings.Repeat("x", 1000) + `"}`)); err != nil {
			return err
		}
	}
	return errors.New("the store is damaged")
}

func TestAListThatBreaksOffIsNotTakenForAWholeOne(t *testing.T) {
	for name, records := range map[string]int{"at once": 0, "after a few": 3, "after many": 1000} {
		t.Run(name, func(t *testing.T) {
			s := &api.Server{Tasks: torn{records: records}, Log: quiet()}
			server := httptest.NewUnstartedServer(s.Handler())
			server.Config.ErrorLog = nil
			server.Start()
			defer server.Close()
			res, err := server.Client().Get(server.URL + "/v1/tasks")
			if err != nil {
				return // cut before the first byte
			}
			defer res.Body.Close() //nolint:errcheck // it broke off
			if text, err := io.ReadAll(res.Body); err == nil {
				t.Errorf("%d and %d bytes, whole", res.StatusCode, len(text))
			}
		})
	}
}

// failing is an engine whose answers are errors.
type failing struct {
	api.Engine
	err error
}

func (f failing) Create(context.Context, signal.NewTask) (engine.Answer, error) {
	return engine.Answer{}, f.err
}

func TestAnErrorIsOneLineUnderItsStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		status int
		want   string
	}{
		"a mistake":     {task.Mistakef("no\nsuch\r\nthing"), http.StatusBadRequest, `{"error":"no; such; thing"}`},
		"not found":     {task.ErrNotFound, http.StatusNotFound, `{"error":"task not found"}`},
		"shutting down": {task.ErrClosing, http.StatusServiceUnavailable, `{"error":"the server is shutting down: try again"}`},
		"broken":        {errors.New("the disk is full"), http.StatusInternalServerError, `{"error":"the disk is full"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &api.Server{Engine: failing{err: tt.err}, Log: quiet()}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/tasks", strings.NewReader(`{"project":"p","summary":"s"}`)))
			if got := strings.TrimSpace(w.Body.String()); w.Code != tt.status || got != tt.want {
				t.Errorf("%d %s", w.Code, got)
			}
		})
	}
}
