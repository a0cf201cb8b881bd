package fakejoan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/trackertest"
)

// newServer returns Joan's server for one session. hangUp is nil over HTTP, where faults are
// those of HTTP.
func (f *Fake) newServer(hangUp func()) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "joan-mcp", Version: "1.0.0"}, nil)
	known := toolUses()
	for _, t := range f.tools {
		u := known[t.Name]
		s.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return f.useTool(t, u, r.Params.Arguments, hangUp)
		})
	}
	return s
}

// words are Joan's error messages.
var words = map[string]string{
	trackertest.Broken:  "API Error (500): Internal server error",
	trackertest.Limited: "Rate limit exceeded. Please wait before making more requests.",
	trackertest.Denied:  `Authentication failed. Please run "joan-mcp login" to authenticate or check your JOAN_AUTH_TOKEN environment variable.`,
}

func (f *Fake) useTool(t *tool, u toolUse, raw json.RawMessage, hangUp func()) (*mcp.CallToolResult, error) {
	a := args{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "arguments are no object"}
		}
	}
	if err := t.checkArguments(a); err != nil {
		f.recordProblem(fmt.Sprintf("%s was called with %.500s: %v", t.Name, raw, err))
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Input validation error: " + err.Error()}
	}
	fault := ""
	if hangUp != nil {
		fault = f.countUse(u.write)
	}
	if text := words[fault]; text != "" {
		return textResult(text), nil
	}
	if u.do == nil {
		return textResult("Error: " + t.Name + " is not part of this fake"), nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	answer := u.do(f, a)
	if fault == trackertest.Lost {
		hangUp()
	}
	return textResult(answer), nil
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func (f *Fake) readToken(context.Context) (string, error) { return f.secret, nil }

// guardHTTP handles a request before the server does: it requires the token, and injects HTTP
// faults.
func (f *Fake) guardHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+f.secret {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	inner := f.inner
	f.mu.Unlock()
	var call struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &call) // the protocol rejects what is not JSON
	switch {
	case call.Method == "tools/call":
		f.failHTTP(w, r, inner, f.countUse(toolUses()[call.Params.Name].write))
	case call.Method == "server/discover" && f.o.Sessions:
		http.Error(w, "Bad Request: not initialized", http.StatusBadRequest)
	default:
		inner.ServeHTTP(w, r)
	}
}

func (f *Fake) failHTTP(w http.ResponseWriter, r *http.Request, inner http.Handler, fault string) {
	switch fault {
	case trackertest.Broken:
		http.Error(w, "no", http.StatusInternalServerError)
	case trackertest.Limited:
		http.Error(w, "slowly", http.StatusTooManyRequests)
	case trackertest.Denied:
		http.Error(w, "who are you?", http.StatusUnauthorized)
	case trackertest.Lost:
		inner.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	default:
		inner.ServeHTTP(w, r)
	}
}

// listenForPipes waits for programs that run Pipe.
func (f *Fake) listenForPipes(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "joan") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f.socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = f.newServer(func() { conn.Close() }).Run(ctx, &mcp.IOTransport{Reader: conn, Writer: conn})
			}()
		}
	}()
}

// Pipe is the program through which a fake is reached: it copies its input to the fake and the
// fake's output to its own, until one of them ends.
func Pipe(socket string, in io.Reader, out io.Writer) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	ends := make(chan error, 2) // the read of in may never end; the program does
	go func() { _, err := io.Copy(conn, in); ends <- err }()
	go func() { _, err := io.Copy(out, conn); ends <- err }()
	if err := <-ends; err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
