package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/ui/cli"
	"orange/internal/ui/client"
)

// screen is what a person sees while a command still runs.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits until the screen shows all of text and nothing else.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); s.String() != text; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("shows %q, want %q", s.String(), text)
		}
	}
}

// changing answers with attempts that a test changes while a command runs.
type changing struct {
	mu    sync.Mutex
	list  []client.Attempt
	count int  // how often they were asked for
	gone  bool // the server is on its way out
}

// asked waits until the attempts were asked for so often.
func (c *changing) asked(t *testing.T, times int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		count := c.count
		c.mu.Unlock()
		if count >= times {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("asked %d times, want %d", count, times)
		}
	}
}

func (c *changing) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

func (c *changing) set(list ...client.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = list
}

func (c *changing) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/explain") {
		reply(rw, map[string]string{"status": "pending", "kind": "queued"})
		return
	}
	c.count++
	if c.gone {
		no(rw, http.StatusServiceUnavailable, "the server is shutting down: try again")
		return
	}
	reply(rw, map[string]any{"attempts": c.list})
}

func TestFollowingAnAttemptThatIsYetToCome(t *testing.T) {
	t.Parallel()
	w, out, attempts := newWorld(t), &screen{}, &changing{list: []client.Attempt{}}
	w.Stdout, w.handle = out, attempts.ServeHTTP
	path := filepath.Join(t.TempDir(), "log")
	code := make(chan int)
	go func() { code <- cli.Run(t.Context(), w.Deps, []string{"task", "log", "-f", idOne}) }()
	attempts.asked(t, 1) // and there was none
	attempts.set(client.Attempt{Number: 1, Role: "worker", Alive: true, Log: path})
	write(t, path, "first\n")
	out.shows(t, "first\n")
	write(t, path, "a question? ")
	out.shows(t, "first\na question? ")
	write(t, path, "yes\nlast")
	out.shows(t, "first\na question? yes\nlast")
	zero := 0
	attempts.set(client.Attempt{Number: 1, Role: "worker", Code: &zero, Log: path}, client.Attempt{Number: 2, Role: "worker", Alive: true, Log: path + "2"})
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %s", got, w.err.String())
	}
}

func TestFollowingIsInterrupted(t *testing.T) {
	for _, name := range []string{"while it waits for an attempt", "while the attempt lives"} {
		t.Run(name, func(t *testing.T) {
			w, out, attempts := newWorld(t), &screen{}, &changing{list: []client.Attempt{}}
			w.Stdout, w.handle = out, attempts.ServeHTTP
			if name == "while the attempt lives" {
				path := filepath.Join(t.TempDir(), "log")
				write(t, path, "here\n")
				attempts.set(client.Attempt{Number: 1, Alive: true, Log: path})
			}
			ctx, cancel := context.WithCancel(t.Context())
			code := make(chan int)
			go func() { code <- cli.Run(ctx, w.Deps, []string{"task", "log", "-f", idOne}) }()
			attempts.asked(t, 1)
			cancel()
			if got := <-code; got != 0 || w.err.Len() > 0 {
				t.Errorf("exit %d: %q", got, w.err.String())
			}
		})
	}
}

func TestFollowingATaskThatIsOver(t *testing.T) {
	w := newWorld(t)
	w.answers[attemptsPath] = `{"attempts":[]}`
	w.answers["/v1/tasks/"+idOne+"/explain"] = `{"status":"cancelled","kind":"terminal"}`
	if code := w.run(t, "task", "log", "-f", idOne); code != 1 || w.err.String() != "orange: task log: task oneAAAAA ended cancelled and had no attempt\n" {
		t.Errorf("exit %d: %q", code, w.err.String())
	}
}

// Agents go on without a server.
func TestFollowingGoesOnWhileTheServerLeaves(t *testing.T) {
	t.Parallel()
	w, out, attempts := newWorld(t), &screen{}, &changing{}
	path := filepath.Join(t.TempDir(), "log")
	attempts.set(client.Attempt{Number: 1, Alive: true, Log: path})
	w.Stdout, w.handle = out, attempts.ServeHTTP
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- cli.Run(ctx, w.Deps, []string{"task", "log", "-f", idOne}) }()
	attempts.asked(t, 1)
	attempts.leave()
	attempts.asked(t, 2)
	write(t, path, "still here\n")
	out.shows(t, "still here\n")
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %q", got, w.err.String())
	}
}
