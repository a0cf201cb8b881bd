package github

import (
	"net/url"
	"strings"

	"orange/internal/lazy"
)

// publicHost is where repositories are unless something says otherwise.
const publicHost = "github.com"

var (
	hostForm = lazy.NewRegexp(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	scpForm  = lazy.NewRegexp(`^(?:[^@/\s]+@)?([^:/@\s]+):([^\s]*)$`)
)

// HostOf is the host in the address of a git remote: https, ssh, git, or user@host:path.
// Without one it is github.com.
func HostOf(remote string) string {
	host, _ := splitRemote(remote)
	if host == "" {
		return publicHost
	}
	return host
}

// ScopeOf is the OWNER/REPO of a git remote, false if its address has none.
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

// APIBase is where the API of a host is: that of github.com, of a company's own part of
// it, or of a GitHub Enterprise server.
func APIBase(host string) string {
	switch host = strings.ToLower(host); {
	case host == "" || host == publicHost || host == "www."+publicHost || host == "api."+publicHost:
		return usual
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + strings.TrimPrefix(host, "api.")
	}
	return "https://" + host + "/api/v3"
}

// splitRemote returns host and path of an address, nothing if it is none.
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
			host = u.Hostname() // the port is not that of the web
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
