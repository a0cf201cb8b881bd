package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// maxSearched limits the number of pull requests that are searched for a mention, latest first.
const maxSearched = 500

// CreatePR opens a pull request, or returns the open one that the branch already has.
func (f *Forge) CreatePR(ctx context.Context, n tracker.NewPR) (tracker.PR, error) {
	if !branchName(n.Branch) || !branchName(n.Base) {
		return tracker.PR{}, board.Refusef("a pull request from %q into %q: give the names of two branches", shortText(n.Branch), shortText(n.Base))
	}
	if pr, ok, err := f.openPull(ctx, n.Branch); err != nil || ok {
		return pr, err
	}
	var made *gh.PullRequest
	doing := "open a pull request for " + shortText(n.Branch)
	err := f.callAPI(ctx, doing, func() (resp *gh.Response, err error) {
		made, resp, err = f.api.PullRequests.Create(ctx, f.owner, f.repo, gh.CreatePullRequest{Title: &n.Title, Head: n.Branch, Base: n.Base, Body: &n.Body})
		return resp, err
	})
	if responseStatus(err) == http.StatusUnprocessableEntity {
		if pr, ok, again := f.openPull(ctx, n.Branch); again == nil && ok {
			return pr, nil // another process was faster
		}
	}
	if err != nil {
		return tracker.PR{}, asRefusal(err)
	}
	return f.convertPull(made), nil
}

// branchName reports whether a name can be that of a branch here: the name of a fork's branch
// has a colon.
func branchName(name string) bool {
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' })
}

func (f *Forge) openPull(ctx context.Context, branch string) (tracker.PR, bool, error) {
	prs, err := f.ofBranch(ctx, branch, "open")
	if err != nil || len(prs) == 0 {
		return tracker.PR{}, false, err
	}
	return prs[len(prs)-1], true, nil
}

// ListBranchPRs returns the pull requests of a branch of this repository, oldest first.
func (f *Forge) ListBranchPRs(ctx context.Context, branch string) ([]tracker.PR, error) {
	if !branchName(branch) {
		return nil, nil
	}
	return f.ofBranch(ctx, branch, "all")
}

// ofBranch also filters the branches itself, because GitHub ignores a filter that it does not
// understand.
func (f *Forge) ofBranch(ctx context.Context, branch, state string) ([]tracker.PR, error) {
	opts := gh.PullRequestListOptions{State: state, Head: f.owner + ":" + branch, Sort: "created", Direction: "asc"}
	pulls, err := listAll(ctx, f.client, "list the pull requests of "+shortText(branch), func(at pagePosition) ([]*gh.PullRequest, *gh.Response, error) {
		opts.ListOptions = at.ListOptions
		return f.api.PullRequests.List(ctx, f.owner, f.repo, &opts)
	})
	if err != nil {
		return nil, err
	}
	var out []tracker.PR
	for _, p := range pulls {
		if p.GetHead().GetRef() == branch && f.isOwnBranch(p) {
			out = append(out, f.convertPull(p))
		}
	}
	slices.SortStableFunc(out, func(a, b tracker.PR) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// headBranch returns the branch of a pull request, as OWNER:BRANCH if it is in another
// repository.
func (c *client) headBranch(p *gh.PullRequest) string {
	ref := p.GetHead().GetRef()
	if !c.isOwnBranch(p) {
		ref = p.GetHead().GetUser().GetLogin() + ":" + ref
	}
	return oneLine(ref, maxLine)
}

// isOwnBranch reports whether the branch of a pull request is in this repository. It returns
// false if the branch of a deleted fork has no known owner.
func (c *client) isOwnBranch(p *gh.PullRequest) bool {
	return strings.EqualFold(p.GetHead().GetRepo().GetFullName(), c.owner+"/"+c.repo)
}

// ListMentioningPRs returns those of the latest pull requests that name an issue in title, text
// or branch. It does not use GitHub's search, which lags behind and has a separate rate limit.
func (f *Forge) ListMentioningPRs(ctx context.Context, key string) ([]tracker.PR, error) {
	if key = strings.TrimSpace(key); key == "" || len(key) > 100 {
		return nil, nil
	}
	about := f.mentionPatterns(key)
	opts := gh.PullRequestListOptions{State: "all", Sort: "created", Direction: "desc"}
	looked := 0
	pulls, err := listAll(ctx, f.client, "list the pull requests", func(at pagePosition) ([]*gh.PullRequest, *gh.Response, error) {
		opts.ListOptions = at.ListOptions
		some, resp, err := f.api.PullRequests.List(ctx, f.owner, f.repo, &opts)
		if looked += len(some); err == nil && looked >= maxSearched {
			resp.NextPage = 0
		}
		return some, resp, err
	})
	if err != nil {
		return nil, err
	}
	var out []tracker.PR
	for _, p := range slices.Backward(pulls) {
		if about.inText(p.GetTitle()+"\n"+p.GetBody()) || about.inBranch(p.GetHead().GetRef()) {
			out = append(out, f.convertPull(p))
		}
	}
	return out, nil
}

// MergePR merges a pull request if its head is still that commit.
func (f *Forge) MergePR(ctx context.Context, number int, head string) error {
	what := fmt.Sprintf("merge pull request %d", number)
	if head == "" {
		return board.Refusef("%s: give the commit to merge", what)
	}
	for i := 0; ; i++ {
		p, done, err := f.checkMerged(ctx, number, head, what)
		if err != nil || done {
			return err
		}
		if p.Mergeable != nil || i == len(f.pauses) {
			break // if GitHub still does not know, the merge request itself reports it
		}
		if err := sleepContext(ctx, f.pauses[i]); err != nil {
			return fmt.Errorf("%s: wait for github to check whether it merges cleanly: %w", what, err)
		}
	}
	err := f.callAPI(ctx, what, func() (*gh.Response, error) {
		_, resp, err := f.api.PullRequests.Merge(ctx, f.owner, f.repo, number, "", &gh.PullRequestOptions{SHA: head, MergeMethod: f.method})
		return resp, err
	})
	var no *failure
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &no):
		return err
	case no.code == http.StatusConflict:
		return board.Refusef("%s: its head is no longer %s: review the new commits", what, shortText(head))
	case no.code == http.StatusMethodNotAllowed && strings.Contains(no.said, "Base branch was modified"):
		return err // temporary
	case no.code == http.StatusMethodNotAllowed:
		p, done, again := f.checkMerged(ctx, number, head, what)
		switch {
		case again != nil || done:
			return again
		case p.Mergeable == nil:
			return fmt.Errorf("%s: github has not yet checked whether it merges cleanly: try again in a moment", what)
		}
		return board.Refusef("%s: github refuses it: %s", what, no.said)
	}
	return asRefusal(notFound(err, what))
}

// checkMerged reads a pull request and reports whether it was merged at a commit. It refuses
// one that is closed, or has another head.
func (f *Forge) checkMerged(ctx context.Context, number int, head, what string) (*gh.PullRequest, bool, error) {
	p, err := f.readPull(ctx, number)
	switch now := p.GetHead().GetSHA(); {
	case err != nil:
		return nil, false, notFound(err, what)
	case pullState(p) == tracker.Merged && now == head:
		return p, true, nil
	case pullState(p) == tracker.Merged:
		return nil, false, board.Refusef("%s: it was already merged, with %s: review what was merged", what, shortText(now))
	case pullState(p) == tracker.Closed:
		return nil, false, board.Refusef("%s: it is closed: reopen it, or create another", what)
	case now != head:
		return nil, false, board.Refusef("%s: its head is %s, no longer %s: review the new commits", what, shortText(now), shortText(head))
	}
	return p, false, nil
}

// readPull reads a pull request as GitHub returns it.
func (c *client) readPull(ctx context.Context, number int) (p *gh.PullRequest, err error) {
	doing := fmt.Sprintf("read pull request %d", number)
	if number < 1 {
		return nil, &failure{doing: doing, code: http.StatusNotFound}
	}
	err = c.callAPI(ctx, doing, func() (resp *gh.Response, err error) {
		p, resp, err = c.api.PullRequests.Get(ctx, c.owner, c.repo, number)
		return resp, err
	})
	return p, err
}

// convertPull converts a pull request without checks and reviews, and records its head.
func (c *client) convertPull(p *gh.PullRequest) tracker.PR {
	out := tracker.PR{
		Number: p.GetNumber(), URL: oneLine(p.GetHTMLURL(), maxLine), State: pullState(p), Title: oneLine(p.GetTitle(), maxLine), Author: loginName(p.User),
		Branch: c.headBranch(p), Base: oneLine(p.GetBase().GetRef(), maxLine), Head: oneLine(p.GetHead().GetSHA(), maxLine),
		CreatedAt: p.GetCreatedAt().UTC(),
	}
	if p.Mergeable != nil {
		out.Mergeable = "no"
		if *p.Mergeable {
			out.Mergeable = "yes"
		}
	}
	if out.State == tracker.Merged { // for an open one it is a test merge of GitHub
		out.Landed = oneLine(p.GetMergeCommitSHA(), maxLine)
	}
	c.heads.rememberHead(out, c.isOwnBranch(p))
	return out
}

func pullState(p *gh.PullRequest) string {
	switch {
	case p.GetMerged() || p.MergedAt != nil:
		return tracker.Merged
	case p.GetState() == "closed":
		return tracker.Closed
	}
	return tracker.Open
}

// maxHeads limits how many heads of pull requests are remembered.
const maxHeads = 2000

// heads are the heads of pull requests that were read: deliveries about a commit or a branch do
// not name the pull request.
type heads struct {
	mu     sync.Mutex
	commit map[string][]int
	branch map[string][]int
}

func (h *heads) rememberHead(pr tracker.PR, own bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.commit == nil || len(h.commit)+len(h.branch) > maxHeads {
		h.commit, h.branch = map[string][]int{}, map[string][]int{}
	}
	if !slices.Contains(h.commit[pr.Head], pr.Number) {
		h.commit[pr.Head] = append(h.commit[pr.Head], pr.Number)
	}
	if own && !slices.Contains(h.branch[pr.Branch], pr.Number) {
		h.branch[pr.Branch] = append(h.branch[pr.Branch], pr.Number)
	}
}

func (h *heads) pullNumbers(commit, branch string) []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Concat(h.commit[commit], h.branch[branch])
}
