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

	"orange/internal/core/explain"
)

// A Notify is a channel for notifications that something waits for a person.
type Notify struct {
	Kind     string   `json:"kind"`     // desktop, webhook, ntfy, slack or bell
	URL      string   `json:"url"`      // of webhook, ntfy or slack
	Secret   string   `json:"secret"`   // where it comes from: the key that signs a webhook, the token of ntfy, the whole address of slack
	On       []string `json:"on"`       // kinds of items; none for all but start
	Projects []string `json:"projects"` // none for all
	Brief    bool     `json:"brief"`    // report only that something waits, without details
}

// A Channel is a row of the table of notification channels.
type Channel struct {
	Kind    string
	Remote  bool   // it is sent over the network, to an address
	Secret  string // what its secret is; "" if it has none
	Program bool   // a program reads it, not a person
}

// Channels returns the channels by which people can be notified. Package server builds the
// sender of each.
func Channels() []Channel {
	return []Channel{
		{Kind: "desktop"},
		{Kind: "webhook", Remote: true, Secret: "the key that signs", Program: true},
		{Kind: "ntfy", Remote: true, Secret: "a token"},
		{Kind: "slack", Remote: true, Secret: "the whole address"},
		{Kind: "bell"},
	}
}

// findChannel returns the row of a kind of channel.
func findChannel(kind string) (Channel, bool) {
	all := Channels()
	at := slices.IndexFunc(all, func(c Channel) bool { return c.Kind == kind })
	if at < 0 {
		return Channel{}, false
	}
	return all[at], true
}

// noticedKinds returns the kinds of items for which there are notifications.
func noticedKinds() []string {
	kinds := explain.NoticedKinds()
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = string(k)
	}
	return out
}

// UnmarshalJSON decodes a channel and rejects unknown keys.
func (n *Notify) UnmarshalJSON(text []byte) error {
	type plain Notify
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(n))
}

// IsRemote reports whether the channel uses the network.
func (n *Notify) IsRemote() bool {
	c, _ := findChannel(n.Kind)
	return c.Remote
}

// ForProgram reports whether a program reads what is sent.
func (n *Notify) ForProgram() bool {
	c, _ := findChannel(n.Kind)
	return c.Program
}

// Name returns a name that stays the same as long as nothing of the channel is changed.
func (n *Notify) Name() string {
	return n.Kind + "-" + shortHash(strings.Join([]string{n.URL, n.Secret, strings.Join(n.On, ","), strings.Join(n.Projects, "/"), strconv.FormatBool(n.Brief)}, "\n"))
}

// WantsKind reports whether the channel gets notifications for a kind of item in a project.
func (n *Notify) WantsKind(kind, project string) bool {
	if len(n.Projects) > 0 && !slices.Contains(n.Projects, project) {
		return false
	}
	if len(n.On) == 0 {
		return kind != string(explain.ItemStart) && slices.Contains(noticedKinds(), kind)
	}
	return slices.Contains(n.On, kind)
}

func channelNames() string {
	var out []string
	for _, c := range Channels() {
		out = append(out, c.Kind)
	}
	return strings.Join(out, ", ")
}

// Check returns an error if the channel is not valid.
func (n *Notify) Check() error {
	if _, known := findChannel(n.Kind); !known {
		return fmt.Errorf("kind %q is not known: use %s", n.Kind, channelNames())
	}
	for _, kind := range n.On {
		if !slices.Contains(noticedKinds(), kind) {
			return fmt.Errorf("on: there are no notifications for %q: use %s", kind, strings.Join(noticedKinds(), ", "))
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

// MetricsAddress returns the address at which metrics are served: a port alone is one of this machine only.
func MetricsAddress(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = "", text
	}
	if n, bad := strconv.Atoi(port); bad != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%q: give a port such as 9464, or an address such as 127.0.0.1:9464", text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// CheckLoopback returns an error if an address of the web page is not one of this machine only.
func CheckLoopback(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return fmt.Errorf("%q: give an address such as 127.0.0.1:4747", address)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not for this machine only: use 127.0.0.1, and reach it from elsewhere with ssh -L", address)
	}
	return nil
}
