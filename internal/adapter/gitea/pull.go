package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

const (
	maxListed   = 5000 // pull requests: older ones are ignored
	maxSearched = 500  // of them, those that are searched for a mention
	recent      = 15 * time.Second
)

// CreatePR opens a pull request, or returns the open one that the branch already has,
// preferably into the wanted base.
func (f *Repository) CreatePR(ctx context.Context, n tracker.NewPR) (tracker.PR, error) {
	if err := checkNew(n); err != nil {
		return tracker.PR{}, err
	}
	v, err := f.newConnection(ctx)
	if err != nil {
		return tracker.PR{}, err
	}
	if pr, found, err := v.findOpen(n); found || err != nil {
		return pr, err
	}
	made, _, err := v.CreatePullRequest(f.owner, f.repo, sdk.CreatePullRequestOption{
		Head: n.Branch, Base: n.Base, Title: cutTitle(n.Title), Body: boundText(n.Body),
	})
	if err == nil {
		return v.ensureOnlyPull(n, f.convertPull(made))
	}
	err = v.notOpened(n, err)
	switch v.wire.status {
	case 0, http.StatusConflict, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		// It may exist nevertheless: someone else opened it, or the response was lost.
		if pr, found, findErr := v.findOpen(n); found && findErr == nil {
			return pr, nil
		}
	}
	return tracker.PR{}, err
}

// ensureOnlyPull makes sure that the new pull request is the only one of the branch. Gitea
// checks for another before it opens one, but not atomically: concurrent requests each get a
// pull request. The first one counts, and the creator of a later one closes it.
func (v *connection) ensureOnlyPull(n tracker.NewPR, made tracker.PR) (tracker.PR, error) {
	first, found, err := v.findOpen(n)
	if err != nil || !found || first.Base != made.Base || first.Number >= made.Number {
		return made, nil // the pull request exists, even if its state is unknown
	}
	closed := sdk.StateClosed
	if _, _, err := v.EditPullRequest(v.forge.owner, v.forge.repo, int64(made.Number), sdk.EditPullRequestOption{State: &closed}); err != nil {
		return tracker.PR{}, v.requestError(fmt.Sprintf("close pull request %d, a duplicate of %d", made.Number, first.Number), err)
	}
	return first, nil
}

func checkNew(n tracker.NewPR) error {
	for _, branch := range []string{n.Branch, n.Base} {
		if !branchName(branch) {
			return board.Refusef("a pull request goes from one branch to another: %q is not one", shortLine(branch))
		}
	}
	switch {
	case n.Branch == n.Base:
		return board.Refusef("a pull request of %s into itself changes nothing: give another base", shortLine(n.Branch))
	case strings.TrimSpace(n.Title) == "":
		return board.Refusef("a pull request needs a title")
	}
	return nil
}

// branchName reports whether a name can be that of a branch here: a name with a colon is that
// of a fork's branch.
func branchName(name string) bool {
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' })
}

// notOpened returns why no pull request was opened.
func (v *connection) notOpened(n tracker.NewPR, err error) error {
	switch v.wire.status {
	case http.StatusNotFound:
		return board.Refusef("no pull request from %s into %s: %s does not have both branches: push them first", shortLine(n.Branch), shortLine(n.Base), v.forge)
	case http.StatusUnprocessableEntity, http.StatusLocked:
		return board.Refusef("no pull request from %s into %s: %s", shortLine(n.Branch), shortLine(n.Base), cmp.Or(v.wire.said, "the forge refuses it"))
	}
	return v.requestError("open a pull request of "+shortLine(n.Branch), err)
}

func (v *connection) findOpen(n tracker.NewPR) (pr tracker.PR, found bool, err error) {
	prs, err := v.listPulls(sdk.StateOpen, maxListed, func(pr tracker.PR, _ string) bool { return pr.Branch == n.Branch && pr.State == tracker.Open })
	if err != nil || len(prs) == 0 {
		return tracker.PR{}, false, err
	}
	i := max(0, slices.IndexFunc(prs, func(pr tracker.PR) bool { return pr.Base == n.Base }))
	return prs[i], true, nil
}

// ReadPR returns a pull request with its checks and reviews.
func (f *Repository) ReadPR(ctx context.Context, number int) (tracker.PR, error) {
	v, err := f.newConnection(ctx)
	if err != nil {
		return tracker.PR{}, err
	}
	raw, mergeable, err := v.readSettled(number, "", readsUntilShown, readsUntilShown)
	if err != nil {
		return tracker.PR{}, err
	}
	pr := f.convertPull(raw)
	pr.Mergeable = mergeable
	if pr.Checks, err = v.readChecks(pr.Head); err != nil {
		return tracker.PR{}, err
	}
	pr.Reviews, err = v.readReviews(number)
	return pr, err
}

// ListBranchPRs returns the pull requests of a branch of the repository itself, oldest first. A
// fork's branch of the same name does not count.
func (f *Repository) ListBranchPRs(ctx context.Context, branch string) ([]tracker.PR, error) {
	if !branchName(branch) {
		return nil, nil
	}
	return f.findPulls(ctx, maxListed, func(pr tracker.PR, _ string) bool { return pr.Branch == branch })
}

// ListMentioningPRs returns those of the latest pull requests that name an issue, oldest first.
// It does not use the forge's search, which ignores branches and lags behind.
func (f *Repository) ListMentioningPRs(ctx context.Context, key string) ([]tracker.PR, error) {
	if key = strings.TrimSpace(key); key == "" || len(key) > board.MaxKey {
		return nil, nil
	}
	return f.findPulls(ctx, maxSearched, func(pr tracker.PR, body string) bool {
		return mentionsIssue(pr.Title, key) || mentionsIssue(body, key) || branchMentions(pr.Branch, key)
	})
}

func (f *Repository) findPulls(ctx context.Context, most int, wanted func(tracker.PR, string) bool) ([]tracker.PR, error) {
	v, err := f.newConnection(ctx)
	if err != nil {
		return nil, err
	}
	return v.listPulls(sdk.StateAll, most, wanted)
}

// listPulls returns those of the latest pull requests for which wanted, called with each and
// its text, returns true. A pull request that is opened in the meantime moves another one to
// the next page.
func (v *connection) listPulls(state sdk.StateType, most int, wanted func(pr tracker.PR, body string) bool) ([]tracker.PR, error) {
	var out []tracker.PR
	seen := map[int64]bool{}
	for page := (pages{}); page.hasMore() && page.got < most; {
		list, resp, err := v.ListRepoPullRequests(v.forge.owner, v.forge.repo,
			sdk.ListPullRequestsOptions{ListOptions: page.listOptions(), State: state})
		if err != nil {
			return nil, v.requestError("list pull requests", err)
		}
		for _, raw := range list {
			if raw == nil || seen[raw.Index] {
				continue
			}
			seen[raw.Index] = true
			if pr := v.forge.convertPull(raw); wanted(pr, raw.Body) {
				out = append(out, pr)
			}
		}
		page.countPage(len(list), resp)
	}
	slices.SortFunc(out, func(a, b tracker.PR) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// readPull reads one pull request.
func (v *connection) readPull(number int) (*sdk.PullRequest, error) {
	if number <= 0 {
		return nil, fmt.Errorf("pull request %d of %s: %w", number, v.forge, tracker.ErrNotFound)
	}
	raw, _, err := v.GetPullRequest(v.forge.owner, v.forge.repo, int64(number))
	switch {
	case v.wire.status == http.StatusNotFound:
		return nil, fmt.Errorf("pull request %d of %s: %w", number, v.forge, tracker.ErrNotFound)
	case err != nil || raw.Index != int64(number):
		return nil, v.requestError(fmt.Sprintf("read pull request %d", number), err)
	}
	return raw, nil
}

// readSettled reads a pull request and whether it can be merged. A read makes the forge check,
// which takes a moment, so readSettled reads again: a no counts after enough reads, unless the
// pull request changed just now. If the answer is still open after most reads, mergeable is "".
// If head is set, another head ends the wait.
func (v *connection) readSettled(number int, head string, enough, most int) (raw *sdk.PullRequest, mergeable string, err error) {
	for i := 0; ; i++ {
		raw, err = v.readPull(number)
		if err != nil {
			return nil, "", err
		}
		changed := raw.Updated != nil && v.forge.now().Sub(*raw.Updated) < recent
		switch {
		case raw.HasMerged || raw.State != sdk.StateOpen, head != "" && v.forge.convertPull(raw).Head != head:
			return raw, "", nil
		case raw.Mergeable:
			return raw, "yes", nil
		case raw.Draft, i >= enough && !changed:
			return raw, "no", nil
		case i >= most:
			return raw, "", nil
		}
		select {
		case <-v.ctx.Done():
			return nil, "", v.ctx.Err()
		case <-time.After(v.forge.pauses[i]):
		}
	}
}

// convertPull converts a pull request, without checks and reviews.
func (f *Repository) convertPull(raw *sdk.PullRequest) tracker.PR {
	pr := tracker.PR{
		Number: int(raw.Index),
		URL:    safeLink(raw.HTMLURL),
		State:  tracker.Open,
		Title:  cutTitle(raw.Title),
		Author: accountName(raw.Poster),
	}
	switch {
	case raw.HasMerged:
		pr.State = tracker.Merged
		if raw.MergedCommitID != nil {
			pr.Landed = oneLine(*raw.MergedCommitID)
		}
	case raw.State != sdk.StateOpen:
		pr.State = tracker.Closed
	case raw.Mergeable:
		pr.Mergeable = "yes"
	}
	if raw.Created != nil {
		pr.CreatedAt = raw.Created.UTC()
	}
	if raw.Base != nil {
		pr.Base = oneLine(raw.Base.Ref)
	}
	if raw.Head != nil {
		pr.Head, pr.Branch = oneLine(raw.Head.Sha), branchOf(raw)
	}
	return pr
}

// branchOf returns the branch of a pull request, with its owner before it if it is a fork's. If
// the branch was deleted, the forge still has its name, but as a label.
func branchOf(raw *sdk.PullRequest) string {
	branch := oneLine(cmp.Or(raw.Head.Name, raw.Head.Ref))
	if raw.Base == nil || raw.Head.RepoID == raw.Base.RepoID {
		return branch
	}
	owner := "unknown"
	if repo := raw.Head.Repository; repo != nil && repo.Owner != nil {
		owner = accountName(repo.Owner)
	}
	return owner + ":" + branch
}
