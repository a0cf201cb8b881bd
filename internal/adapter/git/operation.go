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

// held are the files in which an operation in progress keeps commits.
var held = [...]string{
	"MERGE_HEAD", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
	"rebase-merge/orig-head", "rebase-merge/autostash", "rebase-apply/orig-head", "rebase-apply/autostash",
}

// autostashes are the files in held whose commits git would put on the stash of the whole
// repository when the operation is quit.
var autostashes = [...]string{"MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"}

// unfinishedCommits returns the commits that only an operation in progress reaches.
func (g *Git) unfinishedCommits(ctx context.Context, dir string, l layout) ([]extra, error) {
	var list []extra
	for _, name := range held {
		text, err := os.ReadFile(filepath.Join(l.git, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, commit := range strings.Fields(string(text)) {
			if !isHash(commit) {
				continue
			}
			lost, err := g.isUnreachable(ctx, dir, commit)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if lost {
				list = append(list, extra{what: name, commit: commit})
			}
		}
	}
	return list, nil
}

// quitOperations ends the operations in progress in a worktree and reports whether there were
// any. HEAD and the branch do not move.
func (g *Git) quitOperations(ctx context.Context, dir string) (ended bool, err error) {
	l, err := layoutOf(dir)
	if err != nil {
		return false, err
	}
	for _, name := range autostashes {
		if err := os.Remove(filepath.Join(l.git, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	quits := quitCommands(l.git)
	for _, args := range quits {
		if _, err := g.runQuietly(ctx, dir, args...); err != nil {
			return false, fmt.Errorf("quit the %s in %s: %w", args[0], dir, err)
		}
	}
	_, merge := os.Lstat(filepath.Join(l.git, "MERGE_HEAD")) // a reset ends a merge
	return len(quits) > 0 || merge == nil, nil
}

// quitCommands returns the commands that end the operations in progress.
func quitCommands(gitDir string) (quits [][]string) {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(gitDir, name))
		return err == nil
	}
	switch {
	case has("rebase-apply/applying"):
		quits = append(quits, []string{"am", "--quit"})
	case has("rebase-merge"), has("rebase-apply"):
		quits = append(quits, []string{"rebase", "--quit"})
	}
	switch {
	case has("REVERT_HEAD"):
		quits = append(quits, []string{"revert", "--quit"})
	case has("CHERRY_PICK_HEAD"), has("sequencer"):
		quits = append(quits, []string{"cherry-pick", "--quit"})
	}
	if has("BISECT_LOG") {
		quits = append(quits, []string{"bisect", "reset", "HEAD"})
	}
	return quits
}
