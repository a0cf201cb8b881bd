package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/view/humanize"
)

// treeEntry is a file in a tree or an index. The zero value means that there is no file.
type treeEntry struct{ mode, object string }

// pathChange is a file in which two commits differ.
type pathChange struct {
	name     string
	old, new treeEntry
}

// indexEntry is a file in the index of a checkout.
type indexEntry struct {
	treeEntry
	unmerged bool
	assumed  bool // git does not check it for changes
	skipped  bool // it is outside a sparse checkout
}

// landingState is the situation after a landing, once everything that belongs to the landing
// agrees with the branch.
type landingState struct {
	tip           string   // commit of the target
	dir           string   // the checkout; "" if there is none
	repaired      []string // files that were repaired
	foreign       []string // files that someone else has changed in the meantime
	branchChanged bool     // the checkout is no longer on the target: nothing was touched
}

// describeOutcome returns a phrase for whether the landing took place.
func (s *landingState) describeOutcome(rec *landRecord) string {
	switch s.tip {
	case rec.Old:
		return "nothing was changed"
	case rec.New:
		return "is complete"
	}
	return fmt.Sprintf("%s is at %.12s now", rec.Target, s.tip)
}

// describeRepairs returns a phrase for what was done to the checkout.
func (s *landingState) describeRepairs() string {
	text := ""
	if len(s.repaired) > 0 {
		text += fmt.Sprintf("; repaired in %s: %s", s.dir, someNames(s.repaired))
	}
	if len(s.foreign) > 0 {
		text += fmt.Sprintf("; left as it is in %s: %s", s.dir, someNames(s.foreign))
	}
	return text
}

// someNames returns the first few names as a list.
func someNames(list []string) string {
	return makePrintable(humanize.FirstFew(list, 10))
}

// checkWay returns an error, before a landing, if the user has changes in the files that the
// landing will write. Git overwrites some of them silently, such as a file that is deleted and
// not staged. It returns the files whose index entries already are what the landing brings: git
// leaves those alone.
func (g *Git) checkWay(ctx context.Context, rec *landRecord, changes []pathChange) (staged []string, err error) {
	dir := rec.Checkout
	index, dirty, err := g.indexState(ctx, dir, changes)
	if err != nil {
		return nil, err
	}
	var blocked []string
	var assumed []pathChange
	for _, c := range changes {
		i := index[c.name]
		switch {
		case i.unmerged:
			blocked = append(blocked, c.name)
		case i.treeEntry == c.new:
			staged = append(staged, c.name)
		case i.treeEntry != c.old, dirty[c.name] && !i.skipped && c.old.mode != gitlink:
			blocked = append(blocked, c.name)
		case c.old == treeEntry{} && fileThere(dir, c.name):
			blocked = append(blocked, c.name)
		case i.assumed && !i.skipped:
			assumed = append(assumed, c)
		}
	}
	if len(assumed) > 0 {
		differs, err := g.differingFiles(ctx, dir, assumed, func(c pathChange) treeEntry { return c.old })
		if err != nil {
			return nil, err
		}
		for _, c := range assumed {
			if differs[c.name] {
				blocked = append(blocked, c.name)
			}
		}
	}
	announced, err := g.announcedFiles(ctx, rec, staged, index)
	if err != nil {
		return nil, err
	}
	if blocked = append(blocked, announced...); len(blocked) > 0 {
		return nil, blockedBy(rec, blocked)
	}
	return staged, nil
}

// announcedFiles returns those of the staged files that the user has only announced to git (git add
// -N). Their entry looks like an empty file, but git does not commit it, and a landing would leave it
// behind. Git does not list them if it compares the index with a commit and is told to ignore them.
func (g *Git) announcedFiles(ctx context.Context, rec *landRecord, staged []string, index map[string]indexEntry) ([]string, error) {
	entries := slices.DeleteFunc(slices.Clone(staged), func(name string) bool {
		return index[name].treeEntry == treeEntry{} || index[name].mode == gitlink
	})
	if len(entries) == 0 {
		return nil, nil
	}
	out, err := g.runQuietly(ctx, rec.Checkout, "diff-index", "--cached", "--ita-invisible-in-index", "--no-renames", "--diff-filter=d", "--name-only", "-z", rec.Old)
	if err != nil {
		return nil, fmt.Errorf("compare the index of %s with %.12s: %w", rec.Checkout, rec.Old, err)
	}
	listed := map[string]bool{}
	for _, name := range splitNulTerminated(out) {
		listed[name] = true
	}
	return slices.DeleteFunc(entries, func(name string) bool { return listed[name] }), nil
}

// settleLanding checks the branch, the index and the files after a landing. If git may have left
// them unfinished, settleLanding changes index and file to what the branch contains where they
// are exactly what one of the landing's two commits contains, or a truncated beginning of it.
// Everything else belongs to someone else and stays.
func (g *Git) settleLanding(ctx context.Context, root string, rec *landRecord) (landingState, error) {
	tip, err := g.BranchTip(ctx, root, rec.Target)
	s := landingState{tip: tip}
	if err != nil || tip == "" {
		return s, err
	}
	dir := rec.Checkout
	if dir == "" { // it may have been checked out just now
		list, err := g.checkoutsOf(ctx, root, rec.Target)
		list = slices.DeleteFunc(list, func(c checkout) bool { return c.busy != "" || c.gone })
		if err != nil || len(list) == 0 {
			return s, err
		}
		dir = list[0].path
	}
	s.dir = dir
	if _, branch, err := g.Head(dir); err != nil || branch != rec.Target {
		s.branchChanged = true
		if err == nil && rec.Checkout != "" {
			return s, g.takeBack(ctx, rec, branch)
		}
		return s, nil //nolint:nilerr // the checkout is gone
	}
	if operation, err := operationIn(dir); err != nil || operation != "" {
		s.branchChanged = true
		return s, err
	}
	l, err := layoutOf(dir)
	if err != nil {
		return s, err
	}
	lock := filepath.Join(l.git, "index.lock")
	if rec.Checkout == "" || !isLeftLock(lock, rec.written) {
		lock = ""
	}
	unfinished, err := g.isUnfinished(ctx, rec, &s, lock != "")
	if err != nil {
		return s, err
	}
	wrong, want, index, err := g.wrongFiles(ctx, rec, &s)
	if err != nil {
		return s, err
	}
	if !unfinished {
		s.foreign = namesOf(wrong)
		return s, nil
	}
	if err := g.checkFilters(ctx, dir, tip, wrong); err != nil {
		return s, fmt.Errorf("repair %s in %s: %w", someNames(namesOf(wrong)), dir, err)
	}
	if lock != "" {
		if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
	}
	if len(wrong) == 0 {
		return s, nil
	}
	if err := checkIndexUnlocked(l.git); err != nil {
		return s, err
	}
	if wrong, err = g.ownChanges(ctx, dir, wrong, index, &s); err != nil || len(wrong) == 0 {
		return s, err
	}
	if err := rec.keepIndexVersion(dir); err != nil {
		return s, err
	}
	if err := g.repairCheckout(ctx, dir, wrong, want, index); err != nil {
		return s, fmt.Errorf("repair %s in %s: %w", someNames(s.repaired), dir, err)
	}
	return s, nil
}

// reflogAction returns what the reflog says of the merge of a landing, before ": Fast-forward".
func reflogAction(l *Landing) string { return "orange: merge " + l.What + " into " + l.Target }

// takeBack moves a branch back that a user had switched to in the checkout of a landing just before git merged there, so that
// git brought the landing into it. branch is "" for a detached HEAD. Only git's record of its last move counts: where
// reflogs are switched off, the branch stays as git left it.
func (g *Git) takeBack(ctx context.Context, rec *landRecord, branch string) error {
	name := "HEAD"
	if branch != "" {
		name = heads + branch
	}
	out, err := g.run(ctx, rec.Checkout, "log", "--walk-reflogs", "--max-count=2", "--format=%H %gs", name, "--")
	if err != nil { // it has no commit
		return nil //nolint:nilerr // so git did not move it
	}
	lines := strings.Split(out, "\n")
	if len(lines) < 2 || lines[0] != rec.New+" "+reflogAction(&rec.Landing)+": Fast-forward" {
		return nil
	}
	before, _, _ := strings.Cut(lines[1], " ")
	if tip, err := g.resolveRevision(ctx, rec.Checkout, name); err != nil || tip != rec.New {
		return err
	}
	if _, err := g.run(ctx, rec.Checkout, "reset", "--quiet", "--keep", before); err != nil {
		return fmt.Errorf("the work was merged into %s, to which %s was switched at the same time: %w: move it back with git -C %s reset --keep %.12s",
			makePrintable(cmp.Or(branch, "a detached HEAD")), rec.Checkout, err, rec.Checkout, before)
	}
	return nil
}

// wrongFiles lists the files of a landing that do not agree with the branch, in the index or in the
// checkout. It also returns what the branch and the index contain for the landing's files.
func (g *Git) wrongFiles(ctx context.Context, rec *landRecord, s *landingState) (wrong []pathChange, want map[string]treeEntry, index map[string]indexEntry, err error) {
	changes, err := g.pathChanges(ctx, s.dir, rec.Old, rec.New)
	if err != nil {
		return nil, nil, nil, err
	}
	want, err = g.wantedEntries(ctx, s.dir, rec, s.tip, changes)
	if err != nil {
		return nil, nil, nil, err
	}
	index, dirty, err := g.indexState(ctx, s.dir, changes)
	if err != nil {
		return nil, nil, nil, err
	}
	wrong = slices.DeleteFunc(changes, func(c pathChange) bool {
		i := index[c.name]
		if slices.Contains(rec.Staged, c.name) || i.skipped {
			return true
		}
		file := c.old.mode == gitlink || c.new.mode == gitlink || !dirty[c.name] && (want[c.name] != treeEntry{} || !fileThere(s.dir, c.name))
		return i.treeEntry == want[c.name] && !i.unmerged && file
	})
	return wrong, want, index, nil
}

// isUnfinished reports whether a checkout may contain something that git left unfinished; leftLock
// says that there is an index.lock of the landing. Git writes the files first, then the index, and
// moves the branch last. So once the branch contains the landing, what differs in its checkout came
// later and is the user's, even if git still runs a hook. Only a crash of the machine may lose files
// and an index that git wrote before the branch.
//
// If the branch did not move, what differs may still be the user's, for example a squash that the user
// made by hand after the landing was killed. It is the landing's only while the index is as it was
// before the landing, or git's index.lock is there: until then nobody else can have written the index.
// A git that was killed after it wrote the index, and before it moved the branch, looks like that
// squash. What it left stays, staged, and is no obstacle when the same branch lands again.
func (g *Git) isUnfinished(ctx context.Context, rec *landRecord, s *landingState, leftLock bool) (bool, error) {
	wrote := rec.Checkout != ""
	if boot := bootID(); rec.Boot != "" && boot != "" && rec.Boot != boot {
		return wrote, nil
	}
	landed, err := g.historyContains(ctx, s.dir, s.tip, rec.New)
	switch {
	case err != nil:
		return false, err
	case rec.ran: // what the landing did not write is wrong if the target was checked out just now
		return !wrote || !landed, nil
	case !wrote || landed:
		return false, nil
	case leftLock:
		return true, nil
	}
	now, err := indexVersion(s.dir)
	return rec.Index != "" && now == rec.Index, err
}

// indexVersion identifies the present version of the index of a checkout.
func indexVersion(dir string) (string, error) {
	l, err := layoutOf(dir)
	return fmt.Sprint(statOf(filepath.Join(l.git, "index"))), err
}

// keepIndexVersion records that the index of the checkout, as it is now, is the landing's, so that a
// repair that breaks off is completed later.
func (rec *landRecord) keepIndexVersion(dir string) error {
	now, err := indexVersion(dir)
	if err != nil || now == rec.Index {
		return err
	}
	rec.Index = now
	return rec.held.writeRecord(rec)
}

// pathChanges lists the files in which two commits differ.
func (g *Git) pathChanges(ctx context.Context, dir, old, new string) ([]pathChange, error) {
	out, err := g.run(ctx, dir, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", old, new, err)
	}
	var list []pathChange
	fields := splitNulTerminated(out)
	for i := 0; i+1 < len(fields); i += 2 {
		about := strings.Fields(strings.TrimPrefix(fields[i], ":")) // modes, objects, what happened
		if len(about) != 5 {
			return nil, fmt.Errorf("compare %.12s with %.12s: git printed %q", old, new, makePrintable(fields[i]))
		}
		list = append(list, pathChange{name: fields[i+1], old: entryOf(about[0], about[2]), new: entryOf(about[1], about[3])})
	}
	return list, nil
}

func namesOf(changes []pathChange) (names []string) {
	for _, c := range changes {
		names = append(names, c.name)
	}
	return names
}

func entryOf(mode, object string) treeEntry {
	if strings.Trim(mode, "0") == "" {
		return treeEntry{}
	}
	return treeEntry{mode: mode, object: object}
}

// wantedEntries returns what the branch contains for the files of a landing.
func (g *Git) wantedEntries(ctx context.Context, dir string, rec *landRecord, tip string, changes []pathChange) (map[string]treeEntry, error) {
	want := make(map[string]treeEntry, len(changes))
	for _, c := range changes {
		want[c.name] = c.new
		if tip == rec.Old {
			want[c.name] = c.old
		}
	}
	if tip == rec.Old || tip == rec.New {
		return want, nil
	}
	more, err := g.pathChanges(ctx, dir, rec.New, tip)
	for _, c := range more {
		if _, ours := want[c.name]; ours {
			want[c.name] = c.new
		}
	}
	return want, err
}

// indexState returns the index entries of files, and which of the files git finds changed.
func (g *Git) indexState(ctx context.Context, dir string, changes []pathChange) (index map[string]indexEntry, dirty map[string]bool, err error) {
	index, dirty = make(map[string]indexEntry, len(changes)), map[string]bool{}
	for _, c := range changes {
		index[c.name] = indexEntry{}
	}
	out, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"ls-files", "-v", "--stage", "-z"}, timeout: checkoutTimeout})
	if err != nil {
		return nil, nil, fmt.Errorf("read the index of %s: %w", dir, err)
	}
	for _, item := range splitNulTerminated(out) {
		about, name, _ := strings.Cut(item, "\t")
		fields := strings.Fields(about) // mark, mode, object, stage
		if _, asked := index[name]; !asked || len(fields) != 4 {
			continue
		}
		index[name] = indexEntry{
			treeEntry: treeEntry{mode: fields[1], object: fields[2]}, unmerged: fields[3] != "0",
			assumed: fields[0] == strings.ToLower(fields[0]), skipped: strings.EqualFold(fields[0], "S"),
		}
	}
	out, err = g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"ls-files", "--modified", "-z"}, timeout: checkoutTimeout})
	if err != nil {
		return nil, nil, fmt.Errorf("compare the files of %s with its index: %w", dir, err)
	}
	for _, name := range splitNulTerminated(out) {
		dirty[name] = true
	}
	return index, dirty, nil
}

// differingFiles lists the files that differ from the entries. Git compares them through a
// separate index, with the filters of the repository.
func (g *Git) differingFiles(ctx context.Context, dir string, changes []pathChange, entry func(pathChange) treeEntry) (map[string]bool, error) {
	differs := map[string]bool{}
	var input strings.Builder
	for _, c := range changes {
		if e := entry(c); e != (treeEntry{}) {
			fmt.Fprintf(&input, "%s %s\t%s\x00", e.mode, e.object, c.name)
		} else if fileThere(dir, c.name) {
			differs[c.name] = true
		}
	}
	if input.Len() == 0 {
		return differs, nil
	}
	temp, err := os.MkdirTemp("", "orange-index")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // a temporary folder
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(temp, "index")}
	if _, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"update-index", "-z", "--index-info"}, env: env, input: input.String()}); err != nil {
		return nil, err
	}
	out, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"ls-files", "--modified", "-z"}, env: env, timeout: checkoutTimeout})
	for _, name := range splitNulTerminated(out) {
		differs[name] = true
	}
	return differs, err
}

// ownChanges splits the files that do not agree with the branch: it returns those that the
// landing wrote and records the others in s.foreign.
func (g *Git) ownChanges(ctx context.Context, dir string, wrong []pathChange, index map[string]indexEntry, s *landingState) ([]pathChange, error) {
	notOld, err := g.differingFiles(ctx, dir, wrong, func(c pathChange) treeEntry { return c.old })
	if err != nil {
		return nil, err
	}
	notNew, err := g.differingFiles(ctx, dir, wrong, func(c pathChange) treeEntry { return c.new })
	if err != nil {
		return nil, err
	}
	var own []pathChange
	for _, c := range wrong {
		i := index[c.name]
		known := !notOld[c.name] || !notNew[c.name] || !fileThere(dir, c.name) || g.cutOff(ctx, dir, c)
		if !i.unmerged && (i.treeEntry == c.old || i.treeEntry == c.new) && known {
			own = append(own, c)
			s.repaired = append(s.repaired, c.name)
		} else {
			s.foreign = append(s.foreign, c.name)
		}
	}
	return own, nil
}

// cutOff reports whether a file is a beginning of what a landing writes there, as a full disk
// leaves it.
func (g *Git) cutOff(ctx context.Context, dir string, c pathChange) bool {
	path := filepath.Join(dir, c.name)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || c.new == (treeEntry{}) || c.new.mode == gitlink {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	out, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"cat-file", "--filters", "--path=" + c.name, c.new.object}, timeout: checkoutTimeout})
	return err == nil && bytes.HasPrefix([]byte(out+"\n"), text)
}

// repairCheckout brings index and files to the wanted state. It removes files first, to make
// room for the others, and writes the index last, as git does: until then a repair that breaks off
// is seen to be unfinished.
func (g *Git) repairCheckout(ctx context.Context, dir string, wrong []pathChange, want map[string]treeEntry, index map[string]indexEntry) error {
	var gone, entries, files strings.Builder
	for _, c := range wrong {
		w := want[c.name]
		if index[c.name].treeEntry != w {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", max(len(c.old.object), len(c.new.object))), c.name)
			if w != (treeEntry{}) {
				fmt.Fprintf(&entries, "%s %s\t%s\x00", w.mode, w.object, c.name)
			}
		}
		switch {
		case w.mode == gitlink:
		case w != treeEntry{}:
			files.WriteString(c.name + "\x00")
		default:
			if err := removeFile(dir, c.name); err != nil {
				return err
			}
		}
	}
	temp, err := os.MkdirTemp("", "orange-index")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // a temporary folder
	other := filepath.Join(temp, "index")
	l, err := layoutOf(dir)
	if err == nil {
		err = copyIndex(filepath.Join(l.git, "index"), other)
	}
	if err != nil {
		return err
	}
	env := []string{"GIT_INDEX_FILE=" + other}
	entry := []string{"update-index", "-z", "--index-info"}
	for _, step := range [...]call{
		{args: entry, input: gone.String() + entries.String(), env: env},
		{args: []string{"checkout-index", "--force", "--quiet", "-z", "--stdin"}, input: files.String(), env: env},
		{args: entry, input: gone.String() + entries.String()},
	} {
		if step.input == "" {
			continue
		}
		step.dir, step.config, step.timeout = dir, quietConfig[:], checkoutTimeout
		if _, err := g.runCall(ctx, step); err != nil {
			return err
		}
	}
	g.runQuietly(ctx, dir, "update-index", "-q", "--refresh") //nolint:errcheck // it only saves git work later
	return nil
}

// fileThere reports whether name exists in dir and is not a folder.
func fileThere(dir, name string) bool {
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && !info.IsDir()
}

// removeFile removes a file and the folders that become empty.
func removeFile(dir, name string) error {
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for up := filepath.Dir(name); up != "." && up != "/"; up = filepath.Dir(up) {
		if os.Remove(filepath.Join(dir, up)) != nil {
			break
		}
	}
	return nil
}
