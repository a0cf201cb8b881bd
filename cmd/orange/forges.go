package main

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"strings"

	"orange/internal/adapter/gitea"
	"orange/internal/adapter/github"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/track"
	"orange/internal/transport"
)

// secret reads a secret of a tracker or a forge when it is needed. Nothing keeps it.
func secret(source string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return config.Secret(ctx, source, os.Getenv) }
}

// githubSecret is the secret for a host: the one that is configured, else what GitHub's
// own tools use.
func githubSecret(source, host string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if source != "" && source != "gh" {
			return config.Secret(ctx, source, os.Getenv)
		}
		names := []string{"GH_TOKEN", "GITHUB_TOKEN"}
		if host != "github.com" {
			names = []string{"GH_ENTERPRISE_TOKEN"}
		}
		for _, name := range names {
			if token := os.Getenv(name); token != "" && source == "" {
				return token, nil
			}
		}
		return github.TokenFromGh(ctx, host)
	}
}

// calls sends requests of one tracker or forge, as often as it takes and no more often
// than it wants.
func (s *server) calls(o transport.Options) *http.Client {
	o.Log = func(msg string, args ...any) { s.log.Info(msg, append([]any{"component", "transport"}, args...)...) }
	return &http.Client{Transport: transport.New(o)}
}

// forge returns the forge of a project. It is nil where the project has no remote to tell.
func (s *server) forge(ctx context.Context, p task.Project) (track.Forge, error) {
	f := p.Forge
	remote, err := s.git.RemoteURL(ctx, p.Path, origin)
	if err != nil && f.Scope == "" {
		return nil, nil
	}
	host := github.HostOf(remote)
	if f.Scope == "" {
		scope, ok := github.ScopeOf(remote)
		if !ok {
			return nil, nil
		}
		f.Scope = scope
	}
	if f.Kind == task.ForgeGitea {
		f.URL = cmp.Or(f.URL, "https://"+host)
		forge, err := gitea.New(gitea.Options{URL: f.URL, Scope: f.Scope, Token: secret(cmp.Or(f.Token, "env:GITEA_TOKEN")), HTTP: s.calls(transport.Options{Name: p.Name, Secret: f.Token, Forbids: true})})
		if err != nil {
			return nil, task.Mistakef("the forge of %s: %v", p.Name, err)
		}
		return forge, nil
	}
	_, forge, err := github.New(github.Options{URL: cmp.Or(f.URL, github.APIBase(host)), Scope: f.Scope, Token: githubSecret(f.Token, host), HTTP: s.calls(transport.Options{Name: p.Name, Secret: f.Token, Forbids: true})})
	if err != nil {
		return nil, task.Mistakef("the forge of %s: %v", p.Name, err)
	}
	return forge, nil
}

// pull finds a pull request by its address, or that of a branch.
func (s *server) pull(ctx context.Context, p task.Project, url, branch string) (tracker.PR, error) {
	forge, err := s.forge(ctx, p)
	if err != nil {
		return tracker.PR{}, err
	}
	if forge == nil {
		return tracker.PR{}, task.Mistakef("project %s has no remote that names a forge: see orange project update --help", p.Name)
	}
	if number, ok := tracker.PRNumber(url); ok && strings.Contains(url, "/pull") {
		return forge.PR(ctx, number)
	}
	list, err := forge.PRs(ctx, branch)
	if err != nil {
		return tracker.PR{}, err
	}
	pr, ok := tracker.ChoosePR(nil, list, nil)
	if !ok {
		return pr, tracker.ErrNotFound
	}
	return pr, nil
}
