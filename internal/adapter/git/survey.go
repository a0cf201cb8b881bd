package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A survey describes what a worktree holds that clearing it would lose.
type survey struct {
	head     string // commit; "" if there is none yet
	branch   string // "" if HEAD is detached
	headTree string
	tree     string   // tree of the files as they are
	work     []string // differences between the files and HEAD
	// The tree of what is staged, if it is neither that of HEAD nor that of the files.
	stagedTree string
	staged     []string
	detached   bool    // HEAD reaches commits that are on no branch
	extras     []extra // further commits that nothing else reaches
}

// An extra is a commit that an operation in progress holds.
type extra struct{ what, commit string }

func (s *survey) isEmpty() bool {
	return len(s.work) == 0 && len(s.staged) == 0 && !s.detached && len(s.extras) == 0
}

// checkWorksOnDir returns an error unless git, when it runs in dir, works on dir and on nothing
// else.
func (g *Git) checkWorksOnDir(ctx context.Context, dir string) error {
	if err := checkIntact(dir); err != nil {
		return err
	}
	return g.checkTopFolder(ctx, dir)
}

// checkTopFolder returns an error if a setting, core.worktree, leads git in dir to the files of another folder.
func (g *Git) checkTopFolder(ctx context.Context, dir string) error {
	top, err := g.run(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("find the working tree of %s: %w", dir, err)
	}
	if samePlace(top, dir) {
		return nil
	}
	origin, err := g.run(ctx, dir, "config", "--show-origin", "-z", "--get", "core.worktree")
	file, _, ok := strings.Cut(strings.TrimPrefix(origin, "file:"), "\x00")
	if err != nil || !ok {
		return fmt.Errorf("git works on %s instead of %s: remove what leads it there", top, dir)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return fmt.Errorf("git works on %s instead of %s: run git config --file %s --unset core.worktree", top, dir, makePrintable(file))
}

func (g *Git) surveyWorktree(ctx context.Context, dir string, known index) (survey, error) {
	l, err := layoutOf(dir)
	if err != nil {
		return survey{}, err
	}
	if err := checkIndexUnlocked(l.git); err != nil {
		return survey{}, err
	}
	var s survey
	if s.head, s.branch, err = g.Head(dir); err != nil {
		return survey{}, err
	}
	if s.headTree, err = g.treeOf(ctx, dir, s.head); err != nil {
		return survey{}, err
	}
	if err := g.snapshotFiles(ctx, dir, l, known, &s); err != nil {
		// The cause may be a repository that has no commit to refer to.
		return survey{}, cmp.Or(g.noneNested(ctx, dir, l), err)
	}
	if slices.ContainsFunc(s.work, newRepository) {
		if err := g.noneNested(ctx, dir, l); err != nil {
			return survey{}, err
		}
	}
	if s.head != "" && s.branch == "" {
		if s.detached, err = g.isUnreachable(ctx, dir, s.head); err != nil {
			return survey{}, err
		}
	}
	s.extras, err = g.unfinishedCommits(ctx, dir, l)
	return s, err
}

// newRepository reports whether a difference is a repository where none was before.
func newRepository(difference string) bool {
	fields := strings.Fields(difference) // :<old mode> <new mode> ...
	return len(fields) > 1 && fields[1] == gitlink && fields[0] != ":"+gitlink
}

// treeOf returns the tree of a commit, or the empty tree if commit is "".
func (g *Git) treeOf(ctx context.Context, dir, commit string) (string, error) {
	if commit == "" {
		return g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"hash-object", "-t", "tree", "-w", "/dev/null"}})
	}
	return g.run(ctx, dir, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
}

// surveyGone is survey for a worktree whose folder no longer exists: its index and what its
// administrative folder reaches remain. Git runs in dir, another working tree.
func (g *Git) surveyGone(ctx context.Context, dir string, l layout) (survey, error) {
	var s survey
	ask := func(args ...string) (string, error) {
		out, err := g.inGitDir(ctx, l.git, args...)
		if exitCode(err) == 1 {
			return "", nil
		}
		return out, err
	}
	var err error
	if s.head, err = ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return survey{}, err
	}
	if s.branch, err = ask("symbolic-ref", "--quiet", "--short", "HEAD"); err != nil {
		return survey{}, err
	}
	if s.headTree, err = g.treeOf(ctx, dir, s.head); err != nil {
		return survey{}, err
	}
	s.tree = s.headTree
	if pathExists(l.git, "index") {
		if s.tree, err = g.stagedTree(ctx, l.git, []string{"GIT_DIR=" + l.git, "GIT_WORK_TREE=" + l.git}); err != nil {
			return survey{}, err
		}
	}
	if s.work, err = g.treeDifferences(ctx, dir, s.headTree, s.tree); err != nil {
		return survey{}, err
	}
	if s.head != "" && s.branch == "" {
		if s.detached, err = g.isUnreachable(ctx, dir, s.head); err != nil {
			return survey{}, err
		}
	}
	s.extras, err = g.unfinishedCommits(ctx, dir, l)
	return s, err
}

func (g *Git) isUnreachable(ctx context.Context, dir, commit string) (bool, error) {
	out, err := g.run(ctx, dir, append([]string{"rev-list", "--max-count=1", commit, "--not"}, everyRef[:]...)...)
	return out != "", err
}

// snapshotFiles writes the files of a worktree into the repository. It uses a separate index,
// so that the worktree's index stays as it is.
func (g *Git) snapshotFiles(ctx context.Context, dir string, l layout, known index, s *survey) error {
	file := filepath.Join(l.git, "orange-index")
	if err := copyIndex(filepath.Join(l.git, "index"), file); err != nil {
		return fmt.Errorf("copy the index of %s: %w", dir, err)
	}
	defer func() { _ = os.Remove(file) }()
	env := []string{"GIT_INDEX_FILE=" + file}
	settings := slices.Concat(quietConfig[:], []string{"core.safecrlf=false", "add.ignoreErrors=false"})
	inside, err := g.submoduleDirs(ctx, known)
	if err != nil {
		return err
	}
	with := func(args ...string) (string, error) {
		return g.runCall(ctx, call{dir: dir, config: settings, args: args, env: env, timeout: checkoutTimeout, inside: inside})
	}
	if err := g.clearHiddenMarks(ctx, dir, known, env); err != nil {
		return err
	}
	staged, err := g.stagedTree(ctx, dir, env)
	if err == nil {
		_, err = with("add", "--all", "--sparse")
	}
	if err == nil {
		s.tree, err = with("write-tree")
	}
	if err == nil {
		s.work, err = g.treeDifferences(ctx, dir, s.headTree, s.tree)
	}
	if err != nil {
		return err
	}
	return g.compareStaged(ctx, dir, staged, s)
}

// stagedTree returns the tree of an index. For a file with conflicts it contains our side.
func (g *Git) stagedTree(ctx context.Context, dir string, env []string) (string, error) {
	tree, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"write-tree"}, env: env, timeout: checkoutTimeout})
	if exitCode(err) <= 0 {
		return tree, err
	}
	out, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"ls-files", "--stage", "-z"}, env: env})
	if err != nil {
		return "", err
	}
	input := ""
	for _, item := range splitNulTerminated(out) {
		about, name, _ := strings.Cut(item, "\t")
		if fields := strings.Fields(about); len(fields) == 3 && (fields[2] == "0" || fields[2] == "2") {
			input += fields[0] + " " + fields[1] + " 0\t" + name + "\x00"
		}
	}
	folder, err := os.MkdirTemp("", "orange-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	env = append(slices.Clone(env), "GIT_INDEX_FILE="+filepath.Join(folder, "index"))
	if input != "" {
		if _, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"update-index", "-z", "--index-info"}, env: env, input: input}); err != nil {
			return "", err
		}
	}
	return g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"write-tree"}, env: env})
}

// compareStaged finds what is staged and no longer in the files.
func (g *Git) compareStaged(ctx context.Context, dir, tree string, s *survey) error {
	list, err := g.treeDifferences(ctx, dir, s.headTree, tree)
	if err != nil {
		return err
	}
	inFiles := make(map[string]bool, len(s.work))
	for _, d := range s.work {
		inFiles[d] = true
	}
	list = slices.DeleteFunc(list, func(d string) bool { return inFiles[d] })
	if len(list) > 0 {
		s.stagedTree, s.staged = tree, list
	}
	return nil
}

// copyIndex copies an index with its modification time: git compares the times of files with
// that of the index to decide which files it must read.
func copyIndex(from, to string) error {
	for _, old := range [...]string{to, to + ".lock"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// treeDifferences lists how one tree differs from another: mode, object and name of each file.
func (g *Git) treeDifferences(ctx context.Context, dir, from, to string) ([]string, error) {
	if from == to {
		return nil, nil
	}
	out, err := g.runCall(ctx, call{dir: dir, args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to}, timeout: checkoutTimeout})
	if err != nil {
		return nil, err
	}
	var list []string
	items := strings.Split(out, "\x00")
	for i := 0; i+1 < len(items); i += 2 {
		list = append(list, items[i]+"\t"+items[i+1])
	}
	return list, nil
}
