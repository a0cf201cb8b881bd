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

// making is the reason under which a worktree is locked until it is complete. A worktree
// that has it after a crash was never handed to anybody.
const making = "orange is making "

// A registration is what the repository knows about one linked worktree.
type registration struct {
	git    string // its administrative folder
	path   string // where the worktree is, "" if that was not written yet
	locked string // why it is locked, "" if it is not
}

// listRegistrations lists the linked worktrees of a repository, those that are gone included.
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

// RegisteredDir finds the administrative folder of the worktree at path, even if the
// worktree itself is gone. It is empty if root's repository has no worktree there.
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

// AddWorktree makes a worktree at path with no branch checked out, at commit. One that is
// there already is left as it is; one that was only half made is made anew.
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
		return fmt.Errorf("%s is in the way, it is no worktree of %s: move it away, or run git -C %s worktree repair %s if the repository was moved", path, root, root, path)
	case err == nil && r.git != "":
		return checkIntact(path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("make the worktree %s: %w", path, err)
	case r.git != "":
		return fmt.Errorf("the worktree %s is gone and still registered: run git -C %s worktree remove %s", path, root, path)
	}
	return g.addWorktree(ctx, root, path, commit)
}

func (g *Git) addWorktree(ctx context.Context, root, path, commit string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the worktree %s: %w", path, err)
	}
	path = resolveParentLinks(path)
	_, err := g.runQuietly(ctx, root, "worktree", "add", "--quiet", "--lock", "--reason", making+path, "--detach", path, commit)
	if err == nil {
		_, err = g.runQuietly(ctx, root, "worktree", "unlock", path)
	}
	if err != nil {
		return fmt.Errorf("make the worktree %s: %w", path, err)
	}
	return nil
}

// discardHalfMade removes what a crash has left of a worktree that was being made. Its
// lock is Orange's own and falls when it is complete, so nobody has worked there.
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
				return fmt.Errorf("remove the half made worktree %s: %w", path, err)
			}
		}
		if err := os.RemoveAll(r.git); err != nil {
			return fmt.Errorf("remove the half made worktree %s: %w", path, err)
		}
	}
	return nil
}

// checkIntact says whether git, asked in the worktree at path, means that worktree and nothing
// else. Files and settings in it may have been changed so that it means another one.
func checkIntact(path string) error {
	l, err := layoutOf(path)
	if err != nil {
		return fmt.Errorf("%w: run git worktree repair %s in the main checkout", err, path)
	}
	back, err := readPath(filepath.Join(l.git, "gitdir"), "", l.git)
	if err != nil || l.git == l.common || !samePlace(filepath.Dir(back), path) {
		return fmt.Errorf("%s belongs to %s and is no worktree of its own any more: run git worktree repair %s in the main checkout", path, l.git, path)
	}
	return nil
}

// RemoveWorktree removes a worktree that has no changes, and what is registered of it. With
// it go the repositories of its submodules; commits that only these have must be kept.
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
		// Git itself does not look at submodules: it removes them by force or not at all.
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

// noneLeft says whether a worktree and its submodules have no changes, and no commits that
// are nowhere else.
func (g *Git) noneLeft(ctx context.Context, path string, l layout) error {
	changed, err := g.UncommittedFiles(ctx, path)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("it has changes (%s): end what is still running there and try again", makePrintable(changed[0]))
	}
	left, err := g.keepModules(ctx, l, path, "", true)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("submodule %s has commits that are kept nowhere else: try again", makePrintable(left[0].Path))
	}
	return err
}

// ForgetWorktree removes what is registered of a worktree whose folder is gone. Commits that only
// its HEAD led to, what was staged, what an operation under way holds and the commits of
// its submodules are kept under a salvage ref for name first.
func (g *Git) ForgetWorktree(ctx context.Context, root, path, name string) (ref string, err error) {
	r, err := g.findRegistration(ctx, root, path)
	if err != nil || r.git == "" {
		return "", err
	}
	if _, err := os.Lstat(r.path); err == nil {
		return "", fmt.Errorf("forget the worktree %s: it is there", path)
	}
	if r.locked != "" {
		return "", fmt.Errorf("the worktree %s is gone and locked (%s): bring it back, or run git -C %s worktree unlock %s", path, makePrintable(strings.TrimSpace(r.locked)), root, path)
	}
	ref, err = g.salvageGone(ctx, root, r, name)
	if err == nil {
		_, err = g.runQuietly(ctx, root, "worktree", "remove", r.path)
	}
	if err != nil {
		return ref, fmt.Errorf("forget the worktree %s: %w", path, err)
	}
	return ref, nil
}

// inGitDir runs a command for an administrative folder whose working tree is not there,
// or does not matter.
func (g *Git) inGitDir(ctx context.Context, gitDir string, args ...string) (string, error) {
	return g.runCall(ctx, call{dir: gitDir, config: quiet[:], args: args, env: []string{"GIT_DIR=" + gitDir}, patience: checkoutPatience})
}

// salvageGone is Salvage for a worktree whose folder is gone.
func (g *Git) salvageGone(ctx context.Context, root string, r registration, name string) (string, error) {
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return "", err
	}
	l := layout{git: r.git, common: common}
	submodules, err := g.keepModules(ctx, l, r.path, name, false)
	var refused *exitError
	if errors.As(err, &refused) { // a repository is damaged; trying again would not help
		submodules, err = g.moveModules(ctx, l, r.path, name)
	}
	if err != nil {
		return "", err
	}
	s, err := g.surveyGone(ctx, root, l)
	if err != nil {
		return "", err
	}
	return g.keepSurvey(ctx, root, name, s, submoduleNotes(submodules, common))
}
