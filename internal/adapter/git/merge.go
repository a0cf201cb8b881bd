package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Merge strategies.
const (
	Auto        = "auto"   // fast-forward if possible, otherwise a merge commit
	FastForward = "ff"     // only if the target has no commit that the branch does not have
	MergeCommit = "merge"  // always with a merge commit
	Rebase      = "rebase" // its commits again on the target, without a merge commit
	Squash      = "squash" // as one commit on the target
)

// strategies lists the merge strategies.
var strategies = [...]string{Auto, FastForward, MergeCommit, Rebase, Squash}

// A Merging is a request to merge a branch into another one.
type Merging struct {
	ID           string // names the merge in the record that an interrupted landing leaves
	Branch, Into string
	Tip          string // the commit that the branch must be at; "" for any
	Strategy     string
	Message      string // of the merge commit; "" for git's default message
	Title        string // first line of the one commit of a squash; "" for Message
	Remote       string // whose branch is the target, "" for the branch here

	// The commit after which the own commits of a stacked branch begin, "" for where the branch left the target. What is before
	// it may have come into the target as other commits, for example squashed.
	StackBase string
}

// merging is a Merging with everything that its commit needs.
type merging struct {
	Merging
	root            string
	tip, old        string   // commits of branch and target
	env             []string // author and committer of the commit
	sign            bool
	identified      bool // env and sign are known
	messageHooksRan bool // the message hooks have run
}

// A ConflictError means that a branch and its target changed the same lines.
type ConflictError struct {
	Branch, Into string
	Files        []string // made printable
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s and %s conflict, nothing was changed: rebase %s onto %s and resolve: %s",
		e.Branch, e.Into, e.Branch, e.Into, strings.Join(e.Files, ", "))
}

// Merged is how a branch came into its target.
type Merged struct {
	Commit string // by which it came there
	Before bool   // it was there already, and nothing was moved
}

// MergeBranch merges a branch into another one. It builds the commit without a checkout and then moves the target with LandCommit. If the
// target moves in the meantime, MergeBranch builds the commit again on the new target, this
// time under the landing lock, so that other merges cannot overtake a slow one forever. If the
// merge fails, nothing has changed. A branch that is already in the target is not an error.
func (g *Git) MergeBranch(ctx context.Context, root string, asked Merging) (Merged, error) {
	m := merging{Merging: asked, root: root}
	began := time.Now()
	moved := false
	for wait := 20 * time.Millisecond; ; {
		done, err := g.mergeOnce(ctx, &m, moved)
		var locked *LockError
		switch {
		case err == nil:
			return done, nil
		case errors.Is(err, ErrMoved):
			moved = true
			continue
		case !errors.As(err, &locked) || time.Since(began) > g.lockTimeout:
			return Merged{}, err
		}
		select {
		case <-ctx.Done():
			return Merged{}, err
		case <-time.After(wait):
			wait = min(2*wait, time.Second)
		}
	}
}

// mergeOnce builds the commit and lands it. If the target has moved before, it does both under
// the landing lock.
func (g *Git) mergeOnce(ctx context.Context, m *merging, moved bool) (Merged, error) {
	land := func(l Landing) error { return g.LandCommit(ctx, m.root, l) }
	if moved {
		if m.Strategy != FastForward { // hooks may be slow
			if err := g.finishMessage(ctx, m); err != nil {
				return Merged{}, err
			}
		}
		held, err := g.takeLanding(ctx, m.root, Landing{What: m.Branch})
		if err != nil {
			return Merged{}, err
		}
		defer held.release()
		if err := g.recoverAndReport(ctx, m.root, held); err != nil {
			return Merged{}, err
		}
		land = func(l Landing) error { return g.landLocked(ctx, m.root, held, l) }
	}
	if err := g.prepareMerge(ctx, m); err != nil {
		return Merged{}, err
	}
	if merged, err := g.historyContains(ctx, m.root, m.old, m.tip); err != nil {
		return Merged{}, err
	} else if merged {
		if !moved { // a killed process may have left the record of the landing that brought it there
			did, err := g.RecoverLanding(ctx, m.root)
			if err != nil {
				return Merged{}, err
			}
			g.reportRecovery(did)
		}
		commit, err := g.landedBy(ctx, m.root, m.tip, m.old)
		return Merged{commit, true}, err
	}
	commit, err := g.buildMergeCommit(ctx, m)
	if err != nil {
		return Merged{}, err
	}
	return Merged{Commit: commit}, land(Landing{ID: m.ID, Target: m.Into, Old: m.old, New: commit, What: m.Branch})
}

// prepareMerge finds the commits of the branch and of its target. On later calls the commit of
// the branch stays the one found first.
func (g *Git) prepareMerge(ctx context.Context, m *merging) error {
	if err := checkBranches(m.Branch, m.Into); err != nil {
		return err
	}
	if !slices.Contains(strategies[:], m.Strategy) {
		return fmt.Errorf("merge strategy %q is not known: use %s", m.Strategy, strings.Join(strategies[:], ", "))
	}
	if m.Message == "" {
		m.Message = "Merge branch '" + m.Branch + "' into " + m.Into
	}
	m.Title = cmp.Or(m.Title, m.Message)
	tips, err := g.refTips(ctx, m.root, heads+m.Branch, origins+m.Branch, heads+m.Into)
	if err != nil {
		return err
	}
	for _, ref := range [...]string{heads + m.Branch, origins + m.Branch} {
		if m.tip == "" {
			m.tip = tips[ref]
		}
	}
	if m.old, err = g.targetTip(ctx, m, tips[heads+m.Into]); err != nil {
		return err
	}
	switch {
	case m.Tip != "" && m.tip != m.Tip:
		return fmt.Errorf("branch %s is at %.12s, but %.12s was confirmed: review the branch and request the merge again", m.Branch, m.tip, m.Tip)
	case m.tip == "":
		return fmt.Errorf("there is no branch %s: create it, or give the task the branch it has", m.Branch)
	case m.old == "":
		return fmt.Errorf("there is no branch %s here: create it with git -C %s branch %s origin/%s, or check the project's default branch", m.Into, m.root, m.Into, m.Into)
	}
	return nil
}

// buildMergeCommit creates the commit that the target is to move to. It writes only objects.
func (g *Git) buildMergeCommit(ctx context.Context, m *merging) (commit string, err error) {
	switch m.Strategy {
	case Rebase:
		return g.buildRebasedCommits(ctx, m)
	case Squash:
		tree, err := g.mergeTrees(ctx, m)
		if err != nil {
			return "", err
		}
		return g.buildSquashCommit(ctx, m, tree)
	case Auto, FastForward:
		ok, err := g.historyContains(ctx, m.root, m.tip, m.old)
		switch {
		case err != nil:
			return "", err
		case ok:
			return m.tip, nil
		case m.Strategy == FastForward:
			return "", fmt.Errorf("%s has moved since %s began: rebase %s onto %s, or merge with --strategy auto", m.Into, m.Branch, m.Branch, m.Into)
		}
	}
	tree, err := g.mergeTrees(ctx, m)
	if err != nil {
		return "", err
	}
	if err := g.finishMessage(ctx, m); err != nil {
		return "", err
	}
	return g.writeCommit(ctx, m, newCommit{tree: tree, parents: []string{m.old, m.tip}, message: m.Message + "\n"})
}

// mergeTrees writes the tree of the merge commit.
func (g *Git) mergeTrees(ctx context.Context, m *merging) (tree string, err error) {
	target, tip, err := g.mergeSides(ctx, m)
	if err != nil {
		return "", err
	}
	out, err := g.runCall(ctx, call{dir: m.root, args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", target, tip}, timeout: checkoutTimeout})
	if err == nil {
		return strings.TrimRight(out, "\x00\n"), nil
	}
	var exit *exitError
	switch {
	case errors.As(err, &exit) && exit.withheld != "":
		return "", fmt.Errorf("merge %s into %s, nothing was changed: %s", m.Branch, m.Into, exit.withheld)
	case errors.As(err, &exit) && exit.code == 1:
		files := splitNulTerminated(exit.stdout) // the tree, then files
		for i := range files {
			files[i] = makePrintable(files[i])
		}
		return "", &ConflictError{Branch: m.Branch, Into: m.Into, Files: files[min(1, len(files)):]}
	case errors.As(err, &exit) && exit.code == 129:
		return "", errors.New("this merge needs git 2.38 or newer: install it, or merge by hand")
	}
	return "", fmt.Errorf("merge %s into %s: %w", m.Branch, m.Into, err)
}

// finishMessage completes the message of the merge commit, once: it runs the repository's hooks
// that check or change messages.
func (g *Git) finishMessage(ctx context.Context, m *merging) error {
	if m.messageHooksRan {
		return nil
	}
	if err := g.findIdentity(ctx, m); err != nil {
		return err
	}
	kind := "merge"
	if m.Strategy == Squash || m.Strategy == Rebase {
		kind = "squash"
	}
	file, err := os.CreateTemp("", "orange-message")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a temporary file
	_, err = file.WriteString(m.Message + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	for _, args := range [...][]string{{"prepare-commit-msg", "--", file.Name(), kind}, {"commit-msg", "--", file.Name()}} {
		_, err := g.runCall(ctx, call{dir: m.root, args: append([]string{"hook", "run", "--ignore-missing"}, args...), env: m.env, timeout: checkoutTimeout})
		if err != nil {
			return fmt.Errorf("merge %s into %s, nothing was changed: the hook %s refuses: %w", m.Branch, m.Into, args[0], err)
		}
	}
	text, err := os.ReadFile(file.Name())
	if message := strings.TrimRight(string(text), "\n"); err == nil && message != "" {
		m.Message = message
	}
	m.messageHooksRan = true
	return err
}

// findIdentity finds, once, who the author of the commits is and whether they are signed.
func (g *Git) findIdentity(ctx context.Context, m *merging) error {
	if m.identified {
		return nil
	}
	m.env = g.identityEnv(ctx, m.root)
	sign, err := g.run(ctx, m.root, "config", "--type=bool", "commit.gpgSign")
	m.sign, m.identified = err == nil && sign == "true", true
	return ctx.Err()
}

// overwrittenFiles returns the files that git lists, indented, when it refuses to overwrite
// them.
func overwrittenFiles(stderr string) []string {
	var files []string
	for line := range strings.Lines(stderr) {
		if name, ok := strings.CutPrefix(line, "\t"); ok {
			files = append(files, strings.TrimSpace(name))
		}
	}
	return files
}
