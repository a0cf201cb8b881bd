// Package gittrust knows which programs git may run for the server.
package gittrust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/adapter/sqlite"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// A Trust knows which programs git may run for the server in each project: those that git's configuration named when the
// project was added, or when a person last accepted them.
type Trust struct {
	store *sqlite.Store
	home  string
	git   *git.Git

	mu       sync.Mutex
	projects map[string]trustedProject // by name
}

// trustedProject is what is trusted in the repository of a project.
type trustedProject struct {
	path, common string
	programs     []task.GitProgram
	notice       string    // which programs git may not run
	noticedAt    time.Time // when notice was determined
}

// GitEnv returns the part of this process's environment that git inherits.
func GitEnv(keys bool) []string { return config.GitEnv(config.Environ(), keys) }

// New returns a git that runs only trusted programs, and the Trust that knows them.
func New(home string, store *sqlite.Store) (*git.Git, *Trust) {
	t := &Trust{store: store, home: home, projects: map[string]trustedProject{}}
	t.git = git.New().WithEnviron(GitEnv).WithGuard(&git.Guard{Hooks: filepath.Join(home, "git-hooks"), Trusted: t.trustedPrograms})
	return t.git, t
}

// trustedPrograms returns the project that a repository belongs to, and the programs that are trusted there. The
// repository of a submodule is inside that of its superproject. If several projects are worktrees of one repository, the
// programs of all of them are trusted, and the first name is returned.
func (t *Trust) trustedPrograms(common string) (project string, programs []task.GitProgram) {
	if common == "" {
		return "", nil
	}
	common = realPath(common)
	t.mu.Lock()
	defer t.mu.Unlock()
	around := ""
	for _, name := range slices.Sorted(maps.Keys(t.projects)) {
		p := t.projects[name]
		in := p.common == common || strings.HasPrefix(common, p.common+string(filepath.Separator))
		switch {
		case p.common == "" || !in || len(p.common) < len(around):
		case p.common == around:
			programs = task.UniteGitPrograms(programs, p.programs)
		default:
			project, programs, around = name, p.programs, p.common
		}
	}
	return project, programs
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// settingOf returns the setting that holds the trusted programs of a project.
func settingOf(project string) string { return "git-programs:" + project }

// LoadProjects loads the trusted programs of all projects in the store. For a project without the setting, which comes
// from an earlier version or an import, it trusts the programs that git would run there now.
func (t *Trust) LoadProjects(ctx context.Context) error {
	list, err := t.store.Projects()
	if err != nil {
		return err
	}
	var failed []error
	known := map[string]bool{}
	for _, p := range list {
		known[p.Name] = true
		t.mu.Lock()
		have, loaded := t.projects[p.Name]
		t.mu.Unlock()
		if loaded && have.path == p.Path && have.common != "" {
			continue
		}
		text, err := t.store.Setting(settingOf(p.Name))
		var programs []task.GitProgram
		switch {
		case err != nil:
		case text == "":
			_, err = t.AcceptPrograms(ctx, p)
		default:
			if err = json.Unmarshal([]byte(text), &programs); err == nil {
				_, err = t.saveTrusted(p, programs)
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("project %s: %w", p.Name, err))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.projects {
		if !known[name] {
			delete(t.projects, name)
		}
	}
	return errors.Join(failed...)
}

func (t *Trust) setPrograms(p task.Project, programs []task.GitProgram) {
	common, err := git.CommonDir(p.Path)
	if err == nil {
		common = realPath(common)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.projects[p.Name] = trustedProject{path: p.Path, common: common, programs: programs}
}

// AcceptPrograms trusts the programs that git would run in a project's checkout and in the worktrees at places, and no
// others.
func (t *Trust) AcceptPrograms(ctx context.Context, p task.Project, places ...string) ([]task.GitProgram, error) {
	var all [][]task.GitProgram
	for _, dir := range append([]string{p.Path}, places...) {
		list, err := t.git.ListPrograms(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("find the programs that git runs in %s: %w", dir, err)
		}
		all = append(all, list)
	}
	return t.saveTrusted(p, task.UniteGitPrograms(all...))
}

// saveTrusted saves the trusted programs of a project.
func (t *Trust) saveTrusted(p task.Project, programs []task.GitProgram) ([]task.GitProgram, error) {
	programs = task.GitProgramsWithoutSecrets(programs)
	text, err := json.Marshal(programs)
	if have, _ := t.store.Setting(settingOf(p.Name)); err == nil && have != string(text) {
		err = t.store.SetSetting(settingOf(p.Name), string(text))
	}
	if err != nil {
		return nil, err
	}
	t.setPrograms(p, programs)
	return programs, nil
}

// ForgetProject removes the trusted programs of a project.
func (t *Trust) ForgetProject(name string) error {
	t.mu.Lock()
	delete(t.projects, name)
	t.mu.Unlock()
	return t.store.SetSetting(settingOf(name), "")
}

// TrustedPrograms implements api.GitPrograms.
func (t *Trust) TrustedPrograms(project string) []task.GitProgram {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.projects[project].programs
}

// noticeInterval is how long UntrustedNotice reuses a notice.
const noticeInterval = time.Second

// UntrustedNotice implements api.GitPrograms.
func (t *Trust) UntrustedNotice(ctx context.Context, p task.Project) string {
	t.mu.Lock()
	known, ok := t.projects[p.Name]
	t.mu.Unlock()
	if !ok || time.Since(known.noticedAt) < noticeInterval {
		return known.notice
	}
	notice := t.CheckUntrusted(ctx, p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if now, ok := t.projects[p.Name]; ok {
		now.notice, now.noticedAt = notice, time.Now()
		t.projects[p.Name] = now
	}
	return notice
}

// LastNotice implements api.GitPrograms.
func (t *Trust) LastNotice(project string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.projects[project].notice
}

// untrustedPrograms lists the programs that git may not run in a project's checkout and its worktrees. It skips a folder
// in which git fails, because nothing can run there.
func (t *Trust) untrustedPrograms(ctx context.Context, p task.Project) []task.GitProgram {
	var all [][]task.GitProgram
	for _, dir := range append([]string{p.Path}, t.ExistingWorktrees(p)...) {
		if list, err := t.git.UntrustedPrograms(ctx, dir); err == nil {
			all = append(all, list)
		}
	}
	return task.UniteGitPrograms(all...)
}

// ExistingWorktrees lists the folders of a project's workspaces that exist.
func (t *Trust) ExistingWorktrees(p task.Project) (out []string) {
	for _, name := range p.WorkspaceNames() {
		dir := filepath.Join(t.home, "workspaces", name)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			out = append(out, dir)
		}
	}
	return out
}

// CheckUntrusted names the programs that git may not run in a project, or returns "" if there are none. Unlike
// UntrustedNotice it checks every time.
func (t *Trust) CheckUntrusted(ctx context.Context, p task.Project) string {
	return describeUntrusted(t.untrustedPrograms(ctx, p))
}

// describeUntrusted names programs that git may not run, or returns "" if there are none.
func describeUntrusted(programs []task.GitProgram) string {
	const most = 5
	if len(programs) == 0 {
		return ""
	}
	var names []string
	for _, p := range programs[:min(most, len(programs))] {
		name := p.Key + " = " + p.DisplayCommand()
		if p.Kind == task.GitHook {
			name = "the hook " + p.Files[0].Path
		}
		names = append(names, humanize.Cut(ansi.OneLine(name), 100))
	}
	if more := len(programs) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "git would run programs that nobody has trusted, and Orange does not let it: " + strings.Join(names, "; ")
}
