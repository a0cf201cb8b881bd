package github

import (
	"net/url"
	"strings"

	"orange/internal/lazy"
)

// publicHost is the default host of repositories.
const publicHost = "github.com"

var (
	hostForm = lazy.NewRegexp(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	scpForm  = lazy.NewRegexp(`^(?:[^@/\s]+@)?([^:/@\s]+):([^\s]*)$`)
)

// HostOf returns the host in the address of a git remote: https, ssh, git, or user@host:path.
// Without a host it returns github.com.
func HostOf(remote string) string {
	host, _ := splitRemote(remote)
	if host == "" {
		return publicHost
	}
	return host
}

// ScopeOf returns the OWNER/REPO of a git remote, or false if its address has none.
func ScopeOf(remote string) (string, bool) {
	host, path := splitRemote(remote)
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if host == "" || len(parts) != 2 {
		return "", false
	}
	scope := parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
	if !scopeForm.MatchString(scope) || strings.HasSuffix(scope, "/.") || strings.HasSuffix(scope, "/..") {
		return "", false
	}
	return scope, true
}

// APIBase returns the address of the API of a host: github.com, a company's subdomain of
// ghe.com, or a GitHub Enterprise server.
func APIBase(host string) string {
	switch host = strings.ToLower(host); {
	case host == "" || host == publicHost || host == "www."+publicHost || host == "api."+publicHost:
		return usual
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + strings.TrimPrefix(host, "api.")
	}
	return "https://" + host + "/api/v3"
}

// splitRemote returns host and path of an address, or "" if it is not valid.
func splitRemote(remote string) (host, path string) {
	remote = strings.TrimSpace(remote)
	if len(remote) > 4096 {
		return "", ""
	}
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return "", ""
		}
		switch u.Scheme {
		case "https", "http":
			host = u.Host
		case "ssh", "git", "git+ssh", "ssh+git":
			host = u.Hostname() // the port is not that of the web server
		}
		path = u.Path
	} else if m := scpForm.FindStringSubmatch(remote); m != nil {
		host, path = m[1], m[2]
	}
	host = strings.ToLower(host)
	switch host {
	case "www." + publicHost, "ssh." + publicHost:
		host = publicHost
	}
	if !hostForm.MatchString(host) {
		return "", ""
	}
	return host, path
}
