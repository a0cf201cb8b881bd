// Package fakejoan is a stand-in for Joan's MCP server, for tests and demonstrations: a board
// that keeps state behind tools with Joan's names and arguments, over HTTP or over a program's
// standard input and output. It behaves like Joan: lists are prose, single items are JSON,
// errors are prose without an error flag, and all ids are UUIDs. It fails on demand.
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

// FakeOptions configure how a fake is reached.
type FakeOptions struct {
	// Sessions selects the older protocol, in which a client has a session that the server may
	// forget.
	Sessions bool
	// Command starts a program that calls Pipe with the socket that Env names. If it is set,
	// the fake is reached over that program, otherwise over HTTP.
	Command []string
	Env     func(socket string) []string
}

// A Fake is a board with its server. It is a trackertest.World.
type Fake struct {
	o      FakeOptions
	tools  []*tool
	secret string
	web    *httptest.Server
	socket string

	handler func() http.Handler // returns a handler that knows no session
	inner   http.Handler

	mu       sync.Mutex
	project  string
	ids      int
	last     time.Time
	columns  []*boardColumn
	tags     []*tag
	tasks    []*task
	fault    trackertest.Fault
	writes   int
	problems []string
}

// New starts a fake that ends with the test. At the end the test fails if a request violated
// Joan's schemas.
func New(t testing.TB, o FakeOptions) *Fake {
	t.Helper()
	f := &Fake{o: o, secret: "joan-secret-token-1234567890"}
	tools, err := offeredTools()
	if err != nil {
		t.Fatal(err)
	}
	f.tools = tools
	f.project = f.newID("project")
	for i, name := range trackertest.Columns {
		f.columns = append(f.columns, &boardColumn{id: f.newID("column"), name: name, status: statuses[min(i, len(statuses)-1)]})
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

// URL returns the address of the fake over HTTP.
func (f *Fake) URL() string { return f.web.URL + "/mcp" }

// ClientOptions returns the options for a client of the fake.
func (f *Fake) ClientOptions() mcpboard.BoardOptions {
	o := mcpboard.BoardOptions{Scope: f.project, Mapping: mcpboard.ShippedMappings()["joan"], Pause: time.Millisecond}
	if f.web == nil {
		o.Command, o.Env = f.o.Command, f.o.Env(f.socket)
		return o
	}
	o.URL, o.HTTP, o.Token = f.URL(), f.web.Client(), f.readToken
	return o
}

// ForgetSessions makes the server forget its sessions, like a restart.
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

// newID returns a predictable UUID that shows its kind.
func (f *Fake) newID(kind string) string {
	f.ids++
	sum := 0
	for _, b := range []byte(kind) {
		sum = sum*31 + int(b)
	}
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(sum), f.ids)
}

// nextTime returns a time after all others.
func (f *Fake) nextTime() time.Time {
	at := time.Now().UTC().Truncate(time.Millisecond)
	if !at.After(f.last) {
		at = f.last.Add(time.Millisecond)
	}
	f.last = at
	return at
}
