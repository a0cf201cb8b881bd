// Package gitea opens, shows and merges the pull requests of a repository at a Gitea or a
// Forgejo, over their API. It keeps nothing and decides nothing: it says what the forge
// says, as values of Orange.
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

// Options say which repository is meant and how it is reached.
type Options struct {
	URL   string                                // of the forge, with the folder that it may live in
	Scope string                                // owner/repository
	Token func(context.Context) (string, error) // asked before every use; nil for none
	HTTP  *http.Client                          // nil for a plain one
	Now   func() time.Time                      // nil for the clock
}

// A Forge is one repository at a Gitea or a Forgejo.
type Forge struct {
	url, host   string
	owner, repo string
	token       func(context.Context) (string, error)
	http        http.Client
	now         func() time.Time
	pauses      []time.Duration // before each further look at whether a pull request can be merged

	mu    sync.Mutex
	tried bool // whether the server was found new enough to merge
}

// name is how owners and repositories are called.
var name = lazy.NewRegexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// New returns the repository that the options name. Nothing is asked of the forge yet.
func New(o Options) (*Forge, error) {
	at, err := url.Parse(strings.TrimRight(o.URL, "/"))
	switch {
	case err != nil, at.Host == "", at.Scheme != "http" && at.Scheme != "https":
		return nil, errors.New("the url of the forge is not one: give https://HOST, without the repository")
	case at.User != nil:
		return nil, errors.New("the url of the forge holds a secret: take it out and name the token instead")
	case at.RawQuery != "" || at.Fragment != "":
		return nil, errors.New("the url of the forge has more than a host and a folder: give https://HOST")
	}
	owner, repo, _ := strings.Cut(o.Scope, "/")
	if !name.MatchString(owner) || !name.MatchString(repo) {
		return nil, board.Refusef("%q names no repository: give OWNER/REPO", shortLine(o.Scope))
	}
	f := &Forge{
		url: at.String(), host: at.Host, owner: owner, repo: repo, token: o.Token, now: o.Now,
		pauses: lookPauses(),
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

// Looks at whether a pull request can be merged. The forge says no both when it cannot be
// and while it has yet to find out, so a no counts only after several looks: a second of
// them to show a pull request, ten seconds to merge one.
const (
	looksToShow  = 3
	looksToMerge = 8
)

// lookPauses are half a minute in all: a merge waits that long for a pull request that
// changed just now.
func lookPauses() []time.Duration {
	const second = time.Second
	return []time.Duration{second / 10, 3 * second / 10, 6 * second / 10, second, 2 * second, 2 * second, 2 * second, 2 * second,
		4 * second, 4 * second, 4 * second, 4 * second, 4 * second}
}

// sameMethod follows a redirection only where it leaves the request what it was: a POST
// that is sent on as a GET would seem to work and do nothing.
func sameMethod(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 || req.Method != via[0].Method {
		return errors.New("the forge sends requests elsewhere: give the url that it has now")
	}
	return nil
}

// A connection is the SDK's client for one use of the forge: it knows the context, the token of
// now, and what the forge answered last.
type connection struct {
	*sdk.Client
	forge *Forge
	ctx   context.Context
	wire  *wire
}

// newConnection prepares a client. The SDK would ask the server for its version first, and again
// before some calls; it is told not to.
func (f *Forge) newConnection(ctx context.Context) (*connection, error) {
	var token string
	if f.token != nil {
		var err error
		if token, err = f.token(ctx); err != nil {
			return nil, fmt.Errorf("the token of %s: %w", f, err)
		}
		if token = strings.TrimSpace(token); token == "" {
			return nil, fmt.Errorf("the token of %s is empty: look at where it is said to be", f)
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

// String names the repository and its forge.
func (f *Forge) String() string { return f.owner + "/" + f.repo + " at " + f.host }
