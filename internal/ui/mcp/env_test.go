package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/api"
	"orange/internal/ui/apitest"
	"orange/internal/ui/client"
	"orange/internal/ui/mcp"
	"orange/internal/view/diff"
	"orange/internal/wire"
)

const (
	idOne = "oneAAAAAAAAAAAAAAAAAA"
	idTwo = "twoBBBBBBBBBBBBBBBBBB"
)

func now() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

// env is a client of the API server over fake parts.
type env struct {
	apitest.Engine
	api    *api.Server
	client *client.Client

	mu     sync.Mutex
	body   string // of TASK.md
	why    explain.Explanation
	place  wire.Location
	refuse string // why everything is refused
	heard  []string

	began, ended chan struct{} // of streams of the state

	boards      *apitest.FakeBoards
	files       []diff.File
	diffProblem string
	attempts    []wire.Attempt
	log         wire.Log
}

// newEnv returns a server with two tasks at work.
func newEnv(t testing.TB) *env {
	t.Helper()
	o := &env{Engine: apitest.Engine{FakeStore: apitest.NewStore()}, place: wire.Location{Project: "shop"}, body: "## Plan\n\nAPPROACH: x\n"}
	text, _ := builtin.Text("orange")
	def := o.AddWorkflow(t, "orange.yaml", text)
	for i, id := range []task.ID{idOne, idTwo} {
		o.Tasks = append(o.Tasks, task.Task{ID: id, Project: "shop", Branch: fmt.Sprintf("branch-%d", i+1), Summary: "do it", Status: "working", Setup: task.Setup{Workflow: "orange", WorkflowHash: def.Hash},
			CurrentVisit: task.CurrentVisit{Since: now().Add(-time.Minute)}, CreatedAt: now().Add(-time.Hour), Agents: task.Agents{Attempts: []task.Attempt{{Number: 1, Role: "worker", Running: true, Since: now()}}}})
	}
	o.api = apitest.NewServer(o.FakeStore)
	o.api.Engine, o.api.Folders, o.api.Projects = o, o, apitest.Projects{{Name: "shop", Path: "/shop"}}
	o.api.Where = func(context.Context, string) (wire.Location, error) { return o.place, nil }
	text, _ = builtin.Text("joan-board")
	joan := o.AddWorkflow(t, "joan-board.yaml", text)
	o.boards = apitest.NewBoards(joan.Board.Vocabulary(), now)
	o.api.Boards, o.api.Changes, o.api.Attempts = o.boards, o, o
	o.began, o.ended = make(chan struct{}, 1000), make(chan struct{}, 1000)
	handler := o.api.Handler()
	socket, _ := apitest.Listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, wire.PathStateEvents) {
			o.began <- struct{}{}
			defer func() { o.ended <- struct{}{} }()
		}
		handler.ServeHTTP(w, r)
	}))
	o.client = client.New(socket)
	t.Cleanup(o.client.Close)
	return o
}

// Path implements api.Folders.
func (*env) Path(string, task.ID) string { return "" }

// ReadTaskFile implements api.Folders.
func (o *env) ReadTaskFile(string, task.ID) (taskfile.Document, error) {
	return taskfile.Parse([]byte(o.body))
}

// Explain implements api.Engine.
func (o *env) Explain(_ context.Context, id task.ID) (explain.Explanation, error) {
	out := o.why
	out.Task = id
	return out, nil
}

// Create implements api.Engine.
func (o *env) Create(_ context.Context, n signal.NewTask) (engine.Answer, error) {
	o.hear("create", n)
	if o.refuse != "" {
		return engine.Answer{}, task.Mistakef("%s", o.refuse)
	}
	return engine.Answer{Task: task.Task{ID: idTwo, Project: n.Project, Branch: n.Branch, Status: "planning", Waiting: task.Waiting{Queued: true}}}, nil
}

// Submit implements api.Engine.
func (o *env) Submit(_ context.Context, id task.ID, s signal.Signal) (engine.Answer, error) {
	o.hear("signal "+string(id), s)
	t, _, err := o.Task(id)
	if o.refuse != "" {
		return engine.Answer{Task: t, Decision: engine.Decision{Verdict: engine.Refuse, Refused: o.refuse}}, err
	}
	return engine.Answer{Task: t}, err
}

// TaskDiff implements api.Changes.
func (o *env) TaskDiff(context.Context, task.Task) (diff.Comparison, error) {
	return diff.Comparison{Base: "base0", Files: o.files, Problem: o.diffProblem}, nil
}

// TaskFile implements api.Changes.
func (*env) TaskFile(context.Context, task.Task, string, bool) (content []byte, cut bool, err error) {
	return nil, false, nil
}

// ListAttempts implements api.Attempts.
func (o *env) ListAttempts(task.Task) ([]wire.Attempt, error) { return o.attempts, nil }

// AttemptLog implements api.Attempts. It leaves out the turns before after, which is their number.
func (o *env) AttemptLog(_ task.Task, number int, _, after string) (wire.Log, error) {
	out := o.log
	out.Attempt = number
	if n, err := strconv.Atoi(after); err == nil {
		out.Turns = out.Turns[n:]
	}
	return out, nil
}

// AttachCommand implements api.Attempts.
func (*env) AttachCommand(task.Task, string) ([]string, error) { return nil, nil }

// LastMessage implements api.Attempts.
func (*env) LastMessage(task.Task, int, string) (wire.Message, error) { return wire.Message{}, nil }

// HandleHook implements api.Attempts.
func (*env) HandleHook(context.Context, agent.Caller, string, string, []byte) error { return nil }

func (o *env) hear(what string, v any) {
	b, _ := json.Marshal(v)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, strings.ReplaceAll(what+" "+string(b), `"at":"0001-01-01T00:00:00Z",`, ""))
}

// said is everything that was asked for and would change something.
func (o *env) said() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.heard, "\n")
}

func options() mcp.ToolOptions {
	return mcp.ToolOptions{Version: "1.2.3", Now: now, Workflow: func(name, folder string) (string, string, error) {
		text, ok := builtin.Text(name)
		if !ok {
			return "", "", fmt.Errorf("workflow %q is not known in %s", name, folder)
		}
		return name + ".yaml", text, nil
	}}
}

// dial speaks with the tools through pipes, as orange mcp does.
func dial(t testing.TB, c mcp.Caller) *sdk.ClientSession { return dialWith(t, c, newClient(nil), "") }

func newClient(can *sdk.ClientOptions) *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, can)
}

// dialWith is dial with a client that can do more, and with a version of the protocol; "" for the newest.
func dialWith(t testing.TB, c mcp.Caller, with *sdk.Client, version string) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(context.Background(), options(), c, toServer, fromServer) }()
	s, err := with.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		// A client may leave while an answer is on its way.
		if err := <-ended; err != nil && !strings.Contains(err.Error(), io.ErrClosedPipe.Error()) {
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
