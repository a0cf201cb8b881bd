package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Brought is what a branch brought into its target: its tip is there.
type Brought struct {
	Tip        string   // "" if the branch does not exist
	Own        bool     // it brought commits of its own: those that were handed over, or others
	LeftBehind []string // commits that were handed over, if the target has neither them nor rewritten ones
}

// FindBrought finds out whether a branch whose tip is in its target brought commits of its own. One that is where it
// began, or was only moved to a newer target, brought none. base is where the branch began, and head its tip when it was
// handed over, or "" if nothing was. Commits that a person rebased or amended meanwhile are recognized by their changes, or
// by author, date and subject.
func (g *Git) FindBrought(ctx context.Context, root, branch, base, head string) (b Brought, err error) {
	b.Tip, err = g.BranchTip(ctx, root, branch)
	if err != nil || b.Tip == "" || b.Tip == base {
		return b, err
	}
	if g.IsAncestor(ctx, root, head, b.Tip) {
		b.Own = true
		return b, nil
	}
	if head != "" {
		if head, err = g.resolveRevision(ctx, root, head); err != nil {
			return b, err
		}
	}
	if head != "" { // git has not removed it yet
		if b.Own = g.addsNothing(ctx, root, b.Tip, head); b.Own {
			return b, nil
		}
		if b.Own, b.LeftBehind, err = g.findRewritten(ctx, root, head, b.Tip); err != nil || b.Own {
			return b, err
		}
	}
	b.Own, err = g.gotCommits(ctx, root, branch, base, b.Tip)
	return b, err
}

// addsNothing reports whether a merge of a commit into tip would change no file.
func (g *Git) addsNothing(ctx context.Context, root, tip, commit string) bool {
	merged, err := g.runCall(ctx, call{dir: root, args: []string{"merge-tree", "--write-tree", "--no-messages", tip, commit}, timeout: checkoutTimeout})
	if err != nil { // they conflict
		return false
	}
	tree, err := g.treeOf(ctx, root, tip)
	return err == nil && tree == merged
}

// findRewritten looks in the history of tip for the commits of head that tip has not. It reports whether one of them was
// found, and lists those that were not.
func (g *Git) findRewritten(ctx context.Context, root, head, tip string) (found bool, missing []string, err error) {
	handed, err := g.listAuthored(ctx, root, tip, head)
	if err != nil {
		return false, nil, err
	}
	have, err := g.listAuthored(ctx, root, head, tip)
	if err != nil {
		return false, nil, err
	}
	authored := map[string]bool{}
	for _, c := range have {
		authored[c.authored] = true
	}
	for _, c := range handed {
		if authored[c.authored] {
			found = true
		} else {
			missing = append(missing, c.hash)
		}
	}
	return found, missing, nil
}

// authoredCommit is a commit, and what a rebase keeps of it.
type authoredCommit struct {
	hash     string
	authored string // date, author and subject
}

// listAuthored lists the commits of tip that without has not, oldest first. It leaves out merges.
func (g *Git) listAuthored(ctx context.Context, root, without, tip string) (list []authoredCommit, err error) {
	text, err := g.run(ctx, root, "log", "--no-merges", "--reverse", "--format=%H %at %ae %an %s", without+".."+tip)
	if err != nil {
		return nil, fmt.Errorf("list the commits from %.12s to %.12s: %w", without, tip, err)
	}
	for line := range strings.Lines(text) {
		hash, authored, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		list = append(list, authoredCommit{hash, authored})
	}
	return list, nil
}

// gotCommits reports whether, as far as git has recorded how the branch moved, its tip has commits that were made on the
// branch or were there when it was created. Where git recorded nothing, gotCommits returns true.
func (g *Git) gotCommits(ctx context.Context, root, branch, base, tip string) (bool, error) {
	text, err := g.run(ctx, root, "log", "--walk-reflogs", "--format=%H %gs", heads+branch, "--")
	if err != nil {
		return false, fmt.Errorf("read how %s moved: %w", branch, err)
	}
	if text == "" {
		return true, nil
	}
	for line := range strings.Lines(text) {
		commit, how, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if commit != base && !movesOnly(how, commit) && g.IsAncestor(ctx, root, commit, tip) {
			return true, nil
		}
	}
	return false, nil
}

// movesOnly reports whether an entry of a branch's reflog tells of a move to a commit that exists already: a reset, a
// fast-forward, or a rebase that had nothing to rewrite.
func movesOnly(how, commit string) bool {
	moves := slices.ContainsFunc([]string{"reset: ", "branch: Reset to ", "Branch: renamed "}, func(begin string) bool { return strings.HasPrefix(how, begin) })
	return moves || strings.HasSuffix(how, ": Fast-forward") || strings.HasSuffix(how, " onto "+commit)
}
