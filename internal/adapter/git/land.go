package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// A Landing moves a branch from one commit to another that contains it, together with the
// checkout of the branch if there is one.
type Landing struct {
	ID       string `json:"id,omitempty"`   // identifies the landing for readers of the record
	What     string `json:"what,omitempty"` // a description of what is landed
	Target   string `json:"target"`         // the branch
	Old      string `json:"old"`
	New      string `json:"new"`
	Checkout string `json:"checkout,omitempty"` // where the target is checked out; LandCommit sets it
}

// ErrMoved means that the target of a landing is not at the expected commit. Nothing was
// changed.
var ErrMoved = errors.New("the target has moved, nothing was changed: build the commit upon its new tip and try again")

// A BusyError means that a person rebases or merges in the checkout of the target. Nothing was
// changed.
type BusyError struct{ text string }

// Error implements error.
func (e *BusyError) Error() string { return e.text }

// LandCommit moves a branch forward. Only one landing at a time runs in a repository, across
// all processes: this process and the git it starts hold a lock in the common git folder, so
// that a git that outlives its server still holds it. Before LandCommit changes anything it
// writes a record of the landing; the next holder of the lock completes or reverts a landing
// whose record was left behind. If the target is checked out, git merges there without a
// commit: it refuses if files are in the way, and moves the branch last. Afterwards LandCommit
// checks the branch, the index and the files, and reports what they show.
func (g *Git) LandCommit(ctx context.Context, root string, l Landing) error {
	if err := checkBranches(l.Target); err != nil {
		return err
	}
	if !isHash(l.Old) || !isHash(l.New) {
		return fmt.Errorf("land in %s: %.80q and %.80q must be full commit hashes", l.Target, l.Old, l.New)
	}
	if ok, err := g.historyContains(ctx, root, l.New, l.Old); err != nil {
		return err
	} else if !ok {
		return fmt.Errorf("land in %s: %.12s does not contain %.12s: create a commit on top of it", l.Target, l.New, l.Old)
	}
	held, err := g.takeLanding(ctx, root, l)
	if err != nil {
		return err
	}
	defer held.release()
	if err := g.recoverAndReport(ctx, root, held); err != nil {
		return err
	}
	return g.landLocked(ctx, root, held, l)
}

// RecoverLanding completes or reverts an interrupted landing in a repository and returns a
// description of what it did, or "" if there was nothing to do. It waits for a git that is
// still working on the landing.
func (g *Git) RecoverLanding(ctx context.Context, root string) (did string, err error) {
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(common, recordName)); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	held, err := g.takeLanding(ctx, root, Landing{What: "an interrupted landing"})
	if err != nil {
		return "", err
	}
	defer held.release()
	return g.recoverLanding(ctx, root, held)
}

// recoverAndReport is recoverLanding for a caller that goes on with something else.
func (g *Git) recoverAndReport(ctx context.Context, root string, held *landingLock) error {
	did, err := g.recoverLanding(ctx, root, held)
	g.reportRecovery(did)
	return err
}

// reportRecovery reports what became of an interrupted landing, unless there was none.
func (g *Git) reportRecovery(did string) {
	if did != "" && g.report != nil {
		g.report(did)
	}
}

// recoverLanding reads the record of an interrupted landing, settles it and removes the record.
func (g *Git) recoverLanding(ctx context.Context, root string, held *landingLock) (did string, err error) {
	rec, found, err := held.readRecord()
	if err != nil || !found {
		return "", err
	}
	for _, commit := range [...]string{rec.Old, rec.New} {
		have, err := g.resolveRevision(ctx, root, commit)
		if err != nil {
			return "", err
		}
		if have == "" { // no branch leads to it, and git has removed it since
			return fmt.Sprintf("the landing of %s in %s was interrupted, and its commit %.12s is gone: check what is left with git -C %s status",
				rec.What, rec.Target, commit, cmp.Or(rec.Checkout, root)), held.removeRecord()
		}
	}
	seen, err := g.settleLanding(ctx, root, &rec)
	if err != nil {
		return "", fmt.Errorf("an earlier landing of %s in %s was interrupted: %w", rec.What, rec.Target, err)
	}
	did = fmt.Sprintf("the landing of %s in %s was interrupted and %s%s", rec.What, rec.Target, seen.describeOutcome(&rec), seen.describeRepairs())
	return did, held.removeRecord()
}

// maxSwitches is how often a landing is tried while somebody switches branches in the checkout of its target.
const maxSwitches = 5

// landLocked is LandCommit for a caller that holds the lock.
func (g *Git) landLocked(ctx context.Context, root string, held *landingLock, l Landing) (err error) {
	if l.Target, err = g.resolveAlias(ctx, root, l.Target); err != nil {
		return err
	}
	for range maxSwitches {
		var switched *switchedError
		if err = g.landOnce(ctx, root, held, l); !errors.As(err, &switched) {
			break
		}
	}
	return err
}

// A switchedError means that the checkout of a landing left the target before git merged there. Nothing was changed.
type switchedError struct{ what, checkout, target string }

// Error implements error.
func (e *switchedError) Error() string {
	return fmt.Sprintf("merge %s, nothing was changed: %s was switched to another branch than %s at the same time: try again", e.what, e.checkout, e.target)
}

// landOnce finds where the target is checked out and lands there.
func (g *Git) landOnce(ctx context.Context, root string, held *landingLock, l Landing) error {
	tip, err := g.BranchTip(ctx, root, l.Target)
	switch {
	case err != nil:
		return err
	case tip == l.New:
		return nil
	case tip != l.Old: // a process that was killed may have landed it before others moved the target on
		if landed, err := g.historyContains(ctx, root, tip, l.New); err != nil || landed {
			return err
		}
		return ErrMoved
	}
	rec := landRecord{Landing: l, Boot: bootID()}
	if rec.Checkout, err = g.landingPlace(ctx, root, l); err != nil {
		return err
	}
	if rec.Checkout != "" {
		if err := g.checkCheckout(ctx, &rec); err != nil {
			return err
		}
	}
	if err := held.writeRecord(&rec); err != nil {
		return fmt.Errorf("merge %s into %s, nothing was changed: %w", l.What, l.Target, err)
	}
	c := call{dir: root, files: []*os.File{held.file}, timeout: checkoutTimeout,
		args: []string{"update-ref", "-m", "merge " + l.What + ": landed", heads + l.Target, l.New, l.Old}}
	if rec.Checkout != "" {
		c.dir, c.config = rec.Checkout, landing[:]
		c.args = []string{"merge", "--quiet", "--ff-only", "--no-autostash", "--no-squash", "--no-overwrite-ignore", l.New}
		c.env = append(g.identityEnv(ctx, rec.Checkout), "GIT_REFLOG_ACTION="+reflogAction(&l))
	}
	_, failed := g.runCall(ctx, c)
	rec.ran = true
	seen, err := g.settleLanding(context.WithoutCancel(ctx), root, &rec)
	if err != nil { // the record stays, and the next holder of the lock tries again
		if failed != nil {
			err = fmt.Errorf("%w; then %w", failed, err)
		}
		return fmt.Errorf("merge %s into %s, which is partly done: %w", l.What, l.Target, err)
	}
	if err := held.removeRecord(); err != nil {
		return err
	}
	return g.judgeLanding(ctx, root, &rec, seen, failed)
}

// checkCheckout returns an error, before a landing, if git may not write its files or something of the
// user is in the way. It completes the record with what the checkout is like.
func (g *Git) checkCheckout(ctx context.Context, rec *landRecord) error {
	if err := g.checkTopFolder(ctx, rec.Checkout); err != nil {
		return fmt.Errorf("merge %s into %s, nothing was changed: %w", rec.What, rec.Target, err)
	}
	changes, err := g.pathChanges(ctx, rec.Checkout, rec.Old, rec.New)
	if err != nil {
		return err
	}
	written := slices.DeleteFunc(slices.Clone(changes), func(c pathChange) bool { return c.new == treeEntry{} || c.new.mode == gitlink })
	if err := g.checkFilters(ctx, rec.Checkout, rec.New, written); err != nil {
		return fmt.Errorf("merge %s into %s, nothing was changed: %w", rec.What, rec.Target, err)
	}
	if rec.Staged, err = g.checkWay(ctx, rec, changes); err != nil {
		return err
	}
	rec.Index, err = indexVersion(rec.Checkout)
	return err
}

// checkFilters returns an error if git may not run a filter that one of these files needs, according
// to the attributes in a commit. Files in the user's checkout must not be compared or written without
// their filters.
func (g *Git) checkFilters(ctx context.Context, dir, commit string, files []pathChange) error {
	untrusted, err := g.UntrustedPrograms(ctx, dir)
	if err != nil {
		return err
	}
	filters := map[string][]task.GitProgram{}
	for _, p := range untrusted {
		if name, ok := filterName(p); ok {
			filters[name] = append(filters[name], p)
		}
	}
	if len(filters) == 0 {
		return nil
	}
	var names strings.Builder
	for _, c := range files {
		names.WriteString(c.name + "\x00")
	}
	common, err := CommonDir(dir)
	if err != nil {
		return err
	}
	used, err := g.filtersOf(ctx, dir, commit, names.String())
	for _, name := range used {
		if needed := filters[name]; needed != nil {
			project, _ := g.guard.Trusted(common)
			return fmt.Errorf("files need the filter %s: %s", makePrintable(name), notTrusted(project, needed))
		}
	}
	return err
}

// filtersOf returns the filters of files in a commit, according to the attributes in that
// commit.
func (g *Git) filtersOf(ctx context.Context, dir, commit, names string) (filters []string, err error) {
	if names == "" {
		return nil, nil
	}
	temp, err := os.MkdirTemp("", "orange-index")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // a temporary folder
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(temp, "index")}
	if _, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"read-tree", commit}, env: env, timeout: checkoutTimeout}); err != nil {
		return nil, err
	}
	out, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"check-attr", "--cached", "--stdin", "-z", "filter"}, env: env, input: names, timeout: checkoutTimeout})
	fields := strings.Split(out, "\x00") // file, attribute, value
	for i := 2; i < len(fields); i += 3 {
		filters = append(filters, fields[i])
	}
	return filters, err
}

// landing are the settings of the merge in a checkout. They stop git from starting maintenance
// in the background, which would hold the lock.
var landing = [...]string{"gc.auto=0", "maintenance.auto=false", "core.fsmonitor=false"}

// landingPlace returns where the target is checked out, or "" if it is not checked out.
func (g *Git) landingPlace(ctx context.Context, root string, l Landing) (string, error) {
	list, err := g.checkoutsOf(ctx, root, l.Target)
	if err != nil {
		return "", err
	}
	var places []string
	for _, c := range list {
		switch {
		case c.busy != "":
			return "", &BusyError{fmt.Sprintf("merge %s: a %s of %s is in progress in %s: finish it there and try again", l.What, c.busy, l.Target, c.path)}
		case c.gone: // when it is back, its index would take the landing back
			return "", fmt.Errorf("merge %s, nothing was changed: %s is checked out in %s, which does not exist now: bring it back, or forget it with git -C %s worktree %s, and try again",
				l.What, l.Target, c.path, root, c.forgetArguments())
		case c.bare:
			return "", fmt.Errorf("merge %s, nothing was changed: %s is checked out in %s, but core.bare hides its files from git: run git -C %s config core.bare false, and try again",
				l.What, l.Target, c.path, c.path)
		case c.hidden:
			return "", fmt.Errorf("merge %s, nothing was changed: %s is checked out in a folder that the repository %s does not name: name it with git --git-dir=%s config core.worktree FOLDER, and try again",
				l.What, l.Target, c.path, c.path)
		}
		places = append(places, c.path)
	}
	switch len(places) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", fmt.Errorf("merge %s, nothing was changed: %s is checked out in %s, and a merge can bring only one of them along: switch to another branch in the others (git -C %s switch --detach) and try again",
			l.What, l.Target, strings.Join(places, " and "), places[len(places)-1])
	}
	name, err := operationIn(places[0])
	if err == nil && name != "" {
		err = &BusyError{fmt.Sprintf("merge %s: a git operation (%s) is in progress in %s: finish or abort it there and try again", l.What, name, places[0])}
	}
	return places[0], err
}

// operationIn returns the name of the file that shows an operation in progress in a checkout,
// or "" if there is none.
func operationIn(dir string) (string, error) {
	l, err := layoutOf(dir)
	if err != nil {
		return "", err
	}
	for _, name := range [...]string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(l.git, name)); err == nil {
			return name, nil
		}
	}
	return "", nil
}

// judgeLanding returns the result of a landing: the state of the branch counts, not git's exit
// code.
func (g *Git) judgeLanding(ctx context.Context, root string, rec *landRecord, seen landingState, failed error) error {
	where := rec.Checkout
	if where == "" {
		where = root
	}
	landed, err := g.historyContains(context.WithoutCancel(ctx), root, seen.tip, rec.New)
	var locked *LockError
	var exit *exitError
	switch {
	case err != nil:
		return err
	case landed:
		return nil
	case seen.branchChanged && seen.tip == rec.Old:
		return &switchedError{rec.What, rec.Checkout, rec.Target}
	case failed == nil:
		return fmt.Errorf("merge %s: git reports success in %s, but %s is at %.12s: check the repository", rec.What, where, rec.Target, seen.tip)
	case errors.As(failed, &locked):
		return failed
	case seen.tip != rec.Old:
		return ErrMoved
	case errors.As(failed, &exit) && len(overwrittenFiles(exit.stderr)) > 0:
		return blockedBy(rec, overwrittenFiles(exit.stderr))
	}
	next := "fix that"
	if IsEndedBySignal(failed) {
		next = "find out what ended it"
	}
	return fmt.Errorf("merge %s in %s: %w; %s%s: %s and try again", rec.What, where, failed, seen.describeOutcome(rec), seen.describeRepairs(), next)
}

// A LocalChangesError means that a landing would overwrite the user's own changes. Nothing was changed.
type LocalChangesError struct {
	What, Checkout string
	Files          []string // made printable
}

// Error implements error.
func (e *LocalChangesError) Error() string {
	return fmt.Sprintf("uncommitted changes in %s are in the way of merging %s: commit them or move them away: %s", e.Checkout, e.What, strings.Join(e.Files, ", "))
}

// blockedBy returns the error that names the user's files that a landing would overwrite.
func blockedBy(rec *landRecord, files []string) error {
	e := &LocalChangesError{What: rec.What, Checkout: rec.Checkout}
	for _, name := range files {
		e.Files = append(e.Files, makePrintable(name))
	}
	return e
}
