// Package worktree is the pool of workspaces: git worktrees that tasks use in turn. It binds a
// workspace to a task, checks out the task's branch in it, adds TASK.md and files of the main
// checkout, and releases it without losing anything: it first saves under a salvage ref what
// would be lost. Other packages decide which task gets which workspace; package git runs git.
//
// Every step can be repeated: after an interrupted call, calling again completes the work.
package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/keyedmutex"
)

// TaskFileName is the name of the link to the task's file in its workspace.
const TaskFileName = "TASK.md"

// commandTimeout is how long a setup or teardown command may take.
const commandTimeout = 10 * time.Minute

// Git is the part of git that the pool needs.
type Git interface {
	Worktrees
	Keeper
	Files
}

// Worktrees creates, moves and removes worktrees.
type Worktrees interface {
	// DefaultCommit returns the commit at which new work begins.
	DefaultCommit(ctx context.Context, root, branch string) (string, error)
	// RegisteredDir returns the administrative folder of the worktree at path, even if the
	// worktree is gone, or "" if the repository has none there.
	RegisteredDir(ctx context.Context, root, path string) (string, error)
	// CheckAttached returns an error unless the folder at path is a worktree of root's
	// repository, and OnBranch unless it is on a branch.
	CheckAttached(ctx context.Context, root, path string) error
	OnBranch(path, branch string) error
	// CheckWorktree checks both, and returns the commit that is checked out.
	CheckWorktree(ctx context.Context, root, path, branch string) (head string, attached bool, err error)
	// ReattachWorktree turns a folder that was a worktree back into one, with its files as they
	// are.
	ReattachWorktree(ctx context.Context, root, path, branch string) (bool, error)
	// SwitchBack checks out a branch if that loses nothing.
	SwitchBack(ctx context.Context, path, branch string) error
	// RemoveStaleLocks removes lock files that killed commands have left in a worktree and on its branch.
	RemoveStaleLocks(gitDir, path, branch string) ([]string, error)
	// RemoveRedirect removes settings by which git in a worktree works on another folder.
	RemoveRedirect(ctx context.Context, root, gitDir, path string) ([]string, error)
	AddWorktree(ctx context.Context, root, path, commit string) error
	RemoveWorktree(ctx context.Context, path string) error
	// SwitchBranch checks out a branch, DetachHead a commit without one. An error with a method
	// BlockingFiles names untracked files that would be overwritten.
	SwitchBranch(ctx context.Context, dir, branch, base string) error
	InitSubmodules(ctx context.Context, dir, admin string) (left []string, err error)
	DetachHead(ctx context.Context, dir, commit string) error
	// CheckOutCandidate makes a worktree contain exactly the files of a commit; it creates the worktree if there is
	// none.
	CheckOutCandidate(ctx context.Context, root, path, commit string) error
	// RemoveCandidate removes a worktree that CheckOutCandidate made, with everything in it.
	RemoveCandidate(ctx context.Context, path string) error
	Head(dir string) (commit, branch string, err error)
}

// Keeper saves work before it is cleared away.
type Keeper interface {
	// IsPristine reports whether a worktree is at commit without a branch and has nothing that
	// would be saved or removed.
	IsPristine(ctx context.Context, dir, commit string) (bool, error)
	// SalvageWork saves what CleanWorktree would lose and returns the ref, or "" if there is
	// nothing to save.
	SalvageWork(ctx context.Context, dir, name string) (string, error)
	// UnsavedWork lists what SalvageWork would save.
	UnsavedWork(ctx context.Context, dir string) ([]string, error)
	// CleanWorktree resets a worktree to its HEAD if everything it would lose is saved for
	// name.
	CleanWorktree(ctx context.Context, dir, name string) error
	// ForgetWorktree is SalvageWork for a worktree whose folder is gone; it also removes the
	// registration. It returns the folder to which it moved an entry that git could not read, or "".
	ForgetWorktree(ctx context.Context, root, path, name string) (ref, moved string, err error)
}

// Files finds which files git tracks and ignores.
type Files interface {
	UntrackedFiles(ctx context.Context, dir string) ([]string, error)
	TrackedFiles(ctx context.Context, dir string, files ...string) ([]string, error)
	IgnoredFiles(ctx context.Context, dir string, files []string) ([]string, error)
	// AllIgnored lists everything that is ignored, including in submodules.
	AllIgnored(ctx context.Context, dir string) ([]string, error)
	MatchingFiles(ctx context.Context, root, patterns string) ([]string, error)
	IsDirty(ctx context.Context, dir string) (bool, error)
}

// A Slot is one workspace and what a task needs of it.
type Slot struct {
	Project  task.Project
	Name     string // <project>--<n>
	Task     task.ID
	Branch   string
	Former   string   // a branch that the workspace may still be on instead; "" for none
	Base     string   // the commit at which a new branch begins; "" for the default branch
	TaskFile string   // absolute path of TASK.md in the task's folder
	Setup    string   // shell command to run in the workspace; "" for none
	Teardown string   // shell command to run before the workspace is released; "" for none
	Env      []string // environment of these commands
	Exclude  []string // files in the workspace that nobody should commit, such as settings of a harness
	Busy     bool     // an agent of the task works in the workspace

	// Ours reports whether one of the excluded files contains only what Orange has put there.
	// It is nil if Orange puts nothing there.
	Ours func(file string, text []byte) bool
	Note func(text string) // receives messages for the user; may be nil
	// Aside receives, at release, the folders with work of the task that git could not save: whole
	// workspaces and repositories, and git's entries of worktrees. It receives them again if the release is repeated. It may be nil.
	Aside func(folder string)
}

// Pool is the folder of all workspaces.
type Pool struct {
	// Holds reports whether a task holds a workspace, according to the record. A workspace whose
	// marker names a task that does not hold it is free. If Holds is nil, the marker is right.
	Holds func(id task.ID, workspace string) (bool, error)

	root    string
	git     Git
	timeout time.Duration           // timeout of a setup or teardown command
	fault   func(step string) error // for tests: called before each step; its error simulates a crash there

	locks keyedmutex.Mutex[string] // against concurrent work in this process
}

// New returns the pool whose workspaces are in root. It creates nothing before it is needed.
func New(root string, g Git) *Pool {
	return &Pool{root: root, git: g, timeout: commandTimeout}
}

// Path returns the folder of a workspace.
func (p *Pool) Path(name string) string { return filepath.Join(p.root, name) }

// Head returns the commit and the branch that are checked out in a workspace. The branch is
// empty if HEAD is detached.
func (p *Pool) Head(name string) (commit, branch string, err error) {
	if _, _, err := parseName(name); err != nil {
		return "", "", err
	}
	return p.git.Head(p.Path(name))
}

// parseName splits the name of a workspace into its project and its number.
func parseName(name string) (project string, n int, err error) {
	at := strings.LastIndex(name, "--")
	if at > 0 {
		n, err = strconv.Atoi(name[at+2:])
	}
	if at <= 0 || err != nil || n < 1 || name[at+2:] != strconv.Itoa(n) || filepath.Base(name) != name || name[0] == '.' {
		return "", 0, fmt.Errorf("workspace %q: the name is not of the form <project>--<n>", name)
	}
	return name[:at], n, nil
}

// checkSlot returns an error if the slot is not valid.
func (s *Slot) checkSlot() error {
	project, _, err := parseName(s.Name)
	switch {
	case err != nil:
		return err
	case project != s.Project.Name:
		return fmt.Errorf("workspace %q is not one of project %q", s.Name, s.Project.Name)
	case !s.Task.IsValid():
		return fmt.Errorf("workspace %s: %q is not the id of a task", s.Name, s.Task)
	case !filepath.IsAbs(s.Project.Path):
		return fmt.Errorf("workspace %s: the path of project %s is %q, give an absolute one", s.Name, s.Project.Name, s.Project.Path)
	case !filepath.IsAbs(s.TaskFile):
		return fmt.Errorf("workspace %s: the path of the task's file is %q, give an absolute one", s.Name, s.TaskFile)
	}
	for _, file := range s.Exclude {
		if !filepath.IsLocal(file) || strings.ContainsAny(file, "\n\r") {
			return fmt.Errorf("workspace %s: %q is not a file in it", s.Name, file)
		}
	}
	return nil
}

// A step is a part of the work that can be repeated.
type step struct {
	name string
	do   func() error
}

func (p *Pool) runSteps(steps ...step) error {
	for _, s := range steps {
		if p.fault != nil {
			if err := p.fault(s.name); err != nil {
				return err
			}
		}
		if err := s.do(); err != nil {
			return err
		}
	}
	return nil
}
