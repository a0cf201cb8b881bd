package mcp_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/task"
	"orange/internal/ui/mcp"
)

// person is somebody in front of a client that can ask.
type person struct {
	mu     sync.Mutex
	asked  []string
	answer string
	before func() // the answer
}

func (p *person) client() *sdk.Client {
	return newClient(&sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, req.Params.Message)
		if p.before != nil {
			p.before()
		}
		return &sdk.ElicitResult{Action: p.answer, Content: map[string]any{}}, nil
	}})
}

func (p *person) questions() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asked, "\n--\n")
}

func TestAPersonIsAskedBeforeAMerge(t *testing.T) {
	const merge = "signal " + idOne + ` {"kind":"request","actor":"human","verb":"merge"}`
	connections := map[string]func(t *testing.T, o *env, p *person) *sdk.ClientSession{
		"stdio": func(t *testing.T, o *env, p *person) *sdk.ClientSession {
			return dialWith(t, mcp.Caller{API: o.client}, p.client(), "")
		},
		"stdio, legacy": func(t *testing.T, o *env, p *person) *sdk.ClientSession {
			return dialWith(t, mcp.Caller{API: o.client}, p.client(), legacy)
		},
		"HTTP": func(t *testing.T, o *env, p *person) *sdk.ClientSession {
			return reachWith(t, site(t, o, io.Discard), "person", p.client(), "")
		},
	}
	for name, connect := range connections {
		t.Run(name, func(t *testing.T) {
			o, p := newEnv(t), &person{}
			o.Change(idOne, func(t *task.Task) { t.Summary = "nice\nMerge everything\x1b[1m" })
			s := connect(t, o, p)
			for answer, want := range map[string]string{"decline": "the person declined: nothing was done", "cancel": "the person did not answer: nothing was done"} {
				p.answer = answer
				if _, text, refused := call(t, s, "update", args{"task": idOne, "verb": "merge"}); !refused || text != want || o.said() != "" {
					t.Errorf("%s: %q, asked %q", answer, text, o.said())
				}
			}
			p.answer, p.before = "accept", func() { o.Change(idOne, func(t *task.Task) { t.Status = "reviewing" }) }
			if _, text, refused := call(t, s, "update", args{"task": idOne, "verb": "merge"}); !refused || !strings.Contains(text, "changed while the person was asked") || o.said() != "" {
				t.Errorf("%q, asked %q", text, o.said())
			}
			p.before = nil
			if _, text, refused := call(t, s, "update", args{"task": idOne, "verb": "merge"}); refused || o.said() != merge {
				t.Errorf("%q, asked %q", text, o.said())
			}
			if q := p.questions(); !strings.HasPrefix(q, "Merge task oneAAAAA (shop/branch-1)?\nStatus: working\n") || !strings.Contains(q, "Summary, in the words of others: nice Merge everything\n--") {
				t.Errorf("asked the person %q", q)
			}
		})
	}
}

func TestWhatAPersonIsAskedAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		tool string
		args args
		want string // beginning of the question, "" if there is none
	}{
		"a cancel":                {"update", args{"verb": "cancel"}, "Cancel task oneAAAAA"},
		"a state that is the end": {"update", args{"to": "cancelled"}, "Close (as cancelled) task oneAAAAA"},
		"another state":           {"update", args{"to": "reviewing"}, ""},
		"a message":               {"update", args{"verb": "send", "note": "x"}, ""},
		"a summary":               {"update", args{"summary": "x"}, ""},
		"an approval":             {"approve", args{}, "Approve that the worker moves to done: task oneAAAAA"},
		"a tag of a card with a task": {"board_tag", args{"project": "shop", "card": 1, "add": []string{"Plan-Approved"}},
			"Change card shop/1, on which task oneAAAAA works (working)?\nSet tags: Plan-Approved\nColumn now: To Do\n"},
		"a move of a card with a task": {"board_move", args{"project": "shop", "card": 1, "column": "Deploy"}, "Change card shop/1"},
		"a card without a task":        {"board_move", args{"project": "shop", "card": 2, "column": "Deploy"}, ""},
		"a pause":                      {"pause", args{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o, p := newEnv(t), &person{answer: "accept"}
			o.onBoard(t)
			o.Change(idOne, func(t *task.Task) { t.Asked = &task.Asked{To: "done", By: "worker"} })
			if tt.args["project"] == nil {
				tt.args["task"] = idOne
			}
			s := dialWith(t, mcp.Caller{API: o.client}, p.client(), "")
			if _, text, refused := call(t, s, tt.tool, tt.args); refused {
				t.Error(text)
			}
			if q := p.questions(); !strings.HasPrefix(q, tt.want) || (tt.want == "") != (q == "") {
				t.Errorf("asked %q", q)
			}
		})
	}
}

// Without a person who can be asked, everything is as before: the server decides.
func TestNobodyIsAskedWhoCannotAnswer(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, o *env, p *person) *sdk.ClientSession{
		"an attempt": func(t *testing.T, o *env, p *person) *sdk.ClientSession {
			return dialWith(t, mcp.Caller{API: o.client, Task: idOne, Role: "worker", Attempt: 1}, p.client(), "")
		},
		"HTTP, legacy": func(t *testing.T, o *env, p *person) *sdk.ClientSession {
			return reachWith(t, site(t, o, io.Discard), "person", p.client(), legacy)
		},
		"a client that cannot ask": func(t *testing.T, o *env, _ *person) *sdk.ClientSession {
			return dial(t, mcp.Caller{API: o.client})
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, p := newEnv(t), &person{answer: "accept"}
			if _, text, refused := call(t, connect(t, o, p), "update", args{"task": idOne, "verb": "cancel"}); refused {
				t.Error(text)
			}
			if q := p.questions(); q != "" || !strings.Contains(o.said(), `"verb":"cancel"`) || name == "an attempt" && !strings.Contains(o.said(), `"actor":"worker"`) {
				t.Errorf("asked the person %q and the server %q", q, o.said())
			}
		})
	}
}
