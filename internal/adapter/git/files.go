package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// UntrackedFiles lists what git neither tracks nor ignores in the worktree at dir, and the
// content of the folders of submodules that are not checked out. A folder without tracked files
// is one item and ends in a slash.
func (g *Git) UntrackedFiles(ctx context.Context, dir string) ([]string, error) {
	out, err := g.runQuietly(ctx, dir, "ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z")
	if err != nil {
		return nil, fmt.Errorf("list the untracked files of %s: %w", dir, err)
	}
	known, err := g.readIndex(ctx, dir)
	return append(splitNulTerminated(out), known.emptyModules...), err
}

// TrackedFiles returns those of the given files that git tracks in the worktree at dir.
func (g *Git) TrackedFiles(ctx context.Context, dir string, files ...string) ([]string, error) {
	out, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: append([]string{"ls-files", "-z", "--"}, files...), env: literal[:]})
	if err != nil {
		return nil, fmt.Errorf("list the tracked files of %s: %w", dir, err)
	}
	return splitNulTerminated(out), nil
}

// literal makes git take path arguments literally, not as patterns.
var literal = [...]string{"GIT_LITERAL_PATHSPECS=1"}

// MatchingFiles lists the untracked files of the checkout at root, including ignored ones, that
// match a file of gitignore-style patterns.
func (g *Git) MatchingFiles(ctx context.Context, root, patterns string) ([]string, error) {
	out, err := g.runQuietly(ctx, root, "ls-files", "--others", "--ignored", "-z", "--exclude-from="+patterns)
	if err != nil {
		return nil, fmt.Errorf("list the files that %s names: %w", patterns, err)
	}
	return splitNulTerminated(out), nil
}

// IgnoredFiles returns those of the given files that git ignores in the checkout at dir.
func (g *Git) IgnoredFiles(ctx context.Context, dir string, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	out, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: []string{"check-ignore", "-z", "--stdin"}, input: strings.Join(files, "\x00") + "\x00"})
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("find which files %s ignores: %w", dir, err)
	}
	return splitNulTerminated(out), nil
}

// AllIgnored lists what git ignores in the worktree at dir and in its submodules, and the
// content of the folders of submodules that are not checked out. A folder that is ignored as a
// whole is one item and ends in a slash.
func (g *Git) AllIgnored(ctx context.Context, dir string) ([]string, error) {
	known, err := g.readIndex(ctx, dir)
	if err != nil {
		return nil, err
	}
	list := known.emptyModules
	covered := map[string]bool{}
	for _, option := range [...]string{"--directory", "--no-directory"} { // the first misses files in folders that are not ignored
		out, err := g.runQuietly(ctx, dir, "ls-files", "--others", "--ignored", "--exclude-standard", option, "-z")
		if err != nil {
			return nil, fmt.Errorf("list the ignored files of %s: %w", dir, err)
		}
		for _, file := range splitNulTerminated(out) {
			if !isListed(file, covered) {
				list, covered[file] = append(list, file), true
			}
		}
	}
	for _, sub := range known.submodules {
		inner, err := g.AllIgnored(ctx, sub.dir)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		for _, file := range inner {
			list = append(list, sub.name+"/"+file)
		}
	}
	return list, nil
}

// isListed reports whether list contains a file, or a folder that the file is in. Folders end
// in a slash.
func isListed(file string, list map[string]bool) bool {
	for i, c := range file {
		if c == '/' && list[file[:i+1]] {
			return true
		}
	}
	return list[file]
}

// IsDirty reports whether the worktree at dir differs from its HEAD or has untracked files.
func (g *Git) IsDirty(ctx context.Context, dir string) (bool, error) {
	files, err := g.UncommittedFiles(ctx, dir)
	return len(files) > 0, err
}

// UncommittedFiles lists the files in which the worktree at dir differs from its HEAD, and the
// untracked ones. A folder without tracked files is one item and ends in a slash; a submodule
// with changes is one item without a slash. Git runs in each submodule separately: if it
// descended into submodules itself, it would run the programs that their configuration names.
func (g *Git) UncommittedFiles(ctx context.Context, dir string) ([]string, error) {
	out, err := g.runQuietly(ctx, dir, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, fmt.Errorf("find the changes in %s: %w", dir, err)
	}
	files := splitNulTerminated(out)
	for i := range files {
		files[i] = files[i][min(3, len(files[i])):] // after the two letters of its state
	}
	if l, err := layoutOf(dir); err != nil || !pathExists(dir, ".gitmodules") && !pathExists(l.git, "modules") {
		return files, nil //nolint:nilerr // git has read it
	}
	known, err := g.readIndex(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, sub := range known.submodules {
		if slices.Contains(files, sub.name) {
			continue
		}
		dirty, err := g.IsDirty(ctx, sub.dir)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		if dirty {
			files = append(files, sub.name)
		}
	}
	return files, nil
}
