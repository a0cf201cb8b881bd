package gitea

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// ReadIssue reads one issue, without its comments.
func (f *Repository) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	number, err := strconv.Atoi(key)
	if err != nil || number <= 0 {
		return tracker.Issue{}, fmt.Errorf("issue %q of %s: %w", key, f, tracker.ErrNotFound)
	}
	v, err := f.newConnection(ctx)
	if err != nil {
		return tracker.Issue{}, err
	}
	raw, _, err := v.GetIssue(f.owner, f.repo, int64(number))
	switch {
	case v.wire.status == http.StatusNotFound:
		return tracker.Issue{}, fmt.Errorf("issue %d of %s: %w", number, f, tracker.ErrNotFound)
	case err != nil || raw.Index != int64(number):
		return tracker.Issue{}, v.requestError(fmt.Sprintf("read issue %d", number), err)
	}
	return tracker.Issue{
		Key: key, URL: safeLink(raw.HTMLURL), ReadAt: f.now(),
		Card: board.Card{Title: cutTitle(oneLine(raw.Title)), Author: accountName(raw.Poster), Description: boundText(raw.Body)},
	}, nil
}

// HasRepository reports whether this is the repository OWNER/REPO on a host.
func (f *Repository) HasRepository(host, scope string) bool {
	return tracker.HostOfAddress(f.url) == host && strings.EqualFold(f.owner+"/"+f.repo, scope)
}
