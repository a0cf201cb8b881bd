package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/taskdir"
	"orange/internal/core/task"
	"orange/internal/doctor"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
	"orange/internal/ui/api"
	"orange/internal/ui/apitest"
	"orange/internal/wire"
)

// quiet is a log that nobody reads.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// env is a server on a real store, real folders and a real socket.
type env struct {
	t       testing.TB
	store   *sqlite.Store
	folders *taskdir.Dir
	stage   *runtimetest.FakePerformer
	runtime *local.Runtime
	server  *api.Server
	client  *http.Client
	stop    func() error // ends the server and says how it ended
}

// open starts a server. The runtime has one project p.
func open(t testing.TB) *env {
	t.Helper()
	home, err := os.MkdirTemp("", "o") // a socket's path may have 108 bytes
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) }) //nolint:errcheck // a temporary folder
	r := &env{t: t, stage: &runtimetest.FakePerformer{}, folders: taskdir.New(filepath.Join(home, "tasks"))}
	r.store, err = sqlite.Open(filepath.Join(home, "orange.db"))
	must(t, err)
	t.Cleanup(func() { must(t, r.store.Close()) })
	must(t, r.store.SaveProject(task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: 8}))
	r.runtime, err = local.Open(local.RuntimeOptions{Store: r.store, Files: r.folders, Library: noLibrary{}, Performer: performer{r.stage}, Log: quiet()})
	must(t, err)
	t.Cleanup(r.runtime.Close)
	r.server = &api.Server{
		Engine: r.runtime, Control: r.runtime, Projects: projects{r.runtime}, Tasks: r.store, Workflows: r.store, Folders: r.folders,
		Rows: r.store, Definition: r.runtime.Definition, VerifyChain: r.store.VerifyChainOf, Transfer: transfer{r}, Release: "1.2.3", Home: home, PID: 42, Log: quiet(),
		Where: func(_ context.Context, path string) (wire.Location, error) { return wire.Location{GitRoot: path}, nil },
		Checks: func(context.Context) []doctor.Result {
			return []doctor.Result{{Name: "disk", OK: true, Detail: "there is room"}}
		},
		Repair:     func(context.Context) error { return nil },
		Stop:       func() {},
		Statistics: apitest.Statistics{},
	}
	r.listen(filepath.Join(home, "s"))
	return r
}

// listen serves on a unix socket until the test ends.
func (r *env) listen(path string) {
	r.t.Helper()
	l, err := net.Listen("unix", path)
	must(r.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	r.server.Stop = cancel
	go func() { ended <- r.server.Serve(ctx, l, 0) }()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	transport := &http.Transport{DialContext: dial}
	r.client = &http.Client{Transport: transport}
	stopped := false
	r.stop = func() error {
		cancel()
		stopped = true
		transport.CloseIdleConnections()
		return <-ended
	}
	r.t.Cleanup(func() {
		if !stopped {
			must(r.t, r.stop())
		}
	})
}

// reply is an answer of the server.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// ask sends a request over the socket.
func (r *env) ask(method, path, body string, headers ...string) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://orange"+path, strings.NewReader(body))
	must(r.t, err)
	req.Header.Set(wire.HeaderAPI, "1")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := r.client.Do(req)
	must(r.t, err)
	defer res.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(res.Body)
	must(r.t, err)
	out := reply{status: res.StatusCode, header: res.Header, text: string(text)}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&out.body); err != nil && !errors.Is(err, io.EOF) {
		r.t.Fatalf("%s %s: %v in %q", method, path, err, text)
	}
	return out
}

// create begins a task and returns its id.
func (r *env) create(branch string) string {
	r.t.Helper()
	a := r.ask("POST", "/v1/tasks", `{"project":"p","branch":"`+branch+`","summary":"s"}`)
	if a.status != http.StatusOK {
		r.t.Fatal(a.text)
	}
	return a.body["task"].(map[string]any)["id"].(string)
}

// settle waits until no task is owed anything.
func (r *env) settle() {
	r.t.Helper()
	for {
		_, more, err := r.runtime.FollowJournal(1<<62, "", 1)
		must(r.t, err)
		tasks, err := r.store.UnsettledTasks()
		must(r.t, err)
		if !slices.ContainsFunc(tasks, func(t task.Task) bool { return len(t.Pending) > 0 && !t.Paused }) {
			return
		}
		select {
		case <-more:
		case <-r.t.Context().Done():
			r.t.Fatal("effects are owed for ever")
		}
	}
}

// refused makes sure that an answer is an error of one line.
func (a reply) refused(t *testing.T, status int, words string) {
	t.Helper()
	said, _ := a.body["error"].(string)
	if a.status != status || said == "" || strings.ContainsAny(said, "\n\r") || !strings.Contains(said, words) {
		t.Errorf("%d %s, want %d with %q", a.status, a.text, status, words)
	}
	if a.header.Get(wire.HeaderAPI) != "1" || a.header.Get(wire.HeaderVersion) != "1.2.3" {
		t.Errorf("the handshake is missing: %v", a.header)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type noLibrary struct{}

func (noLibrary) Find(string, string) (file, text string, ok bool, err error) {
	return "", "", false, nil
}

type performer struct{ stage *runtimetest.FakePerformer }

func (p performer) Perform(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	session, ended, err := p.stage.Perform(ctx, t, e)
	return local.EffectResult{Session: session, Ended: ended}, err
}

type projects struct{ *local.Runtime }

func (p projects) RegisterProject(_ context.Context, project task.Project) (task.Project, error) {
	if project.PoolSize == 0 {
		project.PoolSize = task.DefaultPoolSize
	}
	return project, p.AddProject(project)
}

func (p projects) ChangeProject(_ context.Context, name string, c wire.ProjectChange) (task.Project, error) {
	have, ok := p.Project(name)
	if !ok {
		return have, task.Mistakef("project %q is not registered: see orange project list", name)
	}
	if c.PoolSize != nil {
		have.PoolSize = *c.PoolSize
	}
	if c.Workflow != nil {
		have.Workflow = *c.Workflow
	}
	if c.Delivery != nil {
		have.Delivery = *c.Delivery
	}
	return have, p.UpdateProject(have)
}

func (p projects) UnregisterProject(_ context.Context, name, _ string) error {
	return p.RemoveProject(name)
}

type transfer struct{ r *env }

func (t transfer) Export(ctx context.Context, w io.Writer) error {
	return t.r.runtime.Export(ctx, t.r.store, w)
}

func (t transfer) Import(ctx context.Context, in io.Reader) (wire.Imported, error) {
	taken, err := t.r.runtime.Restore(ctx, in)
	return wire.Imported{Tasks: taken.Tasks, Projects: taken.Projects, Skipped: taken.Skipped}, err
}

func (t transfer) ImportFolder(_ context.Context, path string) (wire.Imported, error) {
	if path == "" {
		return wire.Imported{}, task.Mistakef("name a folder")
	}
	return wire.Imported{Projects: 1}, nil
}
