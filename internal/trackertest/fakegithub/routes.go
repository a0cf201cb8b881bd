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

// A call is a request about the repository, with the parts of its path that matter.
type call struct {
	*http.Request
	s     *Server
	parts []string
	query url.Values
	body  []byte
}

// maxBody bounds what a client may send, in bytes.
const maxBody = 1 << 20

// route answers a request by its method and path.
func (s *Server) route(r *http.Request) *answer {
	if r.Method == http.MethodGet && r.URL.Path == "/user" {
		return reply(http.StatusOK, s.me())
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
		return problem(http.StatusBadRequest, "Problems parsing JSON")
	}
	c := &call{Request: r, s: s, parts: parts[3:], query: r.URL.Query(), body: body}
	for _, one := range []struct {
		pattern string
		do      func(*call) *answer
	}{
		{"GET labels", (*call).listLabels}, {"GET labels/*", (*call).showLabel},
		{"GET issues", (*call).listIssues}, {"GET issues/*", (*call).showIssue}, {"PATCH issues/*", (*call).changeIssue},
		{"GET issues/*/comments", (*call).listComments}, {"POST issues/*/comments", (*call).addComment},
		{"POST issues/*/labels", (*call).addLabels}, {"DELETE issues/*/labels/*", (*call).removeLabel},
		{"GET issues/*/sub_issues", (*call).listChildren}, {"GET issues/*/dependencies/blocked_by", (*call).listBlockers},
		{"GET issues/*/timeline", (*call).listTimeline},
		{"GET pulls", (*call).listPulls}, {"POST pulls", (*call).openPull}, {"GET pulls/*", (*call).showPull},
		{"PUT pulls/*/merge", (*call).mergePull}, {"GET pulls/*/reviews", (*call).listReviews}, {"GET pulls/*/comments", (*call).listRemarks},
		{"GET commits/*/check-runs", (*call).listRuns}, {"GET commits/*/status", (*call).showStatus},
	} {
		if c.fits(one.pattern) {
			return one.do(c)
		}
	}
	return notFound()
}

// fits compares method and path; * is one part.
func (c *call) fits(pattern string) bool {
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

// item is the issue or pull request in the path.
func (c *call) item() *item {
	n, _ := strconv.Atoi(c.parts[1])
	return c.s.items[n]
}

func (c *call) pull() *item {
	if is := c.item(); is != nil && is.pull != nil {
		return is
	}
	return nil
}

// read takes the body; what it cannot be the answer says.
func (c *call) read(into any) *answer {
	if err := json.Unmarshal(c.body, into); err != nil {
		return problem(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// list answers with one page, and with where the others are.
func list[T any](c *call, all []T, show func(T) object) *answer {
	page, from, to := c.window(len(all))
	out := []object{}
	for _, one := range all[from:to] {
		out = append(out, show(one))
	}
	a := reply(http.StatusOK, out)
	c.link(a, page, to < len(all))
	return a
}

func (c *call) window(all int) (page, from, to int) {
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

func (c *call) link(a *answer, page int, more bool) {
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

func (c *call) listLabels() *answer { return list(c, c.s.labels, c.s.labelled) }

func (c *call) showLabel() *answer {
	l := c.s.find(c.parts[1])
	if l == nil {
		return notFound()
	}
	return reply(http.StatusOK, c.s.labelled(l))
}

func (c *call) listIssues() *answer {
	since, _ := time.Parse(time.RFC3339, c.query.Get("since"))
	var found []*item
	for _, is := range c.s.sorted() {
		fits := c.inState(is) && !is.updated.Before(since)
		for name := range strings.SplitSeq(c.query.Get("labels"), ",") {
			fits = fits && (name == "" || is.has(c.s.find(name)))
		}
		if fits {
			found = append(found, is)
		}
	}
	return list(c, c.ordered(found), c.s.issue)
}

func (c *call) inState(is *item) bool {
	switch c.query.Get("state") {
	case "all":
		return true
	case "closed":
		return is.closed
	}
	return !is.closed
}

// ordered has the newest first unless something else is asked for.
func (c *call) ordered(list []*item) []*item {
	if c.query.Get("direction") == "asc" {
		return list
	}
	out := make([]*item, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}

func (c *call) showIssue() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	return reply(http.StatusOK, c.s.issue(is))
}

// maxText is how long a text may be, in characters.
const maxText = 65536

func invalid(resource, field, code, message string) *answer {
	return problem(http.StatusUnprocessableEntity, "Validation Failed", object{"resource": resource, "field": field, "code": code, "message": message})
}

func (c *call) changeIssue() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	var to struct {
		Title, Body, State *string
		Reason             *string `json:"state_reason"`
	}
	if a := c.read(&to); a != nil {
		return a
	}
	switch {
	case to.Title != nil && (strings.TrimSpace(*to.Title) == "" || utf8.RuneCountInString(*to.Title) > 256):
		return invalid("Issue", "title", "invalid", "title is too long (maximum is 256 characters)")
	case to.Body != nil && (utf8.RuneCountInString(*to.Body) > maxText || strings.ContainsRune(*to.Body, 0)):
		return invalid("Issue", "body", "custom", "body is too long (maximum is 65536 characters)")
	}
	if to.State != nil {
		reason := ""
		if *to.State == "closed" {
			reason = "completed"
			if to.Reason != nil {
				reason = *to.Reason
			}
		}
		c.s.shut(is, reason)
	}
	if to.Title != nil || to.Body != nil {
		c.s.edit(is, to.Title, to.Body)
	}
	return reply(http.StatusOK, c.s.issue(is))
}

func (c *call) listComments() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	return list(c, is.comments, func(o *comment) object { return c.s.comment(is, o) })
}

func (c *call) addComment() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	var said struct{ Body string }
	if a := c.read(&said); a != nil {
		return a
	}
	if n := utf8.RuneCountInString(said.Body); strings.TrimSpace(said.Body) == "" || n > maxText || strings.ContainsRune(said.Body, 0) {
		return invalid("IssueComment", "body", "invalid", "body is blank or too long")
	}
	return reply(http.StatusCreated, c.s.comment(is, c.s.say(is, c.s.opts.Account, said.Body)))
}

// addLabels makes labels that do not exist, as GitHub does.
func (c *call) addLabels() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	var add struct{ Labels []string }
	if a := c.read(&add); a != nil {
		return a
	}
	for _, name := range add.Labels {
		c.s.put(is, c.s.label(name))
	}
	return reply(http.StatusOK, c.s.labelList(is.labels))
}

func (c *call) removeLabel() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	l := c.s.find(c.parts[3])
	if l == nil || !is.has(l) {
		return problem(http.StatusNotFound, "Label does not exist")
	}
	c.s.take(is, l)
	return reply(http.StatusOK, c.s.labelList(is.labels))
}

func (c *call) listChildren() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	return list(c, c.s.children(is), c.s.issue)
}

func (c *call) listBlockers() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	return list(c, is.blockedBy, func(n int) object { return c.s.issue(c.s.items[n]) })
}

// listTimeline has what was said, and which pull requests name the issue.
func (c *call) listTimeline() *answer {
	is := c.item()
	if is == nil {
		return notFound()
	}
	var events []object
	for _, o := range is.comments {
		e := c.s.comment(is, o)
		e["event"], e["actor"] = "commented", e["user"]
		events = append(events, e)
	}
	for _, n := range is.named {
		from := c.s.items[n]
		events = append(events, object{
			"event": "cross-referenced", "actor": c.s.user(from.author), "created_at": stamp(from.created), "updated_at": stamp(from.created),
			"source": object{"type": "issue", "issue": c.s.issue(from)},
		})
	}
	return list(c, events, func(e object) object { return e })
}
