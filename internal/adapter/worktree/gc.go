package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/view/humanize"
)

// A Sweep is what GC is to do.
type Sweep struct {
	Dry   bool          // only return what would be done
	Purge bool          // delete files that were set aside
	Older time.Duration // only files that were set aside at least this long ago
	// Folders names folders that were set aside, or whole ones in them. Purge then deletes these and
	// no others, however old they are and whatever they hold. Without a name, Purge leaves whole
	// workspaces and repositories alone.
	Folders []string

	Landing func(path string) (used bool, err error) // reports whether a task lands in a landing worktree; nil to keep all
}

// Swept is what GC did, or would do.
type Swept struct {
	Removed []Removed
	Purged  []Aside
	Kept    []Kept
}

// Removed is a workspace that was removed, or would be.
type Removed struct {
	Name    string
	Path    string
	Salvage string   // the ref that holds the work that was left in it
	Unsaved []string // for one that would be removed: the work that is left in it
	Aside   string   // the folder that its ignored files are in, or would be in; "" if it has none
	Landing bool     // it is a landing worktree
}

// Kept is something that stays, with the reason.
type Kept struct {
	Name   string
	Path   string
	Reason string
}

// GC removes workspaces that no task has and no pool needs: those beyond the size of their
// project's pool, and those of projects that no longer exist. It first saves the work that is
// left in a workspace and sets ignored files aside; a workspace whose work cannot be saved
// stays. It also removes the landing worktrees in which no task lands. GC deletes files that were set aside only if how asks for it.
func (p *Pool) GC(ctx context.Context, projects []task.Project, bound map[string]task.ID, how Sweep) (Swept, error) {
	names, err := p.listFolders()
	if err == nil {
		err = p.checkNamed(how.Folders)
	}
	if err != nil {
		return Swept{}, err
	}
	size := map[string]int{}
	for _, project := range projects {
		size[project.Name] = project.PoolSize
	}
	var swept Swept
	for _, name := range names {
		owner, n, err := parseName(name)
		if err != nil || n <= size[owner] {
			continue
		}
		r := Removed{Name: name, Path: p.Path(name)}
		if err := p.removeWorkspace(ctx, &r, bound[name], how.Dry); err != nil {
			swept.Kept = append(swept.Kept, Kept{Name: name, Path: r.Path, Reason: err.Error()})
			continue
		}
		swept.Removed = append(swept.Removed, r)
	}
	if how.Landing != nil {
		if err := p.removeLandings(ctx, how, &swept); err != nil {
			return swept, err
		}
	}
	return swept, p.purgeAsides(how, &swept)
}

// purgeAsides deletes the folders of files set aside that how selects.
func (p *Pool) purgeAsides(how Sweep, swept *Swept) error {
	list, err := p.listAsides()
	if err != nil {
		return err
	}
	for _, aside := range list {
		justNow := func(r Removed) bool { return r.Aside == aside.Path && !how.Dry }
		if slices.ContainsFunc(swept.Removed, justNow) {
			continue
		}
		chosen, all := how.choose(aside)
		for _, path := range chosen {
			purged := aside
			purged.Path = path
			if !all {
				purged.Workspaces, purged.Repositories = only(path, aside.Workspaces), only(path, aside.Repositories)
			}
			if !how.Dry {
				if err := p.deleteAside(path); err != nil {
					swept.Kept = append(swept.Kept, Kept{Name: aside.Name, Path: path, Reason: err.Error()})
					continue
				}
			}
			swept.Purged = append(swept.Purged, purged)
		}
		if len(chosen) == 0 {
			swept.Kept = append(swept.Kept, Kept{Name: aside.Name, Path: aside.Path, Reason: aside.reasonToKeep()})
		}
	}
	return nil
}

// choose returns what is to be deleted of an aside: all of it, or folders in it.
func (how Sweep) choose(a Aside) (paths []string, all bool) {
	switch {
	case !how.Purge:
		return nil, false
	case slices.Contains(how.Folders, a.Path), len(how.Folders) == 0 && a.Age >= how.Older && !a.isWhole():
		return []string{a.Path}, true
	}
	for _, path := range slices.Concat(a.Workspaces, a.Repositories) {
		if slices.Contains(how.Folders, path) {
			paths = append(paths, path)
		}
	}
	return paths, false
}

// only returns the list of path alone if list has it.
func only(path string, list []string) []string {
	if slices.Contains(list, path) {
		return []string{path}
	}
	return nil
}

func (a Aside) reasonToKeep() string {
	text := fmt.Sprintf("%s %s set aside %s ago in %s: ", a.Describe(), a.Verb(), humanize.FormatDuration(a.Age), a.Path)
	if a.isWhole() {
		return text + "git could not save that work, so take what you need, then run orange workspace gc --purge " + a.Path
	}
	return text + "check them and delete the folder, or run orange workspace gc --purge --older 14d"
}

// checkNamed returns an error unless each folder was set aside.
func (p *Pool) checkNamed(folders []string) error {
	if len(folders) == 0 {
		return nil
	}
	list, err := p.listAsides()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		named := func(a Aside) bool {
			paths, _ := Sweep{Purge: true, Folders: []string{folder}}.choose(a)
			return len(paths) > 0
		}
		if !slices.ContainsFunc(list, named) {
			return task.Mistakef("%s is not a folder that was set aside: orange workspace gc --dry-run lists them", folder)
		}
	}
	return nil
}

// removeWorkspace removes one workspace. Its error is the reason why the workspace stays.
func (p *Pool) removeWorkspace(ctx context.Context, r *Removed, holder task.ID, dry bool) error {
	if holder != "" {
		return fmt.Errorf("it is bound to task %s", holder)
	}
	defer p.locks.Lock(r.Name)()
	owner, _, err := parseName(r.Name)
	if err != nil {
		return err
	}
	// If the project no longer exists, the worktree itself names its repository.
	w, err := p.openWorkspace(ctx, Slot{Project: task.Project{Name: owner, Path: r.Path}, Name: r.Name})
	if err != nil {
		return err
	}
	held, err := w.isHeld()
	switch {
	case err != nil:
		return err
	case w.git == "":
		return errors.New("it is not a worktree: move it away")
	case held:
		return fmt.Errorf("its marker file binds it to task %s", w.now.Task)
	}
	if err := w.noRepository(); err != nil {
		return err
	}
	keeper := w.salvageName()
	ignored, err := p.git.AllIgnored(ctx, w.path)
	if err != nil {
		return err
	}
	if len(ignored) > 0 {
		r.Aside = w.asideFolder(keeper)
	}
	unsaved, err := p.git.UnsavedWork(ctx, w.path) // an error means that nothing can be saved
	if err != nil {
		return err
	}
	if dry {
		r.Unsaved = unsaved
		return nil
	}
	// Set ignored files aside first, while the rules that ignore them are in effect: other
	// rules would make them part of the work.
	return p.runSteps(
		step{"drop", func() error { return w.dropOwn(ctx, keeper) }},
		step{"aside", func() error { return w.setAsideIgnored(ctx, keeper) }},
		step{"salvage", func() (err error) { r.Salvage, err = p.git.SalvageWork(ctx, w.path, keeper); return err }},
		step{"clean", func() error { return p.git.CleanWorktree(ctx, w.path, keeper) }},
		step{"remove", func() error { return p.git.RemoveWorktree(ctx, w.path) }},
	)
}

// noRepository returns an error if there is a repository anywhere below a workspace. If git
// ignores that repository, removing the workspace would delete it silently. Submodules whose
// repository is stored with the worktree's do not count.
func (w *workspace) noRepository() error {
	return filepath.WalkDir(w.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" && filepath.Dir(path) != w.path && !w.hasModule(path) {
			return fmt.Errorf("there is a separate git repository in it: move away %s", filepath.Dir(path))
		}
		return nil
	})
}

// hasModule reports whether a .git file points to a submodule of the workspace.
func (w *workspace) hasModule(path string) bool {
	text, err := os.ReadFile(path)
	at, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(path), at)
	}
	modules, err := filepath.EvalSymlinks(filepath.Join(w.git, "modules"))
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(modules, at)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}
