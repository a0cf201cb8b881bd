package shim

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orange/internal/atomicfile"
)

// identityFile is the file of a data folder that holds its identity.
const identityFile = "folder.id"

// identity is the random name of a data folder, and the place of the folder when it got the name.
type identity struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Inode string `json:"inode"`
}

// BelongsToAttempt reports whether a process or one of its parents has the mark of a data folder, which its attempts
// and its tmux have.
func BelongsToAttempt(pid int, home string) bool {
	var was identity
	text, err := os.ReadFile(filepath.Join(home, identityFile))
	if err != nil || json.Unmarshal(text, &was) != nil || was.ID == "" {
		return false // nothing was started from here
	}
	line, _ := Ancestry(pid)
	return slices.ContainsFunc(line, func(pid int) bool { return strings.HasPrefix(MarkOf(pid), was.ID+"/") })
}

// EnsureIdentity returns the random id of a data folder, which is part of the marks of its attempts, and makes one if
// there is none. A folder whose path and inode both differ is a copy: it gets another id and forgets the processes of
// attempts, because they belong to the original. The caller must hold the lock of the folder.
func (d DataFolder) EnsureIdentity(home string) (string, error) {
	now, err := placeOf(home)
	if err != nil {
		return "", fmt.Errorf("identify the data folder: %w", err)
	}
	var was identity
	path := filepath.Join(home, identityFile)
	text, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(text, &was) != nil {
		was = identity{} // it is damaged, and the records identify the processes with the old id
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("identify the data folder: %w", err)
	case was.ID != "" && was.Path == now.Path && was.Inode == now.Inode:
		return was.ID, nil
	case was.ID != "" && (was.Path == now.Path || was.Inode == now.Inode): // it was moved, or moved back
		now.ID = was.ID
	default:
		if was.ID != "" {
			if err := d.forgetProcesses(); err != nil {
				return "", fmt.Errorf("leave the agents of the data folder %s alone, which this one is a copy of: %w", was.Path, err)
			}
		}
		var random [8]byte
		rand.Read(random[:]) //nolint:errcheck // never fails
		now.ID = hex.EncodeToString(random[:])
	}
	text, err = json.Marshal(now)
	if err == nil {
		err = atomicfile.Write(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("identify the data folder: %w", err)
	}
	return now.ID, nil
}

func placeOf(home string) (identity, error) {
	info, err := os.Stat(home)
	if err != nil {
		return identity{}, err
	}
	out := identity{Path: home}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		out.Inode = fmt.Sprintf("%d:%d", sys.Dev, sys.Ino)
	}
	return out, nil
}

// forgetProcesses removes the records of the shims of attempts that are not over.
func (d DataFolder) forgetProcesses() error {
	dirs, err := filepath.Glob(filepath.Join(d.Attempts, "*", "*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, exitFile)); err == nil {
			continue
		}
		for _, name := range [...]string{startedFile, claimFile} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
