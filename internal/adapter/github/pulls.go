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

// maxSearched bounds the pull requests among which a mention is looked for, the latest.
const maxSearched = 500

// CreatePR opens a pull request, or finds the open one that the branch has.
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
			return pr, nil // somebody was faster
		}
	}
	if err != nil {
		return tracker.PR{}, asRefusal(err)
	}
	return f.convertPull(made), nil
}

// branchName says whether a name can be that of a branch here: one of a fork has a colon.
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

// ListBranchPRs are the pull requests of a branch of this repository, oldest first.
func (f *Forge) ListBranchPRs(ctx context.Context, branch string) ([]tracker.PR, error) {
	if !branchName(branch) {
		return nil, nil
	}
	return f.ofBranch(ctx, branch, "all")
}

// ofBranch looks at the branches itself, too: a filter that GitHub does not understand it
// ignores.
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

// headBranch is where a pull request comes from: OWNER:BRANCH if that is another repository.
func (c *client) headBranch(p *gh.PullRequest) string {
	ref := p.GetHead().GetRef()
	if !c.isOwnBranch(p) {
		ref = p.GetHead().GetUser().GetLogin() + ":" + ref
	}
	return oneLine(ref, maxLine)
}

// isOwnBranch says whether the branch of a pull request is of this repository. Where that of a
// fork was deleted, nobody knows whose it was.
func (c *client) isOwnBranch(p *gh.PullRequest) bool {
	return strings.EqualFold(p.GetHead().GetRepo().GetFullName(), c.owner+"/"+c.repo)
}

// ListMentioningPRs are the pull requests, of the latest ones, that name an issue in title, text
// or branch. GitHub's search is slower to know of them and has a limit of its own.
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
		return board.Refusef("%s: say which commit is meant", what)
	}
	for i := 0; ; i++ {
		p, done, err := f.checkMerged(ctx, number, head, what)
		if err != nil || done {
			return err
		}
		if p.Mergeable != nil || i == len(f.pauses) {
			break // what github still does not know it says when it is asked to merge
		}
		if err := sleepContext(ctx, f.pauses[i]); err != nil {
			return fmt.Errorf("%s: wait until github knows whether it merges cleanly: %w", what, err)
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
		return board.Refusef("%s: its head is not %s any more: look at what came", what, shortText(head))
	case no.code == http.StatusMethodNotAllowed && strings.Contains(no.said, "Base branch was modified"):
		return err // of the moment
	case no.code == http.StatusMethodNotAllowed:
		p, done, again := f.checkMerged(ctx, number, head, what)
		switch {
		case again != nil || done:
			return again
		case p.Mergeable == nil:
			return fmt.Errorf("%s: github has yet to see whether it merges cleanly: try again in a moment", what)
		}
		return board.Refusef("%s: github refuses it: %s", what, no.said)
	}
	return asRefusal(notFound(err, what))
}

// checkMerged reads a pull request and says whether it was merged at a commit. One that is
// closed, or has another head, is refused.
func (f *Forge) checkMerged(ctx context.Context, number int, head, what string) (*gh.PullRequest, bool, error) {
	p, err := f.readPull(ctx, number)
	switch now := p.GetHead().GetSHA(); {
	case err != nil:
		return nil, false, notFound(err, what)
	case pullState(p) == tracker.Merged && now == head:
		return p, true, nil
	case pullState(p) == tracker.Merged:
		return nil, false, board.Refusef("%s: it was merged already, with %s: look at what came", what, shortText(now))
	case pullState(p) == tracker.Closed:
		return nil, false, board.Refusef("%s: it is closed: open it again, or make another", what)
	case now != head:
		return nil, false, board.Refusef("%s: its head is %s, not %s any more: look at what came", what, shortText(now), shortText(head))
	}
	return p, false, nil
}

// readPull reads a pull request as GitHub shows it.
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

// convertPull is a pull request without checks and reviews. Its head is remembered.
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
	if out.State == tracker.Merged { // of an open one it names a commit that GitHub tried
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

// maxHeads bounds what is remembered of pull requests.
const maxHeads = 2000

// heads are the heads of pull requests that were read: news about a commit or a branch do
// not say whose it is.
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
