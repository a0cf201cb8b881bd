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

// ReadPR returns a pull request with the checks of its head and its reviews.
func (f *Forge) ReadPR(ctx context.Context, number int) (tracker.PR, error) {
	p, err := f.readPull(ctx, number)
	if err != nil {
		return tracker.PR{}, notFound(err, fmt.Sprintf("read pull request %d", number))
	}
	out := f.convertPull(p)
	if out.Checks, err = f.readChecks(ctx, out.Head); err != nil {
		return tracker.PR{}, err
	}
	if out.Reviews, err = f.readReviews(ctx, number); err != nil {
		return tracker.PR{}, err
	}
	return out, nil
}

// readChecks returns the results of automated checks of a commit, in both forms that GitHub
// has: check runs of apps, and statuses. Of several with one name only the latest counts.
func (f *Forge) readChecks(ctx context.Context, commit string) ([]tracker.Check, error) {
	runs, err := listAll(ctx, f.client, "read the checks of "+shortText(commit), func(at pagePosition) ([]*gh.CheckRun, *gh.Response, error) {
		list, resp, err := f.api.Checks.ListCheckRunsForRef(ctx, f.owner, f.repo, commit, &gh.ListCheckRunsOptions{Filter: new("latest"), ListOptions: at.ListOptions})
		if list == nil {
			return nil, resp, err
		}
		return list.CheckRuns, resp, err
	})
	if err != nil && responseStatus(err) != http.StatusForbidden { // some tokens may read statuses and no check runs
		return nil, err
	}
	statuses, err := listAll(ctx, f.client, "read the statuses of "+shortText(commit), func(at pagePosition) ([]*gh.RepoStatus, *gh.Response, error) {
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
		out = append(out, tracker.Check{Name: oneLine(r.GetName(), maxLine), State: runState(r), URL: oneLine(link, maxLine), Text: boundText(said)})
	}
	for _, s := range statuses {
		out = append(out, tracker.Check{Name: oneLine(s.GetContext(), maxLine), State: statusState(s), URL: oneLine(s.GetTargetURL(), maxLine), Text: boundText(s.GetDescription())})
	}
	return out, nil
}

// runState returns the result of a check run. A cancelled run did not pass; an unknown
// conclusion counts as pending.
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

// readReviews returns the reviews, oldest first, each with its comments on lines. A dismissed
// review no longer decides anything; a review that is still being written is skipped.
func (f *Forge) readReviews(ctx context.Context, number int) ([]tracker.Review, error) {
	list, err := listAll(ctx, f.client, fmt.Sprintf("read the reviews of pull request %d", number), func(at pagePosition) ([]*gh.PullRequestReview, *gh.Response, error) {
		return f.api.PullRequests.ListReviews(ctx, f.owner, f.repo, number, &at.ListOptions)
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	remarks, err := listAll(ctx, f.client, fmt.Sprintf("read the review comments of pull request %d", number), func(at pagePosition) ([]*gh.PullRequestComment, *gh.Response, error) {
		return f.api.PullRequests.ListComments(ctx, f.owner, f.repo, number, &gh.PullRequestListCommentsOptions{ListOptions: at.ListOptions})
	})
	if err != nil {
		return nil, err
	}
	lines := map[int64][]tracker.Remark{}
	for _, c := range remarks {
		at := c.GetLine()
		if at == 0 {
			at = c.GetOriginalLine() // the line no longer exists
		}
		lines[c.GetPullRequestReviewID()] = append(lines[c.GetPullRequestReviewID()], tracker.Remark{File: oneLine(c.GetPath(), maxLine), Line: at, Text: boundText(c.GetBody())})
	}
	var out []tracker.Review
	for _, r := range list {
		if r.GetState() == "PENDING" {
			continue
		}
		out = append(out, tracker.Review{
			ID: strconv.FormatInt(r.GetID(), 10), Author: loginName(r.User), Bot: isBot(r.User), Verdict: reviewVerdict(r), Commit: oneLine(r.GetCommitID(), maxLine),
			At: r.GetSubmittedAt().UTC(), Text: boundText(r.GetBody()), Lines: lines[r.GetID()],
		})
	}
	slices.SortStableFunc(out, func(a, b tracker.Review) int { return a.At.Compare(b.At) })
	return out, nil
}

func reviewVerdict(r *gh.PullRequestReview) string {
	switch r.GetState() {
	case "APPROVED":
		return tracker.Approved
	case "CHANGES_REQUESTED":
		return tracker.ChangesRequested
	}
	return tracker.Commented
}
