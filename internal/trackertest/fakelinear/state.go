package fakelinear

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// state is everything that the server stores, as JSON.
type state struct {
	Count    int          `json:"count"`  // of ids so far
	Number   int          `json:"number"` // of the last issue
	Last     time.Time    `json:"last"`   // time of the last change
	Team     team         `json:"team"`
	Projects []project    `json:"projects"`
	States   []column     `json:"states"`
	Labels   []*teamLabel `json:"labels"`
	Users    []*user      `json:"users"`
	Issues   []*issue     `json:"issues"` // oldest first
}

type team struct {
	ID   string `json:"id"`
	Key  string `json:"key"`
	Name string `json:"name"`
}

type project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type column struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

type teamLabel struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Team  bool   `json:"team"` // of the team; otherwise of the workspace
	Group bool   `json:"group,omitempty"`
}

type user struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	App  bool   `json:"app,omitempty"`
}

type issue struct {
	ID          string        `json:"id"`
	Number      int           `json:"number"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Author      string        `json:"author"` // user's id
	Assignee    string        `json:"assignee,omitempty"`
	State       string        `json:"state"` // id
	Been        []string      `json:"been"`  // ids of the states so far, the present one last
	Project     string        `json:"project,omitempty"`
	Labels      []string      `json:"labels"` // ids
	Priority    int           `json:"priority"`
	Parent      string        `json:"parent,omitempty"`     // id
	BlockedBy   []string      `json:"blocked_by,omitempty"` // ids
	Comments    []*comment    `json:"comments"`             // oldest first
	Attachments []*attachment `json:"attachments,omitempty"`
	Created     time.Time     `json:"created"`
	Updated     time.Time     `json:"updated"`
	Trashed     bool          `json:"trashed,omitempty"`
}

// enterState sets the state of an issue.
func (i *issue) enterState(state string) {
	if i.State != state {
		i.State, i.Been = state, append(i.Been, state)
	}
}

type comment struct {
	ID      string    `json:"id"`
	Body    string    `json:"body"`
	Author  string    `json:"author"` // user's id
	Created time.Time `json:"created"`
}

type attachment struct {
	ID       string          `json:"id"`
	URL      string          `json:"url"`
	Title    string          `json:"title"`
	Metadata json.RawMessage `json:"metadata"`
	Created  time.Time       `json:"created"`
}

// newID returns a unique id.
func (s *state) newID() string {
	s.Count++
	h := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", s.Team.Key, s.Count)))
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}

// nextTime returns the present time, later than all before: no two changes have the same time.
func (s *state) nextTime(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if !now.After(s.Last) {
		now = s.Last.Add(time.Millisecond)
	}
	s.Last = now
	return now
}

func (s *state) issueKey(i *issue) string { return fmt.Sprintf("%s-%d", s.Team.Key, i.Number) }

func (s *state) issueURL(i *issue) string {
	return "https://linear.test/" + strings.ToLower(s.Team.Name) + "/issue/" + s.issueKey(i) + "/title"
}

// findIssue returns the issue with a key or an id.
func (s *state) findIssue(name string) *issue {
	for _, i := range s.Issues {
		if i.ID == name || strings.EqualFold(s.issueKey(i), name) {
			return i
		}
	}
	return nil
}

func (s *state) findColumn(name string) *column {
	for n := range s.States {
		if c := &s.States[n]; c.ID == name || c.Name == name {
			return c
		}
	}
	return nil
}

func (s *state) findLabel(name string) *teamLabel {
	for _, l := range s.Labels {
		if l.ID == name || l.Name == name {
			return l
		}
	}
	return nil
}

// ensureUser returns the account with a name, and creates it if necessary. Names that end in
// [bot] are those of apps.
func (s *state) ensureUser(name string) *user {
	for _, u := range s.Users {
		if u.ID == name || u.Name == name {
			return u
		}
	}
	u := &user{ID: s.newID(), Name: name, App: strings.HasSuffix(name, "[bot]")}
	s.Users = append(s.Users, u)
	return u
}

var (
	hidden  = regexp.MustCompile(`(?s)<!--.*?-->`)
	bullets = regexp.MustCompile(`(?m)^( *)[-+] `)
)

// inOwnHand returns a Markdown text as Linear normalizes it.
func inOwnHand(text string) string {
	return strings.TrimSpace(bullets.ReplaceAllString(hidden.ReplaceAllString(text, ""), "${1}* "))
}
