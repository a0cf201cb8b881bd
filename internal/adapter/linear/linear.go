// Package linear reads and writes issues in Linear over its GraphQL interface. It makes each
// request once: the caller makes sure that nothing is posted twice and that a change has taken
// effect. It sends fixed queries with typed variables; no other text becomes part of a query.
package linear

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// usualURL is the address of Linear's API.
const usualURL = "https://api.linear.app/graphql"

// TrackerOptions select a part of Linear and the credentials.
type TrackerOptions struct {
	URL           string                                    // "" for Linear's own
	Token         func(ctx context.Context) (string, error) // a personal key (lin_api_...) or an OAuth token
	Scope         string                                    // TEAM, or TEAM/Project name; TEAM as in TEAM-12
	WebhookSecret func(ctx context.Context) (string, error) // nil if there are no webhooks
	HTTP          *http.Client                              // nil for a new client
	Now           func() time.Time                          // nil for the clock

	// Reads marks the context of requests that change nothing, so that HTTP may send them
	// twice: all requests look the same to it. nil if HTTP does not need it.
	Reads func(ctx context.Context) context.Context
}

// A Tracker is one team in Linear, or one project of it. It is safe for concurrent use.
type Tracker struct {
	opts    TrackerOptions
	team    string // key, as in TEAM-12
	project string // name; "" for all of the team's issues

	mu    sync.Mutex
	names *names            // as ReadVocabulary last read them; nil before
	keys  map[string]string // keys of known issues, by id
	texts map[string]rewrite
}

// New returns a tracker. It sends no request.
func New(opts TrackerOptions) *Tracker {
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

// AccountName returns the name of the token's account.
func (t *Tracker) AccountName(ctx context.Context) (string, error) {
	var got whoamiAnswer
	if err := t.sendQuery(ctx, whoamiQuery, struct{}{}, &got); err != nil {
		return "", err
	}
	return oneLine(got.Viewer.DisplayName), nil
}

// most limits what is remembered about issues. Beyond it everything is dropped, and read again
// when needed.
const most = 10_000

// rememberKey records the key of an issue by its id, because some deliveries contain only the
// id.
func (t *Tracker) rememberKey(id, key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.keys) >= most {
		clear(t.keys)
	}
	t.keys[id] = key
}
