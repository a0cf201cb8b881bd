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
		return tracker.PR{}, board.Refusef("a pull request from %q into %q: give the names of two branches", short(n.Branch), short(n.Base))
	}
	if pr, ok, err := f.open(ctx, n.Branch); err != nil || ok {
		return pr, err
	}
	var made *gh.PullRequest
	doing := "open a pull request for " + short(n.Branch)
	err := f.call(ctx, doing, func() (resp *gh.Response, err error) {
		made, resp, err = f.api.PullRequests.Create(ctx, f.owner, f.repo, gh.CreatePullRequest{Title: &n.Title, Head: n.Branch, Base: n.Base, Body: &n.Body})
		return resp, err
	})
	if answered(err) == http.StatusUnprocessableEntity {
		if pr, ok, again := f.open(ctx, n.Branch); again == nil && ok {
			return pr, nil // somebody was faster
		}
	}
	if err != nil {
		return tracker.PR{}, refused(err)
	}
	return f.seen(made), nil
}

// branchName says whether a name can be that of a branch here: one of a fork has a colon.
func branchName(name string) bool {
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' })
}

func (f *Forge) open(ctx context.Context, branch string) (tracker.PR, bool, error) {
	prs, err := f.ofBranch(ctx, branch, "open")
	if err != nil || len(prs) == 0 {
		return tracker.PR{}, false, err
	}
	return prs[len(prs)-1], true, nil
}

// PRs are the pull requests of a branch of this repository, oldest first.
func (f *Forge) PRs(ctx context.Context, branch string) ([]tracker.PR, error) {
	if !branchName(branch) {
		return nil, nil
	}
	return f.ofBranch(ctx, branch, "all")
}

// ofBranch looks at the branches itself, too: a filter that GitHub does not understand it
// ignores.
func (f *Forge) ofBranch(ctx context.Context, branch, state string) ([]tracker.PR, error) {
	opts := gh.PullRequestListOptions{State: state, Head: f.owner + ":" + branch, Sort: "created", Direction: "asc"}
	pulls, err := every(ctx, f.client, "list the pull requests of "+short(branch), func(at place) ([]*gh.PullRequest, *gh.Response, error) {
		opts.ListOptions = at.ListOptions
		return f.api.PullRequests.List(ctx, f.owner, f.repo, &opts)
	})
	if err != nil {
		return nil, err
	}
	var out []tracker.PR
	for _, p := range pulls {
		if p.GetHead().GetRef() == branch && f.own(p) {
			out = append(out, f.seen(p))
		}
	}
	slices.SortStableFunc(out, func(a, b tracker.PR) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// branch is where a pull request comes from: OWNER:BRANCH if that is another repository.
func (c *client) branch(p *gh.PullRequest) string {
	ref := p.GetHead().GetRef()
	if !c.own(p) {
		ref = p.GetHead().GetUser().GetLogin() + ":" + ref
	}
	return line(ref, maxLine)
}

// own says whether the branch of a pull request is of this repository. Where that of a
// fork was deleted, nobody knows whose it was.
func (c *client) own(p *gh.PullRequest) bool {
	return strings.EqualFold(p.GetHead().GetRepo().GetFullName(), c.owner+"/"+c.repo)
}

// Mentioning are the pull requests, of the latest ones, that name an issue in title, text
// or branch. GitHub's search is slower to know of them and has a limit of its own.
func (f *Forge) Mentioning(ctx context.Context, key string) ([]tracker.PR, error) {
	if key = strings.TrimSpace(key); key == "" || len(key) > 100 {
		return nil, nil
	}
	about := f.mentions(key)
	opts := gh.PullRequestListOptions{State: "all", Sort: "created", Direction: "desc"}
	looked := 0
	pulls, err := every(ctx, f.client, "list the pull requests", func(at place) ([]*gh.PullRequest, *gh.Response, error) {
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
			out = append(out, f.seen(p))
		}
	}
	return out, nil
}

// Merge merges a pull request if its head is still that commit.
func (f *Forge) Merge(ctx context.Context, number int, head string) error {
	what := fmt.Sprintf("merge pull request %d", number)
	if head == "" {
		return board.Refusef("%s: say which commit is meant", what)
	}
	for i := 0; ; i++ {
		p, done, err := f.merged(ctx, number, head, what)
		if err != nil || done {
			return err
		}
		if p.Mergeable != nil || i == len(f.pauses) {
			break // what github still does not know it says when it is asked to merge
		}
		if err := pause(ctx, f.pauses[i]); err != nil {
			return fmt.Errorf("%s: wait until github knows whether it merges cleanly: %w", what, err)
		}
	}
	err := f.call(ctx, what, func() (*gh.Response, error) {
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
		return board.Refusef("%s: its head is not %s any more: look at what came", what, short(head))
	case no.code == http.StatusMethodNotAllowed && strings.Contains(no.said, "Base branch was modified"):
		return err // of the moment
	case no.code == http.StatusMethodNotAllowed:
		p, done, again := f.merged(ctx, number, head, what)
		switch {
		case again != nil || done:
			return again
		case p.Mergeable == nil:
			return fmt.Errorf("%s: github has yet to see whether it merges cleanly: try again in a moment", what)
		}
		return board.Refusef("%s: github refuses it: %s", what, no.said)
	}
	return refused(notFound(err, what))
}

// merged reads a pull request and says whether it was merged at a commit. One that is
// closed, or has another head, is refused.
func (f *Forge) merged(ctx context.Context, number int, head, what string) (*gh.PullRequest, bool, error) {
	p, err := f.pull(ctx, number)
	switch now := p.GetHead().GetSHA(); {
	case err != nil:
		return nil, false, notFound(err, what)
	case state(p) == tracker.Merged && now == head:
		return p, true, nil
	case state(p) == tracker.Merged:
		return nil, false, board.Refusef("%s: it was merged already, with %s: look at what came", what, short(now))
	case state(p) == tracker.Closed:
		return nil, false, board.Refusef("%s: it is closed: open it again, or make another", what)
	case now != head:
		return nil, false, board.Refusef("%s: its head is %s, not %s any more: look at what came", what, short(now), short(head))
	}
	return p, false, nil
}

// pull reads a pull request as GitHub shows it.
func (c *client) pull(ctx context.Context, number int) (p *gh.PullRequest, err error) {
	doing := fmt.Sprintf("read pull request %d", number)
	if number < 1 {
		return nil, &failure{doing: doing, code: http.StatusNotFound}
	}
	err = c.call(ctx, doing, func() (resp *gh.Response, err error) {
		p, resp, err = c.api.PullRequests.Get(ctx, c.owner, c.repo, number)
		return resp, err
	})
	return p, err
}

// seen is a pull request without checks and reviews. Its head is remembered.
func (c *client) seen(p *gh.PullRequest) tracker.PR {
	out := tracker.PR{
		Number: p.GetNumber(), URL: line(p.GetHTMLURL(), maxLine), State: state(p), Title: line(p.GetTitle(), maxLine), Author: login(p.User),
		Branch: c.branch(p), Base: line(p.GetBase().GetRef(), maxLine), Head: line(p.GetHead().GetSHA(), maxLine),
		CreatedAt: p.GetCreatedAt().UTC(),
	}
	if p.Mergeable != nil {
		out.Mergeable = "no"
		if *p.Mergeable {
			out.Mergeable = "yes"
		}
	}
	if out.State == tracker.Merged { // of an open one it names a commit that GitHub tried
		out.Landed = line(p.GetMergeCommitSHA(), maxLine)
	}
	c.heads.note(out, c.own(p))
	return out
}

func state(p *gh.PullRequest) string {
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

func (h *heads) note(pr tracker.PR, own bool) {
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

func (h *heads) of(commit, branch string) []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Concat(h.commit[commit], h.branch[branch])
}
