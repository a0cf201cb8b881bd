package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// salvageRefs is the ref namespace of salvaged work: a folder per name, with refs numbered from
// 1.
const salvageRefs = "refs/orange/salvage/"

// everyRef are the refs that keep a commit reachable.
var everyRef = [...]string{"--branches", "--tags", "--remotes", "--glob=refs/orange/*"}

// anyRef stands for all refs of a repository. It is not --all, which also reads the HEAD of
// every worktree: that is a bad object while git worktree add creates one.
const anyRef = "--glob=refs/*"

// A Salvage is work that was saved before a worktree was cleared.
type Salvage struct {
	Ref        string      // refs/orange/salvage/<task>/<number>
	Commit     string      // the commit of the ref
	Task       string      // the task that the work belongs to
	Time       time.Time   // when it was saved
	Files      []string    // the files that differ from the commit it is based on
	Staged     string      // the commit of what was staged, if the files differ from that
	Submodules []Submodule // saved work of submodules
}

// ListSalvages lists the salvaged work of root's repository, oldest first.
func (g *Git) ListSalvages(ctx context.Context, root string) ([]Salvage, error) {
	out, err := g.run(ctx, root, "for-each-ref", "--sort=committerdate", "--format=%(refname) %(objectname) %(committerdate:unix)", salvageRefs)
	if err != nil {
		return nil, fmt.Errorf("list the salvaged work of %s: %w", root, err)
	}
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return nil, err
	}
	var list []Salvage
	for line := range strings.SplitSeq(out, "\n") {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		seconds, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			continue
		}
		s := Salvage{Ref: fields[0], Commit: fields[1], Time: time.Unix(seconds, 0).UTC()}
		s.Task, _, _ = strings.Cut(strings.TrimPrefix(s.Ref, salvageRefs), "/")
		if s.Files, err = g.salvagedFiles(ctx, root, s.Ref); err != nil {
			return nil, err
		}
		message, err := g.run(ctx, root, "log", "-1", "--format=%B", s.Commit)
		if err != nil {
			return nil, fmt.Errorf("read what %s holds: %w", s.Ref, err)
		}
		s.Staged, s.Submodules = readNotes(message, orangeDir(common))
		list = append(list, s)
	}
	return list, nil
}

// Lines of a salvage's message that describe what else it holds. They name the repository that
// keeps a submodule by its path in Orange's folder, because the project may be moved.
const (
	stagedNote    = "Staged: %s"
	submoduleNote = "Submodule %q: %s in %q"
)

func readNotes(message, folder string) (staged string, submodules []Submodule) {
	for line := range strings.SplitSeq(message, "\n") {
		var s Submodule
		var in string
		if _, err := fmt.Sscanf(line, submoduleNote, &s.Path, &s.Ref, &in); err == nil {
			s.Repository = filepath.Join(folder, in)
			submodules = append(submodules, s)
			continue
		}
		_, _ = fmt.Sscanf(line, stagedNote, &staged)
	}
	return staged, submodules
}

func (g *Git) salvagedFiles(ctx context.Context, root, ref string) ([]string, error) {
	base, err := g.resolveRevision(ctx, root, ref+"^1")
	if err != nil {
		return nil, err
	}
	if base == "" {
		out, err := g.run(ctx, root, "ls-tree", "-r", "-z", "--name-only", ref)
		return splitNulTerminated(out), err
	}
	out, err := g.run(ctx, root, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, ref)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", ref, err)
	}
	return splitNulTerminated(out), nil
}

// SalvageWork saves what would be lost if the worktree at dir were cleared or removed: changes
// of tracked files, staged changes, untracked files that are not ignored, commits that are on
// no branch, and commits of a merge or rebase in progress; and all of these in submodules, with
// the submodules' commits that no remote has. It returns the ref that holds the work, which may
// be an earlier one, or "" if there is nothing to save. It does not change the worktree.
func (g *Git) SalvageWork(ctx context.Context, dir, name string) (string, error) {
	if err := g.checkWorksOnDir(ctx, dir); err != nil {
		return "", err
	}
	ref, err := g.salvageWork(ctx, dir, name)
	if err != nil {
		return "", fmt.Errorf("save the work in %s, nothing was cleared: %w", dir, err)
	}
	return ref, nil
}

func (g *Git) salvageWork(ctx context.Context, dir, name string) (string, error) {
	l, err := layoutOf(dir)
	if err != nil {
		return "", err
	}
	known, err := g.readIndex(ctx, dir)
	if err != nil {
		return "", err
	}
	notes, err := g.salvageInside(ctx, known, l, name)
	if err != nil {
		return "", err
	}
	submodules, err := g.keepModules(ctx, l, dir, name, false)
	if err != nil {
		return "", err
	}
	s, err := g.surveyWorktree(ctx, dir, known)
	if err != nil {
		return "", err
	}
	return g.keepSurvey(ctx, dir, name, s, append(notes, submoduleNotes(submodules, l.common)...))
}

// UnsavedWork lists what SalvageWork would save, by file and submodule.
func (g *Git) UnsavedWork(ctx context.Context, dir string) ([]string, error) {
	if err := g.checkWorksOnDir(ctx, dir); err != nil {
		return nil, err
	}
	l, err := layoutOf(dir)
	if err != nil {
		return nil, err
	}
	list, err := g.unsavedWork(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	submodules, err := g.keepModules(ctx, l, dir, "", true)
	for _, s := range submodules {
		list = append(list, "commits of submodule "+makePrintable(s.Path))
	}
	slices.Sort(list)
	return slices.Compact(list), err
}

func (g *Git) unsavedWork(ctx context.Context, dir, prefix string) ([]string, error) {
	known, err := g.readIndex(ctx, dir)
	if err != nil {
		return nil, err
	}
	s, err := g.surveyWorktree(ctx, dir, known)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, difference := range slices.Concat(s.work, s.staged) {
		_, file, _ := strings.Cut(difference, "\t")
		list = append(list, makePrintable(prefix+file))
	}
	if (s.detached || len(s.extras) > 0) && prefix == "" {
		list = append(list, "commits on no branch")
	}
	for _, sub := range known.submodules {
		inner, err := g.unsavedWork(ctx, sub.dir, prefix+sub.name+"/")
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		list = append(list, inner...)
	}
	return list, nil
}

// salvageInside saves, in each submodule's own repository, the work that is in no commit. It
// returns notes about work saved in repositories that the removal of the worktree leaves alone,
// because they are among its files.
func (g *Git) salvageInside(ctx context.Context, known index, l layout, name string) (notes []string, err error) {
	for _, sub := range known.submodules {
		inner, err := layoutOf(sub.dir)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		within := isWithin(l.git, inner.git)
		nested, err := g.readIndex(ctx, sub.dir)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		deep, err := g.salvageInside(ctx, nested, inner, name)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		s, err := g.surveyWorktree(ctx, sub.dir, nested)
		ref := ""
		if err == nil {
			ref, err = g.keepSurvey(ctx, sub.dir, name, s, deep)
		}
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		if ref != "" && !within {
			notes = append(notes, fmt.Sprintf("In the repository of submodule %s: %s", sub.name, ref))
		}
	}
	return notes, nil
}

func submoduleNotes(list []Submodule, common string) (notes []string) {
	for _, s := range list {
		in, err := filepath.Rel(orangeDir(common), s.Repository)
		if err != nil {
			in = s.Repository
		}
		notes = append(notes, fmt.Sprintf(submoduleNote, s.Path, s.Ref, in))
	}
	return notes
}

// keepSurvey saves what a survey has found, unless the newest salvage for name contains all of
// it.
func (g *Git) keepSurvey(ctx context.Context, dir, name string, s survey, notes []string) (string, error) {
	if s.isEmpty() && len(notes) == 0 {
		return "", nil
	}
	last, err := g.lastKept(ctx, dir, name)
	if err != nil {
		return "", err
	}
	if last != "" {
		covered, err := g.coversSurvey(ctx, dir, last, s, notes)
		if covered || err != nil {
			return last, err
		}
	}
	commit, err := g.commitSurvey(ctx, dir, name, s, notes)
	if err != nil {
		return "", err
	}
	return g.writeSalvageRef(ctx, dir, name, commit)
}

func salvageMessage(name string, s survey, notes []string) string {
	text := "work of " + name + ", kept before its workspace was cleared\n\n" +
		"The files as they were are in this commit; its first parent is the commit they were changed from.\n" +
		"git restore --source=<this commit> -- <files> brings them back. What is kept of a submodule is\n" +
		"below the folder orange of the git folder: git -C <submodule> fetch <folder> <ref>.\n"
	if s.branch != "" {
		text += "\nBranch: " + s.branch + "\n"
	}
	for _, extra := range s.extras {
		text += "\n" + extra.what + ": " + extra.commit + "\n"
	}
	for _, note := range notes {
		text += "\n" + note + "\n"
	}
	return text
}

// commitSurvey creates the commit that reaches everything a survey has found. It runs no hooks
// and signs nothing.
func (g *Git) commitSurvey(ctx context.Context, dir, name string, s survey, notes []string) (string, error) {
	env := g.identityEnv(ctx, dir)
	var parents []string
	if s.head != "" {
		parents = append(parents, s.head)
	}
	if s.stagedTree != "" {
		staged, err := g.commitTree(ctx, dir, s.stagedTree, parents, "what was staged\n", env)
		if err != nil {
			return "", err
		}
		parents = append(parents, staged)
		notes = append(slices.Clone(notes), fmt.Sprintf(stagedNote, staged))
	}
	for _, extra := range s.extras {
		if !slices.Contains(parents, extra.commit) {
			parents = append(parents, extra.commit)
		}
	}
	return g.commitTree(ctx, dir, s.tree, parents, salvageMessage(name, s, notes), env)
}

func (g *Git) commitTree(ctx context.Context, dir, tree string, parents []string, message string, env []string) (string, error) {
	args := []string{"commit-tree", "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: append(args, tree), env: env, input: message})
}

// writeSalvageRef creates the next salvage ref for name. It passes over a number whose ref is
// locked: the lock may be one that a killed git has left.
func (g *Git) writeSalvageRef(ctx context.Context, dir, name, commit string) (string, error) {
	for locked := 0; ; {
		numbers, err := g.keptNumbers(ctx, dir, name)
		if err != nil {
			return "", err
		}
		next := locked + 1
		if len(numbers) > 0 {
			next = max(next, slices.Max(numbers)+1)
		}
		ref := salvageRefs + name + "/" + strconv.Itoa(next)
		_, err = g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"update-ref", "--stdin"}, input: "create " + ref + " " + commit + "\n"})
		if err == nil {
			return ref, nil
		}
		var lock *LockError
		if errors.As(err, &lock) && strings.HasSuffix(lock.Path, "/"+ref+".lock") {
			locked = next
			continue
		}
		if after, listErr := g.keptNumbers(ctx, dir, name); listErr != nil || !slices.Contains(after, next) {
			return "", err
		} // another process has created it in the meantime: use the next number
	}
}

func (g *Git) keptNumbers(ctx context.Context, dir, name string) ([]int, error) {
	if !validBranch(name) || strings.Contains(name, "/") {
		return nil, fmt.Errorf("salvage for %q: this is not the name of a task", name)
	}
	out, err := g.run(ctx, dir, "for-each-ref", "--format=%(refname)", salvageRefs+name+"/")
	if err != nil {
		return nil, err
	}
	var numbers []int
	for line := range strings.SplitSeq(out, "\n") {
		if n, err := strconv.Atoi(strings.TrimPrefix(line, salvageRefs+name+"/")); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

// lastKept returns the newest salvage ref for name, or "" if there is none.
func (g *Git) lastKept(ctx context.Context, dir, name string) (string, error) {
	numbers, err := g.keptNumbers(ctx, dir, name)
	if err != nil || len(numbers) == 0 {
		return "", err
	}
	return salvageRefs + name + "/" + strconv.Itoa(slices.Max(numbers)), nil
}

// coversSurvey reports whether a salvage ref reaches everything that a survey has found, and
// contains the notes.
func (g *Git) coversSurvey(ctx context.Context, dir, ref string, s survey, notes []string) (bool, error) {
	if len(notes) > 0 {
		message, err := g.run(ctx, dir, "log", "-1", "--format=%B", ref)
		lines := strings.Split(message, "\n")
		missing := func(note string) bool { return !slices.Contains(lines, note) }
		if err != nil || slices.ContainsFunc(notes, missing) {
			return false, err
		}
	}
	if s.isEmpty() {
		return true, nil
	}
	out, err := g.run(ctx, dir, "rev-list", "--max-count=1", "--parents", ref)
	if err != nil {
		return false, err
	}
	commits := strings.Fields(out) // the commit, then its parents
	parents := commits[1:]
	if s.head != "" && (len(parents) == 0 || parents[0] != s.head) {
		return false, nil
	}
	kept := map[string]bool{}
	for _, commit := range commits {
		if commit == s.head {
			continue
		}
		list, err := g.treeDifferences(ctx, dir, s.headTree, commit+"^{tree}")
		if err != nil {
			return false, err
		}
		for _, d := range list {
			kept[d] = true
		}
	}
	missing := func(d string) bool { return !kept[d] }
	lostExtra := func(e extra) bool { return !slices.Contains(parents, e.commit) }
	return !slices.ContainsFunc(slices.Concat(s.work, s.staged), missing) && !slices.ContainsFunc(s.extras, lostExtra), nil
}
