package callers

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"orange/internal/core/agent"
)

func TestWhoHoldsAConnection(t *testing.T) {
	const person, browser, worker, shim, other, gone, hidden = 10, 11, 20, 21, 30, 40, 50
	none := errors.New("no process here holds that connection")
	tests := map[string]struct {
		holders [][]int // at each look; nil: none is seen
		token   string
		want    string // the role, "" for a person
		why     string // part of the refusal
	}{
		"a person":                             {[][]int{{person}, {person}}, "", "", ""},
		"two processes of a person":            {[][]int{{person, browser}, {person, browser}}, "", "", ""},
		"an agent":                             {[][]int{{worker}, {worker}}, "", "worker", ""},
		"an agent beside a person":             {[][]int{{person, worker}, {person, worker}}, "", "worker", ""},
		"a person among those that hide":       {[][]int{{person, shim}, {person, shim}}, "", "", ""},
		"an agent among those that hide":       {[][]int{{worker, shim}, {worker, shim}}, "", "worker", ""},
		"it cannot be seen":                    {[][]int{nil}, "", "", "cannot identify the process"},
		"nobody":                               {[][]int{{}, {}}, "", "", "is gone"},
		"it is gone":                           {[][]int{{gone}, nil}, "", "", "is gone"},
		"it is gone, and a look is late":       {[][]int{{gone}, {gone}, {gone}, {gone}, {gone}, {gone}}, "", "", "is gone"},
		"it is gone, and others hide":          {[][]int{{person, gone}, nil}, "", "", "is gone"},
		"it left the connection to its child":  {[][]int{{gone}, {worker}, {worker}, {worker}}, "", "worker", ""},
		"it is handed on for ever":             {[][]int{{gone}, {worker}, {gone}, {worker}, {gone}, {worker}}, "", "", "is gone"},
		"a child of a browser for a moment":    {[][]int{{person, gone}, {person}}, "", "", ""},
		"another browser joins":                {[][]int{{person}, {person, browser}, {person, browser}, {person, browser}}, "", "", ""},
		"one of which it cannot be told":       {[][]int{{person, hidden}, {person, hidden}}, "", "", "cannot identify"},
		"an attempt shows its token":           {[][]int{{worker}, {worker}}, "worker's", "worker", ""},
		"an attempt's token shown by a person": {[][]int{{person}, {person}}, "worker's", "worker", ""},
		"an attempt's token shown by another":  {[][]int{{other}, {other}}, "worker's", "", "belongs to another"},
		"two attempts":                         {[][]int{{worker, other}, {worker, other}}, "", "", "two attempts"},
		"a token, and whoever shows it leaves": {[][]int{{gone}, nil}, "worker's", "", "is gone"},
	}
	for name, tt := range tests {
		t.Run(name, inFakeTime(func(t *testing.T) {
			looks := slices.Clone(tt.holders)
			p := peers{
				holders: func(*http.Request) ([]int, error) {
					if len(looks) == 0 || looks[0] == nil {
						return nil, none
					}
					now := looks[0]
					looks = looks[1:]
					return now, nil
				},
				identify: func(token string, pid int) (*agent.Caller, error) {
					switch {
					case pid == gone || pid == hidden:
						return nil, errors.New("cannot identify the caller")
					case pid == other && token != "":
						return nil, errors.New("this process belongs to another")
					case pid == other:
						return &agent.Caller{Task: "B", Attempt: 1, Role: "reviewer"}, nil
					case pid == worker || pid == shim || token != "":
						return &agent.Caller{Task: "A", Attempt: 1, Role: "worker"}, nil
					}
					return nil, nil
				},
				isShim: func(pid int) bool { return pid == shim },
				gone:   func(pid int) bool { return pid == gone },
			}
			who, err := p.identifyCaller(httptest.NewRequest(http.MethodGet, "/", nil), tt.token)
			role := ""
			if who != nil {
				role = who.Role
			}
			if (err != nil) != (tt.why != "") || err != nil && !strings.Contains(err.Error(), tt.why) || role != tt.want {
				t.Errorf("role %q, %v; want %q, %q", role, err, tt.want, tt.why)
			}
		}))
	}
}

// inFakeTime runs a test whose pauses take no time.
func inFakeTime(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}
