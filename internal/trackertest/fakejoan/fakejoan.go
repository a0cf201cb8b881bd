// Package fakejoan is a stand-in for Joan's MCP server, for tests and demonstrations: a
// board that keeps state behind tools of Joan's names and arguments, over HTTP or over a
// program's standard input and output. It has Joan's habits: lists are prose, single
// things are JSON, errors are prose that no flag marks, and everything goes by UUID. It
// fails when it is told to.
package fakejoan

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/adapter/mcpboard"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
)

// Options say how a fake is reached.
type Options struct {
	// Sessions makes it speak the older protocol, in which a client has a session that
	// the server may forget.
	Sessions bool
	// Command starts a program that calls Pipe with the socket that Env names; with it
	// the fake is reached over that program, else over HTTP.
	Command []string
	Env     func(socket string) []string
}

// A Fake is a board with its server. It is a trackertest.World.
type Fake struct {
	o      Options
	tools  []*tool
	secret string
	web    *httptest.Server
	socket string

	handler func() http.Handler // makes one that knows no session
	inner   http.Handler

	mu       sync.Mutex
	project  string
	ids      int
	last     time.Time
	columns  []*column
	tags     []*tag
	tasks    []*task
	fault    trackertest.Fault
	writes   int
	problems []string
}

// New starts a fake that ends with the test. At the end the test fails if it was asked
// for anything that Joan's schemas do not allow.
func New(t testing.TB, o Options) *Fake {
	t.Helper()
	f := &Fake{o: o, secret: "joan-secret-token-1234567890"}
	tools, err := offeredTools()
	if err != nil {
		t.Fatal(err)
	}
	f.tools = tools
	f.project = f.newID("project")
	for i, name := range trackertest.Columns {
		f.columns = append(f.columns, &column{id: f.newID("column"), name: name, status: statuses[min(i, len(statuses)-1)]})
	}
	for _, name := range trackertest.Tags {
		f.tags = append(f.tags, &tag{id: f.newID("tag"), name: name})
	}
	if len(o.Command) > 0 {
		f.listenForPipes(t)
	} else {
		server := f.newServer(nil)
		f.handler = func() http.Handler {
			return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
		}
		f.inner = f.handler()
		f.web = httptest.NewServer(http.HandlerFunc(f.guardHTTP))
		t.Cleanup(f.web.Close)
	}
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, p := range f.problems {
			t.Errorf("fake Joan: %s", p)
		}
	})
	return f
}

// ProjectID returns the id of the board's project.
func (f *Fake) ProjectID() string { return f.project }

// Secret implements trackertest.Keeper.
func (f *Fake) Secret() string { return f.secret }

// URL returns where the fake is over HTTP.
func (f *Fake) URL() string { return f.web.URL + "/mcp" }

// ClientOptions returns what a client of the fake is made of.
func (f *Fake) ClientOptions() mcpboard.Options {
	o := mcpboard.Options{Scope: f.project, Mapping: mcpboard.ShippedMappings()["joan"], Pause: time.Millisecond}
	if f.web == nil {
		o.Command, o.Env = f.o.Command, f.o.Env(f.socket)
		return o
	}
	o.URL, o.HTTP, o.Token = f.URL(), f.web.Client(), f.readToken
	return o
}

// ForgetSessions makes the server forget its sessions, as one does that is started anew.
func (f *Fake) ForgetSessions() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inner = f.handler()
}

// OpenClient implements trackertest.World.
func (f *Fake) OpenClient(t testing.TB) trackers.Backend {
	t.Helper()
	b, err := mcpboard.New(f.ClientOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// newID makes a UUID; which one is known beforehand. The kind is there to be seen.
func (f *Fake) newID(kind string) string {
	f.ids++
	sum := 0
	for _, b := range []byte(kind) {
		sum = sum*31 + int(b)
	}
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(sum), f.ids)
}

// nextTime returns a moment after all others.
func (f *Fake) nextTime() time.Time {
	at := time.Now().UTC().Truncate(time.Millisecond)
	if !at.After(f.last) {
		at = f.last.Add(time.Millisecond)
	}
	f.last = at
	return at
}
