package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/client"
	"orange/internal/ui/mcp"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

const (
	idOne = "oneAAAAAAAAAAAAAAAAAA"
	idTwo = "twoBBBBBBBBBBBBBBBBBB"
)

func now() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

// fakeServer is a server as the tools see it.
type fakeServer struct {
	mu     sync.Mutex
	state  overview.State
	tasks  map[string]wire.TaskShown
	why    explain.Explanation
	place  wire.Place
	refuse string // what every signal and wish is answered with
	heard  []string
}

func newFakeServer() *fakeServer {
	o := &fakeServer{tasks: map[string]wire.TaskShown{}, place: wire.Place{Project: "shop"}}
	for i, id := range []task.ID{idOne, idTwo} {
		t := task.Task{ID: id, Project: "shop", Branch: fmt.Sprintf("branch-%d", i+1), Summary: "do it", Status: "working", Workflow: "orange", Since: now().Add(-time.Minute), CreatedAt: now().Add(-time.Hour)}
		o.tasks[string(id)] = wire.TaskShown{Task: t, Body: "## Plan\n\nAPPROACH: x\n"}
		o.state.Tasks = append(o.state.Tasks, overview.Row{ID: id, Project: "shop", Branch: t.Branch, Summary: t.Summary, Status: t.Status, Kind: "agent", Life: overview.Alive, Owner: "worker", Since: t.Since})
	}
	o.state.Projects = []overview.Project{{Name: "shop", Path: "/shop"}}
	return o
}

func (o *fakeServer) ReadState(_ context.Context, s client.StateQuery) (overview.State, error) {
	o.hear("state", s)
	return o.state, nil
}

func (o *fakeServer) ReadTask(_ context.Context, id string) (wire.TaskShown, error) {
	for k, v := range o.tasks {
		if strings.HasPrefix(k, id) {
			return v, nil
		}
	}
	return wire.TaskShown{}, &client.Error{Status: http.StatusNotFound, Message: "task not found: " + id}
}

func (o *fakeServer) ExplainTask(_ context.Context, id string) (explain.Explanation, error) {
	o.why.Task = task.ID(id)
	return o.why, nil
}

func (o *fakeServer) FindPlace(context.Context, string) (wire.Place, error) { return o.place, nil }

func (o *fakeServer) CreateTask(_ context.Context, w signal.NewTask) (wire.Answer, error) {
	o.hear("create", w)
	if o.refuse != "" {
		return wire.Answer{}, &client.Error{Status: http.StatusBadRequest, Message: o.refuse}
	}
	return wire.Answer{Task: task.Task{ID: idTwo, Project: w.Project, Branch: w.Branch, Status: "planning", Queued: true}}, nil
}

func (o *fakeServer) SendSignal(_ context.Context, id string, s signal.Signal) (wire.Answer, error) {
	o.hear("signal "+id, s)
	if o.refuse != "" {
		return wire.Answer{}, &client.Error{Status: http.StatusConflict, Message: o.refuse}
	}
	return wire.Answer{Task: o.tasks[id].Task}, nil
}

func (o *fakeServer) hear(what string, v any) {
	b, _ := json.Marshal(v)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, what+" "+string(b))
}

// said is everything that was asked for and would change something.
func (o *fakeServer) said() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, h := range o.heard {
		if !strings.HasPrefix(h, "state ") {
			out = append(out, strings.ReplaceAll(h, `"at":"0001-01-01T00:00:00Z",`, ""))
		}
	}
	return strings.Join(out, "\n")
}

func options() mcp.Options {
	return mcp.Options{Version: "1.2.3", Now: now, Workflow: func(name, folder string) (string, string, error) {
		text, ok := builtin.Text(name)
		if !ok {
			return "", "", fmt.Errorf("workflow %q is not known in %s", name, folder)
		}
		return name + ".yaml", text, nil
	}}
}

// dial speaks with the tools through pipes, as orange mcp does.
func dial(t testing.TB, c mcp.Caller) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(context.Background(), options(), c, toServer, fromServer) }()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	return s
}

// call uses a tool. The text is its words, the value its structure.
func call(t *testing.T, s *sdk.ClientSession, tool string, args any) (value map[string]any, text string, refused bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: the protocol failed: %v", tool, err)
	}
	for _, c := range res.Content {
		text += c.(*sdk.TextContent).Text
	}
	value, _ = res.StructuredContent.(map[string]any)
	if res.IsError && strings.ContainsAny(text, "\n") {
		t.Errorf("%s: the error has several lines: %q", tool, text)
	}
	return value, text, res.IsError
}

type args = map[string]any
