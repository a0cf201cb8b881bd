package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/tracker"
)

// PR shows a pull request with the checks of its head and its reviews.
func (f *Forge) PR(ctx context.Context, number int) (tracker.PR, error) {
	p, err := f.pull(ctx, number)
	if err != nil {
		return tracker.PR{}, notFound(err, fmt.Sprintf("read pull request %d", number))
	}
	out := f.seen(p)
	if out.Checks, err = f.checks(ctx, out.Head); err != nil {
		return tracker.PR{}, err
	}
	if out.Reviews, err = f.reviews(ctx, number); err != nil {
		return tracker.PR{}, err
	}
	return out, nil
}

// checks are what machines say about a commit, in both ways that GitHub has for it: check
// runs of apps, and statuses. Of those with one name only the latest counts.
func (f *Forge) checks(ctx context.Context, commit string) ([]tracker.Check, error) {
	runs, err := every(ctx, f.client, "read the checks of "+short(commit), func(at place) ([]*gh.CheckRun, *gh.Response, error) {
		list, resp, err := f.api.Checks.ListCheckRunsForRef(ctx, f.owner, f.repo, commit, &gh.ListCheckRunsOptions{Filter: new("latest"), ListOptions: at.ListOptions})
		if list == nil {
			return nil, resp, err
		}
		return list.CheckRuns, resp, err
	})
	if err != nil && answered(err) != http.StatusForbidden { // some tokens may read statuses and no check runs
		return nil, err
	}
	statuses, err := every(ctx, f.client, "read the statuses of "+short(commit), func(at place) ([]*gh.RepoStatus, *gh.Response, error) {
		all, resp, err := f.api.Repositories.GetCombinedStatus(ctx, f.owner, f.repo, commit, &at.ListOptions)
		if all == nil {
			return nil, resp, err
		}
		return all.Statuses, resp, err
	})
	if err != nil {
		return nil, err
	}
	var out []tracker.Check
	for _, r := range runs {
		said := strings.TrimSpace(r.GetOutput().GetTitle() + "\n\n" + r.GetOutput().GetSummary())
		link := r.GetDetailsURL()
		if link == "" {
			link = r.GetHTMLURL()
		}
		out = append(out, tracker.Check{Name: line(r.GetName(), maxLine), State: runState(r), URL: line(link, maxLine), Text: text(said)})
	}
	for _, s := range statuses {
		out = append(out, tracker.Check{Name: line(s.GetContext(), maxLine), State: statusState(s), URL: line(s.GetTargetURL(), maxLine), Text: text(s.GetDescription())})
	}
	return out, nil
}

// runState is what a check run came to. One that was cancelled did not pass; what has not
// been heard of is waited for.
func runState(r *gh.CheckRun) string {
	if r.GetStatus() != "completed" {
		return tracker.CheckPending
	}
	switch r.GetConclusion() {
	case "success", "neutral", "skipped":
		return tracker.CheckPassed
	case "failure", "timed_out", "cancelled", "action_required", "startup_failure", "stale":
		return tracker.CheckFailed
	}
	return tracker.CheckPending
}

func statusState(s *gh.RepoStatus) string {
	switch s.GetState() {
	case "success":
		return tracker.CheckPassed
	case "failure", "error":
		return tracker.CheckFailed
	}
	return tracker.CheckPending
}

// reviews are what people said, oldest first, each with its remarks on lines. A review
// that was dismissed decides nothing any more; one that is still being written is nobody's
// business.
func (f *Forge) reviews(ctx context.Context, number int) ([]tracker.Review, error) {
	list, err := every(ctx, f.client, fmt.Sprintf("read the reviews of pull request %d", number), func(at place) ([]*gh.PullRequestReview, *gh.Response, error) {
		return f.api.PullRequests.ListReviews(ctx, f.owner, f.repo, number, &at.ListOptions)
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	remarks, err := every(ctx, f.client, fmt.Sprintf("read the review comments of pull request %d", number), func(at place) ([]*gh.PullRequestComment, *gh.Response, error) {
		return f.api.PullRequests.ListComments(ctx, f.owner, f.repo, number, &gh.PullRequestListCommentsOptions{ListOptions: at.ListOptions})
	})
	if err != nil {
		return nil, err
	}
	lines := map[int64][]tracker.Remark{}
	for _, c := range remarks {
		at := c.GetLine()
		if at == 0 {
			at = c.GetOriginalLine() // the line is gone
		}
		lines[c.GetPullRequestReviewID()] = append(lines[c.GetPullRequestReviewID()], tracker.Remark{File: line(c.GetPath(), maxLine), Line: at, Text: text(c.GetBody())})
	}
	var out []tracker.Review
	for _, r := range list {
		if r.GetState() == "PENDING" {
			continue
		}
		out = append(out, tracker.Review{
			ID: strconv.FormatInt(r.GetID(), 10), Author: login(r.User), Bot: bot(r.User), Verdict: verdict(r), Commit: line(r.GetCommitID(), maxLine),
			At: r.GetSubmittedAt().UTC(), Text: text(r.GetBody()), Lines: lines[r.GetID()],
		})
	}
	slices.SortStableFunc(out, func(a, b tracker.Review) int { return a.At.Compare(b.At) })
	return out, nil
}

func verdict(r *gh.PullRequestReview) string {
	switch r.GetState() {
	case "APPROVED":
		return tracker.Approved
	case "CHANGES_REQUESTED":
		return tracker.ChangesRequested
	}
	return tracker.Commented
}
