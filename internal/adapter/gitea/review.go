package gitea

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/core/tracker"
	"orange/internal/view/humanize"
)

// actions is the account of the forge's own jobs.
const actions = -2

// readChecks returns the newest statuses of a commit, one per name. The forge keeps all that
// were ever posted.
func (v *connection) readChecks(commit string) ([]tracker.Check, error) {
	if commit == "" {
		return nil, nil
	}
	newest := map[string]*sdk.Status{}
	for page := (pages{}); page.hasMore(); {
		list, resp, err := v.ListStatuses(v.forge.owner, v.forge.repo, commit,
			sdk.ListStatusesOption{ListOptions: page.listOptions()})
		if err != nil {
			return nil, v.requestError("read the checks of "+humanize.ShortID(commit), err)
		}
		for _, s := range list {
			if s != nil && (newest[s.Context] == nil || newest[s.Context].ID < s.ID) {
				newest[s.Context] = s
			}
		}
		page.countPage(len(list), resp)
	}
	var out []tracker.Check
	for _, s := range newest {
		out = append(out, tracker.Check{
			Name: oneLine(s.Context), State: checkState(s.State), URL: safeLink(s.TargetURL), Text: boundText(s.Description),
		})
	}
	slices.SortFunc(out, func(a, b tracker.Check) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// checkState returns the meaning of a status. The forge itself lets a warning and a skipped
// check pass; an unknown status counts as pending.
func checkState(s sdk.StatusState) string {
	switch s {
	case sdk.StatusSuccess, sdk.StatusWarning, "skipped":
		return tracker.CheckPassed
	case sdk.StatusFailure, sdk.StatusError:
		return tracker.CheckFailed
	}
	return tracker.CheckPending
}

// readReviews returns the reviews, oldest first, without those that are requested or not
// submitted yet.
func (v *connection) readReviews(number int) ([]tracker.Review, error) {
	var out []tracker.Review
	for page := (pages{}); page.hasMore(); {
		list, resp, err := v.ListPullReviews(v.forge.owner, v.forge.repo, int64(number),
			sdk.ListPullReviewsOptions{ListOptions: page.listOptions()})
		if err != nil {
			return nil, v.requestError(fmt.Sprintf("read the reviews of pull request %d", number), err)
		}
		for _, raw := range list {
			if raw == nil || reviewVerdict(raw) == "" {
				continue
			}
			r, err := v.convertReview(number, raw)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		page.countPage(len(list), resp)
	}
	slices.SortStableFunc(out, func(a, b tracker.Review) int { return a.At.Compare(b.At) })
	return out, nil
}

// reviewVerdict returns the verdict of a review, or "" if it is not a review. A dismissed
// review no longer approves or requests changes, but its text stays.
func reviewVerdict(raw *sdk.PullReview) string {
	switch raw.State {
	case sdk.ReviewStateApproved:
		if !raw.Dismissed {
			return tracker.Approved
		}
		return tracker.Commented
	case sdk.ReviewStateRequestChanges:
		if !raw.Dismissed {
			return tracker.ChangesRequested
		}
		return tracker.Commented
	case sdk.ReviewStateComment:
		return tracker.Commented
	}
	return ""
}

func (v *connection) convertReview(number int, raw *sdk.PullReview) (tracker.Review, error) {
	r := tracker.Review{
		ID:      strconv.FormatInt(raw.ID, 10),
		Author:  accountName(raw.Reviewer),
		Bot:     raw.Reviewer != nil && raw.Reviewer.ID == actions,
		Verdict: reviewVerdict(raw),
		Commit:  oneLine(raw.CommitID),
		At:      raw.Submitted.UTC(),
		Text:    boundText(raw.Body),
	}
	if raw.CodeCommentsCount == 0 {
		return r, nil
	}
	lines, _, err := v.ListPullReviewComments(v.forge.owner, v.forge.repo, int64(number), raw.ID)
	if err != nil {
		return r, v.requestError(fmt.Sprintf("read review %d of pull request %d", raw.ID, number), err)
	}
	// They have no order.
	lines = slices.DeleteFunc(lines, func(c *sdk.PullReviewComment) bool { return c == nil })
	slices.SortFunc(lines, func(a, b *sdk.PullReviewComment) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range lines {
		r.Lines = append(r.Lines, tracker.Remark{File: oneLine(c.Path), Line: int(cmp.Or(c.LineNum, c.OldLineNum)), Text: boundText(c.Body)})
	}
	return r, nil
}
