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
	Base, Head string   // its own commits are those of Head that Base has not
	LeftBehind []string // as FindLeftBehind says
}

// FindBrought finds out whether a branch whose tip is in its target brought commits of its own. One that is where it
// began, or was only moved to a newer target, brought none, unless the target, here or at origin, has what was handed
// over. base is where the branch began, and head its tip when it was handed over, or "" if nothing was. Commits that a
// person rebased or amended meanwhile are recognized by their changes, or by author, date, subject and the names of their
// files.
func (g *Git) FindBrought(ctx context.Context, root, branch, target, base, head string) (Brought, error) {
	b, err := g.findBroughtByTip(ctx, root, branch, base, head)
	if err != nil || b.Tip == "" || b.Own || head == "" {
		return b, err
	}
	landed, err := g.HasLanded(ctx, root, head, target)
	if landed { // the branch was moved after its commits were merged
		b = Brought{Tip: b.Tip, Own: true, Base: base, Head: head}
	}
	return b, err
}

// findBroughtByTip is FindBrought for what the branch has at its tip.
func (g *Git) findBroughtByTip(ctx context.Context, root, branch, base, head string) (b Brought, err error) {
	b.Tip, err = g.BranchTip(ctx, root, branch)
	if err != nil || b.Tip == "" || b.Tip == base {
		return b, err
	}
	if b.Base, b.Head = base, b.Tip; g.IsAncestor(ctx, root, head, b.Tip) {
		b.Own = true
		more := true
		if head != b.Tip { // the branch may have followed its target since
			more, err = g.gotCommits(ctx, root, branch, head, b.Tip)
		}
		if !more {
			b.Head = head
		}
		return b, err
	}
	r, err := g.compareRewritten(ctx, root, head, b.Tip)
	switch {
	case err != nil:
		return b, err
	case r.first != "":
		b.Own, b.Base, b.LeftBehind = true, r.first+"^", r.missing
	case r.contained:
		b.Own, b.Head = true, head
	default:
		b.LeftBehind = r.missing
		b.Own, err = g.gotCommits(ctx, root, branch, base, b.Tip)
	}
	if err == nil && r.first != "" {
		b.Base, err = g.resolveRevision(ctx, root, b.Base)
	}
	return b, err
}

// FindLeftBehind lists the commits of head that tip has neither itself nor rewritten, if a merge of head into tip would
// change anything.
func (g *Git) FindLeftBehind(ctx context.Context, root, head, tip string) ([]string, error) {
	if g.IsAncestor(ctx, root, head, tip) {
		return nil, nil
	}
	r, err := g.compareRewritten(ctx, root, head, tip)
	return r.missing, err
}

// rewritten says which commits of a head another commit has in its history in a rewritten form.
type rewritten struct {
	contained bool     // a merge of the head would change nothing
	first     string   // the oldest rewritten commit, "" if there is none
	missing   []string // commits that were not found; nil if contained
}

// compareRewritten looks in the history of tip for the commits of head that tip has not. If git has removed head, because
// no branch led to it, nothing is found and nothing is missing.
func (g *Git) compareRewritten(ctx context.Context, root, head, tip string) (r rewritten, err error) {
	if head == "" {
		return r, nil
	}
	if head, err = g.resolveRevision(ctx, root, head); err != nil || head == "" {
		return r, err
	}
	handed, err := g.listAuthored(ctx, root, tip, head)
	if err != nil {
		return r, err
	}
	have, err := g.listAuthored(ctx, root, head, tip)
	if err != nil {
		return r, err
	}
	wanted, found := map[string]bool{}, map[string]bool{}
	for _, c := range handed {
		wanted[c.authored] = true
	}
	for _, c := range have {
		if found[c.authored] = true; r.first == "" && wanted[c.authored] {
			r.first = c.hash
		}
	}
	if r.contained = g.addsNothing(ctx, root, tip, head); r.contained {
		return r, nil
	}
	for _, c := range handed {
		if !found[c.authored] {
			r.missing = append(r.missing, c.hash)
		}
	}
	return r, nil
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

// authoredCommit is a commit, and what a rebase keeps of it.
type authoredCommit struct {
	hash     string
	authored string // date, author, subject, and the names of the changed files
}

// listAuthored lists the commits of tip that without has not, oldest first. It leaves out merges.
func (g *Git) listAuthored(ctx context.Context, root, without, tip string) (list []authoredCommit, err error) {
	const begin = "\x01" // of a commit; names with such a character are quoted
	text, err := g.run(ctx, root, "log", "--no-merges", "--reverse", "--name-only", "--no-renames", "--format=%x01%H %at %ae %an %s", without+".."+tip)
	if err != nil {
		return nil, fmt.Errorf("list the commits from %.12s to %.12s: %w", without, tip, err)
	}
	for commit := range strings.SplitSeq(strings.TrimPrefix(text, begin), begin) {
		if hash, authored, ok := strings.Cut(commit, " "); ok {
			list = append(list, authoredCommit{hash, strings.TrimSpace(authored)})
		}
	}
	return list, nil
}

// gotCommits reports whether, as far as git has recorded how the branch moved, its tip has commits that since has not, and
// that were made on the branch or were there when it was created. Where git recorded nothing, gotCommits returns true.
func (g *Git) gotCommits(ctx context.Context, root, branch, since, tip string) (bool, error) {
	text, err := g.run(ctx, root, "log", "--walk-reflogs", "--format=%H %gs", heads+branch, "--")
	if err != nil {
		return false, fmt.Errorf("read how %s moved: %w", branch, err)
	}
	if text == "" {
		return true, nil
	}
	for line := range strings.Lines(text) {
		commit, how, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if !movesOnly(how, commit) && g.IsAncestor(ctx, root, commit, tip) && !g.IsAncestor(ctx, root, commit, since) {
			return true, nil
		}
	}
	return false, nil
}

// movesOnly reports whether an entry of a branch's reflog tells of a move to a commit that exists already: a reset, a
// fast-forward, a rebase that had nothing to rewrite, or a change of the ref that says nothing.
func movesOnly(how, commit string) bool {
	moves := slices.ContainsFunc([]string{"reset: ", "branch: Reset to ", "Branch: renamed "}, func(begin string) bool { return strings.HasPrefix(how, begin) })
	return moves || how == "" || strings.HasSuffix(strings.ToLower(how), ": fast-forward") || strings.HasSuffix(how, " onto "+commit)
}
