// Package gitea opens, reads and merges the pull requests of a repository on a Gitea or Forgejo
// server, over their API. It stores nothing and decides nothing: it returns what the forge
// returns, as values of Orange.
package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/core/board"
	"orange/internal/lazy"
)

// ForgeOptions select a repository and how to reach it.
type ForgeOptions struct {
	URL   string                                // of the forge, with the path below which it is served
	Scope string                                // owner/repository
	Token func(context.Context) (string, error) // called before every use; nil for none
	HTTP  *http.Client                          // nil for a plain one
	Now   func() time.Time                      // nil for the clock

	MergeStyle string // squash or rebase; "" for a merge commit if the repository allows one, else what it prefers
}

// A Repository is one repository on a Gitea or Forgejo server.
type Repository struct {
	url, host   string
	owner, repo string
	token       func(context.Context) (string, error)
	http        http.Client
	now         func() time.Time
	style       sdk.MergeStyle
	pauses      []time.Duration // before each further check whether a pull request can be merged

	mu    sync.Mutex
	tried bool // whether the server is known to be new enough to merge
}

// name matches the names of owners and repositories.
var name = lazy.NewRegexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// New returns the repository that the options name. It sends no request.
func New(o ForgeOptions) (*Repository, error) {
	at, err := url.Parse(strings.TrimRight(o.URL, "/"))
	switch {
	case err != nil, at.Host == "", at.Scheme != "http" && at.Scheme != "https":
		return nil, errors.New("the url of the forge is not valid: give https://HOST, without the repository")
	case at.User != nil:
		return nil, errors.New("the url of the forge contains a secret: remove it and set the token instead")
	case at.RawQuery != "" || at.Fragment != "":
		return nil, errors.New("the url of the forge has more than a host and a folder: give https://HOST")
	}
	owner, repo, _ := strings.Cut(o.Scope, "/")
	if !name.MatchString(owner) || !name.MatchString(repo) {
		return nil, board.Refusef("%q names no repository: give OWNER/REPO", shortLine(o.Scope))
	}
	f := &Repository{
		url: at.String(), host: at.Host, owner: owner, repo: repo, token: o.Token, now: o.Now, style: sdk.MergeStyle(o.MergeStyle),
		pauses: readPauses(),
	}
	if o.HTTP != nil {
		f.http = *o.HTTP
	}
	if f.http.Transport == nil {
		f.http.Transport = http.DefaultTransport
	}
	f.http.CheckRedirect = sameMethod
	if f.now == nil {
		f.now = time.Now
	}
	return f, nil
}

// Numbers of checks whether a pull request can be merged. The forge answers no both if it
// cannot be merged and while it has not checked yet, so a no counts only after several checks:
// over a second to read a pull request, over ten seconds to merge one.
const (
	readsUntilShown     = 3
	readsUntilMergeable = 8
)

// readPauses adds up to half a minute: a merge waits that long for a pull request that changed
// just now.
func readPauses() []time.Duration {
	const second = time.Second
	return []time.Duration{second / 10, 3 * second / 10, 6 * second / 10, second, 2 * second, 2 * second, 2 * second, 2 * second,
		4 * second, 4 * second, 4 * second, 4 * second, 4 * second}
}

// sameMethod follows a redirect only if it keeps the method: a POST that is repeated as a GET
// would seem to work and do nothing.
func sameMethod(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 || req.Method != via[0].Method {
		return errors.New("the forge redirects requests: give its new url")
	}
	return nil
}

// A connection is the SDK's client for one use of the forge: it has the context, the present
// token, and the last response.
type connection struct {
	*sdk.Client
	forge *Repository
	ctx   context.Context
	wire  *wire
}

// newConnection prepares a client. By default the SDK requests the server's version first, and
// again before some calls; newConnection switches that off.
func (f *Repository) newConnection(ctx context.Context) (*connection, error) {
	var token string
	if f.token != nil {
		var err error
		if token, err = f.token(ctx); err != nil {
			return nil, fmt.Errorf("the token of %s: %w", f, err)
		}
		if token = strings.TrimSpace(token); token == "" {
			return nil, fmt.Errorf("the token of %s is empty: check where it comes from", f)
		}
	}
	v := &connection{forge: f, ctx: ctx, wire: &wire{base: f.http.Transport}}
	client := f.http
	client.Transport = v.wire
	var err error
	v.Client, err = sdk.NewClient(f.url, sdk.SetGiteaVersion(""), sdk.SetContext(ctx),
		sdk.SetHTTPClient(&client), sdk.SetToken(token), sdk.SetUserAgent("orange"))
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", f, err)
	}
	return v, nil
}

// String returns the name of the repository and its forge.
func (f *Repository) String() string { return f.owner + "/" + f.repo + " at " + f.host }
