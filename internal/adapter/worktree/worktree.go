// Package worktree is the pool of workspaces: git worktrees that tasks take in turn. It
// binds a workspace to a task, checks the task's branch out in it, puts TASK.md and the
// files of the person's own checkout there, and gives it back without losing anything: what
// would be lost is kept under a salvage ref first. Which task gets which workspace is
// decided elsewhere; running git is package git's part.
//
// Every step can be done twice. A call that was cut short is made again and completes the
// work.
package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"orange/internal/core/task"
)

// TaskFileName is the name of the link to the task's file in its workspace.
const TaskFileName = "TASK.md"

// commandPatience is how long a setup or teardown command may take.
const commandPatience = 10 * time.Minute

// Git is what the pool needs of git.
type Git interface {
	Worktrees
	Keeper
	Files
}

// Worktrees makes, moves and removes worktrees.
type Worktrees interface {
	// DefaultCommit is the commit at which new work begins.
	DefaultCommit(ctx context.Context, root, branch string) (string, error)
	// RegisteredDir finds the administrative folder of the worktree at path, even if the
	// worktree is gone; "" if the repository has none there.
	RegisteredDir(ctx context.Context, root, path string) (string, error)
	// CheckAttached says whether the folder at path is a worktree of root's repository, OnBranch
	// whether it is on a branch.
	CheckAttached(ctx context.Context, root, path string) error
	OnBranch(path, branch string) error
	// ReattachWorktree makes a folder that was a worktree one again, with its files as they are.
	ReattachWorktree(ctx context.Context, root, path, branch string) (bool, error)
	// SwitchBack checks a branch out if that leaves nothing behind.
	SwitchBack(ctx context.Context, path, branch string) error
	// RemoveStaleLocks removes lock files that killed commands have left.
	RemoveStaleLocks(gitDir, path string) ([]string, error)
	AddWorktree(ctx context.Context, root, path, commit string) error
	RemoveWorktree(ctx context.Context, path string) error
	// SwitchBranch checks out a branch; Detach a commit without one. An error that has a method
	// Blocking names untracked files that would be overwritten.
	SwitchBranch(ctx context.Context, dir, branch, base string) error
	DetachHead(ctx context.Context, dir, commit string) error
	Head(dir string) (commit, branch string, err error)
}

// Keeper keeps work before it is cleared away.
type Keeper interface {
	// IsPristine says whether a worktree stands at commit without a branch and holds nothing
	// that would be kept or removed.
	IsPristine(ctx context.Context, dir, commit string) (bool, error)
	// SalvageWork keeps what Clean would lose and returns the ref, "" if that is nothing.
	SalvageWork(ctx context.Context, dir, name string) (string, error)
	// UnsavedWork says what Salvage would keep.
	UnsavedWork(ctx context.Context, dir string) ([]string, error)
	// CleanWorktree brings a worktree back to its HEAD, if all of it is kept for name.
	CleanWorktree(ctx context.Context, dir, name string) error
	// ForgetWorktree is Salvage for a worktree whose folder is gone, and removes its registration.
	ForgetWorktree(ctx context.Context, root, path, name string) (string, error)
}

// Files asks which files git knows.
type Files interface {
	UntrackedFiles(ctx context.Context, dir string) ([]string, error)
	TrackedFiles(ctx context.Context, dir string, files ...string) ([]string, error)
	IgnoredFiles(ctx context.Context, dir string, files []string) ([]string, error)
	// AllIgnored lists all that is ignored, submodules included.
	AllIgnored(ctx context.Context, dir string) ([]string, error)
	MatchingFiles(ctx context.Context, root, patterns string) ([]string, error)
	IsDirty(ctx context.Context, dir string) (bool, error)
}

// A Slot is one workspace and what a task wants of it.
type Slot struct {
	Project  task.Project
	Name     string // <project>--<n>
	Task     task.ID
	Branch   string
	Base     string   // commit a new branch begins at, "" for the default branch
	TaskFile string   // absolute path of TASK.md in the task's folder
	Setup    string   // shell command to run in the workspace, "" for none
	Teardown string   // likewise, before it is given back
	Env      []string // of these commands
	Exclude  []string // files in the workspace that nobody is to commit, such as settings of a harness
	Busy     bool     // an agent of the task works in the workspace

	// Ours says whether one of these files holds nothing but what Orange has put there; nil if
	// it puts nothing there.
	Ours func(file string, text []byte) bool
	Note func(text string) // is told what a person should know about; may be nil
}

// Pool is the folder of all workspaces.
type Pool struct {
	root     string
	git      Git
	patience time.Duration           // of a setup or teardown command
	fault    func(step string) error // for tests: called before each step, its error is a crash there

	mu   sync.Mutex
	held map[string]*sync.Mutex
}

// New returns the pool whose workspaces are in root. Nothing is made before it is needed.
func New(root string, g Git) *Pool {
	return &Pool{root: root, git: g, patience: commandPatience, held: map[string]*sync.Mutex{}}
}

// Path is the folder of a workspace.
func (p *Pool) Path(name string) string { return filepath.Join(p.root, name) }

// Head is the commit and the branch that are checked out in a workspace. The branch is
// empty if HEAD is detached.
func (p *Pool) Head(name string) (commit, branch string, err error) {
	if _, _, err := parseName(name); err != nil {
		return "", "", err
	}
	return p.git.Head(p.Path(name))
}

// lockName keeps others from working on the same thing at the same time.
func (p *Pool) lockName(thing string) (release func()) {
	p.mu.Lock()
	lock := p.held[thing]
	if lock == nil {
		lock = &sync.Mutex{}
		p.held[thing] = lock
	}
	p.mu.Unlock()
	lock.Lock()
	return lock.Unlock
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

// checkSlot says what is wrong with a slot, nil if nothing is.
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

// A step is a part of the work that can be done twice.
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
