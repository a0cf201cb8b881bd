package mcp_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/task"
	"orange/internal/ui/mcp"
)

// legacy is a version of the protocol with sessions.
const legacy = "2025-06-18"

// move records a change of task one.
func (o *env) move(change func(*task.Task)) { o.Change(idOne, change) }

func TestWaitEndsWhenItHappens(t *testing.T) {
	for name, tt := range map[string]struct {
		args   args
		change func(*task.Task)
		want   string // why it ended
		status string
	}{
		"any change":  {args{}, func(t *task.Task) { t.Summary = "other" }, "reached", "working"},
		"a state":     {args{"for": "state", "to": "reviewing"}, func(t *task.Task) { t.Status = "reviewing" }, "reached", "reviewing"},
		"a person":    {args{"for": "person"}, func(t *task.Task) { t.Status, t.Attempts = "clarification", nil }, "reached", "clarification"},
		"the end":     {args{"for": "closed"}, func(t *task.Task) { t.Status, t.Attempts = "cancelled", nil }, "reached", "cancelled"},
		"another end": {args{"for": "state", "to": "reviewing"}, func(t *task.Task) { t.Status, t.Attempts = "cancelled", nil }, "closed", "cancelled"},
		"deleted":     {args{"for": "person"}, func(t *task.Task) { t.Deleted = true }, "closed", "working"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newEnv(t)
			s := dial(t, mcp.Caller{API: o.client})
			go func() {
				<-o.began
				o.move(tt.change)
			}()
			tt.args["task"], tt.args["timeout"] = "one", 600
			v, text, refused := call(t, s, "wait", tt.args)
			if refused || v["ended"] != tt.want || v["status"] != tt.status || v["id"] != idOne {
				t.Errorf("%v %q", v, text)
			}
			<-o.ended
		})
	}
}

func TestWaitEndsWithWhatIsAlreadySo(t *testing.T) {
	o := newEnv(t)
	o.move(func(*task.Task) {})
	s := dial(t, mcp.Caller{API: o.client})
	if v, _, _ := call(t, s, "wait", args{"task": idOne, "for": "state", "to": "working"}); v["ended"] != "reached" {
		t.Error(v)
	}
	o.move(func(*task.Task) {})
	if v, _, _ := call(t, s, "wait", args{"task": idOne, "since": 1}); v["ended"] != "reached" || v["seq"] != 2.0 {
		t.Error(v)
	}
	if v, text, _ := call(t, s, "wait", args{"task": idOne, "timeout": 1}); v["ended"] != "timeout" || !strings.Contains(text, "It has not happened yet") {
		t.Errorf("%v %q", v, text)
	}
	for want, a := range map[string]args{
		"name the state to wait for":                 {"for": "state"},
		"to belongs to for state":                    {"to": "done"},
		"since belongs to for change":                {"for": "person", "since": 3},
		`state "nope" is not known: workflow orange`: {"for": "state", "to": "nope"},
		"maximum": {"timeout": 100000},
		"enum":    {"for": "rain"},
	} {
		a["task"] = idOne
		if _, text, refused := call(t, s, "wait", a); !refused || !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// A wait ends when the client cancels it, and other calls are answered meanwhile.
func TestACancelledWaitEndsAndBlocksNothing(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, o *env) *sdk.ClientSession{
		"stdio": func(t *testing.T, o *env) *sdk.ClientSession { return dial(t, mcp.Caller{API: o.client}) },
		"stdio, legacy": func(t *testing.T, o *env) *sdk.ClientSession {
			return dialWith(t, mcp.Caller{API: o.client}, newClient(nil), legacy)
		},
		"HTTP": func(t *testing.T, o *env) *sdk.ClientSession {
			return reach(t, site(t, o, io.Discard), "person")
		},
		"HTTP, legacy": func(t *testing.T, o *env) *sdk.ClientSession {
			return reachWith(t, site(t, o, io.Discard), "person", newClient(nil), legacy)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newEnv(t)
			s := connect(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: args{"task": idOne, "timeout": 600}})
				over <- err
			}()
			<-o.began
			if v, text, refused := call(t, s, "list", args{}); refused || v["total"] != 2.0 {
				t.Error(text)
			}
			cancel()
			<-o.ended
			if err := <-over; err == nil {
				t.Error("the call returned a result")
			}
		})
	}
}

// More calls may wait over HTTP than may work at the same time.
func TestWaitingCallsTakeNoPlace(t *testing.T) {
	o := newEnv(t)
	s := reach(t, site(t, o, io.Discard), "person")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			s.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: args{"task": idOne, "timeout": 600}}) //nolint:errcheck // it is cancelled
		})
		<-o.began
	}
	if _, text, refused := call(t, s, "list", args{}); refused {
		t.Error(text)
	}
	cancel()
	all.Wait()
	for range 40 {
		<-o.ended
	}
}

// A client that goes away without a word ends its subscriptions with it.
func TestAListenerDoesNotKeepTheProcess(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	in := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + meta + `,"notifications":{"resourceSubscriptions":["orange://inbox"]}}}` + "\n"
	ended := make(chan error, 1)
	go func() {
		var out writer
		ended <- mcp.Serve(t.Context(), options(), mcp.Caller{API: newEnv(t).client}, io.NopCloser(strings.NewReader(in)), &out)
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("the process does not end")
	}
}
