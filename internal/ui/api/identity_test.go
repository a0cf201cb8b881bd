package api_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"orange/internal/core/agent"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// guests knows callers by the token they show.
type guests struct {
	r    *env
	seen []string
}

func (g *guests) IdentifyCaller(token string, pid int) (*agent.Caller, error) {
	switch {
	case pid != 4711:
		return nil, errors.New("the process is not known")
	case token == "wrong":
		return nil, errors.New("the token is not one of this server")
	case token != "":
		return &agent.Caller{Task: task.ID(token), Attempt: 1, Role: "worker"}, nil
	}
	return nil, nil
}

func (g *guests) PeerPID(net.Conn) int { return 4711 }

func (g *guests) DescribeProcess(pid int) *signal.Via {
	return &signal.Via{Program: "orange", Parent: "bash", Terminal: "pts/3"}
}

func (g *guests) ListAttempts(task.Task) ([]wire.Attempt, error) {
	return []wire.Attempt{{Number: 1, Role: "worker", Log: "/log"}}, nil
}

func (g *guests) AttachCommand(_ task.Task, role string) ([]string, error) {
	if role == "nobody" {
		return nil, task.Mistakef("no nobody of the task is alive")
	}
	return []string{"tmux", "attach"}, nil
}

func (g *guests) AttemptLog(_ task.Task, number int, role, after string) (wire.Log, error) {
	return wire.Log{Attempt: max(number, 1), Role: role, Form: wire.FormTranscript, Next: after + "+"}, nil
}

func (g *guests) LastMessage(_ task.Task, number int, role string) (wire.Message, error) {
	return wire.Message{Attempt: number, Role: role, Text: "done"}, nil
}

func (g *guests) HandleHook(_ context.Context, c agent.Caller, harness, event string, payload []byte) error {
	g.seen = append(g.seen, string(c.Task)+" "+harness+" "+event+" "+string(payload))
	return nil
}

func guarded(t *testing.T) (*env, *guests) {
	t.Helper()
	r := open(t)
	must(t, r.stop())
	g := &guests{r: r}
	r.server.Identity, r.server.Origins, r.server.Attempts = g, g, g
	r.server.Inbox = func(context.Context, string) ([]explain.Item, error) {
		return []explain.Item{{Task: "a"}, {Task: "b", Frees: 1}}, nil
	}
	r.listen(r.server.Home + "/t")
	return r, g
}

func TestWhoAsksIsFoundOutAndNotBelieved(t *testing.T) {
	r, _ := guarded(t)
	mine, other := r.create("mine"), r.create("other")
	as := func(token string) []string { return []string{wire.HeaderToken, token} }

	r.ask("GET", "/v1/tasks", "", as("wrong")...).refused(t, http.StatusForbidden, "not one of this server")
	for _, tt := range []struct{ method, path, body string }{
		{"POST", "/v1/pause", ""}, {"POST", "/v1/stop", ""}, {"POST", "/v1/repair", ""}, {"POST", "/v1/projects", `{"name":"x","path":"/x"}`},
		{"PATCH", "/v1/projects/p", `{"pool_size":9}`}, {"DELETE", "/v1/projects/p", ""}, {"POST", "/v1/import", `{"path":"/x"}`},
	} {
		r.ask(tt.method, tt.path, tt.body, as(mine)...).refused(t, http.StatusForbidden, "is a person's to ask for")
	}
	if got := r.ask("GET", "/v1/tasks/"+other, "", as(mine)...); got.status != http.StatusOK {
		t.Errorf("reading: %d %s", got.status, got.text)
	}
	// A claim to be a person, or the engine, does not help; another's task is out of reach.
	r.ask("POST", "/v1/tasks/"+mine+"/signals", `{"kind":"request","verb":"cancel","actor":"human"}`, as(mine)...).refused(t, http.StatusConflict, "worker may not")
	r.ask("POST", "/v1/tasks/"+other+"/signals", `{"kind":"update","fields":[{"name":"summary","to":"x"}]}`, as(mine)...).refused(t, http.StatusBadRequest, "may not change task")
	r.ask("POST", "/v1/tasks", `{"project":"p","branch":"c","summary":"s","actor":"human"}`, as(mine)...).refused(t, http.StatusConflict, "worker may not")
	// A person is one whatever they claim.
	if got := r.ask("POST", "/v1/tasks/"+mine+"/signals", `{"kind":"request","verb":"cancel","actor":"worker","attempt":1}`); got.status != http.StatusOK {
		t.Errorf("a person: %d %s", got.status, got.text)
	}
	r.ask("POST", "/v1/tasks/"+other+"/signals", `{"kind":"exit","actor":"engine","role":"worker"}`).refused(t, http.StatusBadRequest, "itself detects the end")
	if got := r.ask("GET", "/v1/tasks/"+other+"/explain", ""); !strings.Contains(got.text, "may not change task") {
		t.Errorf("it is not written down: %s", got.text)
	}
}

func TestHooksAttemptsAndInbox(t *testing.T) {
	r, g := guarded(t)
	id := r.create("a")
	r.ask("POST", "/v1/hooks", `{"harness":"claude","event":"Stop","payload":"e30="}`).refused(t, http.StatusBadRequest, "only an attempt reports")
	if got := r.ask("POST", "/v1/hooks", `{"harness":"claude","event":"Stop","payload":"e30="}`, wire.HeaderToken, id); got.status != http.StatusOK || len(g.seen) != 1 || g.seen[0] != id+" claude Stop {}" {
		t.Errorf("%d %s, %q", got.status, got.text, g.seen)
	}
	for path, want := range map[string]string{
		"/attempts": `{"attempts":[{"number":1,"role":"worker"`, "/attach": `"argv":["tmux","attach"]`,
		"/log?role=worker&after=0:5": `"role":"worker","harness":"","alive":false,"form":"transcript","turns":[],"lines":[],"next":"0:5+"`, "/output?attempt=3": `"attempt":3`,
	} {
		if got := r.ask("GET", "/v1/tasks/"+id+path, ""); got.status != http.StatusOK || !strings.Contains(got.text, want) {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
	r.ask("GET", "/v1/tasks/"+id+"/attach?role=nobody", "").refused(t, http.StatusBadRequest, "no nobody")
	r.ask("GET", "/v1/tasks/"+id+"/log?attempt=0", "").refused(t, http.StatusBadRequest, "give a positive integer")
	r.ask("GET", "/v1/tasks/"+id+"/output?attempt=x", "").refused(t, http.StatusBadRequest, "give a positive integer")
	if got := r.ask("GET", "/v1/inbox", ""); !strings.Contains(got.text, `"items":[{"task":"b"`) {
		t.Errorf("what frees others does not come first: %s", got.text)
	}
	r.ask("GET", "/v1/workspaces", "").refused(t, http.StatusBadRequest, "starts no agents")
	r.ask("POST", "/v1/tasks/"+id+"/fork", `{"seq":1}`).refused(t, http.StatusBadRequest, "no commit is recorded")
}
