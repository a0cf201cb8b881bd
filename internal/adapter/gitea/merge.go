package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/view/humanize"
)

// MergePR merges a pull request if its head is still that commit, with a merge commit if the
// repository allows one, otherwise with the method that the repository prefers, unless the
// options name a style.
func (f *Repository) MergePR(ctx context.Context, number int, head string) error {
	if strings.TrimSpace(head) == "" {
		return board.Refusef("pull request %d is merged only at a known commit: give its head", number)
	}
	v, err := f.newConnection(ctx)
	if err != nil {
		return err
	}
	for range mergeRounds {
		if err = v.mergeWhenReady(number, head); !errors.Is(err, errUndecided) {
			return err
		}
	}
	return err
}

// mergeRounds is how often a merge starts again because the forge started to check again
// whether it merges cleanly.
const mergeRounds = 3

var errUndecided = errors.New("the forge has not yet checked whether it merges cleanly: try again in a moment")

// mergeWhenReady waits until the forge knows whether the pull request merges cleanly, and
// merges it.
func (v *connection) mergeWhenReady(number int, head string) error {
	f := v.forge
	raw, mergeable, err := v.readSettled(number, head, readsUntilMergeable, len(f.pauses))
	if err != nil {
		return err
	}
	if done, err := isMergeDecided(f.convertPull(raw), head); done || err != nil {
		return err
	}
	if err := canMerge(raw, mergeable); err != nil {
		return err
	}
	if err := v.newEnough(); err != nil {
		return err
	}
	style, err := v.mergeStyle()
	if err != nil {
		return err
	}
	ok, _, err := v.MergePullRequest(f.owner, f.repo, int64(number), sdk.MergePullRequestOption{Style: style, HeadCommitId: head})
	if ok && err == nil {
		return nil
	}
	return v.notMerged(f.convertPull(raw), head, err)
}

// isMergeDecided reports whether there is nothing left to merge. It returns an error if the
// pull request cannot be merged.
func isMergeDecided(pr tracker.PR, head string) (done bool, err error) {
	same := pr.Head == head
	switch {
	case pr.State == tracker.Merged && (same || pr.Head == ""):
		return true, nil
	case pr.State == tracker.Merged:
		return false, board.Refusef("pull request %d was merged at %s, not at %s", pr.Number, humanize.ShortID(pr.Head), humanize.ShortID(head))
	case pr.State == tracker.Closed:
		return false, board.Refusef("pull request %d is closed: reopen it at the forge first", pr.Number)
	case !same:
		return false, board.Refusef("pull request %d has new commits: its head is %s, no longer %s: review it again", pr.Number, humanize.ShortID(pr.Head), humanize.ShortID(head))
	}
	return false, nil
}

func canMerge(raw *sdk.PullRequest, mergeable string) error {
	switch {
	case raw.Draft:
		return board.Refusef("pull request %d is a draft: remove the mark from its title first", raw.Index)
	case mergeable == "no":
		return board.Refusef("pull request %d does not merge cleanly: bring its branch up to date with its base", raw.Index)
	case mergeable == "":
		return fmt.Errorf("merge pull request %d: %w", raw.Index, errUndecided)
	}
	return nil
}

// notMerged returns why a merge failed, unless the pull request turns out to be merged: someone
// else merged it, or the response was lost.
func (v *connection) notMerged(was tracker.PR, head string, err error) error {
	status, said := v.wire.status, v.wire.said
	failed := v.requestError(fmt.Sprintf("merge pull request %d", was.Number), err)
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return failed
	}
	raw, err := v.readPull(was.Number)
	if err != nil {
		return failed
	}
	if done, err := isMergeDecided(v.forge.convertPull(raw), head); done || err != nil {
		return err
	}
	switch {
	case status == http.StatusConflict && strings.Contains(said, "out of date"):
		return fmt.Errorf("merge pull request %d: the base moved in the meantime: try again", was.Number)
	case status == http.StatusMethodNotAllowed && strings.Contains(said, "try again later"):
		return canMerge(raw, "")
	case status == http.StatusConflict && said == "":
		return canMerge(raw, "no")
	case status == http.StatusConflict, status == http.StatusMethodNotAllowed, status == http.StatusUnprocessableEntity, status == http.StatusLocked:
		return board.Refusef("pull request %d cannot be merged: %s", was.Number, cmp.Or(said, http.StatusText(status)))
	}
	return failed
}

// newEnough returns an error unless the forge checks which commit to merge: Gitea does since
// 1.16, and a server with version 7 or higher is a Forgejo, which is newer. It sends one
// request in the lifetime of the Forge.
func (v *connection) newEnough() error {
	f := v.forge
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tried {
		return nil
	}
	version, _, err := v.ServerVersion()
	if err != nil {
		return v.requestError("ask for the version of the forge", err)
	}
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n == 2 && (major < 1 || major == 1 && minor < 16) {
		return board.Refusef("%s is Gitea %s, which merges whatever the head is: 1.16 or later is needed", f.host, shortLine(version))
	}
	f.tried = true
	return nil
}

func (v *connection) mergeStyle() (sdk.MergeStyle, error) {
	if v.forge.style != "" {
		return v.forge.style, nil
	}
	repo, _, err := v.GetRepo(v.forge.owner, v.forge.repo)
	switch {
	case err != nil:
		return "", v.requestError("read how the repository merges", err)
	case repo.AllowMerge || repo.DefaultMergeStyle == "":
		return sdk.MergeStyleMerge, nil
	}
	return repo.DefaultMergeStyle, nil
}
