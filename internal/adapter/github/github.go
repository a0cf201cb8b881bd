// Package github reads and writes the issues and the pull requests of one repository on GitHub
// or on a GitHub Enterprise host, over its REST API. A column is a label "status:NAME", a tag
// any other label. The package decides nothing, does not make requests idempotent, and stores
// nothing except cached responses.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/lazy"
)

// usual is the API of github.com.
const usual = "https://api.github.com"

// Timeouts of one request: alone, and with everything that a client below does for it, such as
// retries.
const (
	requestTimeout = 30 * time.Second
	callTimeout    = 2 * time.Minute
)

// RepositoryOptions select a repository and how to reach it.
type RepositoryOptions struct {
	URL   string // of the API; "" for that of github.com; see APIBase
	Scope string // OWNER/REPO
	// Token returns the secret. It is called when a token is needed, and again when one was
	// refused.
	Token         func(context.Context) (string, error)
	WebhookSecret func(context.Context) (string, error) // nil: webhooks are not accepted
	HTTP          *http.Client                          // nil: a plain one
	MergeMethod   string                                // merge, squash or rebase; "" is merge
	Now           func() time.Time                      // nil: time.Now
}

// A Tracker is the issues of a repository. It is safe for concurrent use.
type Tracker struct {
	*client
	secret func(context.Context) (string, error)

	mu    sync.Mutex
	words *words // as last read; nil before
}

// A Forge is the pull requests of a repository. It is safe for concurrent use.
type Forge struct {
	*client
	method string
	pauses []time.Duration // before each further check whether a pull request can be merged
}

// mergePauses adds up to ten seconds. GitHub computes whether a pull request merges cleanly
// after the first request for it.
func mergePauses() []time.Duration {
	const second = time.Second
	return []time.Duration{second / 5, second / 2, second, 2 * second, 3 * second, 3 * second}
}

// client is what both share: the connection, and what it has seen.
type client struct {
	api         *gh.Client
	owner, repo string
	now         func() time.Time
	heads       heads
}

var scopeForm = lazy.NewRegexp(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// New returns the tracker and the forge of a repository. It sends no request.
func New(o RepositoryOptions) (*Tracker, *Forge, error) {
	owner, repo, _ := strings.Cut(o.Scope, "/")
	if !scopeForm.MatchString(o.Scope) || repo == "." || repo == ".." {
		return nil, nil, fmt.Errorf("%q is not a repository: give OWNER/REPO", shortText(o.Scope))
	}
	method := o.MergeMethod
	switch method {
	case "":
		method = "merge"
	case "merge", "squash", "rebase":
	default:
		return nil, nil, fmt.Errorf("%q is not a merge method: use merge, squash or rebase", shortText(method))
	}
	base, err := baseURL(o.URL)
	if err != nil {
		return nil, nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	api, err := newAPIClient(base, o)
	if err != nil {
		return nil, nil, err
	}
	c := &client{api: api, owner: owner, repo: repo, now: o.Now}
	return &Tracker{client: c, secret: o.WebhookSecret}, &Forge{client: c, method: method, pauses: mergePauses()}, nil
}

func baseURL(text string) (*url.URL, error) {
	if text == "" {
		text = usual
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/") + "/")
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the address of the API is not valid: give https://HOST/api/v3, without a user name or a secret")
	}
	return u, nil
}

func newAPIClient(base *url.URL, o RepositoryOptions) (*gh.Client, error) {
	below := &http.Client{Timeout: requestTimeout}
	if o.HTTP != nil {
		copied := *o.HTTP
		below = &copied
		if below.Timeout == 0 {
			below.Timeout = callTimeout
		}
	}
	wire := below.Transport
	if wire == nil {
		wire = http.DefaultTransport
	}
	below.Transport = &etags{next: &access{next: wire, base: base, token: o.Token}}
	text := base.String()
	return gh.NewClient(gh.WithHTTPClient(below), gh.WithURLs(&text, nil), gh.WithUserAgent("orange"))
}

// AccountName returns the name of the token's account.
func (c *client) AccountName(ctx context.Context) (string, error) {
	var who *gh.User
	err := c.callAPI(ctx, "look up the account", func() (resp *gh.Response, err error) {
		who, resp, err = c.api.Users.Get(ctx, "")
		return resp, err
	})
	if err != nil {
		return "", err
	}
	return loginName(who), nil
}

// shortText shortens foreign text for an error.
func shortText(text string) string { return oneLine(text, 200) }
