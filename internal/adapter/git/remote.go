package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// HasRemote reports whether the configuration of the repository has an address for a remote.
// For a remote without one, git would read a file in .git/remotes or use the name as a path.
func (g *Git) HasRemote(ctx context.Context, root, remote string) (bool, error) {
	if remote == "" || strings.ContainsAny(remote, "\n\x00") {
		return false, nil
	}
	out, err := g.run(ctx, root, "config", "--get-all", "remote."+remote+".url")
	if exitCode(err) == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find the remote %s of %s: %w", remote, root, err)
	}
	return out != "", nil
}

// RemoteURL returns the address of a remote.
func (g *Git) RemoteURL(ctx context.Context, root, remote string) (string, error) {
	if err := g.checkRemote(ctx, root, remote); err != nil {
		return "", err
	}
	return g.run(ctx, root, "remote", "get-url", remote)
}

func (g *Git) checkRemote(ctx context.Context, root, remote string) error {
	has, err := g.HasRemote(ctx, root, remote)
	if err != nil {
		return err
	}
	if !has || strings.HasPrefix(remote, "-") {
		return fmt.Errorf("%s has no remote %q: add it with git remote add", root, remote)
	}
	return nil
}

// runNetwork runs a command that uses the network. Nothing can ask for a password.
func (g *Git) runNetwork(ctx context.Context, root string, args ...string) (string, error) {
	settings := []string{"credential.interactive=false", "gc.auto=0", "maintenance.auto=false"}
	return g.runCall(ctx, call{dir: root, config: settings, args: args, timeout: networkTimeout, network: true})
}

// PushBranch pushes a branch to a remote. It never forces.
func (g *Git) PushBranch(ctx context.Context, root, remote, branch string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	if err := g.checkRemote(ctx, root, remote); err != nil {
		return err
	}
	tips, err := g.refTips(ctx, root, heads+branch)
	if err != nil {
		return err
	}
	if tips[heads+branch] == "" {
		return fmt.Errorf("there is no branch %s to push: create it, or give the task the branch it has", branch)
	}
	_, err = g.runNetwork(ctx, root, "push", "--porcelain", remote, heads+branch+":"+heads+branch)
	var exit *exitError
	if errors.As(err, &exit) {
		return pushError(remote, branch, exit)
	}
	if err != nil {
		return fmt.Errorf("push %s to %s: %w", branch, remote, err)
	}
	return nil
}

func pushError(remote, branch string, exit *exitError) error {
	for line := range strings.Lines(exit.stdout) {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		why := makePrintable(line[strings.LastIndex(line, "\t")+1:])
		if strings.Contains(why, "[rejected]") {
			return fmt.Errorf("%s has commits on %s that are not here: fetch and rebase, then push again", remote, branch)
		}
		return fmt.Errorf("%s does not accept %s: %s: ask the person who runs the remote, or push another branch", remote, branch, strings.TrimSpace(why))
	}
	return fmt.Errorf("push %s to %s: %w: check the network and your access (git push by hand shows more)", branch, remote, exit)
}

// remoteTips returns the commits of those branches that origin has.
func (g *Git) remoteTips(ctx context.Context, root string, branches ...string) (map[string]string, error) {
	args := []string{"ls-remote", "--heads", "origin"}
	for _, branch := range branches {
		args = append(args, heads+branch)
	}
	out, err := g.runNetwork(ctx, root, args...)
	if err != nil {
		return nil, fmt.Errorf("list the branches of origin: %w: check the network and your access", err)
	}
	tips := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		commit, ref, _ := strings.Cut(line, "\t")
		if branch, ok := strings.CutPrefix(ref, heads); ok && slices.Contains(branches, branch) {
			tips[branch] = commit
		}
	}
	return tips, nil
}

// DeleteRemoteBranch deletes a branch at origin if the default branch, there or here, contains
// all of it, or the commit by which its head landed. A branch that origin does not have is not
// an error.
func (g *Git) DeleteRemoteBranch(ctx context.Context, root, branch, defaultBranch string, landed task.Candidate) error {
	if err := checkBranches(branch, defaultBranch); err != nil {
		return err
	}
	if branch == defaultBranch {
		return fmt.Errorf("%s is the default branch: Orange does not delete it", branch)
	}
	if err := g.checkRemote(ctx, root, "origin"); err != nil {
		return err
	}
	tips, err := g.remoteTips(ctx, root, branch, defaultBranch)
	if err != nil || tips[branch] == "" {
		return err
	}
	merged, err := g.mergedAnywhere(ctx, root, branch, defaultBranch, tips)
	if err == nil && !merged && landed.Head == tips[branch] {
		merged, err = g.HasLanded(ctx, root, landed.Commit, defaultBranch)
	}
	if err != nil {
		return err
	}
	if !merged {
		return fmt.Errorf("branch %s at origin (%.7s) is not in %s: Orange does not delete it: merge it first", branch, tips[branch], defaultBranch)
	}
	// The lease makes origin compare: it deletes the branch only if the branch is still at the
	// commit that was checked.
	_, err = g.runNetwork(ctx, root, "push", "--porcelain", "--force-with-lease="+heads+branch+":"+tips[branch], "origin", ":"+heads+branch)
	var exit *exitError
	if errors.As(err, &exit) && strings.Contains(exit.stdout, "stale info") {
		return fmt.Errorf("branch %s at origin has new commits: Orange does not delete it: merge them first", branch)
	}
	if err != nil {
		return fmt.Errorf("delete %s at origin: %w", branch, err)
	}
	return nil
}

// mergedAnywhere reports whether the default branch, there or here, contains a branch of
// origin. It fetches the commits that it needs for the answer.
func (g *Git) mergedAnywhere(ctx context.Context, root, branch, defaultBranch string, remote map[string]string) (bool, error) {
	if err := g.fetchMissing(ctx, root, remote); err != nil {
		return false, err
	}
	local, err := g.refTips(ctx, root, heads+defaultBranch)
	if err != nil {
		return false, err
	}
	for _, target := range [...]string{remote[defaultBranch], local[heads+defaultBranch]} {
		if target == "" {
			continue
		}
		if merged, err := g.historyContains(ctx, root, target, remote[branch]); merged || err != nil {
			return merged, err
		}
	}
	return false, nil
}

// fetchMissing fetches branches of origin if one of their commits is missing here.
func (g *Git) fetchMissing(ctx context.Context, root string, tips map[string]string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "origin"}
	missing := false
	for _, branch := range slices.Sorted(maps.Keys(tips)) {
		have, err := g.resolveRevision(ctx, root, tips[branch])
		if err != nil {
			return err
		}
		missing = missing || have == ""
		args = append(args, heads+branch)
	}
	if !missing {
		return nil
	}
	if _, err := g.runNetwork(ctx, root, args...); err != nil {
		return fmt.Errorf("fetch from origin: %w: check the network and your access", err)
	}
	return nil
}
