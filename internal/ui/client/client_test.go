package client_test

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
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/apitest"
	"orange/internal/ui/client"
	"orange/internal/wire"
)

// socketIn returns a socket path short enough for every system.
func socketIn(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "o")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s.sock")
}

// listen serves h on a unix socket until the test ends.
func listen(t *testing.T, socket string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// recorder answers everything with one text and keeps what was asked.
type recorder struct {
	status int
	answer string
	got    []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.note(req, body)
	w.WriteHeader(r.status)
	fmt.Fprint(w, r.answer)
}

func (r *recorder) note(req *http.Request, body []byte) {
	line := req.Method + " " + req.URL.RequestURI()
	if len(body) > 0 {
		line += " " + string(body)
	}
	if req.Header.Get("Orange-Api") != "1" {
		line += " without api"
	}
	r.got = append(r.got, line)
}

// inspector keeps what was asked and passes it on to the real handler.
type inspector struct {
	recorder
	handler http.Handler
}

func (r *inspector) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.recorder.note(req, body)
	r.handler.ServeHTTP(w, req)
}

// inspect returns an inspector of a server that has a task abc.
func inspect() *inspector {
	store := apitest.NewStore(task.Task{ID: "abc000000000000000000"})
	store.Workflows["a/b"] = &workflow.Definition{}
	s := apitest.NewServer(store)
	s.Identity = holder{}
	return &inspector{handler: s.Handler()}
}

// holder identifies every caller with the token "attempt" as an attempt.
type holder struct{}

func (holder) IdentifyCaller(token string, _ int) (*agent.Caller, error) {
	if token == "attempt" {
		return &agent.Caller{Task: "abc000000000000000000", Attempt: 1, Role: "worker"}, nil
	}
	return nil, nil
}

func TestWhatIsAsked(t *testing.T) {
	two, flow, delivery, setup, none := 2, "w", task.DeliverPR, "make", ""
	tests := []struct {
		name string
		ask  func(context.Context, *client.Client) error
		want string
	}{
		{"tasks", func(ctx context.Context, c *client.Client) error {
			return c.CopyTaskList(ctx, task.Filter{Project: "p q", Status: "s", All: true}, io.Discard)
		}, "GET /v1/tasks?all=1&project=p+q&status=s"},
		{"task", func(ctx context.Context, c *client.Client) error { _, err := c.ReadTask(ctx, "abc"); return err }, "GET /v1/tasks/abc"},
		{"history", func(ctx context.Context, c *client.Client) error { _, err := c.ReadHistory(ctx, "abc"); return err }, "GET /v1/tasks/abc/history"},
		{"journal", func(ctx context.Context, c *client.Client) error { _, err := c.ReadJournal(ctx, "abc", 7); return err }, "GET /v1/tasks/abc/journal?after=7"},
		{"workflow", func(ctx context.Context, c *client.Client) error { _, err := c.ReadWorkflow(ctx, "a/b"); return err }, "GET /v1/workflows/a%2Fb"},
		{"explain", func(ctx context.Context, c *client.Client) error { _, err := c.ExplainTask(ctx, "abc"); return err }, "GET /v1/tasks/abc/explain"},
		{"create", func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateTask(ctx, signal.NewTask{New: signal.New{Project: "p", Summary: "s", Spawn: true}})
			return err
		}, `POST /v1/tasks {"project":"p","summary":"s","spawn":true}`},
		{"signal", func(ctx context.Context, c *client.Client) error {
			_, err := c.SendSignal(ctx, "abc", signal.Signal{Kind: signal.Request, To: "working", Actor: "worker", Attempt: 2})
			return err
		}, `POST /v1/tasks/abc/signals {"kind":"request","at":"0001-01-01T00:00:00Z","actor":"worker","attempt":2,"to":"working"}`},
		{"projects", func(ctx context.Context, c *client.Client) error { _, err := c.ListProjects(ctx); return err }, "GET /v1/projects"},
		{"add project", func(ctx context.Context, c *client.Client) error {
			_, err := c.AddProject(ctx, task.Project{Name: "p", Path: "/p", PoolSize: 2})
			return err
		}, `POST /v1/projects {"name":"p","path":"/p","default_branch":"","pool_size":2}`},
		{"update project", func(ctx context.Context, c *client.Client) error {
			_, err := c.UpdateProject(ctx, "p/q", wire.ProjectChange{PoolSize: &two, Workflow: &flow})
			return err
		}, `PATCH /v1/projects/p%2Fq {"pool_size":2,"workflow":"w"}`},
		{"update all of a project", func(ctx context.Context, c *client.Client) error {
			change := wire.ProjectChange{PoolSize: &two, Workflow: &none, Delivery: &delivery, Setup: &setup, Teardown: &none, Budget: &task.Budget{TaskMicros: 5}}
			_, err := c.UpdateProject(ctx, "p", change)
			return err
		}, `PATCH /v1/projects/p {"pool_size":2,"workflow":"","delivery":"pr","setup":"make","teardown":"","budget":{"task_cost_micro_usd":5}}`},
		{"attempts", func(ctx context.Context, c *client.Client) error { _, err := c.ListAttempts(ctx, "abc"); return err }, "GET /v1/tasks/abc/attempts"},
		{"attach", func(ctx context.Context, c *client.Client) error {
			_, err := c.AttachCommand(ctx, "abc", "")
			return err
		}, "GET /v1/tasks/abc/attach"},
		{"attach to a role", func(ctx context.Context, c *client.Client) error {
			_, err := c.AttachCommand(ctx, "abc", "a b")
			return err
		}, "GET /v1/tasks/abc/attach?role=a+b"},
		{"hook", func(ctx context.Context, c *client.Client) error {
			return c.ReportHook(ctx, "claude", "Stop", []byte("{}"))
		}, `POST /v1/hooks {"harness":"claude","event":"Stop","payload":"e30="}`},
		{"fork", func(ctx context.Context, c *client.Client) error {
			_, err := c.ForkTask(ctx, "abc", wire.ForkRequest{Seq: 3, Branch: "b", Spawn: true})
			return err
		}, `POST /v1/tasks/abc/fork {"seq":3,"branch":"b","spawn":true}`},
		{"inbox", func(ctx context.Context, c *client.Client) error { _, err := c.ListInbox(ctx, ""); return err }, "GET /v1/inbox"},
		{"inbox of a project", func(ctx context.Context, c *client.Client) error { _, err := c.ListInbox(ctx, "p&q"); return err }, "GET /v1/inbox?project=p%26q"},
		{"workspaces", func(ctx context.Context, c *client.Client) error { _, err := c.ListWorkspaces(ctx); return err }, "GET /v1/workspaces"},
		{"make workspaces", func(ctx context.Context, c *client.Client) error { _, err := c.InitWorkspaces(ctx, "p", 2); return err },
			`POST /v1/workspaces/init {"project":"p","count":2}`},
		{"clean workspaces", func(ctx context.Context, c *client.Client) error {
			_, err := c.CleanWorkspaces(ctx, wire.CleanRequest{DryRun: true, Purge: true, Older: time.Second})
			return err
		}, `POST /v1/workspaces/gc {"dry_run":true,"purge":true,"older":1000000000}`},
		{"salvages", func(ctx context.Context, c *client.Client) error { _, err := c.ListSalvages(ctx, "p"); return err }, "GET /v1/salvages?project=p"},
		{"remove project", func(ctx context.Context, c *client.Client) error { return c.RemoveProject(ctx, "p", "") }, "DELETE /v1/projects/p"},
		{"where", func(ctx context.Context, c *client.Client) error { _, err := c.FindPlace(ctx, "/a b"); return err }, "GET /v1/where?path=%2Fa+b"},
		{"pause", func(ctx context.Context, c *client.Client) error { return c.PauseAll(ctx) }, "POST /v1/pause"},
		{"resume", func(ctx context.Context, c *client.Client) error { return c.ResumeAll(ctx) }, "POST /v1/resume"},
		{"doctor", func(ctx context.Context, c *client.Client) error { _, err := c.RunChecks(ctx); return err }, "GET /v1/doctor"},
		{"export", func(ctx context.Context, c *client.Client) error { return c.ExportAll(ctx, io.Discard) }, "GET /v1/export"},
		{"import a folder", func(ctx context.Context, c *client.Client) error { _, err := c.ImportPath(ctx, "/o"); return err }, `POST /v1/import {"path":"/o"}`},
		{"import lines", func(ctx context.Context, c *client.Client) error {
			_, err := c.ImportLines(ctx, strings.NewReader("{}\n"))
			return err
		}, "POST /v1/import {}\n"},
		{"stop", func(ctx context.Context, c *client.Client) error { return c.StopServer(ctx) }, "POST /v1/stop"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			socket, r := socketIn(t), inspect()
			listen(t, socket, r)
			options := client.DialOptions{Socket: socket}
			if tt.name == "hook" { // only an attempt reports one
				options.Token = "attempt"
			}
			c := client.FromOptions(options)
			defer c.Close()
			if err := tt.ask(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.want}, r.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheTokenGoesWithEveryRequest(t *testing.T) {
	socket := socketIn(t)
	var shown []string
	real := realHandler()
	listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = append(shown, r.URL.Path+" "+r.Header.Get(wire.HeaderToken))
		real.ServeHTTP(w, r)
	}))
	ask := func(c *client.Client) {
		_, err := c.ListInbox(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	c, err := client.Connect(t.Context(), client.DialOptions{Socket: socket, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	ask(c)
	ask(client.FromOptions(client.DialOptions{Socket: socket, Token: "other"}))
	ask(client.FromOptions(client.DialOptions{Socket: socket}))
	if diff := cmp.Diff([]string{"/v1/hello secret", "/v1/inbox secret", "/v1/inbox other", "/v1/inbox "}, shown); diff != "" {
		t.Error(diff)
	}
}

func TestListsAreNeverNull(t *testing.T) {
	socket := socketIn(t)
	listen(t, socket, &recorder{status: 200, answer: "{}"})
	c := client.New(socket)
	defer c.Close()
	attempts, err1 := c.ListAttempts(t.Context(), "abc")
	items, err2 := c.ListInbox(t.Context(), "")
	workspaces, err3 := c.ListWorkspaces(t.Context())
	cleanup, err4 := c.CleanWorkspaces(t.Context(), wire.CleanRequest{})
	salvages, err5 := c.ListSalvages(t.Context(), "")
	text, err := json.Marshal([]any{attempts, items, workspaces, cleanup, salvages})
	if err := errors.Join(err, err1, err2, err3, err4, err5); err != nil || strings.Contains(string(text), "null") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestTheListIsCopiedUnread(t *testing.T) {
	socket := socketIn(t)
	const odd = `{"tasks": [ {"id":1, "not": "a task"} ]}` + "\n"
	listen(t, socket, &recorder{status: 200, answer: odd})
	c := client.New(socket)
	defer c.Close()
	var out bytes.Buffer
	if err := c.CopyTaskList(t.Context(), task.Filter{}, &out); err != nil || out.String() != odd {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, id, answer string
		status           int
		want             string
	}{
		{"a refusal", "abc", `{"error":"working -> done: not in map","decision":{"refused":"x"}}`, 409, "working -> done: not in map"},
		{"no reason given", "abc", "<html>", 500, "the server answered 500 Internal Server Error without a reason: see orange log"},
		{"a redirect is not followed", "abc", "", 301, "the server answered 301 Moved Permanently without a reason: see orange log"},
		{"a name that is no path is not sent", "..", "{}", 200, `task not found: ".." is no id, branch or summary of a task: see orange task list`},
		{"no id", "", "{}", 200, `task not found: "" is no id, branch or summary of a task: see orange task list`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			socket := socketIn(t)
			listen(t, socket, &recorder{status: tt.status, answer: tt.answer})
			c := client.New(socket)
			defer c.Close()
			_, err := c.SendSignal(t.Context(), tt.id, signal.Signal{})
			var no *client.Error
			if !errors.As(err, &no) || no.Message != tt.want {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if tt.status == 409 && (no.Status != 409 || !json.Valid(no.Body)) {
				t.Errorf("got status %d, body %s", no.Status, no.Body)
			}
		})
	}
}

func TestAnAnswerThatIsNotJSON(t *testing.T) {
	socket := socketIn(t)
	listen(t, socket, &recorder{status: 200, answer: "hello"})
	c := client.New(socket)
	defer c.Close()
	if _, err := c.ReadTask(t.Context(), "abc"); err == nil || !strings.Contains(err.Error(), "read the server's answer") {
		t.Errorf("got %v", err)
	}
}
