// Package forges connects to forges. Its secrets and HTTP clients serve trackers too.
package forges

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"orange/internal/adapter/git"
	"orange/internal/adapter/gitea"
	"orange/internal/adapter/github"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/transport"
)

// SecretReader returns a function that reads a secret of a tracker or a forge. The secret is not kept.
func SecretReader(source string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return config.ReadSecret(ctx, source, config.Getenv) }
}

// GitHubSecret returns a function that reads the secret for a host: the configured one, or else the one that GitHub's
// own tools use.
func GitHubSecret(source, host string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if source != "" && source != "gh" {
			return config.ReadSecret(ctx, source, config.Getenv)
		}
		names := []string{"GH_TOKEN", "GITHUB_TOKEN"}
		if host != "github.com" {
			names = []string{"GH_ENTERPRISE_TOKEN"}
		}
		for _, name := range names {
			if token := config.Getenv(name); token != "" && source == "" {
				return token, nil
			}
		}
		return github.TokenFromGh(ctx, host)
	}
}

// NewHTTPClient returns a client for one tracker or forge that retries requests and respects rate limits.
func NewHTTPClient(log *slog.Logger, o transport.ClientOptions) *http.Client {
	o.Log = func(msg string, args ...any) { log.Info(msg, append([]any{"component", "transport"}, args...)...) }
	return &http.Client{Transport: transport.New(o)}
}

// Origin is the remote that a project's work is delivered to.
const Origin = "origin"

// Directory opens the forges of projects and keeps them, because they cache responses and know the rate limits of their
// servers.
type Directory struct {
	Git *git.Git
	Log *slog.Logger

	mu   sync.Mutex
	open map[string]openForge // by the name of the project
}

// openForge is a forge with the values it was made from. When they change, a new forge is made.
type openForge struct {
	remote string
	land   string
	policy task.Forge
	forge  trackers.Forge
}

// findOrOpen returns the forge of a project. It calls open if there is none yet.
func (d *Directory) findOrOpen(p task.Project, remote string, policy task.Forge, open func() (trackers.Forge, error)) (trackers.Forge, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if have, ok := d.open[p.Name]; ok && have.remote == remote && have.policy == policy && have.land == p.Land {
		return have.forge, nil
	}
	forge, err := open()
	if err != nil {
		delete(d.open, p.Name)
		return nil, err
	}
	if d.open == nil {
		d.open = map[string]openForge{}
	}
	d.open[p.Name] = openForge{remote: remote, land: p.Land, policy: policy, forge: forge}
	return forge, nil
}

// ProjectForge returns the forge of a project, or nil if no remote or setting of the project names one.
func (d *Directory) ProjectForge(ctx context.Context, p task.Project) (trackers.Forge, error) {
	remote, err := d.Git.RemoteURL(ctx, p.Path, Origin)
	if err != nil && p.Forge.Scope == "" {
		return nil, nil
	}
	policy := p.Forge
	if policy.Scope == "" {
		scope, ok := github.ScopeOf(remote)
		if !ok {
			return nil, nil
		}
		policy.Scope = scope
	}
	return d.findOrOpen(p, remote, policy, func() (trackers.Forge, error) {
		forge, err := d.newForge(p, github.HostOf(remote), policy)
		if err != nil {
			return nil, task.Mistakef("the forge of %s: %v", p.Name, err)
		}
		return forge, nil
	})
}

// newForge makes the client of a forge. It sends no request.
func (d *Directory) newForge(p task.Project, host string, f task.Forge) (trackers.Forge, error) {
	method := ""
	if p.Land == task.LandRebase || p.Land == task.LandSquash {
		method = p.Land
	}
	calls := NewHTTPClient(d.Log, transport.ClientOptions{Name: p.Name, Secret: f.Token, Forbids: true})
	if f.Kind == task.ForgeGitea {
		return gitea.New(gitea.ForgeOptions{URL: cmp.Or(f.URL, "https://"+host), Scope: f.Scope, Token: SecretReader(cmp.Or(f.Token, "env:GITEA_TOKEN")), HTTP: calls, MergeStyle: method})
	}
	api := cmp.Or(f.URL, github.APIBase(host))
	issues, forge, err := github.New(github.RepositoryOptions{URL: api, Scope: f.Scope, Token: GitHubSecret(f.Token, host), HTTP: calls, MergeMethod: method})
	if err != nil {
		return nil, err
	}
	return githubForge{Forge: forge, issues: issues, host: tracker.HostOfAddress(api), scope: f.Scope}, nil
}

// githubForge is a repository on GitHub: its pull requests, and its issues to read.
type githubForge struct {
	*github.Forge
	issues      *github.Tracker
	host, scope string
}

// ReadIssue implements trackers.IssueReader.
func (g githubForge) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	return g.issues.ReadIssue(ctx, key)
}

// HasRepository implements trackers.IssueReader.
func (g githubForge) HasRepository(host, scope string) bool {
	return g.host == host && strings.EqualFold(g.scope, scope)
}

var (
	_ trackers.IssueReader = githubForge{}
	_ trackers.IssueReader = (*gitea.Repository)(nil)
)

// FindPullRequest finds a pull request by its URL, or by its branch if url is "".
func (d *Directory) FindPullRequest(ctx context.Context, p task.Project, url, branch string) (tracker.PR, error) {
	forge, err := d.ProjectForge(ctx, p)
	if err != nil {
		return tracker.PR{}, err
	}
	if forge == nil {
		return tracker.PR{}, task.Mistakef("project %s has no remote that names a forge: see orange project update --help", p.Name)
	}
	pr, ok, err := trackers.FindPR(ctx, forge, url, branch)
	if err == nil && !ok {
		err = tracker.ErrNotFound
	}
	return pr, err
}

// RequiredChecks returns the names of the checks that the forge of a project requires of pull requests into its default
// branch, or nil if the forge does not say.
func (d *Directory) RequiredChecks(ctx context.Context, p task.Project) ([]string, error) {
	forge, err := d.ProjectForge(ctx, p)
	if err != nil || forge == nil {
		return nil, err
	}
	return forge.RequiredChecks(ctx, p.DefaultBranch)
}
