package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/apitest"
	"orange/internal/ui/client"
	"orange/internal/wire"
)

// realHandler is the handler of a server that has a task abc.
func realHandler() http.Handler {
	return apitest.NewServer(apitest.NewStore(task.Task{ID: "abc000000000000000000"})).Handler()
}

// child is a server that was started, as a test wants it.
type child struct {
	gone bool
	why  error
}

func (c child) HasExited() (bool, error) { return c.gone, c.why }

func TestConnect(t *testing.T) {
	stale := func(t *testing.T, socket string) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		l.Close()
	}
	running := func(answer string, status int) func(*testing.T, string) {
		return func(t *testing.T, socket string) { listen(t, socket, &recorder{status: status, answer: answer}) }
	}
	serving := func(t *testing.T, socket string) { listen(t, socket, realHandler()) }
	nothing := func(*testing.T, string) {}
	begin := func(c child) func(*testing.T, string) (client.Child, error) {
		return func(t *testing.T, socket string) (client.Child, error) {
			os.Remove(socket) // a server replaces what a dead one left
			serving(t, socket)
			return c, nil
		}
	}
	tests := []struct {
		name    string
		before  func(*testing.T, string)
		start   func(*testing.T, string) (client.Child, error) // nil: none may be started
		starts  int32
		wantErr string
	}{
		{"a server runs", serving, begin(child{}), 0, ""},
		{"none runs", nothing, begin(child{}), 1, ""},
		{"a dead one left its socket", stale, begin(child{}), 1, ""},
		{"another was quicker", nothing, begin(child{gone: true}), 1, ""},
		{"ours failed and another is there", nothing, begin(child{gone: true, why: errors.New("locked")}), 1, ""},
		{"none runs and none may be started", nothing, nil, 0, "no server is running: start one with orange serve"},
		{"of another protocol", running(`{"version":"2","api":9}`, 200), begin(child{}), 0, "speaks protocol 9 and this orange speaks 1: run orange restart and try again"},
		{"it refuses our protocol", running(`{"error":"run orange stop and try again"}`, 426), begin(child{}), 0, "run orange stop and try again"},
		{"it cannot be started", nothing, func(*testing.T, string) (client.Child, error) { return nil, errors.New("no such file") }, 1, "start the server: no such file"},
		{"it dies at once", nothing, func(*testing.T, string) (client.Child, error) {
			return child{gone: true, why: errors.New("open orange.db: disk full")}, nil
		}, 1, "start the server: open orange.db: disk full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			socket := socketIn(t)
			tt.before(t, socket)
			var starts atomic.Int32
			o := client.DialOptions{Socket: socket, Home: filepath.Join(t.TempDir(), "home")}
			if tt.start != nil {
				o.Start = func() (client.Child, error) { starts.Add(1); return tt.start(t, socket) }
			}
			c, err := client.Connect(t.Context(), o)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("got %v, want %q", err, tt.wantErr)
				}
			} else if err != nil {
				t.Fatal(err)
			} else {
				c.Close()
			}
			if starts.Load() != tt.starts {
				t.Errorf("started %d servers, want %d", starts.Load(), tt.starts)
			}
		})
	}
}

func TestConnectWaitsForALeavingServer(t *testing.T) {
	socket := socketIn(t)
	var asked atomic.Int32
	real := realHandler()
	listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		real.ServeHTTP(w, r)
	}))
	c, err := client.Connect(t.Context(), client.DialOptions{Socket: socket})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestConnectStartsAgainWhileTheOneBeforeStillHoldsTheFolder(t *testing.T) {
	socket := socketIn(t)
	starts := 0
	o := client.DialOptions{Socket: socket, Home: t.TempDir(), Start: func() (client.Child, error) {
		if starts++; starts == 3 {
			listen(t, socket, realHandler())
			return child{}, nil
		}
		return child{gone: true}, nil
	}}
	c, err := client.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestACallThatMeetsALeavingServerIsMadeAgain(t *testing.T) {
	cut := func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }
	closing := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"error":"the server is shutting down: try again"}`))
	}
	ask := func(ctx context.Context, c *client.Client) error { _, err := c.ReadTask(ctx, "abc"); return err }
	tell := func(ctx context.Context, c *client.Client) error {
		_, err := c.SendSignal(ctx, "abc", signal.Signal{Kind: signal.Request, To: "x"})
		return err
	}
	tests := []struct {
		name    string
		leave   func(http.ResponseWriter)
		call    func(context.Context, *client.Client) error
		heard   int32
		wantErr string
	}{
		{"a question it does not answer", cut, ask, 2, ""},
		{"a question it turns away", closing, ask, 2, ""},
		{"a request it turns away", closing, tell, 2, ""},
		{"a request that may have been heard", cut, tell, 1, "check whether the request was done, and try again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			socket := socketIn(t)
			var heard atomic.Int32
			real := realHandler()
			listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != wire.Root+wire.PathHello && heard.Add(1) == 1 {
					tt.leave(w)
					return
				}
				real.ServeHTTP(w, r)
			}))
			c, err := client.Connect(t.Context(), client.DialOptions{Socket: socket, Home: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = tt.call(t.Context(), c)
			if (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) || heard.Load() != tt.heard {
				t.Errorf("got %v after %d calls, want %q after %d", err, heard.Load(), tt.wantErr, tt.heard)
			}
		})
	}
}

func TestConnectNamesAFolderItCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := client.Connect(t.Context(), client.DialOptions{Socket: socketIn(t), Home: file + "/home",
		Start: func() (client.Child, error) { t.Error("started"); return nil, nil }})
	if err == nil || !strings.Contains(err.Error(), "create the data folder") || !strings.Contains(err.Error(), "set ORANGE_HOME") {
		t.Errorf("got %v", err)
	}
}

func TestConnectDistrustsAFolderOpenToOthers(t *testing.T) {
	socket := socketIn(t)
	listen(t, socket, realHandler())
	if err := os.Chmod(filepath.Dir(socket), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Connect(t.Context(), client.DialOptions{Socket: socket}); err == nil || !strings.Contains(err.Error(), "is open to others") {
		t.Errorf("got %v", err)
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := client.DialOptions{Socket: socketIn(t), Home: t.TempDir(), Start: func() (client.Child, error) { cancel(); return child{}, nil }}
	if _, err := client.Connect(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
