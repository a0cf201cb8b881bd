package fakegithub

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A repositoryCall is a request about the repository, with the relevant parts of its path.
type repositoryCall struct {
	*http.Request
	s     *FakeServer
	parts []string
	query url.Values
	body  []byte
}

// maxBody is the size limit of a request, in bytes.
const maxBody = 1 << 20

// routeRequest handles a request by its method and path.
func (s *FakeServer) routeRequest(r *http.Request) *answer {
	if r.Method == http.MethodGet && r.URL.Path == "/user" {
		return replyJSON(http.StatusOK, s.accountObject())
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	for i := range parts {
		var err error
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return notFound()
		}
	}
	if len(parts) < 4 || parts[0] != "repos" || !strings.EqualFold(parts[1], s.owner) || !strings.EqualFold(parts[2], s.repo) {
		return notFound()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return replyProblem(http.StatusBadRequest, "Problems parsing JSON")
	}
	c := &repositoryCall{Request: r, s: s, parts: parts[3:], query: r.URL.Query(), body: body}
	for _, one := range []struct {
		pattern string
		do      func(*repositoryCall) *answer
	}{
		{"GET labels", (*repositoryCall).listLabels}, {"GET labels/*", (*repositoryCall).showLabel},
		{"GET issues", (*repositoryCall).listIssues}, {"GET issues/*", (*repositoryCall).showIssue}, {"PATCH issues/*", (*repositoryCall).changeIssue},
		{"GET issues/*/comments", (*repositoryCall).listComments}, {"POST issues/*/comments", (*repositoryCall).addComment},
		{"POST issues/*/labels", (*repositoryCall).addLabels}, {"DELETE issues/*/labels/*", (*repositoryCall).removeLabel},
		{"GET issues/*/sub_issues", (*repositoryCall).listChildren}, {"GET issues/*/dependencies/blocked_by", (*repositoryCall).listBlockers},
		{"GET issues/*/timeline", (*repositoryCall).listTimeline},
		{"GET pulls", (*repositoryCall).listPulls}, {"POST pulls", (*repositoryCall).openPull}, {"GET pulls/*", (*repositoryCall).showPull},
		{"GET branches/*", (*repositoryCall).showBranch}, {"GET rules/branches/*", (*repositoryCall).listRules}, {"PUT pulls/*/update-branch", (*repositoryCall).updatePull},
		{"PUT pulls/*/merge", (*repositoryCall).mergePull}, {"GET pulls/*/reviews", (*repositoryCall).listReviews}, {"GET pulls/*/comments", (*repositoryCall).listRemarks},
		{"GET commits/*/check-runs", (*repositoryCall).listRuns}, {"GET commits/*/status", (*repositoryCall).showStatus},
	} {
		if c.matchesRoute(one.pattern) {
			return one.do(c)
		}
	}
	return notFound()
}

// matchesRoute compares method and path; * matches one part.
func (c *repositoryCall) matchesRoute(pattern string) bool {
	method, path, _ := strings.Cut(pattern, " ")
	want := strings.Split(path, "/")
	if method != c.Method || len(want) != len(c.parts) {
		return false
	}
	for i := range want {
		if want[i] != "*" && want[i] != c.parts[i] {
			return false
		}
	}
	return true
}

// pathItem returns the issue or pull request in the path.
func (c *repositoryCall) pathItem() *item {
	n, _ := strconv.Atoi(c.parts[1])
	return c.s.items[n]
}

func (c *repositoryCall) pathPull() *item {
	if is := c.pathItem(); is != nil && is.pull != nil {
		return is
	}
	return nil
}

// readBody decodes the body. It returns an error response if that fails.
func (c *repositoryCall) readBody(into any) *answer {
	if err := json.Unmarshal(c.body, into); err != nil {
		return replyProblem(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// listPage responds with one page and links to the others.
func listPage[T any](c *repositoryCall, all []T, show func(T) object) *answer {
	page, from, to := c.pageWindow(len(all))
	out := []object{}
	for _, one := range all[from:to] {
		out = append(out, show(one))
	}
	a := replyJSON(http.StatusOK, out)
	c.addLinkHeader(a, page, to < len(all))
	return a
}

func (c *repositoryCall) pageWindow(all int) (page, from, to int) {
	size, err := strconv.Atoi(c.query.Get("per_page"))
	if err != nil || size < 1 {
		size = 30
	}
	size = min(size, c.s.opts.PageSize)
	if page, err = strconv.Atoi(c.query.Get("page")); err != nil || page < 1 {
		page = 1
	}
	from = min(all, (page-1)*size)
	return page, from, min(all, from+size)
}

func (c *repositoryCall) addLinkHeader(a *answer, page int, more bool) {
	at := func(page int, rel string) string {
		q := c.URL.Query()
		q.Set("page", strconv.Itoa(page))
		return "<" + c.s.url + c.URL.EscapedPath() + "?" + q.Encode() + `>; rel="` + rel + `"`
	}
	var links []string
	if page > 1 {
		links = append(links, at(page-1, "prev"), at(1, "first"))
	}
	if more {
		links = append(links, at(page+1, "next"))
	}
	if len(links) > 0 {
		a.header.Set("Link", strings.Join(links, ", "))
	}
}

func (c *repositoryCall) listLabels() *answer { return listPage(c, c.s.labels, c.s.labelObject) }

func (c *repositoryCall) showLabel() *answer {
	l := c.s.findLabel(c.parts[1])
	if l == nil {
		return notFound()
	}
	return replyJSON(http.StatusOK, c.s.labelObject(l))
}

func (c *repositoryCall) listIssues() *answer {
	since, _ := time.Parse(time.RFC3339, c.query.Get("since"))
	var found []*item
	for _, is := range c.s.sortedItems() {
		fits := c.inState(is) && !is.updated.Before(since)
		for name := range strings.SplitSeq(c.query.Get("labels"), ",") {
			fits = fits && (name == "" || is.hasLabel(c.s.findLabel(name)))
		}
		if fits {
			found = append(found, is)
		}
	}
	return listPage(c, c.orderItems(found), c.s.issueObject)
}

func (c *repositoryCall) inState(is *item) bool {
	switch c.query.Get("state") {
	case "all":
		return true
	case "closed":
		return is.closed
	}
	return !is.closed
}

// orderItems sorts by the requested order; newest first by default.
func (c *repositoryCall) orderItems(list []*item) []*item {
	if c.query.Get("direction") == "asc" {
		return list
	}
	out := make([]*item, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}

func (c *repositoryCall) showIssue() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	return replyJSON(http.StatusOK, c.s.issueObject(is))
}

// maxText is the length limit of a text, in characters.
const maxText = 65536

func validationProblem(resource, field, code, message string) *answer {
	return replyProblem(http.StatusUnprocessableEntity, "Validation Failed", object{"resource": resource, "field": field, "code": code, "message": message})
}

func (c *repositoryCall) changeIssue() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	var to struct {
		Title, Body, State *string
		Reason             *string `json:"state_reason"`
	}
	if a := c.readBody(&to); a != nil {
		return a
	}
	switch {
	case to.Title != nil && (strings.TrimSpace(*to.Title) == "" || utf8.RuneCountInString(*to.Title) > 256):
		return validationProblem("Issue", "title", "invalid", "title is too long (maximum is 256 characters)")
	case to.Body != nil && (utf8.RuneCountInString(*to.Body) > maxText || strings.ContainsRune(*to.Body, 0)):
		return validationProblem("Issue", "body", "custom", "body is too long (maximum is 65536 characters)")
	}
	if to.State != nil {
		reason := ""
		if *to.State == "closed" {
			reason = "completed"
			if to.Reason != nil {
				reason = *to.Reason
			}
		}
		c.s.setClosed(is, reason)
	}
	if to.Title != nil || to.Body != nil {
		c.s.editItem(is, to.Title, to.Body)
	}
	return replyJSON(http.StatusOK, c.s.issueObject(is))
}

func (c *repositoryCall) listComments() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	return listPage(c, is.comments, func(o *issueComment) object { return c.s.commentObject(is, o) })
}

func (c *repositoryCall) addComment() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	var said struct{ Body string }
	if a := c.readBody(&said); a != nil {
		return a
	}
	if n := utf8.RuneCountInString(said.Body); strings.TrimSpace(said.Body) == "" || n > maxText || strings.ContainsRune(said.Body, 0) {
		return validationProblem("IssueComment", "body", "invalid", "body is blank or too long")
	}
	return replyJSON(http.StatusCreated, c.s.commentObject(is, c.s.addComment(is, c.s.opts.Account, said.Body)))
}

// addLabels creates labels that do not exist, like GitHub.
func (c *repositoryCall) addLabels() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	var add struct{ Labels []string }
	if a := c.readBody(&add); a != nil {
		return a
	}
	for _, name := range add.Labels {
		c.s.putLabel(is, c.s.ensureLabel(name))
	}
	return replyJSON(http.StatusOK, c.s.labelList(is.labels))
}

func (c *repositoryCall) removeLabel() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	l := c.s.findLabel(c.parts[3])
	if l == nil || !is.hasLabel(l) {
		return replyProblem(http.StatusNotFound, "Label does not exist")
	}
	c.s.takeLabel(is, l)
	return replyJSON(http.StatusOK, c.s.labelList(is.labels))
}

func (c *repositoryCall) listChildren() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	return listPage(c, c.s.childItems(is), c.s.issueObject)
}

func (c *repositoryCall) listBlockers() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	return listPage(c, is.blockedBy, func(n int) object { return c.s.issueObject(c.s.items[n]) })
}

// listTimeline returns the comments, and the pull requests that mention the issue.
func (c *repositoryCall) listTimeline() *answer {
	is := c.pathItem()
	if is == nil {
		return notFound()
	}
	var events []object
	for _, o := range is.comments {
		e := c.s.commentObject(is, o)
		e["event"], e["actor"] = "commented", e["user"]
		events = append(events, e)
	}
	for _, n := range is.named {
		from := c.s.items[n]
		events = append(events, object{
			"event": "cross-referenced", "actor": c.s.userObject(from.author), "created_at": formatTime(from.created), "updated_at": formatTime(from.created),
			"source": object{"type": "issue", "issue": c.s.issueObject(from)},
		})
	}
	return listPage(c, events, func(e object) object { return e })
}
