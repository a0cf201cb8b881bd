package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// staleAge is how old a lock file must be to be stale where the system does not tell which
// processes use it.
const staleAge = time.Hour

// RemoveStaleLocks removes the lock files that killed git commands have left for the worktree
// at dir, whose administrative folder is gitDir, and for its branch ("" for none), and returns
// their names. A lock is stale if no process has it open and no git command runs in the worktree:
// some commands keep a lock that they have closed. The lock of a branch must belong to this user,
// and no git command may run in any working tree of the repository. The caller must know that no
// agent works there.
func (g *Git) RemoveStaleLocks(gitDir, dir, branch string) (removed []string, err error) {
	if gitDir == "" {
		return nil, nil
	}
	if resolved, err := filepath.EvalSymlinks(gitDir); err == nil {
		gitDir = resolved // the name by which the system lists open files
	}
	locks := lockFiles(gitDir)
	common, ofBranch := branchLock(gitDir, branch)
	if ofBranch != "" {
		locks = append(locks, ofBranch)
	}
	if len(locks) == 0 {
		return nil, nil
	}
	used, known := lockUsers(dir, common)
	for _, lock := range locks {
		info, err := os.Lstat(lock)
		if err != nil {
			continue // its owner has removed it
		}
		if known && (used.git || used.open[lock]) || !known && time.Since(info.ModTime()) < staleAge {
			continue
		}
		if lock == ofBranch && (used.repository || !isOwn(info)) {
			continue
		}
		if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("remove the stale lock %s: %w", lock, err)
		}
		removed = append(removed, lock)
	}
	return removed, nil
}

// lockFiles lists the lock files of a worktree and of its submodules.
func lockFiles(gitDir string) (list []string) {
	for _, folder := range [...]string{gitDir, filepath.Join(gitDir, "modules")} {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fs.SkipDir
			case d.IsDir() && folder == gitDir && path != gitDir, d.IsDir() && d.Name() == "objects":
				return fs.SkipDir
			case !d.IsDir() && strings.HasSuffix(d.Name(), ".lock"):
				list = append(list, path)
			}
			return nil
		})
	}
	return list
}

// branchLock returns the folder that all working trees of the repository share, and the file that
// locks a branch there, or "" if there is none.
func branchLock(gitDir, branch string) (common, lock string) {
	common, err := readPath(filepath.Join(gitDir, "commondir"), "", gitDir)
	if err != nil || !validBranch(branch) {
		return "", ""
	}
	if resolved, err := filepath.EvalSymlinks(common); err == nil {
		common = resolved
	}
	lock = filepath.Join(common, filepath.FromSlash(heads+branch)+".lock")
	if info, err := os.Lstat(lock); err != nil || !info.Mode().IsRegular() {
		return common, ""
	}
	return common, lock
}

// isOwn reports whether a file belongs to the user of this process, whose processes the system
// lists completely.
func isOwn(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}

// A lockUse describes what processes do with the locks of a worktree.
type lockUse struct {
	open       map[string]bool // lock files that a process has open
	git        bool            // a git command runs in the worktree
	repository bool            // a git command runs in a working tree of the repository, or in its common folder
}

// lockUsers checks every process of this machine. It sets known to false where the system does
// not list them.
func lockUsers(dir, common string) (use lockUse, known bool) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(processes) == 0 {
		return use, false
	}
	use.open = map[string]bool{}
	for _, process := range processes {
		if name, err := os.ReadFile(filepath.Join(process, "comm")); err == nil && strings.HasPrefix(string(name), "git") {
			cwd, err := os.Readlink(filepath.Join(process, "cwd"))
			use.git = use.git || err == nil && (samePlace(cwd, dir) || isWithin(dir, cwd))
			use.repository = use.repository || err == nil && worksOn(cwd, common)
		}
		files, _ := os.ReadDir(filepath.Join(process, "fd")) // the files of other users' processes are unknown
		for _, file := range files {
			if path, err := os.Readlink(filepath.Join(process, "fd", file.Name())); err == nil && strings.HasSuffix(path, ".lock") {
				use.open[path] = true
			}
		}
	}
	return use, true
}

// worksOn reports whether git in a folder works on the repository with a common folder.
func worksOn(dir, common string) bool {
	if samePlace(dir, common) || isWithin(common, dir) {
		return true
	}
	for ; ; dir = filepath.Dir(dir) {
		if l, err := layoutOf(dir); err == nil {
			return samePlace(l.common, common)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
