package fakegithub

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// base is the branch that everything is merged into.
const base = "main"

// priorities are the names of priority labels, by number.
var priorities = []string{"", "urgent", "high", "medium", "low"}

type issueLabel struct {
	id   int64
	name string
}

// An item is an issue or, with pull, a pull request: GitHub treats them alike.
type item struct {
	id                       int64
	number                   int
	title, body, author      string
	closed                   bool
	reason                   string
	labels                   []*issueLabel
	comments                 []*issueComment
	created, updated, closes time.Time
	parent                   int
	blockedBy                []int
	named                    []int // by these pull requests, in this order
	pull                     *pull
}

type issueComment struct {
	id           int64
	author, body string
	at           time.Time
}

type pull struct {
	branch, base, head string
	merged             bool
	merge              string // the commit
	reviews            []*review
}

type review struct {
	id                          int64
	author, state, body, commit string
	at                          time.Time
	remarks                     []*remark
}

type remark struct {
	id         int64
	path, body string
	line       int
}

type check struct {
	id               int64
	name, state      string // passed, failed or pending
	url, description string
	at               time.Time
}

// ensureLabel returns a label, ignoring case, and creates it if necessary.
func (s *FakeServer) ensureLabel(name string) *issueLabel {
	if l := s.findLabel(name); l != nil {
		return l
	}
	l := &issueLabel{id: s.nextID(), name: name}
	s.labels = append(s.labels, l)
	return l
}

func (s *FakeServer) findLabel(name string) *issueLabel {
	for _, l := range s.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	return nil
}

// fileItem creates an item with the next number, or with a given free one.
func (s *FakeServer) fileItem(number int, title, body, author string) *item {
	if number == 0 || s.items[number] != nil {
		number = s.last + 1
	}
	s.last = max(s.last, number)
	at := s.nextTime()
	is := &item{id: s.nextID() + 1000, number: number, title: title, body: body, author: author, created: at, updated: at}
	s.items[number] = is
	return is
}

// sortedItems returns all items by number.
func (s *FakeServer) sortedItems() []*item {
	var out []*item
	for _, is := range s.items {
		out = append(out, is)
	}
	slices.SortFunc(out, func(a, b *item) int { return a.number - b.number })
	return out
}

func (is *item) hasLabel(l *issueLabel) bool { return slices.Contains(is.labels, l) }

func (s *FakeServer) putLabel(is *item, l *issueLabel) {
	if is.hasLabel(l) {
		return
	}
	is.labels = append(is.labels, l)
	is.updated = s.nextTime()
	s.queueDelivery("issues", object{"action": "labeled", "issue": s.issueObject(is), "label": s.labelObject(l)})
}

func (s *FakeServer) takeLabel(is *item, l *issueLabel) {
	if !is.hasLabel(l) {
		return
	}
	is.labels = slices.DeleteFunc(is.labels, func(o *issueLabel) bool { return o == l })
	is.updated = s.nextTime()
	s.queueDelivery("issues", object{"action": "unlabeled", "issue": s.issueObject(is), "label": s.labelObject(l)})
}

// setClosed closes an issue with a reason, or opens it if reason is "".
func (s *FakeServer) setClosed(is *item, reason string) {
	if is.closed == (reason != "") {
		return
	}
	is.closed, is.reason, is.updated = reason != "", reason, s.nextTime()
	action := "closed"
	if is.closed {
		is.closes = is.updated
	} else {
		is.reason, is.closes, action = "reopened", time.Time{}, "reopened"
	}
	s.queueDelivery("issues", object{"action": action, "issue": s.issueObject(is)})
}

func (s *FakeServer) editItem(is *item, title, body *string) {
	if title != nil {
		is.title = strings.TrimSpace(*title)
	}
	if body != nil {
		is.body = *body
	}
	is.updated = s.nextTime()
	s.queueDelivery("issues", object{"action": "edited", "issue": s.issueObject(is), "changes": object{}})
}

func (s *FakeServer) addComment(is *item, author, body string) *issueComment {
	c := &issueComment{id: s.nextID(), author: author, body: body, at: s.nextTime()}
	is.comments = append(is.comments, c)
	is.updated = c.at
	s.queueDelivery("issue_comment", object{"action": "created", "issue": s.issueObject(is), "comment": s.commentObject(is, c)})
	return c
}

// newCommit makes a new commit.
func (s *FakeServer) newCommit(of string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d", of, s.nextID()))
	return hex.EncodeToString(sum[:])
}

func (s *FakeServer) pushBranch(branch string) string {
	sha, before := s.newCommit(branch), s.refs[branch]
	if before == "" {
		before = strings.Repeat("0", 40)
	}
	s.refs[branch] = sha
	s.queueDelivery("push", object{"ref": "refs/heads/" + branch, "before": before, "after": sha, "commits": []object{}})
	for _, is := range s.sortedItems() {
		if is.pull != nil && !is.closed && is.pull.branch == branch {
			is.pull.head, is.updated = sha, s.nextTime()
			s.queueDelivery("pull_request", object{"action": "synchronize", "number": is.number, "pull_request": s.pullObject(is)})
		}
	}
	return sha
}

var names = regexp.MustCompile(`#(\d+)`)

// filePull opens a pull request, and records it on the issues that it mentions.
func (s *FakeServer) filePull(number int, title, body, author string, p pull) *item {
	is := s.fileItem(number, title, body, author)
	p.head = s.refs[p.branch]
	is.pull = &p
	for _, m := range names.FindAllStringSubmatch(title+"\n"+body, -1) {
		n, _ := strconv.Atoi(m[1])
		if about := s.items[n]; about != nil && !slices.Contains(about.named, is.number) {
			about.named = append(about.named, is.number)
		}
	}
	s.queueDelivery("pull_request", object{"action": "opened", "number": is.number, "pull_request": s.pullObject(is)})
	return is
}

var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?) #(\d+)`)

// mergeItem merges a pull request, and closes the issues that it declares to close.
func (s *FakeServer) mergeItem(is *item) {
	is.pull.merged, is.pull.merge = true, s.newCommit("merge")
	s.refs[is.pull.base] = is.pull.merge
	s.closePull(is)
	for _, m := range closing.FindAllStringSubmatch(is.body, -1) {
		n, _ := strconv.Atoi(m[1])
		if about := s.items[n]; about != nil && about.pull == nil {
			s.setClosed(about, "completed")
		}
	}
}

func (s *FakeServer) closePull(is *item) {
	is.closed, is.updated = true, s.nextTime()
	is.closes = is.updated
	s.queueDelivery("pull_request", object{"action": "closed", "number": is.number, "pull_request": s.pullObject(is)})
}
