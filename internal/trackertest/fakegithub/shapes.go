package fakegithub

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"orange/internal/core/tracker"
)

// An object is a JSON object in the form of GitHub's API description.
type object = map[string]any

// addAddresses adds addresses below a base, which nobody follows.
func addAddresses(o object, under, names string) object {
	for name := range strings.FieldsSeq(names) {
		o[name] = under + "/" + strings.TrimSuffix(name, "_url")
	}
	return o
}

func (s *FakeServer) apiURL(format string, args ...any) string {
	return s.url + "/repos/" + s.opts.Scope + fmt.Sprintf(format, args...)
}

func (s *FakeServer) pageURL(format string, args ...any) string {
	return s.url + "/" + s.opts.Scope + fmt.Sprintf(format, args...)
}

func formatTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func nodeID(kind string, id int64) string { return fmt.Sprintf("%s_%08d", kind, id) }

func (s *FakeServer) userObject(login string) object {
	kind, id := "User", int64(0)
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	for _, r := range login {
		id = id*31%1000003 + int64(r)
	}
	at := s.url + "/users/" + url.PathEscape(login)
	return addAddresses(object{
		"login": login, "id": id, "node_id": nodeID("U", id), "type": kind, "site_admin": false, "gravatar_id": "", "url": at,
	}, at, "avatar_url html_url followers_url following_url gists_url starred_url subscriptions_url organizations_url repos_url events_url received_events_url")
}

func (s *FakeServer) accountObject() object {
	o := s.userObject(s.opts.Account)
	for _, name := range []string{"bio", "blog", "company", "email", "hireable", "location", "name"} {
		o[name] = nil
	}
	for _, name := range []string{"followers", "following", "public_gists", "public_repos", "collaborators", "disk_usage", "owned_private_repos", "private_gists", "total_private_repos"} {
		o[name] = 0
	}
	o["user_view_type"], o["blog"], o["two_factor_authentication"] = "private", "", true
	o["created_at"], o["updated_at"] = "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
	return o
}

func (s *FakeServer) repositoryObject() object {
	o := addAddresses(object{
		"id": 1, "node_id": nodeID("R", 1), "name": s.repo, "full_name": s.opts.Scope, "owner": s.userObject(s.owner), "private": true,
		"html_url": s.pageURL(""), "description": nil, "fork": false, "url": s.apiURL(""), "default_branch": base,
		"homepage": nil, "language": nil, "license": nil, "mirror_url": nil, "archived": false, "disabled": false,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "pushed_at": "2026-01-01T00:00:00Z",
	}, s.apiURL(""), `archive_url assignees_url blobs_url branches_url collaborators_url comments_url commits_url compare_url contents_url
		contributors_url deployments_url downloads_url events_url forks_url git_commits_url git_refs_url git_tags_url hooks_url
		issue_comment_url issue_events_url issues_url keys_url labels_url languages_url merges_url milestones_url notifications_url
		pulls_url releases_url stargazers_url statuses_url subscribers_url subscription_url tags_url teams_url trees_url
		clone_url git_url ssh_url svn_url`)
	for name := range strings.FieldsSeq("forks forks_count open_issues open_issues_count size stargazers_count watchers watchers_count") {
		o[name] = 0
	}
	for name := range strings.FieldsSeq("has_downloads has_issues has_projects has_wiki has_pages") {
		o[name] = true
	}
	return o
}

func (s *FakeServer) labelObject(l *issueLabel) object {
	return object{
		"id": l.id, "node_id": nodeID("LA", l.id), "name": l.name, "description": nil, "color": "ededed", "default": false,
		"url": s.apiURL("/labels/%s", url.PathEscape(l.name)),
	}
}

func (s *FakeServer) labelList(list []*issueLabel) []object {
	out := []object{}
	for _, l := range list {
		out = append(out, s.labelObject(l))
	}
	return out
}

func (s *FakeServer) issueObject(is *item) object {
	at := s.apiURL("/issues/%d", is.number)
	state := "open"
	if is.closed {
		state = "closed"
	}
	o := addAddresses(object{
		"id": is.id, "node_id": nodeID("I", is.id), "number": is.number, "url": at, "repository_url": s.apiURL(""), "html_url": s.pageURL("/issues/%d", is.number),
		"title": is.title, "body": is.body, "user": s.userObject(is.author), "state": state, "state_reason": nil, "locked": false,
		"labels": s.labelList(is.labels), "assignee": nil, "assignees": []object{}, "milestone": nil, "comments": len(is.comments),
		"created_at": formatTime(is.created), "updated_at": formatTime(is.updated), "closed_at": formatTime(is.closes), "author_association": "MEMBER",
	}, at, "labels_url comments_url events_url timeline_url")
	if is.reason != "" {
		o["state_reason"] = is.reason
	}
	if is.pull != nil {
		o["html_url"] = s.pageURL("/pull/%d", is.number)
		o["pull_request"] = addAddresses(object{"url": s.apiURL("/pulls/%d", is.number), "html_url": s.pageURL("/pull/%d", is.number), "merged_at": nil}, at, "diff_url patch_url")
		if is.pull.merged {
			o["pull_request"].(object)["merged_at"] = formatTime(is.closes)
		}
		return o
	}
	return s.addRelations(is, o)
}

// addRelations adds the relations of an issue.
func (s *FakeServer) addRelations(is *item, o object) object {
	children, done := s.childItems(is), 0
	for _, c := range children {
		if c.closed {
			done++
		}
	}
	percent := 0
	if len(children) > 0 {
		percent = 100 * done / len(children)
	}
	o["sub_issues_summary"] = object{"total": len(children), "completed": done, "percent_completed": percent}
	blocked, blocking := 0, 0
	for _, n := range is.blockedBy {
		if !s.items[n].closed {
			blocked++
		}
	}
	for _, other := range s.items {
		for _, n := range other.blockedBy {
			if n == is.number {
				blocking++
			}
		}
	}
	o["issue_dependencies_summary"] = object{"blocked_by": blocked, "total_blocked_by": len(is.blockedBy), "blocking": blocking, "total_blocking": blocking}
	o["parent_issue_url"] = nil
	if is.parent != 0 {
		o["parent_issue_url"] = s.apiURL("/issues/%d", is.parent)
	}
	return o
}

func (s *FakeServer) childItems(is *item) (out []*item) {
	for _, other := range s.sortedItems() {
		if other.parent == is.number {
			out = append(out, other)
		}
	}
	return out
}

func (s *FakeServer) commentObject(is *item, c *issueComment) object {
	return object{
		"id": c.id, "node_id": nodeID("IC", c.id), "url": s.apiURL("/issues/comments/%d", c.id), "html_url": s.pageURL("/issues/%d#issuecomment-%d", is.number, c.id),
		"issue_url": s.apiURL("/issues/%d", is.number), "user": s.userObject(c.author), "body": c.body, "author_association": "MEMBER",
		"created_at": formatTime(c.at), "updated_at": formatTime(c.at),
	}
}

func (s *FakeServer) pullSimple(is *item) object {
	at, p := s.apiURL("/pulls/%d", is.number), is.pull
	side := func(ref, sha string) object {
		return object{"label": s.owner + ":" + ref, "ref": ref, "sha": sha, "user": s.userObject(s.owner), "repo": s.repositoryObject()}
	}
	state := "open"
	if is.closed {
		state = "closed"
	}
	o := addAddresses(object{
		"id": is.id, "node_id": nodeID("PR", is.id), "number": is.number, "url": at, "html_url": s.pageURL("/pull/%d", is.number),
		"issue_url": s.apiURL("/issues/%d", is.number), "state": state, "locked": false, "title": is.title, "body": is.body, "user": s.userObject(is.author),
		"labels": s.labelList(is.labels), "milestone": nil, "assignee": nil, "assignees": []object{}, "auto_merge": nil, "draft": false,
		"created_at": formatTime(is.created), "updated_at": formatTime(is.updated), "closed_at": formatTime(is.closes), "merged_at": nil, "merge_commit_sha": nil,
		"author_association": "MEMBER", "head": side(p.branch, p.head), "base": side(p.base, s.refs[p.base]),
	}, at, "diff_url patch_url commits_url review_comments_url review_comment_url comments_url statuses_url")
	if p.merged {
		o["merged_at"], o["merge_commit_sha"] = formatTime(is.closes), p.merge
	}
	links := object{}
	for name := range strings.FieldsSeq("comments commits statuses html issue review_comments review_comment self") {
		links[name] = object{"href": at + "/" + name}
	}
	o["_links"] = links
	return o
}

func (s *FakeServer) pullObject(is *item) object {
	o := s.pullSimple(is)
	o["merged"], o["merged_by"], o["maintainer_can_modify"], o["rebaseable"] = is.pull.merged, nil, false, nil
	o["mergeable"], o["mergeable_state"] = true, "clean"
	if s.conflict {
		o["mergeable"], o["mergeable_state"] = false, "dirty"
	}
	if is.closed || s.undecided > 0 {
		s.undecided = max(0, s.undecided-1)
		o["mergeable"], o["mergeable_state"] = nil, "unknown"
	}
	remarks := 0
	for _, r := range is.pull.reviews {
		remarks += len(r.remarks)
	}
	o["comments"], o["review_comments"], o["commits"], o["additions"], o["deletions"], o["changed_files"] = len(is.comments), remarks, 1, 1, 0, 1
	return o
}

func (s *FakeServer) reviewObject(is *item, r *review) object {
	link := object{"href": s.pageURL("/pull/%d#pullrequestreview-%d", is.number, r.id)}
	return object{
		"id": r.id, "node_id": nodeID("PRR", r.id), "user": s.userObject(r.author), "body": r.body, "state": r.state, "commit_id": r.commit,
		"html_url": link["href"], "pull_request_url": s.apiURL("/pulls/%d", is.number), "submitted_at": formatTime(r.at), "author_association": "MEMBER",
		"_links": object{"html": link, "pull_request": object{"href": s.apiURL("/pulls/%d", is.number)}},
	}
}

func (s *FakeServer) remarkObject(is *item, r *review, m *remark) object {
	at, show := s.apiURL("/pulls/comments/%d", m.id), s.pageURL("/pull/%d#discussion_r%d", is.number, m.id)
	o := object{
		"id": m.id, "node_id": nodeID("PRRC", m.id), "url": at, "html_url": show, "pull_request_url": s.apiURL("/pulls/%d", is.number),
		"pull_request_review_id": r.id, "diff_hunk": "@@ -1 +1 @@", "path": m.path, "commit_id": r.commit, "original_commit_id": r.commit,
		"user": s.userObject(r.author), "body": m.body, "created_at": formatTime(r.at), "updated_at": formatTime(r.at), "author_association": "MEMBER",
		"_links": object{"self": object{"href": at}, "html": object{"href": show}, "pull_request": object{"href": s.apiURL("/pulls/%d", is.number)}},
	}
	if m.line > 0 {
		o["line"], o["original_line"], o["side"] = m.line, m.line, "RIGHT"
	} else {
		o["subject_type"] = "file"
	}
	return o
}

// isStatus reports whether a check is a status: its name looks like a path. Any other is the
// run of an app.
func (c *check) isStatus() bool { return strings.Contains(c.name, "/") }

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (s *FakeServer) checkRun(commit string, c *check) object {
	o := object{
		"id": c.id, "node_id": nodeID("CR", c.id), "head_sha": commit, "name": c.name, "external_id": "", "url": s.apiURL("/check-runs/%d", c.id),
		"html_url": s.pageURL("/runs/%d", c.id), "details_url": orNil(c.url), "status": "in_progress", "conclusion": nil,
		"started_at": formatTime(c.at), "completed_at": nil, "check_suite": object{"id": 1}, "app": nil, "pull_requests": []object{},
		"output": object{"title": orNil(c.description), "summary": nil, "text": nil, "annotations_count": 0, "annotations_url": s.apiURL("/check-runs/%d/annotations", c.id)},
	}
	if c.state != tracker.CheckPending {
		o["status"], o["completed_at"] = "completed", formatTime(c.at)
		o["conclusion"] = map[string]string{tracker.CheckPassed: "success", tracker.CheckFailed: "failure"}[c.state]
	}
	return o
}

func (s *FakeServer) statusObject(commit string, c *check) object {
	state := map[string]string{tracker.CheckPassed: "success", tracker.CheckFailed: "failure", tracker.CheckPending: "pending"}[c.state]
	return object{
		"id": c.id, "node_id": nodeID("SC", c.id), "state": state, "context": c.name, "description": orNil(c.description), "target_url": orNil(c.url),
		"avatar_url": s.url + "/avatar", "url": s.apiURL("/statuses/%s", commit), "created_at": formatTime(c.at), "updated_at": formatTime(c.at),
	}
}
