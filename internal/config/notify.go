package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A Notify says who is told that something waits for a person, and how.
type Notify struct {
	Kind     string   `json:"kind"`     // desktop, webhook, ntfy, slack or bell
	URL      string   `json:"url"`      // of webhook, ntfy or slack
	Secret   string   `json:"secret"`   // where it is: the key that signs a webhook, the token of ntfy, the whole address of slack
	On       []string `json:"on"`       // kinds of items; none: all but start and paused
	Projects []string `json:"projects"` // none: all
	Brief    bool     `json:"brief"`    // say that something waits, and nothing of what it is
}

// notifyKinds are the ways to tell somebody.
var notifyKinds = [...]string{"desktop", "webhook", "ntfy", "slack", "bell"}

// Check says what is wrong with it.
func (n *Notify) Check() error {
	if !slices.Contains(notifyKinds[:], n.Kind) {
		return fmt.Errorf("kind %q is not known: use %s", n.Kind, strings.Join(notifyKinds[:], ", "))
	}
	if err := CheckSecret(n.Secret); err != nil {
		return err
	}
	switch remote := n.Kind == "webhook" || n.Kind == "ntfy" || n.Kind == "slack"; {
	case !remote && n.URL != "":
		return fmt.Errorf("%s has no url: leave it out", n.Kind)
	case n.Kind == "slack" && n.URL == "" && n.Secret != "":
		return nil // the address is the secret
	case remote && !plainURL(n.URL):
		return fmt.Errorf("%s: url %q: give an address that begins with http:// or https:// and has no password in it", n.Kind, n.URL)
	}
	return nil
}

func plainURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// CheckLoopback says what is wrong with an address of the web page: it is for this
// machine only.
func CheckLoopback(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return fmt.Errorf("%q: give an address such as 127.0.0.1:4747", address)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not of this machine alone: use 127.0.0.1, and reach it from elsewhere with ssh -L", address)
	}
	return nil
}
