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
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
)

// An IssueWorld is a server as a trackertest.World.
type IssueWorld struct {
	*FakeServer
	Client func(t testing.TB, s *FakeServer) trackers.Backend
}

// OpenClient implements trackertest.World.
func (w IssueWorld) OpenClient(t testing.TB) trackers.Backend { return w.Client(t, w.FakeServer) }

// A PullWorld is a server as a trackertest.ForgeWorld.
type PullWorld struct {
	*FakeServer
	Client func(t testing.TB, s *FakeServer) trackers.Forge
}

// OpenClient implements trackertest.ForgeWorld.
func (w PullWorld) OpenClient(t testing.TB) trackers.Forge { return w.Client(t, w.FakeServer) }

// withItem calls do with an issue or a pull request, which must exist, under the lock.
func (s *FakeServer) withItem(t testing.TB, key string, do func(is *item)) {
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

// AddIssue implements trackertest.World.
func (s *FakeServer) AddIssue(t testing.TB, draft tracker.Issue) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	author := draft.Card.Author
	if author == "" {
		author = "alice"
	}
	is := s.fileItem(0, draft.Card.Title, draft.Card.Description, author)
	is.parent, _ = strconv.Atoi(draft.Parent)
	for _, b := range draft.BlockedBy {
		n, _ := strconv.Atoi(b.Key)
		is.blockedBy = append(is.blockedBy, n)
	}
	for _, tag := range draft.Card.Tags {
		is.labels = append(is.labels, s.ensureLabel(tag))
	}
	if p := int(draft.Priority); p > 0 && p < len(priorities) {
		is.labels = append(is.labels, s.ensureLabel("priority:"+priorities[p]))
	}
	s.queueDelivery("issues", object{"action": "opened", "issue": s.issueObject(is)})
	if draft.Card.Column != "" {
		s.moveItem(is, draft.Card.Column)
	}
	return strconv.Itoa(is.number)
}

// MoveIssue implements trackertest.World.
func (s *FakeServer) MoveIssue(t testing.TB, key, column string) {
	t.Helper()
	s.withItem(t, key, func(is *item) { s.moveItem(is, column) })
}

// moveItem does what a person does who works with labels: it replaces the label, and closes an
// issue that is at its end.
func (s *FakeServer) moveItem(is *item, column string) {
	for _, l := range slices.Clone(is.labels) {
		if strings.HasPrefix(l.name, "status:") && l.name != "status:"+column {
			s.takeLabel(is, l)
		}
	}
	s.putLabel(is, s.ensureLabel("status:"+column))
	s.setClosed(is, map[string]string{"Accepted": "completed", "Done": "completed", "Canceled": "not_planned"}[column])
}

// TagIssue implements trackertest.World.
func (s *FakeServer) TagIssue(t testing.TB, key string, add, remove []string) {
	t.Helper()
	s.withItem(t, key, func(is *item) {
		for _, name := range add {
			s.putLabel(is, s.ensureLabel(name))
		}
		for _, name := range remove {
			s.takeLabel(is, s.ensureLabel(name))
		}
	})
}

// CommentIssue implements trackertest.World.
func (s *FakeServer) CommentIssue(t testing.TB, key, author, text string) {
	t.Helper()
	s.withItem(t, key, func(is *item) { s.addComment(is, author, text) })
}

// DescribeIssue implements trackertest.World.
func (s *FakeServer) DescribeIssue(t testing.TB, key, text string) {
	t.Helper()
	s.withItem(t, key, func(is *item) { s.editItem(is, nil, &text) })
}

// CloseIssue closes an issue with one of GitHub's reasons, or opens it again with "". Its
// labels stay.
func (s *FakeServer) CloseIssue(t testing.TB, key, reason string) {
	t.Helper()
	s.withItem(t, key, func(is *item) { s.setClosed(is, reason) })
}

// ReadIssue implements trackertest.World.
func (s *FakeServer) ReadIssue(t testing.TB, key string) (out tracker.Issue) {
	t.Helper()
	s.withItem(t, key, func(is *item) {
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
		for _, child := range s.childItems(is) {
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
func (s *FakeServer) RenameColumn(t testing.TB, from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.findLabel("status:" + from)
	if l == nil {
		t.Errorf("the world has no column %q", from)
		return
	}
	l.name = "status:" + to
	s.queueDelivery("label", object{"action": "edited", "label": s.labelObject(l), "changes": object{"name": object{"from": "status:" + from}}})
}

// DeleteTag implements trackertest.World.
func (s *FakeServer) DeleteTag(t testing.TB, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.findLabel(name)
	if l == nil {
		t.Errorf("the world has no tag %q", name)
		return
	}
	s.labels = slices.DeleteFunc(s.labels, func(o *issueLabel) bool { return o == l })
	for _, is := range s.items {
		is.labels = slices.DeleteFunc(is.labels, func(o *issueLabel) bool { return o == l })
	}
	s.queueDelivery("label", object{"action": "deleted", "label": s.labelObject(l)})
}

// LinkPull implements trackertest.Linker: the pull request declares that it closes the issue.
func (s *FakeServer) LinkPull(t testing.TB, key string, pr tracker.PR) {
	t.Helper()
	s.withItem(t, key, func(*item) {
		branch := pr.Branch
		if branch == "" {
			branch = fmt.Sprint("branch-of-", key)
		}
		s.pushBranch(branch)
		is := s.filePull(pr.Number, pr.Title, "Closes #"+key+".", "alice", pull{branch: branch, base: base})
		switch pr.State {
		case tracker.Merged:
			is.pull.merged, is.pull.merge = true, s.newCommit("merge")
			s.closePull(is)
		case tracker.Closed:
			s.closePull(is)
		}
	})
}

// AddPull creates a pull request with a text, without linking anything.
func (s *FakeServer) AddPull(t testing.TB, branch, title, body string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushBranch(branch)
	return s.filePull(0, title, body, "bob", pull{branch: branch, base: base}).number
}

// BaseBranch implements trackertest.ForgeWorld.
func (s *FakeServer) BaseBranch() string { return base }

// PushBranch implements trackertest.ForgeWorld.
func (s *FakeServer) PushBranch(_ testing.TB, branch string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pushBranch(branch)
}

// AddCheck implements trackertest.ForgeWorld. A check whose name looks like a path is a status,
// any other the run of an app.
func (s *FakeServer) AddCheck(_ testing.TB, commit string, c tracker.Check) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := &check{id: s.nextID(), name: c.Name, state: c.State, url: c.URL, description: c.Text, at: s.nextTime()}
	s.checks[commit] = append(slices.DeleteFunc(s.checks[commit], func(o *check) bool { return o.name == c.Name }), made)
	if made.isStatus() {
		o := s.statusObject(commit, made)
		o["sha"], o["name"] = commit, s.opts.Scope
		s.queueDelivery("status", o)
		return
	}
	run := s.checkRun(commit, made)
	for _, is := range s.sortedItems() {
		if is.pull != nil && is.pull.head == commit && !is.closed {
			run["pull_requests"] = append(run["pull_requests"].([]object), object{"number": is.number, "id": is.id, "url": s.apiURL("/pulls/%d", is.number)})
		}
	}
	s.queueDelivery("check_run", object{"action": "completed", "check_run": run})
}

// AddReview implements trackertest.ForgeWorld.
func (s *FakeServer) AddReview(t testing.TB, number int, r tracker.Review) {
	t.Helper()
	s.withItem(t, strconv.Itoa(number), func(is *item) {
		state := map[string]string{tracker.Approved: "APPROVED", tracker.ChangesRequested: "CHANGES_REQUESTED", tracker.Commented: "COMMENTED"}[r.Verdict]
		made := &review{id: s.nextID(), author: r.Author, state: state, body: r.Text, commit: r.Commit, at: s.nextTime()}
		if made.commit == "" {
			made.commit = is.pull.head
		}
		for _, l := range r.Lines {
			made.remarks = append(made.remarks, &remark{id: s.nextID(), path: l.File, line: l.Line, body: l.Text})
		}
		is.pull.reviews = append(is.pull.reviews, made)
		is.updated = s.nextTime()
		s.queueDelivery("pull_request_review", object{"action": "submitted", "pull_request": s.pullSimple(is), "review": s.reviewObject(is, made)})
	})
}

// DismissReview removes the verdict of the last review of a pull request.
func (s *FakeServer) DismissReview(t testing.TB, number int) {
	t.Helper()
	s.withItem(t, strconv.Itoa(number), func(is *item) { is.pull.reviews[len(is.pull.reviews)-1].state = "DISMISSED" })
}

// ClosePull implements trackertest.ForgeWorld.
func (s *FakeServer) ClosePull(t testing.TB, number int) {
	t.Helper()
	s.withItem(t, strconv.Itoa(number), func(is *item) { s.closePull(is) })
}

// queueDelivery queues a delivery of an event.
func (s *FakeServer) queueDelivery(event string, o object) {
	o["repository"], o["sender"] = s.repositoryObject(), s.userObject("alice")
	body, err := json.Marshal(o)
	if err != nil {
		return // these values always encode
	}
	mac := hmac.New(sha256.New, []byte(s.opts.Secret))
	mac.Write(body)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "GitHub-Hookshot/fake")
	h.Set("X-GitHub-Event", event)
	h.Set("X-GitHub-Delivery", fmt.Sprintf("00000000-0000-4000-8000-%012d", s.nextID()))
	h.Set("X-GitHub-Hook-ID", "1")
	h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	s.deliveries = append(s.deliveries, trackertest.Delivery{Header: h, Body: body})
}

// TakeDeliveries implements trackertest.Sender.
func (s *FakeServer) TakeDeliveries(testing.TB) []trackertest.Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.deliveries
	s.deliveries = nil
	return out
}
