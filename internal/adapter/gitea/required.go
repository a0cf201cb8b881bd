package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// RequiredChecks returns the names of the checks that pull requests into a branch must pass. They may be patterns with *.
// It returns nil if the branch requires none.
func (f *Repository) RequiredChecks(ctx context.Context, branch string) ([]string, error) {
	if !branchName(branch) {
		return nil, nil
	}
	v, err := f.newConnection(ctx)
	if err != nil {
		return nil, err
	}
	b, _, err := v.GetRepoBranch(f.owner, f.repo, branch)
	switch {
	case v.wire.status == http.StatusNotFound:
		return nil, fmt.Errorf("branch %s of %s: %w", shortLine(branch), f, tracker.ErrNotFound)
	case err != nil:
		return nil, v.requestError("read what "+shortLine(branch)+" requires", err)
	case !b.EnableStatusCheck:
		return nil, nil
	}
	var names []string
	for _, name := range b.StatusCheckContexts {
		if name = oneLine(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// UpdatePR lets the forge merge the base into the branch of a pull request, if its head is still that commit.
func (f *Repository) UpdatePR(ctx context.Context, number int, head string) error {
	what := fmt.Sprintf("bring pull request %d up to date", number)
	if strings.TrimSpace(head) == "" {
		return board.Refusef("%s: give its head", what)
	}
	v, err := f.newConnection(ctx)
	if err != nil {
		return err
	}
	raw, err := v.readPull(number)
	if err != nil {
		return err
	}
	if done, err := isMergeDecided(f.convertPull(raw), head); done || err != nil {
		return err
	}
	if _, err = v.UpdatePullRequest(f.owner, f.repo, int64(number)); err == nil {
		return nil
	}
	switch v.wire.status {
	case http.StatusConflict, http.StatusUnprocessableEntity, http.StatusMethodNotAllowed:
		return board.Refusef("pull request %d cannot be brought up to date: %s", number, cmp.Or(v.wire.said, http.StatusText(v.wire.status)))
	}
	return v.requestError(what, err)
}
