package github_test

import (
	"net/url"
	"strings"
	"testing"

	"orange/internal/adapter/github"
)

func TestRemotes(t *testing.T) {
	for remote, want := range map[string]struct{ host, scope string }{
		"https://github.com/acme/shop.git":                  {"github.com", "acme/shop"},
		"https://github.com/acme/shop":                      {"github.com", "acme/shop"},
		"https://github.com/acme/shop/":                     {"github.com", "acme/shop"},
		"http://GitHub.com/acme/shop.git":                   {"github.com", "acme/shop"},
		"https://www.github.com/acme/shop":                  {"github.com", "acme/shop"},
		"https://alice:secret@github.com/acme/shop.git":     {"github.com", "acme/shop"},
		"git@github.com:acme/shop.git":                      {"github.com", "acme/shop"},
		"github.com:acme/shop":                              {"github.com", "acme/shop"},
		"org-1234@github.com:acme/shop.git":                 {"github.com", "acme/shop"},
		"ssh://git@github.com/acme/shop.git":                {"github.com", "acme/shop"},
		"ssh://git@ssh.github.com:443/acme/shop.git":        {"github.com", "acme/shop"},
		"git://github.com/acme/shop.git":                    {"github.com", "acme/shop"},
		"git@github.example.com:acme/shop.io.git":           {"github.example.com", "acme/shop.io"},
		"https://github.example.com:8443/acme/shop.git":     {"github.example.com:8443", "acme/shop"},
		"ssh://git@github.example.com:2222/acme/.github":    {"github.example.com", "acme/.github"},
		"  https://github.example.com/a-b/c_d.git \n":       {"github.example.com", "a-b/c_d"},
		"https://github.com/acme":                           {"github.com", ""},
		"https://github.com/acme/shop/pull/1":               {"github.com", ""},
		"https://github.com/acme/..":                        {"github.com", ""},
		"https://github.com/-x/shop":                        {"github.com", ""},
		"file:///srv/git/shop.git":                          {"github.com", ""},
		"/srv/git/shop.git":                                 {"github.com", ""},
		"../shop.git":                                       {"github.com", ""},
		"neither-address-nor-path":                          {"github.com", ""},
		"two words":                                         {"github.com", ""},
		"\t\n":                                              {"github.com", ""},
		"":                                                  {"github.com", ""},
		"https://-oops/acme/shop":                           {"github.com", ""},
		"https://exa mple.com/acme/shop":                    {"github.com", ""},
		"https://[::1]/acme/shop":                           {"github.com", ""},
		"git@--upload-pack=evil:acme/shop":                  {"github.com", ""},
		"https://example.com\\@github.com/acme/shop":        {"github.com", ""},
		"https://" + strings.Repeat("a", 5000) + ".com/a/b": {"github.com", ""},
	} {
		scope, ok := github.ScopeOf(remote)
		if host := github.HostOf(remote); host != want.host || scope != want.scope || ok != (want.scope != "") {
			t.Errorf("%.60q: %q, %q, %v, want %+v", remote, host, scope, ok, want)
		}
	}
}

func TestAPIBase(t *testing.T) {
	for host, want := range map[string]string{
		"":                   "https://api.github.com",
		"github.com":         "https://api.github.com",
		"GitHub.com":         "https://api.github.com",
		"www.github.com":     "https://api.github.com",
		"acme.ghe.com":       "https://api.acme.ghe.com",
		"github.example.com": "https://github.example.com/api/v3",
		"ghe.example:8443":   "https://ghe.example:8443/api/v3",
	} {
		if got := github.APIBase(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

func FuzzRemotes(f *testing.F) {
	for _, seed := range []string{"git@github.com:a/b.git", "https://u:p@h:1/a/b", "ssh://x@y:2/a/b", "a:b/c", "://", "https://[::1]:2/a/b", "x@y@z:a/b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		host := github.HostOf(remote)
		u, err := url.Parse("https://" + host + "/")
		if host == "" || err != nil || u.Host != host || u.User != nil || strings.HasPrefix(host, "-") {
			t.Fatalf("%q has the host %q", remote, host)
		}
		if _, err := url.Parse(github.APIBase(host)); err != nil {
			t.Fatal(err)
		}
		scope, ok := github.ScopeOf(remote)
		if !ok {
			return
		}
		if _, _, err := github.New(github.RepositoryOptions{Scope: scope}); err != nil {
			t.Fatalf("%q has the scope %q: %v", remote, scope, err)
		}
	})
}
