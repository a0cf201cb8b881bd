// Package linear works with issues in Linear over its GraphQL interface. It reads and
// writes what it is told, once: that nothing is said twice and that a change is there
// afterwards is for its caller to see to. It sends plain requests of fixed texts with
// typed variables; no text of anybody becomes part of a query.
package linear

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// usualURL is where Linear answers.
const usualURL = "https://api.linear.app/graphql"

// Options say which part of Linear is meant and with whose rights.
type Options struct {
	URL           string                                    // "" for Linear's own
	Token         func(ctx context.Context) (string, error) // a personal key (lin_api_...) or an OAuth token
	Scope         string                                    // TEAM, or TEAM/Project name; TEAM as in TEAM-12
	WebhookSecret func(ctx context.Context) (string, error) // nil if it sends no news
	HTTP          *http.Client                              // nil for one of its own
	Now           func() time.Time                          // nil for the clock

	// Reads marks the requests that change nothing, so that HTTP may send them twice:
	// to look at them, all are the same. nil if HTTP does not care.
	Reads func(ctx context.Context) context.Context
}

// A Tracker is one team in Linear, or one project of it. It is safe for concurrent use.
type Tracker struct {
	opts    Options
	team    string // key, as in TEAM-12
	project string // name, "" for all of the team's issues

	mu    sync.Mutex
	names *names            // as Words last read them, nil before
	keys  map[string]string // keys of issues that were seen, by id
	texts map[string]rewrite
}

// New returns a tracker. It asks nothing yet.
func New(opts Options) *Tracker {
	if opts.URL == "" {
		opts.URL = usualURL
	}
	if opts.HTTP == nil {
		opts.HTTP = &http.Client{}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Reads == nil {
		opts.Reads = func(ctx context.Context) context.Context { return ctx }
	}
	team, project, _ := strings.Cut(opts.Scope, "/")
	return &Tracker{
		opts: opts, team: strings.TrimSpace(team), project: strings.TrimSpace(project),
		keys: map[string]string{}, texts: map[string]rewrite{},
	}
}

// AccountName names the account of the token.
func (t *Tracker) AccountName(ctx context.Context) (string, error) {
	var got whoamiAnswer
	if err := t.sendQuery(ctx, whoamiQuery, struct{}{}, &got); err != nil {
		return "", err
	}
	return oneLine(got.Viewer.DisplayName), nil
}

// most bounds what is remembered about issues; beyond it all is forgotten, and costs
// nothing but to be told again.
const most = 10_000

// rememberKey remembers which issue an id names: some news have only the id.
func (t *Tracker) rememberKey(id, key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.keys) >= most {
		clear(t.keys)
	}
	t.keys[id] = key
}
