package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// anchorRefs is the ref namespace for the heads of journals. Each store has one ref.
const anchorRefs = "refs/orange/journal/"

// AnchorRef returns the ref that holds the anchors of a store.
func AnchorRef(store string) string { return anchorRefs + store }

// unreplaced makes git read original objects and ignore refs/replace/.
var unreplaced = [...]string{"GIT_NO_REPLACE_OBJECTS=1"}

// maxAnchorTries is how often AddAnchor retries while another process moves the ref.
const maxAnchorTries = 5

// AddAnchor appends an empty commit to the anchor ref of a store; the parent is the ref's
// present commit. It runs no hooks, signs nothing, and leaves branches, indexes and files
// alone. The same text at the same time on the same ref gives the same commit. AddAnchor passes
// the existing texts to have and adds nothing if have returns true.
func (g *Git) AddAnchor(ctx context.Context, root, store, text string, at time.Time, have func(texts []string) bool) error {
	ref := AnchorRef(store)
	if !validBranch(store) || strings.Contains(store, "/") {
		return fmt.Errorf("anchor the journal of %.80q: this is not the name of a store", store)
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
	from := strings.Repeat("0", len(tree)) // the ref must not exist
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

// AnchorTexts returns the texts of a store's anchors in a repository, oldest first.
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

// ResolveCommit returns the full hash of the commit that an abbreviation or another revision
// names, or "" if the repository at dir does not have it.
func (g *Git) ResolveCommit(ctx context.Context, dir, revision string) (string, error) {
	commit, err := g.resolveRevision(ctx, dir, revision)
	var exit *exitError
	if errors.As(err, &exit) && exit.code == 128 { // for example, an ambiguous abbreviation
		return "", nil
	}
	return commit, err
}

// CommitsContaining returns the set of commits that are reachable from any ref and contain a
// commit, including the commit itself.
func (g *Git) CommitsContaining(ctx context.Context, dir, commit string) (map[string]bool, error) {
	if !isHash(commit) {
		return nil, fmt.Errorf("%.80q is not a full commit hash: give all of it", commit)
	}
	out, err := g.runCall(ctx, call{dir: dir, args: []string{"rev-list", "--ancestry-path", anyRef, "^" + commit}, timeout: checkoutTimeout})
	if err != nil {
		return nil, fmt.Errorf("find the commits that contain %.12s: %w", commit, err)
	}
	set := map[string]bool{commit: true}
	for line := range strings.SplitSeq(out, "\n") {
		set[line] = line != ""
	}
	return set, nil
}

// landedBy returns the commit by which tip came into a branch that is at target: tip itself if
// the branch was fast-forwarded to it, otherwise the merge commit.
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
