package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/board"
)

// RequiredChecks returns the names of the checks that pull requests into a branch must pass: those of its protection and
// of rulesets. It returns nil if the branch requires none, or if the token may not see what it requires.
func (f *Forge) RequiredChecks(ctx context.Context, branch string) ([]string, error) {
	if !branchName(branch) {
		return nil, nil
	}
	var names []string
	add := func(name string) {
		if name = oneLine(name, maxLine); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	doing := "read what " + shortText(branch) + " requires"
	err := f.callAPI(ctx, doing, func() (*gh.Response, error) {
		b, resp, err := f.api.Repositories.GetBranch(ctx, f.owner, f.repo, branch, maxRedirects)
		for _, name := range b.GetProtection().GetRequiredStatusChecks().GetContexts() {
			add(name)
		}
		return resp, err
	})
	if err != nil && !mayNotSee(err) {
		return nil, err
	}
	err = f.callAPI(ctx, doing, func() (*gh.Response, error) {
		rules, resp, err := f.api.Repositories.ListRulesForBranch(ctx, f.owner, f.repo, branch, &gh.ListOptions{PerPage: perPage})
		if rules != nil {
			for _, r := range rules.RequiredStatusChecks {
				for _, c := range r.Parameters.RequiredStatusChecks {
					add(c.Context)
				}
			}
		}
		return resp, err
	})
	if err != nil && !mayNotSee(err) { // rulesets are not part of every plan
		return nil, err
	}
	return names, nil
}

// maxRedirects is how often GitHub may say that a branch was renamed.
const maxRedirects = 3

// mayNotSee reports whether GitHub does not show something, or does not have it.
func mayNotSee(err error) bool { return isMissing(err) || responseStatus(err) == http.StatusForbidden }

// UpdatePR lets GitHub merge the base into the branch of a pull request, if its head is still that commit. The new head
// appears a moment later.
func (f *Forge) UpdatePR(ctx context.Context, number int, head string) error {
	what := fmt.Sprintf("bring pull request %d up to date", number)
	if number < 1 || head == "" {
		return board.Refusef("%s: give its number and its head", what)
	}
	err := f.callAPI(ctx, what, func() (*gh.Response, error) {
		_, resp, err := f.api.PullRequests.UpdateBranch(ctx, f.owner, f.repo, number, &gh.PullRequestBranchUpdateOptions{ExpectedHeadSHA: &head})
		var accepted *gh.AcceptedError
		if errors.As(err, &accepted) {
			err = nil
		}
		return resp, err
	})
	return asRefusal(notFound(err, what))
}
