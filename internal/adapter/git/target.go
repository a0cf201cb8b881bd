package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// targetTip returns the commit on which a merge is built: local, the tip of the target here, or
// that of the remote if the target is there and has all commits that the target has here.
func (g *Git) targetTip(ctx context.Context, m *merging, local string) (string, error) {
	if m.Remote == "" {
		return local, nil
	}
	remote, err := g.fetchTip(ctx, m.root, m.Remote, m.Into)
	if err != nil || remote == "" || local == "" {
		return cmp.Or(remote, local), err
	}
	for _, pair := range [...][2]string{{local, remote}, {remote, local}} {
		if ok, err := g.historyContains(ctx, m.root, pair[0], pair[1]); err != nil || ok {
			return pair[0], err
		}
	}
	return "", fmt.Errorf("%w, and try again", divergedError(m.Remote, m.Into))
}

// divergedError says how a person brings a branch and that of a remote together. Without
// --no-rebase git refuses to choose how; without the names it needs an upstream.
func divergedError(remote, branch string) error {
	return fmt.Errorf("%s here and at %s have each commits that the other does not have: bring them together with git pull --no-rebase %s %s in a checkout of %s", branch, remote, remote, branch, branch)
}

// fetchTip fetches a branch of a remote and returns its commit, or "" if the remote does not
// have the branch.
func (g *Git) fetchTip(ctx context.Context, root, remote, branch string) (string, error) {
	if err := g.checkRemote(ctx, root, remote); err != nil {
		return "", err
	}
	tips, err := g.remoteTips(ctx, root, branch)
	if err != nil || tips[branch] == "" {
		return "", unreachable(err)
	}
	if err := g.FetchBranch(ctx, root, remote, branch); err != nil {
		return "", unreachable(err)
	}
	ref := "refs/remotes/" + remote + "/" + branch
	found, err := g.refTips(ctx, root, ref)
	return found[ref], err
}

// A RemoteError means that a remote could not be reached, or that the connection broke. It may
// work later.
type RemoteError struct{ err error }

// Error implements error.
func (e *RemoteError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *RemoteError) Unwrap() error { return e.err }

func unreachable(err error) error {
	if err == nil {
		return nil
	}
	return &RemoteError{err}
}

// PushLanding moves a branch of a remote to a commit that contains it. The remote itself
// compares: it refuses what is not a fast-forward, and the error is then ErrMoved, unless an
// earlier push brought the commit there before others moved the branch on. What the remote
// refuses for another reason is an error with its own words.
func (g *Git) PushLanding(ctx context.Context, root, remote, branch, commit string) error {
	if err := checkBranches(branch); err != nil {
		return err
	}
	if !isHash(commit) {
		return fmt.Errorf("push to %s: %.80q must be a full commit hash", branch, commit)
	}
	if err := g.checkRemote(ctx, root, remote); err != nil {
		return err
	}
	_, err := g.runNetwork(ctx, root, "push", "--porcelain", remote, commit+":"+heads+branch)
	var exit *exitError
	if !errors.As(err, &exit) {
		return unreachable(err)
	}
	for line := range strings.Lines(exit.stdout) {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		why := strings.TrimSpace(makePrintable(line[strings.LastIndex(line, "\t")+1:]))
		lost := func(text string) bool { return strings.Contains(why, text) }
		if slices.ContainsFunc([]string{"[rejected]", "failed to update ref", "cannot lock ref", "failed to lock"}, lost) {
			return g.findPushed(ctx, root, remote, branch, commit)
		}
		why = strings.TrimSuffix(strings.TrimPrefix(why, "[remote rejected] ("), ")")
		return fmt.Errorf("%s does not accept the work in %s: %s%s", remote, branch, why, remoteWords(exit.stderr))
	}
	return unreachable(fmt.Errorf("push to %s at %s: %w: check the network and your access (git push by hand shows more)", branch, remote, exit))
}

// findPushed returns nil if a branch of a remote that refused a commit contains it: the process
// that pushed it may have been killed, or its connection broke, before it knew.
func (g *Git) findPushed(ctx context.Context, root, remote, branch, commit string) error {
	tip, err := g.fetchTip(ctx, root, remote, branch)
	if err != nil {
		return err
	}
	if tip != "" {
		if pushed, err := g.historyContains(ctx, root, tip, commit); err != nil || pushed {
			return err
		}
	}
	return ErrMoved
}

// maxRemoteWords bounds what is shown of a remote's answer.
const maxRemoteWords = 1000

// remoteWords returns what a remote says about a push, in its own words, on one line.
func remoteWords(stderr string) string {
	var words []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(text) != "" {
			words = append(words, strings.TrimSpace(makePrintable(text)))
		}
	}
	text := strings.Join(words, " ")
	if len(text) > maxRemoteWords {
		text = strings.ToValidUTF8(text[:maxRemoteWords], "") + "..."
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// FollowLanding moves a branch here to a commit that the remote already has, together with its
// checkout. A branch that does not exist here, or has commits of its own, stays; so does one
// that has the commit already.
func (g *Git) FollowLanding(ctx context.Context, root, remote string, l Landing) error {
	tip, err := g.BranchTip(ctx, root, l.Target)
	if err != nil || tip == "" || tip == l.New {
		return err
	}
	if has, err := g.historyContains(ctx, root, tip, l.New); err != nil || has {
		return err
	}
	if ok, err := g.historyContains(ctx, root, l.New, tip); err != nil {
		return err
	} else if !ok {
		return divergedError(remote, l.Target)
	}
	l.Old = tip
	return g.LandCommit(ctx, root, l)
}

// HasRemoteTip reports whether a commit contains the tip of a branch of a remote, as last
// fetched.
func (g *Git) HasRemoteTip(ctx context.Context, root, remote, branch, commit string) (bool, error) {
	ref := "refs/remotes/" + remote + "/" + branch
	tips, err := g.refTips(ctx, root, ref)
	if err != nil || tips[ref] == "" {
		return err == nil, err
	}
	return g.historyContains(ctx, root, commit, tips[ref])
}

// An Update is a commit that a forge may have made by merging the base into a branch.
type Update struct {
	Head         string // the commit
	Of           string // the tip of the branch before
	Remote, Base string // the branch that was merged, as last fetched
}

// IsUpdateOf reports whether a commit contains the tip of a branch and, besides, only merges and
// commits of the base.
func (g *Git) IsUpdateOf(ctx context.Context, root string, u Update) (bool, error) {
	ok, err := g.historyContains(ctx, root, u.Head, u.Of)
	if err != nil || !ok {
		return false, err
	}
	out, err := g.run(ctx, root, "rev-list", "--no-merges", "--max-count=1", u.Head, "^"+u.Of, "^refs/remotes/"+u.Remote+"/"+u.Base)
	if err != nil {
		return false, fmt.Errorf("compare %.12s with %.12s: %w", u.Head, u.Of, err)
	}
	return out == "", nil
}
