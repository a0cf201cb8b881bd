package fakegithub

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/track"
	"orange/internal/trackertest"
)

// A Tracker is a server as a world of issues.
type Tracker struct {
	*Server
	Client func(t testing.TB, s *Server) track.Backend
}

// Open implements trackertest.World.
func (w Tracker) Open(t testing.TB) track.Backend { return w.Client(t, w.Server) }

// A Forge is a server as a world of pull requests.
type Forge struct {
	*Server
	Client func(t testing.TB, s *Server) track.Forge
}

// Open implements trackertest.ForgeWorld.
func (w Forge) Open(t testing.TB) track.Forge { return w.Client(t, w.Server) }

// at has the server to itself, with an issue or a pull request that must be there.
func (s *Server) at(t testing.TB, key string, do func(is *item)) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := strconv.Atoi(key)
	is := s.items[n]
	if is == nil {
		t.Errorf("the world has no %q", key)
		return
	}
	do(is)
}

// Add implements trackertest.World.
func (s *Server) Add(t testing.TB, draft tracker.Issue) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	author := draft.Card.Author
	if author == "" {
		author = "alice"
	}
	is := s.file(0, draft.Card.Title, draft.Card.Description, author)
	is.parent, _ = strconv.Atoi(draft.Parent)
	for _, b := range draft.BlockedBy {
		n, _ := strconv.Atoi(b.Key)
		is.blockedBy = append(is.blockedBy, n)
	}
	for _, tag := range draft.Card.Tags {
		is.labels = append(is.labels, s.label(tag))
	}
	if p := int(draft.Priority); p > 0 && p < len(priorities) {
		is.labels = append(is.labels, s.label("priority:"+priorities[p]))
	}
	s.tell("issues", object{"action": "opened", "issue": s.issue(is)})
	if draft.Card.Column != "" {
		s.move(is, draft.Card.Column)
	}
	return strconv.Itoa(is.number)
}

// Move implements trackertest.World.
func (s *Server) Move(t testing.TB, key, column string) {
	t.Helper()
	s.at(t, key, func(is *item) { s.move(is, column) })
}

// move does what a person does who works with labels: one is replaced, and an issue that
// is at its end is closed.
func (s *Server) move(is *item, column string) {
	for _, l := range slices.Clone(is.labels) {
		if strings.HasPrefix(l.name, "status:") && l.name != "status:"+column {
			s.take(is, l)
		}
	}
	s.put(is, s.label("status:"+column))
	s.shut(is, map[string]string{"Accepted": "completed", "Done": "completed", "Canceled": "not_planned"}[column])
}

// Tag implements trackertest.World.
func (s *Server) Tag(t testing.TB, key string, add, remove []string) {
	t.Helper()
	s.at(t, key, func(is *item) {
		for _, name := range add {
			s.put(is, s.label(name))
		}
		for _, name := range remove {
			s.take(is, s.label(name))
		}
	})
}

// Comment implements trackertest.World.
func (s *Server) Comment(t testing.TB, key, author, text string) {
	t.Helper()
	s.at(t, key, func(is *item) { s.say(is, author, text) })
}

// Describe implements trackertest.World.
func (s *Server) Describe(t testing.TB, key, text string) {
	t.Helper()
	s.at(t, key, func(is *item) { s.edit(is, nil, &text) })
}

// Shut closes an issue for a reason of GitHub's, or opens it again with "". Its labels stay.
func (s *Server) Shut(t testing.TB, key, reason string) {
	t.Helper()
	s.at(t, key, func(is *item) { s.shut(is, reason) })
}

// Real implements trackertest.World.
func (s *Server) Real(t testing.TB, key string) (out tracker.Issue) {
	t.Helper()
	s.at(t, key, func(is *item) {
		out = tracker.Issue{Key: key, Card: board.Card{
			Number: is.number, Title: is.title, Author: is.author, Description: is.body, Tags: []string{}, CreatedAt: is.created, UpdatedAt: is.updated,
		}}
		for _, l := range is.labels {
			if column, ok := strings.CutPrefix(l.name, "status:"); ok {
				out.Card.Column = column
			} else if p, ok := strings.CutPrefix(l.name, "priority:"); ok {
				out.Priority = tracker.Priority(slices.Index(priorities, p))
			} else {
				out.Card.Tags = append(out.Card.Tags, l.name)
			}
		}
		if is.parent != 0 {
			out.Parent = strconv.Itoa(is.parent)
		}
		for _, child := range s.children(is) {
			out.Children = append(out.Children, tracker.Link{Key: strconv.Itoa(child.number), Closed: child.closed})
		}
		for _, n := range is.blockedBy {
			out.BlockedBy = append(out.BlockedBy, tracker.Link{Key: strconv.Itoa(n), Closed: s.items[n].closed})
		}
		for _, c := range is.comments {
			out.Comments = append(out.Comments, tracker.Comment{ID: strconv.FormatInt(c.id, 10), Author: c.author, At: c.at, Text: c.body})
		}
	})
	return out
}

// RenameColumn implements trackertest.World.
func (s *Server) RenameColumn(t testing.TB, from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.find("status:" + from)
	if l == nil {
		t.Errorf("the world has no column %q", from)
		return
	}
	l.name = "status:" + to
	s.tell("label", object{"action": "edited", "label": s.labelled(l), "changes": object{"name": object{"from": "status:" + from}}})
}

// DeleteTag implements trackertest.World.
func (s *Server) DeleteTag(t testing.TB, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.find(name)
	if l == nil {
		t.Errorf("the world has no tag %q", name)
		return
	}
	s.labels = slices.DeleteFunc(s.labels, func(o *label) bool { return o == l })
	for _, is := range s.items {
		is.labels = slices.DeleteFunc(is.labels, func(o *label) bool { return o == l })
	}
	s.tell("label", object{"action": "deleted", "label": s.labelled(l)})
}

// Link implements trackertest.Linker: the pull request says that it closes the issue.
func (s *Server) Link(t testing.TB, key string, pr tracker.PR) {
	t.Helper()
	s.at(t, key, func(*item) {
		branch := pr.Branch
		if branch == "" {
			branch = fmt.Sprint("branch-of-", key)
		}
		s.push(branch)
		is := s.pulled(pr.Number, pr.Title, "Closes #"+key+".", "alice", pull{branch: branch, base: base})
		switch pr.State {
		case tracker.Merged:
			is.pull.merged, is.pull.merge = true, s.commit("merge")
			s.end(is)
		case tracker.Closed:
			s.end(is)
		}
	})
}

// Name makes a pull request that says something, without linking anything.
func (s *Server) Name(t testing.TB, branch, title, body string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push(branch)
	return s.pulled(0, title, body, "bob", pull{branch: branch, base: base}).number
}

// Base implements trackertest.ForgeWorld.
func (s *Server) Base() string { return base }

// Push implements trackertest.ForgeWorld.
func (s *Server) Push(_ testing.TB, branch string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.push(branch)
}

// Check implements trackertest.ForgeWorld. One whose name is like a path is a status, any
// other the run of an app.
func (s *Server) Check(_ testing.TB, commit string, c tracker.Check) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := &check{id: s.id(), name: c.Name, state: c.State, url: c.URL, description: c.Text, at: s.tick()}
	s.checks[commit] = append(slices.DeleteFunc(s.checks[commit], func(o *check) bool { return o.name == c.Name }), made)
	if made.isStatus() {
		o := s.status(commit, made)
		o["sha"], o["name"] = commit, s.opts.Scope
		s.tell("status", o)
		return
	}
	run := s.checkRun(commit, made)
	for _, is := range s.sorted() {
		if is.pull != nil && is.pull.head == commit && !is.closed {
			run["pull_requests"] = append(run["pull_requests"].([]object), object{"number": is.number, "id": is.id, "url": s.api("/pulls/%d", is.number)})
		}
	}
	s.tell("check_run", object{"action": "completed", "check_run": run})
}

// Review implements trackertest.ForgeWorld.
func (s *Server) Review(t testing.TB, number int, r tracker.Review) {
	t.Helper()
	s.at(t, strconv.Itoa(number), func(is *item) {
		state := map[string]string{tracker.Approved: "APPROVED", tracker.ChangesRequested: "CHANGES_REQUESTED", tracker.Commented: "COMMENTED"}[r.Verdict]
		made := &review{id: s.id(), author: r.Author, state: state, body: r.Text, commit: r.Commit, at: s.tick()}
		if made.commit == "" {
			made.commit = is.pull.head
		}
		for _, l := range r.Lines {
			made.remarks = append(made.remarks, &remark{id: s.id(), path: l.File, line: l.Line, body: l.Text})
		}
		is.pull.reviews = append(is.pull.reviews, made)
		is.updated = s.tick()
		s.tell("pull_request_review", object{"action": "submitted", "pull_request": s.pullSimple(is), "review": s.review(is, made)})
	})
}

// Dismiss takes the verdict of the last review of a pull request away.
func (s *Server) Dismiss(t testing.TB, number int) {
	t.Helper()
	s.at(t, strconv.Itoa(number), func(is *item) { is.pull.reviews[len(is.pull.reviews)-1].state = "DISMISSED" })
}

// Close implements trackertest.ForgeWorld.
func (s *Server) Close(t testing.TB, number int) {
	t.Helper()
	s.at(t, strconv.Itoa(number), func(is *item) { s.end(is) })
}

// tell sends news of an event.
func (s *Server) tell(event string, o object) {
	o["repository"], o["sender"] = s.repository(), s.user("alice")
	body, err := json.Marshal(o)
	if err != nil {
		return // a shape of our own always is JSON
	}
	mac := hmac.New(sha256.New, []byte(s.opts.Secret))
	mac.Write(body)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "GitHub-Hookshot/fake")
	h.Set("X-GitHub-Event", event)
	h.Set("X-GitHub-Delivery", fmt.Sprintf("00000000-0000-4000-8000-%012d", s.id()))
	h.Set("X-GitHub-Hook-ID", "1")
	h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	s.news = append(s.news, trackertest.Delivery{Header: h, Body: body})
}

// News implements trackertest.Sender.
func (s *Server) News(testing.TB) []trackertest.Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.news
	s.news = nil
	return out
}
