package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/core/task"
)

// A Landing moves a branch from one commit to another that contains it, together with the
// checkout of the branch if there is one.
type Landing struct {
	ID       string `json:"id,omitempty"`   // whose it is, for whoever reads the record
	What     string `json:"what,omitempty"` // what is landed, in words
	Target   string `json:"target"`         // the branch
	Old      string `json:"old"`
	New      string `json:"new"`
	Checkout string `json:"checkout,omitempty"` // where the target is checked out; Land finds it
}

// ErrMoved says that the target of a landing is not where the landing expects it. Nothing was
// changed.
var ErrMoved = errors.New("the target has moved, nothing was changed: build the commit upon its new tip and try again")

// LandCommit moves a branch forward. One landing at a time works in a repository, whatever process
// asks for it: a lock in the common git folder is held by this process and by the git that it
// starts, so that a git which outlives its server still holds it. Before anything changes, a
// record says what is under way; whoever holds the lock next finishes or takes back what such a
// record is about. Where the target is checked out git merges there, without a commit: it refuses
// what is in the way and moves the branch last. Afterwards the branch, the index and the files
// are looked at, and what is reported is what they say.
func (g *Git) LandCommit(ctx context.Context, root string, l Landing) error {
	if err := checkBranches(l.Target); err != nil {
		return err
	}
	if !isHash(l.Old) || !isHash(l.New) {
		return fmt.Errorf("land in %s: %.80q and %.80q are to be commits: give their whole names", l.Target, l.Old, l.New)
	}
	if ok, err := g.historyContains(ctx, root, l.New, l.Old); err != nil {
		return err
	} else if !ok {
		return fmt.Errorf("land in %s: %.12s does not contain %.12s: build a commit upon it", l.Target, l.New, l.Old)
	}
	held, err := g.takeLanding(ctx, root, l)
	if err != nil {
		return err
	}
	defer held.release()
	if _, err := g.recoverLanding(ctx, root, held); err != nil {
		return err
	}
	return g.landLocked(ctx, root, held, l)
}

// RecoverLanding finishes or takes back a landing that was broken off in a repository, and says what
// it did, "" if there was nothing to do. It waits for a git that is still at work on it.
func (g *Git) RecoverLanding(ctx context.Context, root string) (did string, err error) {
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(common, recordName)); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	held, err := g.takeLanding(ctx, root, Landing{What: "what an earlier landing left"})
	if err != nil {
		return "", err
	}
	defer held.release()
	return g.recoverLanding(ctx, root, held)
}

// recoverLanding looks at a record that was left, settles what it is about and removes it.
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
			return fmt.Sprintf("the landing of %s in %s was broken off, and its commit %.12s is gone: look at what is left with git -C %s status",
				rec.What, rec.Target, commit, cmp.Or(rec.Checkout, root)), held.removeRecord()
		}
	}
	seen, err := g.settleLanding(ctx, root, &rec)
	if err != nil {
		return "", fmt.Errorf("an earlier landing of %s in %s was broken off: %w", rec.What, rec.Target, err)
	}
	did = fmt.Sprintf("the landing of %s in %s was broken off and %s%s", rec.What, rec.Target, seen.describeOutcome(&rec), seen.describeRepairs(rec.Checkout))
	return did, held.removeRecord()
}

// landLocked does what Land says, under the lock.
func (g *Git) landLocked(ctx context.Context, root string, held *landingLock, l Landing) error {
	tip, err := g.BranchTip(ctx, root, l.Target)
	switch {
	case err != nil:
		return err
	case tip == l.New:
		return nil
	case tip != l.Old:
		return ErrMoved
	}
	rec := landRecord{Landing: l}
	if rec.Checkout, err = g.landingPlace(ctx, root, l); err != nil {
		return err
	}
	if rec.Checkout != "" {
		if err := g.checkFilters(ctx, &rec); err != nil {
			return err
		}
		if rec.Staged, err = g.checkWay(ctx, &rec); err != nil {
			return err
		}
	}
	if err := held.writeRecord(&rec); err != nil {
		return fmt.Errorf("merge %s into %s, nothing was changed: %w", l.What, l.Target, err)
	}
	c := call{dir: root, files: []*os.File{held.file}, patience: checkoutPatience,
		args: []string{"update-ref", "-m", "merge " + l.What + ": landed", heads + l.Target, l.New, l.Old}}
	if rec.Checkout != "" {
		c.dir, c.config = rec.Checkout, landing[:]
		c.args = []string{"merge", "--quiet", "--ff-only", "--no-autostash", "--no-squash", "--no-overwrite-ignore", l.New}
		c.env = append(g.identityEnv(ctx, rec.Checkout), "GIT_REFLOG_ACTION=merge "+l.What)
	}
	_, failed := g.runCall(ctx, c)
	seen, err := g.settleLanding(context.WithoutCancel(ctx), root, &rec)
	if err != nil { // the record stays: whoever comes next tries again
		if failed != nil {
			err = fmt.Errorf("%w; then %w", failed, err)
		}
		return fmt.Errorf("merge %s into %s, which is half done: %w", l.What, l.Target, err)
	}
	if err := held.removeRecord(); err != nil {
		return err
	}
	return g.judgeLanding(ctx, root, &rec, seen, failed)
}

// checkFilters makes sure, before a landing, that git may run every filter that a file needs
// which it will write. Files in the user's checkout must not be written without it.
func (g *Git) checkFilters(ctx context.Context, rec *landRecord) error {
	untrusted, err := g.UntrustedPrograms(ctx, rec.Checkout)
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
	changes, err := g.pathChanges(ctx, rec.Checkout, rec.Old, rec.New)
	if err != nil {
		return err
	}
	var names strings.Builder
	for _, c := range changes {
		if c.new != (treeEntry{}) && c.new.mode != gitlink {
			names.WriteString(c.name + "\x00")
		}
	}
	common, err := CommonDir(rec.Checkout)
	if err != nil {
		return err
	}
	used, err := g.filtersOf(ctx, rec.Checkout, rec.New, names.String())
	for _, name := range used {
		if needed := filters[name]; needed != nil {
			project, _ := g.guard.Trusted(common)
			return fmt.Errorf("merge %s into %s, nothing was changed: files need the filter %s: %s", rec.What, rec.Target, makePrintable(name), notTrusted(project, needed))
		}
	}
	return err
}

// filtersOf lists the filters that files of a commit have, by the attributes that the commit
// gives them.
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
	if _, err := g.runCall(ctx, call{dir: dir, config: quiet[:], args: []string{"read-tree", commit}, env: env, patience: checkoutPatience}); err != nil {
		return nil, err
	}
	out, err := g.runCall(ctx, call{dir: dir, config: quiet[:], args: []string{"check-attr", "--cached", "--stdin", "-z", "filter"}, env: env, input: names, patience: checkoutPatience})
	fields := strings.Split(out, "\x00") // file, attribute, value
	for i := 2; i < len(fields); i += 3 {
		filters = append(filters, fields[i])
	}
	return filters, err
}

// landing are the settings of the merge in a checkout. Git starts no housekeeping in the
// background, which would hold the lock.
var landing = [...]string{"gc.auto=0", "maintenance.auto=false", "core.fsmonitor=false"}

// landingPlace is where the target is checked out, "" if it is nowhere.
func (g *Git) landingPlace(ctx context.Context, root string, l Landing) (string, error) {
	where, found, err := g.checkoutOf(ctx, root, l.Target)
	if err != nil || !found {
		return "", err
	}
	_, gone := os.Lstat(where.path)
	switch {
	case where.busy != "":
		return "", fmt.Errorf("merge %s: a %s of %s is under way in %s: finish it there and try again", l.What, where.busy, l.Target, where.path)
	case gone != nil && where.locked:
		return "", fmt.Errorf("merge %s: %s is checked out in %s, which is not there now: bring it back and try again", l.What, l.Target, where.path)
	case gone != nil:
		return "", nil
	}
	name, err := operationIn(where.path)
	if err == nil && name != "" {
		err = fmt.Errorf("merge %s: an operation of git (%s) is under way in %s: finish or abort it there and try again", l.What, name, where.path)
	}
	return where.path, err
}

// operationIn names the file by which an operation shows that is under way in a checkout, ""
// if there is none.
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

// judgeLanding says how a landing went: what the branch says counts, not what git said.
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
	case failed == nil:
		return fmt.Errorf("merge %s: git says that it is done in %s, but %s is at %.12s: look there", rec.What, where, rec.Target, seen.tip)
	case errors.As(failed, &locked):
		return failed
	case seen.tip != rec.Old:
		return ErrMoved
	case errors.As(failed, &exit) && len(overwrittenFiles(exit.stderr)) > 0:
		return blockedBy(rec, overwrittenFiles(exit.stderr))
	}
	return fmt.Errorf("merge %s in %s: %w; %s%s: mend that and try again", rec.What, where, failed, seen.describeOutcome(rec), seen.describeRepairs(where))
}

// blockedBy says which files of the user a landing would overwrite.
func blockedBy(rec *landRecord, files []string) error {
	return fmt.Errorf("changes in %s that are not committed are in the way of merging %s: commit them or move them away: %s",
		rec.Checkout, rec.What, makePrintable(strings.Join(files, ", ")))
}
