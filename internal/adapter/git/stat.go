package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoBranch means that there is nothing to compare: the branch, or the one it is compared
// with, does not exist.
var ErrNoBranch = errors.New("no such branch")

// A Comparison names a branch and what to compare it with.
type Comparison struct {
	Root     string // a working tree of the repository
	Worktree string // where the branch is checked out, to include uncommitted changes; "" for nowhere; see CheckCompared
	Branch   string
	Default  string // the branch that it is to be merged into, here or at origin

	Base, Head string // commits to compare instead, for a branch that is merged; "" for none
	StackBase  string // where the own commits of a stacked branch begin; "" for where it left the default branch
}

// A Stat counts what a branch has that the default branch does not. Lines of binary files are
// not counted.
type Stat struct {
	Commits        int
	Files          int
	Added, Deleted int // lines
}

// DiffStat counts what a branch changes since it left the default branch. If it is checked out
// in the worktree, DiffStat includes uncommitted changes of tracked files; it includes neither
// untracked files nor uncommitted changes in submodules. It takes no lock, and runs no git if
// the branch has no commit of its own.
func (g *Git) DiffStat(ctx context.Context, c Comparison) (Stat, error) {
	f, err := g.findFork(ctx, c)
	if err != nil {
		return Stat{}, err
	}
	var s Stat
	if !f.isMerged() {
		out, err := g.run(ctx, c.Root, append([]string{"rev-list", "--count", f.tip, "--not"}, f.targets...)...)
		if err == nil {
			s.Commits, err = strconv.Atoi(out)
		}
		if err != nil {
			return s, fmt.Errorf("count the commits of %s: %w", c.Branch, err)
		}
	}
	if f.isMerged() && !f.files {
		return s, nil
	}
	out, _, err := g.upTo(ctx, 4<<10, f.diffCall("--shortstat"))
	if err != nil {
		return s, fmt.Errorf("count the lines of %s: %w", c.Branch, err)
	}
	err = s.parseShortstat(out)
	return s, err
}

// parseShortstat parses " 3 files changed, 10 insertions(+), 2 deletions(-)"; git leaves out
// what is 0.
func (s *Stat) parseShortstat(line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	for part := range strings.SplitSeq(line, ",") {
		number, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("git prints its line counts as %q: use git 2.31 or newer", makePrintable(line))
		}
		switch {
		case strings.HasPrefix(what, "file"):
			s.Files = n
		case strings.HasPrefix(what, "insertion"):
			s.Added = n
		case strings.HasPrefix(what, "deletion"):
			s.Deleted = n
		}
	}
	return nil
}

// BranchDiff returns as text what DiffStat counts, at most limit bytes: a longer text is cut at
// the end of a line. base is the commit that it is compared with, or "" if the branches have no
// common commit and everything is new. The text does not depend on the user's configuration.
func (g *Git) BranchDiff(ctx context.Context, c Comparison, limit int) (base, text string, cut bool, err error) {
	f, err := g.findFork(ctx, c)
	if err != nil {
		return "", "", false, err
	}
	base = f.base
	if f.unrelated {
		base = ""
	}
	if f.isMerged() && !f.files {
		return base, "", false, nil
	}
	text, cut, err = g.upTo(ctx, limit, f.diffCall("--patch", "--unified=3", "--inter-hunk-context=0"))
	if err != nil {
		return "", "", false, fmt.Errorf("compare %s with %s: %w", c.Branch, c.Default, err)
	}
	return base, text, cut, nil
}

// UncommittedDiff returns the part of BranchDiff that is not committed: how tracked files
// differ from the last commit, as text of at most limit bytes, and the untracked files.
func (g *Git) UncommittedDiff(ctx context.Context, c Comparison, limit int) (text string, untracked []string, err error) {
	f, err := g.findFork(ctx, c)
	if err != nil || !f.files {
		return "", nil, err
	}
	f.base = f.tip
	text, _, err = g.upTo(ctx, limit, f.diffCall("--patch", "--unified=0", "--inter-hunk-context=0"))
	if err != nil {
		return "", nil, fmt.Errorf("find what is not committed in %s: %w", f.dir, err)
	}
	untracked, err = g.UntrackedFiles(ctx, f.dir)
	return text, untracked, err
}

// fork is where a branch left the default branch.
type fork struct {
	dir       string // where git runs
	tip       string
	targets   []string
	base      string // commit, or the empty tree
	unrelated bool   // the branches have no common commit
	files     bool   // compare the files in dir, not the tip
}

// isMerged reports whether the branch has no commit of its own.
func (f *fork) isMerged() bool { return f.base == f.tip }

// diffCall compares with the base. It sets explicitly what users may have configured, so that
// their configuration has no effect.
func (f *fork) diffCall(form ...string) call {
	args := append([]string{"diff"}, form...)
	args = append(args, "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames", "-l1000",
		"--diff-algorithm=default", "--submodule=short", "--ignore-submodules=dirty", "--no-relative", f.base)
	if !f.files {
		args = append(args, f.tip)
	}
	settings := append(slices.Clone(quietConfig[:]), "core.quotePath=true", "diff.orderFile=/dev/null", "diff.suppressBlankEmpty=false", "core.safecrlf=false")
	return call{dir: f.dir, config: settings, args: append(args, "--")}
}

// CheckCompared returns an error unless the files in the comparison's worktree are those of the
// branch: the worktree must be one of root's repository, have the branch checked out, and git in
// it must work on its files. Otherwise only what is committed on the branch is compared.
func (g *Git) CheckCompared(ctx context.Context, c Comparison) error {
	_, _, err := g.CheckWorktree(ctx, c.Root, c.Worktree, c.Branch)
	if err != nil {
		return err
	}
	switch _, branch, err := g.Head(c.Worktree); {
	case err != nil:
		return err
	case branch == "":
		return fmt.Errorf("a rebase or bisect of %s is in progress in %s", c.Branch, c.Worktree)
	}
	return g.checkWorksOnDir(ctx, c.Worktree)
}

// findFork finds where a branch left the default branch. It passes only commits to git, never
// branch names.
func (g *Git) findFork(ctx context.Context, c Comparison) (fork, error) {
	if err := checkBranches(c.Branch, c.Default); err != nil {
		return fork{}, err
	}
	f := fork{dir: c.Root}
	if c.Base != "" && c.Head != "" {
		return g.mergedFork(ctx, c)
	}
	if c.Worktree != "" && g.CheckCompared(ctx, c) == nil {
		f.dir, f.files = c.Worktree, true
	}
	if err := g.findTips(ctx, c, &f); err != nil {
		return f, err
	}
	if slices.Contains(f.targets, f.tip) {
		f.base = f.tip
		return f, nil
	}
	out, err := g.run(ctx, c.Root, append([]string{"merge-base", f.tip}, f.targets...)...)
	f.base, _, _ = strings.Cut(out, "\n")
	if exitCode(err) == 1 {
		f.unrelated = true
		f.base, err = g.runCall(ctx, call{dir: c.Root, config: quietConfig[:], args: []string{"hash-object", "-t", "tree", "/dev/null"}})
	}
	if err != nil {
		return f, fmt.Errorf("find where %s left %s: %w", c.Branch, c.Default, err)
	}
	if c.StackBase != "" && g.NeedsStackBase(ctx, c.Root, c.StackBase, f.tip, f.targets...) {
		f.base, f.targets = c.StackBase, append(f.targets, c.StackBase)
	}
	return f, nil
}

// mergedFork returns the fork of a branch that is merged. Its commits exist as long as
// something reaches them, even if the branch is deleted.
func (g *Git) mergedFork(ctx context.Context, c Comparison) (fork, error) {
	f := fork{dir: c.Root, tip: c.Head, base: c.Base, targets: []string{c.Base}}
	for _, commit := range [...]string{c.Base, c.Head} {
		if have, err := g.resolveRevision(ctx, c.Root, commit); err != nil || have == "" {
			return f, errors.Join(fmt.Errorf("%w: commit %.12s of %s is gone", ErrNoBranch, commit, c.Branch), err)
		}
	}
	return f, nil
}

// findTips finds the commits of both branches. It reads git's files, and runs git only where
// refs are stored in another form.
func (g *Git) findTips(ctx context.Context, c Comparison, f *fork) error {
	refs := [...]string{heads + c.Branch, origins + c.Branch, heads + c.Default, origins + c.Default}
	tips, known, err := readRefs(c.Root, refs[:])
	if err == nil && !known {
		tips, err = g.refTips(ctx, c.Root, refs[:]...)
	}
	if err != nil {
		return err
	}
	if f.tip = tips[refs[0]]; f.tip == "" {
		f.tip = tips[refs[1]]
	}
	for _, ref := range refs[2:] {
		if tips[ref] != "" && !slices.Contains(f.targets, tips[ref]) {
			f.targets = append(f.targets, tips[ref])
		}
	}
	switch {
	case f.tip == "":
		return fmt.Errorf("%w: %s", ErrNoBranch, c.Branch)
	case len(f.targets) == 0:
		return fmt.Errorf("%w: %s", ErrNoBranch, c.Default)
	}
	return nil
}

// readRefs returns the commits of those refs that exist. It sets known to false where it would
// have to guess.
func readRefs(root string, refs []string) (tips map[string]string, known bool, err error) {
	l, err := layoutOf(root)
	if err != nil {
		return nil, false, err
	}
	if _, err := os.Stat(filepath.Join(l.common, "reftable")); err == nil {
		return nil, false, nil
	}
	tips = map[string]string{}
	for _, ref := range refs {
		commit, known, err := readRef(l.common, ref)
		if err != nil || !known {
			return nil, false, nil
		}
		if commit != "" {
			tips[ref] = commit
		}
	}
	return tips, true, nil
}

// upTo runs a command and returns the beginning of its output, at most limit bytes and up to a
// line end.
func (g *Git) upTo(ctx context.Context, limit int, c call) (text string, cut bool, err error) {
	out, cut, err := g.readUpTo(ctx, limit, c)
	if cut {
		out = out[:bytes.LastIndexByte(out, '\n')+1]
	}
	return string(out), cut, err
}

// readUpTo runs a command and returns the beginning of its output, at most limit bytes.
func (g *Git) readUpTo(ctx context.Context, limit int, c call) (text []byte, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	out := &bounded{limit: limit}
	cmd, err := g.prepareCommand(ctx, &c)
	if err != nil {
		return nil, false, err
	}
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errs
	err = cmd.Run()
	switch {
	case out.full: // git could not write any more
		return out.text, true, nil
	case err == nil:
		return out.text, false, nil
	case ctx.Err() != nil:
		return nil, false, fmt.Errorf("git %s in %s took too long: %w", c.args[0], c.dir, ctx.Err())
	case cmd.ProcessState != nil:
		return nil, false, &exitError{args: c.args, code: cmd.ProcessState.ExitCode(), said: failureReason(errs.String()), stderr: errs.String()}
	}
	return nil, false, fmt.Errorf("run git %s: %w", c.args[0], err)
}

// bounded keeps the first bytes that are written to it, and then refuses more.
type bounded struct {
	text  []byte
	limit int
	full  bool
}

var errFull = errors.New("the limit is reached")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - len(b.text)
	if len(p) <= room {
		b.text = append(b.text, p...)
		return len(p), nil
	}
	b.text, b.full = append(b.text, p[:room]...), true
	return room, errFull
}

// FilesToWatch returns the files that git touches whenever the working tree at dir gets a
// commit, a branch or another index: their folder and their names. Commands that only read
// touch none of them.
func FilesToWatch(dir string) (folder string, names []string, err error) {
	l, err := layoutOf(dir)
	// A commit moves the branch, which is stored elsewhere, and locks HEAD while it does so.
	return l.git, []string{"HEAD", "HEAD.lock", "index"}, err
}
