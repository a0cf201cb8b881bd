package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Notify says who is told that something waits for a person, and how.
type Notify struct {
	Kind     string   `json:"kind"`     // desktop, webhook, ntfy, slack or bell
	URL      string   `json:"url"`      // of webhook, ntfy or slack
	Secret   string   `json:"secret"`   // where it is: the key that signs a webhook, the token of ntfy, the whole address of slack
	On       []string `json:"on"`       // kinds of items; none: all but start
	Projects []string `json:"projects"` // none: all
	Brief    bool     `json:"brief"`    // say that something waits, and nothing of what it is
}

// notifyKinds are the ways to tell somebody.
var notifyKinds = [...]string{"desktop", "webhook", "ntfy", "slack", "bell"}

// itemKinds are what somebody can be told of. That everything is paused is not among
// them: who paused it knows.
var itemKinds = [...]string{"attention", "confirm", "permission", "input", "question", "idle", "review", "stuck", "not-started", "turn-failed", "crashed", "failed", "no-answer", "board", "start"}

// UnmarshalJSON reads it, and nothing that it does not have.
func (n *Notify) UnmarshalJSON(text []byte) error {
	type plain Notify
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(n))
}

// IsRemote says that it is told over the network.
func (n *Notify) IsRemote() bool { return n.Kind == "webhook" || n.Kind == "ntfy" || n.Kind == "slack" }

// Name is the same as long as nothing of it is changed.
func (n *Notify) Name() string {
	return n.Kind + "-" + shortHash(strings.Join([]string{n.URL, n.Secret, strings.Join(n.On, ","), strings.Join(n.Projects, "/"), strconv.FormatBool(n.Brief)}, "\n"))
}

// WantsKind says whether it is told of a kind of item in a project.
func (n *Notify) WantsKind(kind, project string) bool {
	if len(n.Projects) > 0 && !slices.Contains(n.Projects, project) {
		return false
	}
	if len(n.On) == 0 {
		return kind != "start" && slices.Contains(itemKinds[:], kind)
	}
	return slices.Contains(n.On, kind)
}

// Check says what is wrong with it.
func (n *Notify) Check() error {
	if !slices.Contains(notifyKinds[:], n.Kind) {
		return fmt.Errorf("kind %q is not known: use %s", n.Kind, strings.Join(notifyKinds[:], ", "))
	}
	for _, kind := range n.On {
		if !slices.Contains(itemKinds[:], kind) {
			return fmt.Errorf("on: nobody can be told of %q: use %s", kind, strings.Join(itemKinds[:], ", "))
		}
	}
	if err := CheckSecret(n.Secret); err != nil {
		return err
	}
	switch remote := n.IsRemote(); {
	case n.Secret == "gh":
		return errors.New("secret gh is for GitHub: use env:NAME, file:PATH or command:PROGRAM ARGS")
	case !remote && n.URL != "":
		return fmt.Errorf("%s has no url: leave it out", n.Kind)
	case !remote && n.Secret != "":
		return fmt.Errorf("%s has no secret: leave it out", n.Kind)
	case n.Kind == "slack" && n.URL != "" && n.Secret != "":
		return errors.New("slack has url or secret: the secret is the whole address")
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
