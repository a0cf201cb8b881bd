package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoFile means that a branch has no such file on the side that was asked for.
var ErrNoFile = errors.New("no such file")

// FileContent returns a file as it is on one side of BranchDiff, at most limit bytes: the old side is where the branch left the default
// branch, the new one is what the branch has now, with uncommitted changes.
func (g *Git) FileContent(ctx context.Context, c Comparison, path string, old bool, limit int) (content []byte, cut bool, err error) {
	if !filepath.IsLocal(path) || strings.ContainsRune(path, 0) {
		return nil, false, fmt.Errorf("%w: %q is not a path inside the repository", ErrNoFile, makePrintable(path))
	}
	f, err := g.findFork(ctx, c)
	switch {
	case err != nil:
		return nil, false, err
	case old && f.unrelated:
		return nil, false, ErrNoFile
	case f.files && !old:
		return readInside(f.dir, path, limit)
	}
	commit := f.tip
	if old {
		commit = f.base
	}
	content, cut, err = g.readUpTo(ctx, limit, call{dir: f.dir, config: quietConfig[:], args: []string{"cat-file", "blob", commit + ":" + filepath.ToSlash(path)}})
	if exitCode(err) == 128 {
		err = fmt.Errorf("%w: %v", ErrNoFile, err)
	}
	return content, cut, err
}

// readInside reads a regular file below a folder. It follows no link, not even one that stays inside.
func readInside(dir, path string, limit int) (content []byte, cut bool, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	info, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, fmt.Errorf("%w: %s", ErrNoFile, makePrintable(path))
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, fmt.Errorf("%w: %s is not a regular file", ErrNoFile, makePrintable(path))
	}
	file, err := root.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	content, err = io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if len(content) > limit {
		return content[:limit], true, err
	}
	return content, false, err
}
