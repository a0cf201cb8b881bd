package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// anchorRefs is where the heads of journals are kept: a ref for each store.
const anchorRefs = "refs/orange/journal/"

// AnchorRef is the ref that holds the anchors of a store.
func AnchorRef(store string) string { return anchorRefs + store }

// unreplaced makes git read objects as they are, whatever refs/replace/ says.
var unreplaced = [...]string{"GIT_NO_REPLACE_OBJECTS=1"}

// maxAnchorTries is how often an anchor is tried while somebody else moves its ref.
const maxAnchorTries = 5

// AddAnchor appends a commit without files to a ref of anchors; its parent is what the ref led
// to. No hook runs, nothing is signed and no branch, index or file is touched. The same text at
// the same time upon the same ref gives the same commit. It is not added if have, given the
// texts that are there, says that it is.
func (g *Git) AddAnchor(ctx context.Context, root, store, text string, at time.Time, have func(texts []string) bool) error {
	ref := AnchorRef(store)
	if !validBranch(store) || strings.Contains(store, "/") {
		return fmt.Errorf("anchor the journal of %.80q: it is no name of a store", store)
	}
	for try := 1; ; try++ {
		texts, old, err := g.readAnchors(ctx, root, ref)
		if err != nil || have(texts) {
			return err
		}
		err = g.addAnchor(ctx, root, ref, old, text, at)
		if now, moved := g.tipOf(ctx, root, ref); err == nil || try == maxAnchorTries || moved != nil || now == old {
			if err != nil {
				err = fmt.Errorf("write %s in %s: %w", ref, root, err)
			}
			return err
		}
	}
}

func (g *Git) addAnchor(ctx context.Context, root, ref, old, text string, at time.Time) error {
	tree, err := g.runQuietly(ctx, root, "mktree")
	if err != nil {
		return err
	}
	date := fmt.Sprintf("@%d +0000", at.Unix())
	env := append([]string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}, fallbackIdentity[:]...)
	var parents []string
	from := strings.Repeat("0", len(tree)) // the ref must not be there
	if old != "" {
		parents, from = []string{old}, old
	}
	commit, err := g.commitTree(ctx, root, tree, parents, text, env)
	if err != nil {
		return err
	}
	_, err = g.runQuietly(ctx, root, "update-ref", "--no-deref", "-m", "journal", ref, commit, from)
	return err
}

func (g *Git) tipOf(ctx context.Context, root, ref string) (string, error) {
	tips, err := g.refTips(ctx, root, ref)
	return tips[ref], err
}

// AnchorTexts are the texts of the anchors of a store in a repository, oldest first.
func (g *Git) AnchorTexts(ctx context.Context, root, store string) ([]string, error) {
	texts, _, err := g.readAnchors(ctx, root, AnchorRef(store))
	return texts, err
}

func (g *Git) readAnchors(ctx context.Context, root, ref string) (texts []string, tip string, err error) {
	if tip, err = g.tipOf(ctx, root, ref); err != nil || tip == "" {
		return nil, "", err
	}
	out, err := g.runCall(ctx, call{dir: root, env: unreplaced[:], args: []string{"rev-list", "--reverse", "--first-parent", "--header", tip, "--"}})
	if err != nil {
		return nil, "", fmt.Errorf("read %s in %s: %w", ref, root, err)
	}
	for _, raw := range splitNulTerminated(out) {
		_, indented, ok := strings.Cut(raw, "\n\n")
		if !ok {
			continue // the end of the list
		}
		var b strings.Builder
		for line := range strings.Lines(indented) {
			b.WriteString(strings.TrimPrefix(line, "    "))
		}
		texts = append(texts, b.String())
	}
	return texts, tip, nil
}

// ResolveCommit is the whole name of a commit that is given by an abbreviation or another
// revision, "" if the repository at dir does not have it.
func (g *Git) ResolveCommit(ctx context.Context, dir, revision string) (string, error) {
	commit, err := g.resolveRevision(ctx, dir, revision)
	var exit *exitError
	if errors.As(err, &exit) && exit.code == 128 { // for instance an abbreviation of several
		return "", nil
	}
	return commit, err
}

// CommitsContaining are the commits that a branch, a tag or another ref leads to and that contain a
// commit, with the commit itself.
func (g *Git) CommitsContaining(ctx context.Context, dir, commit string) (map[string]bool, error) {
	if !isHash(commit) {
		return nil, fmt.Errorf("%.80q is no commit: give its whole name", commit)
	}
	out, err := g.runCall(ctx, call{dir: dir, args: []string{"rev-list", "--ancestry-path", anyRef, "^" + commit}, patience: checkoutPatience})
	if err != nil {
		return nil, fmt.Errorf("find what contains %.12s: %w", commit, err)
	}
	set := map[string]bool{commit: true}
	for line := range strings.SplitSeq(out, "\n") {
		set[line] = line != ""
	}
	return set, nil
}

// landedBy is the commit by which tip came into a branch that is at target: tip itself if the
// branch was moved to it, else the merge commit.
func (g *Git) landedBy(ctx context.Context, root, tip, target string) (string, error) {
	if tip == target {
		return tip, nil
	}
	out, err := g.run(ctx, root, "rev-list", "--first-parent", "--parents", tip+".."+target)
	if err != nil {
		return "", fmt.Errorf("find how %.12s was merged: %w", tip, err)
	}
	path, err := g.run(ctx, root, "rev-list", "--ancestry-path", tip+".."+target)
	if err != nil {
		return "", fmt.Errorf("find how %.12s was merged: %w", tip, err)
	}
	contains := map[string]bool{}
	for line := range strings.SplitSeq(path, "\n") {
		contains[line] = true
	}
	landed := target
	for line := range strings.SplitSeq(out, "\n") { // newest first
		commits := strings.Fields(line) // the commit, then its parents
		if len(commits) == 0 || !contains[commits[0]] {
			break
		}
		landed = commits[0]
		if len(commits) > 1 && commits[1] == tip {
			landed = tip
		}
	}
	return landed, nil
}
