package tracker

import (
	"strconv"
	"strings"
)

// An IssueAddress is what the address of an issue says, as a browser shows it.
type IssueAddress struct {
	Host  string // without port
	Scope string // OWNER/REPO, or the team of Linear
	Key   string // number, or the key of Linear
	Team  bool   // it is an issue of a team, as Linear has them
}

// ParseIssueAddress parses https://HOST/OWNER/REPO/issues/NUMBER, of GitHub, Gitea and Forgejo, and
// https://linear.app/WORKSPACE/issue/KEY.
func ParseIssueAddress(address string) (IssueAddress, bool) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(address), "://")
	if !ok || scheme != "https" && scheme != "http" {
		return IssueAddress{}, false
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	out := IssueAddress{Host: HostOfAddress(address)}
	for i := len(parts) - 2; i > 1; i-- {
		key := parts[i+1]
		switch number, err := strconv.Atoi(key); {
		case parts[i] == "issues" && err == nil && number > 0 && i > 2:
			out.Scope, out.Key = parts[i-2]+"/"+parts[i-1], key
			return out, out.Host != ""
		case parts[i] == "issue":
			team, digits, _ := strings.Cut(key, "-")
			if n, err := strconv.Atoi(digits); err == nil && n > 0 && team != "" {
				out.Scope, out.Key, out.Team = strings.ToUpper(team), strings.ToUpper(key), true
				return out, out.Host != ""
			}
		}
	}
	return IssueAddress{}, false
}

// HostOfAddress returns the host of an address, without user and port, and without the api. with which hosts name their
// API.
func HostOfAddress(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return strings.TrimPrefix(strings.ToLower(host), "api.")
}

// HasIssue reports whether a tracker has the issue with this address.
func (c *Config) HasIssue(a IssueAddress) bool {
	switch c.Kind {
	case Linear:
		team, _, _ := strings.Cut(c.Scope, "/")
		return a.Team && strings.EqualFold(team, a.Scope) && (a.Host == "linear.app" || a.Host == HostOfAddress(c.URL))
	case GitHub:
		host := HostOfAddress(c.URL)
		if c.URL == "" {
			host = "github.com"
		}
		return !a.Team && strings.EqualFold(c.Scope, a.Scope) && host == a.Host
	}
	return false
}
