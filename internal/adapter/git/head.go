package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Head returns the commit and the branch that are checked out in the working tree at dir. The
// branch is empty if HEAD is detached, and the commit is empty if the branch has none yet. Head
// reads git's files, and runs git only where refs are stored in another form.
func (g *Git) Head(dir string) (commit, branch string, err error) {
	commit, branch, known, err := readHead(dir)
	if err != nil || known {
		return commit, branch, err
	}
	return g.askHead(dir)
}

// readHead is Head without running git. It sets known to false where it would have to guess.
func readHead(dir string) (commit, branch string, known bool, err error) {
	l, err := layoutOf(dir)
	if err != nil {
		return "", "", false, err
	}
	text, err := os.ReadFile(filepath.Join(l.git, "HEAD"))
	if err != nil {
		return "", "", false, fmt.Errorf("read the HEAD of %s: %w", dir, err)
	}
	head := strings.TrimRight(string(text), "\n")
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return head, "", isHash(head), nil
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(ref), heads)
	if !ok || !validBranch(branch) { // a store without ref files writes an invalid name here
		return "", "", false, nil
	}
	commit, known, err = readRef(l.common, heads+branch)
	return commit, branch, known, err
}

// readRef returns the commit of a ref, or "" if the ref is in neither place. Git writes the
// packed file before it removes the loose one, so readRef must read the loose file first.
func readRef(common, ref string) (commit string, known bool, err error) {
	text, err := os.ReadFile(filepath.Join(common, filepath.FromSlash(ref)))
	if err == nil {
		commit = strings.TrimSpace(string(text))
		return commit, isHash(commit), nil
	}
	packed, err := os.Open(filepath.Join(common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", true, nil
	}
	if err != nil {
		return "", false, err
	}
	commit, err = findPacked(packed, ref)
	return commit, true, errors.Join(err, packed.Close())
}

// findPacked returns the commit of a ref in a packed-refs file, or "" if the ref is not there.
func findPacked(r io.Reader, ref string) (string, error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		commit, name, _ := strings.Cut(lines.Text(), " ")
		if name == ref && isHash(commit) {
			return commit, nil
		}
	}
	return "", lines.Err()
}

// isHash reports whether s is a full object name, in SHA-1 or SHA-256.
func isHash(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

func (g *Git) askHead(dir string) (commit, branch string, err error) {
	ctx := context.Background()
	ref, err := g.run(ctx, dir, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && exitCode(err) != 1 {
		return "", "", fmt.Errorf("find the branch of %s: %w", dir, err)
	}
	commit, err = g.resolveRevision(ctx, dir, "HEAD")
	return commit, strings.TrimPrefix(ref, heads), err
}

// resolveRevision returns the commit of a revision, or "" if there is none.
func (g *Git) resolveRevision(ctx context.Context, dir, revision string) (string, error) {
	commit, err := g.run(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find the commit %s in %s: %w", makePrintable(revision), dir, err)
	}
	return commit, nil
}
