package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/atomicfile"
)

// excludeFiles makes git ignore what Orange puts into workspaces. Git has one list for all
// worktrees of a repository, in the folder that they share.
func (w *workspace) excludeFiles() error {
	common := filepath.Dir(filepath.Dir(w.git)) // of <common>/worktrees/<name>
	defer w.pool.locks.Lock(common)()
	patterns := []string{ignorePattern(TaskFileName)}
	for _, file := range w.Exclude {
		patterns = append(patterns, ignorePattern(file))
	}
	if err := addLines(filepath.Join(common, "info", "exclude"), patterns); err != nil {
		return fmt.Errorf("exclude the files of Orange from git: %w", err)
	}
	return nil
}

// ignorePattern returns the gitignore pattern that matches exactly one path, from the top of
// the worktree.
func ignorePattern(path string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(filepath.ToSlash(path))
	if trimmed := strings.TrimRight(escaped, " "); trimmed != escaped {
		escaped = trimmed + strings.Repeat(`\ `, len(escaped)-len(trimmed))
	}
	return "/" + escaped
}

// addLines appends the lines that a file does not contain yet.
func addLines(path string, lines []string) error {
	mode := fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	have := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	before := len(text)
	for _, line := range lines {
		if slices.Contains(have, line) {
			continue
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		text = append(text, line+"\n"...)
		have = append(have, line)
	}
	if len(text) == before {
		return nil
	}
	return atomicfile.Write(path, text, mode)
}
