package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// making is the reason with which a worktree is locked until it is complete. A worktree that is
// still locked with it after a crash was never used.
const making = "orange is making "

// A registration is the repository's entry for one linked worktree.
type registration struct {
	git    string // its administrative folder
	path   string // where the worktree is; "" if that was not written yet
	locked string // why it is locked; "" if it is not
}

// listRegistrations lists the linked worktrees of a repository, including those whose folder no
// longer exists.
func listRegistrations(common string) ([]registration, error) {
	folder := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the worktrees of %s: %w", common, err)
	}
	var list []registration
	for _, entry := range entries {
		r := registration{git: filepath.Join(folder, entry.Name())}
		if link, err := readPath(filepath.Join(r.git, "gitdir"), "", r.git); err == nil {
			r.path = resolveParentLinks(filepath.Dir(link))
		}
		if why, err := os.ReadFile(filepath.Join(r.git, "locked")); err == nil {
			r.locked = strings.TrimSpace(string(why)) + " " // a lock may have no reason
		}
		list = append(list, r)
	}
	return list, nil
}

func (r registration) halfMade(path string) bool { return r.locked == making+path+" " }

// RegisteredDir returns the administrative folder of the worktree at path, even if the worktree
// itself no longer exists. It returns "" if root's repository has no worktree there.
func (g *Git) RegisteredDir(ctx context.Context, root, path string) (string, error) {
	r, err := g.findRegistration(ctx, root, path)
	return r.git, err
}

func (g *Git) findRegistration(ctx context.Context, root, path string) (registration, error) {
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return registration{}, err
	}
	return registeredIn(common, path)
}

func registeredIn(common, path string) (registration, error) {
	list, err := listRegistrations(common)
	if err != nil {
		return registration{}, err
	}
	path = resolveParentLinks(path)
	for _, r := range list {
		if r.path == path && !r.halfMade(path) {
			return r, nil
		}
	}
	return registration{}, nil
}

// AddWorktree creates a worktree at path with commit checked out and no branch. It leaves an
// existing worktree as it is, and creates an incomplete one again.
func (g *Git) AddWorktree(ctx context.Context, root, path, commit string) error {
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return err
	}
	path = resolveParentLinks(path)
	if err := discardHalfMade(common, path); err != nil {
		return err
	}
	r, err := registeredIn(common, path)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	switch {
	case err == nil && len(entries) > 0 && r.git == "":
		return fmt.Errorf("%s is in the way and is not a worktree of %s: move it away, or run git -C %s worktree repair %s if the repository was moved", path, root, root, path)
	case err == nil && r.git != "":
		return checkIntact(path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("create the worktree %s: %w", path, err)
	case r.git != "":
		return fmt.Errorf("the worktree %s does not exist but is still registered: run git -C %s worktree remove %s", path, root, path)
	}
	return g.addWorktree(ctx, root, path, commit)
}

func (g *Git) addWorktree(ctx context.Context, root, path, commit string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the worktree %s: %w", path, err)
	}
	path = resolveParentLinks(path)
	_, err := g.runQuietly(ctx, root, "worktree", "add", "--quiet", "--lock", "--reason", making+path, "--detach", path, commit)
	if err == nil {
		_, err = g.runQuietly(ctx, root, "worktree", "unlock", path)
	}
	if err != nil {
		return fmt.Errorf("create the worktree %s: %w", path, err)
	}
	return nil
}

// discardHalfMade removes what a crash has left of an incomplete worktree. Orange's own lock
// stays on it until it is complete, so nobody has worked there.
func discardHalfMade(common, path string) error {
	list, err := listRegistrations(common)
	if err != nil {
		return err
	}
	for _, r := range list {
		if !r.halfMade(path) {
			continue
		}
		if l, err := layoutOf(path); err == nil && samePlace(l.git, r.git) {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("remove the incomplete worktree %s: %w", path, err)
			}
		}
		if err := os.RemoveAll(r.git); err != nil {
			return fmt.Errorf("remove the incomplete worktree %s: %w", path, err)
		}
	}
	return nil
}

// checkIntact returns an error unless git, when it runs in the worktree at path, works on that
// worktree and nothing else. Files and settings in the worktree may have been changed so that
// git works on another one.
func checkIntact(path string) error {
	l, err := layoutOf(path)
	if err != nil {
		return fmt.Errorf("%w: run git worktree repair %s in the main checkout", err, path)
	}
	back, err := readPath(filepath.Join(l.git, "gitdir"), "", l.git)
	if err != nil || l.git == l.common || !samePlace(filepath.Dir(back), path) {
		return fmt.Errorf("%s belongs to %s and is no longer a separate worktree: run git worktree repair %s in the main checkout", path, l.git, path)
	}
	return nil
}

// RemoveWorktree removes a worktree that has no changes, and its registration. This also
// removes the repositories of its submodules, so commits that only these have must be saved
// before.
func (g *Git) RemoveWorktree(ctx context.Context, path string) error {
	if err := checkIntact(path); err != nil {
		return err
	}
	l, err := layoutOf(path)
	if err != nil {
		return err
	}
	known, err := g.readIndex(ctx, path)
	if err != nil {
		return err
	}
	args := []string{"worktree", "remove", path}
	if known.linked || pathExists(l.git, "modules") {
		// Git itself does not check submodules: it removes them by force or not at all.
		if err := g.noneLeft(ctx, path, l); err != nil {
			return fmt.Errorf("remove the worktree %s: %w", path, err)
		}
		args = []string{"worktree", "remove", "--force", path}
	}
	if _, err := g.inGitDir(ctx, l.common, args...); err != nil {
		return fmt.Errorf("remove the worktree %s: %w", path, err)
	}
	return nil
}

// noneLeft returns an error if a worktree or its submodules have changes, or commits that exist
// nowhere else.
func (g *Git) noneLeft(ctx context.Context, path string, l layout) error {
	changed, err := g.UncommittedFiles(ctx, path)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("it has changes (%s): stop what is still running there and try again", makePrintable(changed[0]))
	}
	left, err := g.keepModules(ctx, l, path, "", true)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("submodule %s has commits that exist nowhere else: try again", makePrintable(left[0].Path))
	}
	return err
}

// ForgetWorktree removes the registration of a worktree whose folder no longer exists. Before,
// it saves under a salvage ref for name the commits that only the worktree's HEAD reached, what
// was staged, what an operation in progress holds, and the commits of its submodules. If git
// cannot read the worktree's administrative folder, ForgetWorktree moves the folder to where the
// salvage says, and returns that place. A lock of the worktree (git worktree lock) does not count:
// an agent may have set it, and the lock must not hold the workspace.
func (g *Git) ForgetWorktree(ctx context.Context, root, path, name string) (ref, moved string, err error) {
	r, err := g.findRegistration(ctx, root, path)
	if err != nil || r.git == "" {
		return "", "", err
	}
	if _, err := os.Lstat(r.path); err == nil {
		return "", "", fmt.Errorf("forget the worktree %s: it exists", path)
	}
	ref, moved, err = g.salvageGone(ctx, root, r, name)
	if err == nil && moved == "" && r.locked != "" {
		_, err = g.runQuietly(ctx, root, "worktree", "unlock", r.path)
	}
	if err == nil && moved == "" {
		_, err = g.runQuietly(ctx, root, "worktree", "remove", r.path) // without force: it removes no files
	}
	if err != nil {
		return ref, moved, fmt.Errorf("forget the worktree %s: %w", path, err)
	}
	return ref, moved, nil
}

// inGitDir runs a command for an administrative folder whose working tree does not exist or
// does not matter.
func (g *Git) inGitDir(ctx context.Context, gitDir string, args ...string) (string, error) {
	return g.runCall(ctx, call{dir: gitDir, config: quietConfig[:], args: args, env: []string{"GIT_DIR=" + gitDir}, timeout: checkoutTimeout})
}

// salvageGone is SalvageWork for a worktree whose folder no longer exists. It moves an
// administrative folder that git cannot read, because a retry would not help.
func (g *Git) salvageGone(ctx context.Context, root string, r registration, name string) (ref, moved string, err error) {
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return "", "", err
	}
	l := layout{git: r.git, common: common}
	submodules, err := g.keepModules(ctx, l, r.path, name, false)
	if isRefusal(err) { // a repository is damaged
		submodules, err = g.moveModules(ctx, l, r.path, name)
	}
	if err != nil {
		return "", "", err
	}
	notes := submoduleNotes(submodules, common)
	s, err := g.surveyGone(ctx, root, l)
	if err == nil {
		ref, err = g.keepSurvey(ctx, root, name, s, notes)
	}
	if isRefusal(err) {
		return g.moveEntry(ctx, root, l, name, notes)
	}
	return ref, "", err
}

// isRefusal reports whether a git command ran to its end and failed. The same command would fail
// again.
func isRefusal(err error) bool {
	var refused *exitError
	return errors.As(err, &refused) && refused.signal == 0
}
