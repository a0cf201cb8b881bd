package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// gitlink is the mode of a submodule in an index or a tree.
const gitlink = "160000"

// An index is the part of a working tree's git index that matters here.
type index struct {
	submodules   []submodule // those that are checked out
	absent       []string    // paths of those that are not checked out
	linked       bool        // there are submodules, checked out or not
	emptyModules []string    // content of the folders of submodules that are not checked out, which git does not list
	assumed      []string    // files that git assumes to be unchanged
	skipped      []string    // files that git does not check
}

// readIndex reads the index of a working tree.
func (g *Git) readIndex(ctx context.Context, dir string) (index, error) {
	out, err := g.runQuietly(ctx, dir, "ls-files", "-v", "--stage", "-z")
	if err != nil {
		return index{}, fmt.Errorf("list the files of %s: %w", dir, err)
	}
	var x index
	last := ""
	for _, item := range splitNulTerminated(out) {
		about, name, _ := strings.Cut(item, "\t")
		fields := strings.Fields(about) // mark, mode, object, stage
		if len(fields) != 4 || name == last {
			continue
		}
		last = name
		if mark := fields[0]; mark != "H" && mark != "M" && pathExists(dir, name) {
			if mark == strings.ToLower(mark) {
				x.assumed = append(x.assumed, name)
			}
			if strings.EqualFold(mark, "S") {
				x.skipped = append(x.skipped, name)
			}
		}
		if fields[1] != gitlink {
			continue
		}
		x.linked = true
		if pathExists(dir, name+"/.git") {
			sub := submodule{name: name, dir: filepath.Join(dir, name), commit: fields[2]}
			if err := g.insideOf(ctx, dir, sub); err != nil {
				return index{}, err
			}
			x.submodules = append(x.submodules, sub)
			continue
		}
		x.absent = append(x.absent, name)
		entries, _ := os.ReadDir(filepath.Join(dir, name)) // the folder may not exist
		for _, entry := range entries {
			x.emptyModules = append(x.emptyModules, name+"/"+entry.Name())
		}
	}
	return x, nil
}

func pathExists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// clearHiddenMarks clears the marks that make git ignore changes, for files that exist. Files
// outside a sparse checkout do not exist and keep their marks.
func (g *Git) clearHiddenMarks(ctx context.Context, dir string, x index, env []string) error {
	for _, hidden := range [...]struct {
		option string
		files  []string
	}{{"--no-assume-unchanged", x.assumed}, {"--no-skip-worktree", x.skipped}} {
		if len(hidden.files) == 0 {
			continue
		}
		input := strings.Join(hidden.files, "\x00") + "\x00"
		args := []string{"update-index", "-z", hidden.option, "--stdin"}
		if _, err := g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: args, env: env, input: input}); err != nil {
			return err
		}
	}
	return nil
}
