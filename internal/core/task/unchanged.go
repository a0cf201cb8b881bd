package task

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// PathPatterns name files of a repository, as in .gitignore: a pattern without a slash names files and folders anywhere,
// one with a slash begins at the root, ** stands for any folders, and a folder stands for everything in it.
type PathPatterns []string

// Limits of path patterns.
const (
	maxPatterns     = 100
	maxPatternBytes = 500
)

// Validate returns what is wrong with the patterns, or nil.
func (l PathPatterns) Validate() error {
	if len(l) > maxPatterns {
		return fmt.Errorf("there are %d patterns of paths, and the limit is %d: name folders", len(l), maxPatterns)
	}
	for _, p := range l {
		_, err := path.Match(p, "")
		parts := strings.Split(p, "/")
		switch {
		case err != nil || strings.Trim(p, "/ ") == "" || len(p) > maxPatternBytes || strings.ContainsAny(p, "\x00\n\\"):
			return fmt.Errorf("pattern %.80q names no paths: give one such as Makefile, .github/** or *.lock", p)
		case strings.HasPrefix(p, "!") || slices.Contains(parts, "..") || slices.Contains(parts, "."):
			return fmt.Errorf("pattern %.80q: give a path from the root of the repository, without a leading ! and without dots as folders", p)
		}
	}
	return nil
}

// WithChanges returns the patterns with others added; !PATTERN removes one.
func (l PathPatterns) WithChanges(changes []string) (PathPatterns, error) {
	out := slices.Clone(l)
	for _, c := range changes {
		if old, removes := strings.CutPrefix(c, "!"); removes {
			at := slices.Index(out, old)
			if at < 0 {
				return nil, fmt.Errorf("pattern %.80q is not one of the project's: it has %s", old, strings.Join(l, ", "))
			}
			out = slices.Delete(out, at, at+1)
		} else if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out, out.Validate()
}

// Match reports whether one of the patterns names a path, or a folder above it.
func (l PathPatterns) Match(file string) bool {
	parts := strings.Split(file, "/")
	return slices.ContainsFunc(l, func(p string) bool {
		pattern := strings.Split(strings.Trim(p, "/"), "/")
		if !strings.Contains(strings.TrimSuffix(p, "/"), "/") {
			pattern = append([]string{"**"}, pattern...)
		}
		return matchParts(pattern, parts)
	})
}

// matchParts matches the parts of a pattern with the first parts of a path. A pattern that ends in ** does not name the
// folder itself.
func matchParts(pattern, parts []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case len(parts) == 0:
		return false
	case pattern[0] == "**":
		return len(pattern) == 1 || matchParts(pattern[1:], parts) || matchParts(pattern, parts[1:])
	}
	ok, err := path.Match(pattern[0], parts[0])
	return err == nil && ok && matchParts(pattern[1:], parts[1:])
}

// A PathChange is a path as the branch of a task has it, if that differs from where the branch began.
type PathChange struct {
	Path string `json:"path"`
	Blob string `json:"blob,omitempty"` // mode and id of its content; "" if the branch has removed it
}

// UnapprovedChanges returns the changes that need a person's approval and have none. An approval is for a content: a path
// that changes again needs another one.
func (t *Task) UnapprovedChanges() []PathChange { return t.Unapproved(t.ProtectedChanges) }

// Unapproved returns those of the changes that nobody approved.
func (t *Task) Unapproved(changes []PathChange) []PathChange {
	return slices.DeleteFunc(slices.Clone(changes), func(c PathChange) bool { return slices.Contains(t.ApprovedChanges, c) })
}

// PathsOf lists the paths of changes.
func PathsOf(changes []PathChange) []string {
	out := make([]string, len(changes))
	for i := range changes {
		out[i] = changes[i].Path
	}
	return out
}
