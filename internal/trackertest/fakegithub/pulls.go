package fakegithub

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (c *repositoryCall) listPulls() *answer {
	var found []*item
	for _, is := range c.s.sortedItems() {
		if is.pull == nil || !c.inState(is) {
			continue
		}
		// GitHub ignores a filter without an owner.
		if owner, branch, ok := strings.Cut(c.query.Get("head"), ":"); ok && (!strings.EqualFold(owner, c.s.owner) || branch != is.pull.branch) {
			continue
		}
		if b := c.query.Get("base"); b != "" && b != is.pull.base {
			continue
		}
		found = append(found, is)
	}
	return listPage(c, c.orderItems(found), c.s.pullSimple)
}

func (c *repositoryCall) showPull() *answer {
	is := c.pathPull()
	if is == nil {
		return notFound()
	}
	return replyJSON(http.StatusOK, c.s.pullObject(is))
}

func (c *repositoryCall) openPull() *answer {
	var want struct{ Title, Head, Base, Body string }
	if a := c.readBody(&want); a != nil {
		return a
	}
	branch := strings.TrimPrefix(want.Head, c.s.owner+":")
	switch head := c.s.refs[branch]; {
	case head == "":
		return validationProblem("PullRequest", "head", "invalid", "")
	case c.s.refs[want.Base] == "":
		return validationProblem("PullRequest", "base", "invalid", "")
	case head == c.s.refs[want.Base]:
		return validationProblem("PullRequest", "", "custom", "No commits between "+want.Base+" and "+branch)
	case strings.TrimSpace(want.Title) == "":
		return validationProblem("PullRequest", "title", "missing_field", "")
	}
	for _, is := range c.s.sortedItems() {
		if is.pull != nil && !is.closed && is.pull.branch == branch && is.pull.base == want.Base {
			return validationProblem("PullRequest", "", "custom", "A pull request already exists for "+c.s.owner+":"+branch+".")
		}
	}
	return replyJSON(http.StatusCreated, c.s.pullObject(c.s.filePull(0, want.Title, want.Body, c.s.opts.Account, pull{branch: branch, base: want.Base})))
}

// updatePull merges the base into the branch of a pull request.
func (c *repositoryCall) updatePull() *answer {
	is := c.pathPull()
	if is == nil {
		return notFound()
	}
	var want struct {
		Head string `json:"expected_head_sha"`
	}
	if a := c.readBody(&want); a != nil {
		return a
	}
	if is.closed || want.Head != "" && want.Head != is.pull.head {
		return validationProblem("PullRequest", "", "custom", "expected head sha didn't match current head ref.")
	}
	if c.s.update != nil {
		c.s.update(is.pull.branch, is.pull.base)
	} else {
		c.s.pushBranch(is.pull.branch)
	}
	return replyJSON(http.StatusAccepted, object{"message": "Updating pull request branch.", "url": c.s.apiURL("/pulls/%d", is.number)})
}

// showBranch shows a branch with its protection. Half of the required checks are those of the protection.
func (c *repositoryCall) showBranch() *answer {
	name := c.parts[1]
	sha := c.s.refs[name]
	if sha == "" {
		return notFound()
	}
	who := object{"name": "a", "email": "a@example.com", "date": formatTime(c.s.nextTime())}
	at := c.s.apiURL("/commits/%s", sha)
	contexts, level := []string{}, "off"
	if name == base && len(c.s.required) > 0 {
		contexts, level = c.s.required[:len(c.s.required)/2], "non_admins"
	}
	return replyJSON(http.StatusOK, object{
		"name": name, "protected": level != "off", "protection_url": c.s.apiURL("/branches/%s/protection", name),
		"commit": object{
			"sha": sha, "node_id": nodeID("C", 1), "url": at, "html_url": at, "comments_url": at + "/comments", "author": nil, "committer": nil, "parents": []object{},
			"commit": object{"author": who, "committer": who, "message": "m", "tree": object{"sha": sha, "url": at}, "url": at, "comment_count": 0},
		},
		"_links":     object{"self": c.s.apiURL("/branches/%s", name), "html": c.s.pageURL("/tree/%s", name)},
		"protection": object{"enabled": level != "off", "required_status_checks": object{"enforcement_level": level, "contexts": contexts, "checks": []object{}}},
	})
}

// listRules lists the rules of a branch: the other half of the required checks.
func (c *repositoryCall) listRules() *answer {
	rules := []object{}
	if c.parts[2] == base && len(c.s.required) > 0 {
		checks := []object{}
		for _, name := range c.s.required[len(c.s.required)/2:] {
			checks = append(checks, object{"context": name})
		}
		rules = append(rules, object{
			"type": "required_status_checks", "ruleset_id": 7, "ruleset_source_type": "Repository", "ruleset_source": c.s.owner + "/" + c.s.repo,
			"parameters": object{"required_status_checks": checks, "strict_required_status_checks_policy": false},
		})
	}
	return replyJSON(http.StatusOK, rules)
}

// missingChecks returns what GitHub says of a protected branch whose required checks have not passed, "" if they have.
func (s *FakeServer) missingChecks(head string) string {
	for _, name := range s.required {
		if !slices.ContainsFunc(s.checks[head], func(c *check) bool { return c.name == name && c.state == "passed" }) {
			return fmt.Sprintf("Required status check \"%s\" is expected.", name)
		}
	}
	return ""
}

func (c *repositoryCall) mergePull() *answer {
	is := c.pathPull()
	if is == nil {
		return notFound()
	}
	var want struct{ SHA string }
	if a := c.readBody(&want); a != nil {
		return a
	}
	switch {
	case is.closed || c.s.undecided > 0:
		return replyProblem(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case want.SHA != "" && want.SHA != is.pull.head:
		return replyProblem(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case c.s.missingChecks(is.pull.head) != "":
		return replyProblem(http.StatusMethodNotAllowed, c.s.missingChecks(is.pull.head))
	case c.s.refusal != "":
		return replyProblem(http.StatusMethodNotAllowed, c.s.refusal)
	}
	c.s.mergeItem(is)
	if c.s.merge != nil {
		is.pull.merge = c.s.merge(is.pull.branch, is.pull.base)
		c.s.refs[is.pull.base] = is.pull.merge
	}
	return replyJSON(http.StatusOK, object{"sha": is.pull.merge, "merged": true, "message": "Pull Request successfully merged"})
}

func (c *repositoryCall) listReviews() *answer {
	is := c.pathPull()
	if is == nil {
		return notFound()
	}
	return listPage(c, is.pull.reviews, func(r *review) object { return c.s.reviewObject(is, r) })
}

func (c *repositoryCall) listRemarks() *answer {
	is := c.pathPull()
	if is == nil {
		return notFound()
	}
	var out []object
	for _, r := range is.pull.reviews {
		for _, m := range r.remarks {
			out = append(out, c.s.remarkObject(is, r, m))
		}
	}
	return listPage(c, out, func(o object) object { return o })
}

// checksOfCommit returns the checks of the commit in the path, of one of the two kinds.
func (c *repositoryCall) checksOfCommit(status bool) (out []*check) {
	for _, o := range c.s.checks[c.parts[1]] {
		if o.isStatus() == status {
			out = append(out, o)
		}
	}
	return out
}

func (c *repositoryCall) listRuns() *answer {
	all := c.checksOfCommit(false)
	page, from, to := c.pageWindow(len(all))
	runs := []object{}
	for _, o := range all[from:to] {
		runs = append(runs, c.s.checkRun(c.parts[1], o))
	}
	a := replyJSON(http.StatusOK, object{"total_count": len(all), "check_runs": runs})
	c.addLinkHeader(a, page, to < len(all))
	return a
}

func (c *repositoryCall) showStatus() *answer {
	all := c.checksOfCommit(true)
	page, from, to := c.pageWindow(len(all))
	statuses, state := []object{}, "pending"
	for _, o := range all[from:to] {
		one := c.s.statusObject(c.parts[1], o)
		statuses, state = append(statuses, one), one["state"].(string)
	}
	a := replyJSON(http.StatusOK, object{
		"state": state, "sha": c.parts[1], "total_count": len(all), "statuses": statuses, "repository": c.s.repositoryObject(),
		"commit_url": c.s.apiURL("/commits/%s", c.parts[1]), "url": c.s.apiURL("/commits/%s/status", c.parts[1]),
	})
	c.addLinkHeader(a, page, to < len(all))
	return a
}

// DelayMergeable makes the next reads of pull requests leave open whether they can be merged.
func (s *FakeServer) DelayMergeable(looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undecided = looks
}
