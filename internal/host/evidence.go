package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Evidence looks up the facts that only the machine of a worktree knows.
type Evidence struct {
	Git       *git.Git
	Workspace func(name string) string                        // returns the folder of a workspace
	Began     func(id task.ID, attempt int) (time.Time, bool) // returns when the conversation of an attempt began; false if that is unknown
}

// Evidence returns the lookup of facts about the worktrees of this machine.
func (h *Host) Evidence() Evidence {
	e := Evidence{Git: h.Git, Workspace: h.Path, Began: func(task.ID, int) (time.Time, bool) { return time.Time{}, false }}
	if h.Agents != nil {
		e.Began = h.Agents.ConversationStart
	}
	return e
}

// UncommittedFiles lists the files of a workspace that are not committed. Git ignores the files that Orange itself
// puts there.
func (e Evidence) UncommittedFiles(ctx context.Context, workspace string) ([]string, error) {
	return e.Git.UncommittedFiles(ctx, e.Workspace(workspace))
}

// IsDirty reports whether a workspace has changes that are not committed.
func (e Evidence) IsDirty(ctx context.Context, workspace string) (bool, error) {
	return e.Git.IsDirty(ctx, e.Workspace(workspace))
}

// A RequiredFile is a file that an attempt must write.
type RequiredFile struct {
	Task      task.ID
	Workspace string
	Path      string    // relative to the workspace, with slashes
	Header    []string  // fields that its frontmatter must have
	Attempt   int       // the file must be written after the conversation of this attempt began
	Since     time.Time // the file must be written after this, if the start of the conversation is unknown
}

// maxHeader bounds how much of a file is read for its frontmatter, in bytes.
const maxHeader = 64 << 10

// CheckFile reports whether a file exists, has content, was written in the session of its attempt, and has
// the required fields. Detail says what was found or what is missing.
func (e Evidence) CheckFile(f RequiredFile) (holds bool, detail string, err error) {
	root, err := os.OpenRoot(e.Workspace(f.Workspace))
	if err != nil {
		return false, "", err
	}
	defer root.Close() //nolint:errcheck // read only
	name := filepath.FromSlash(f.Path)
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, "Required output not found: " + name, nil
	case err != nil:
		return false, "", err
	case !info.Mode().IsRegular() || info.Size() == 0:
		return false, name + " is empty: write it", nil
	case info.ModTime().Before(e.sessionStart(&f)):
		return false, name + " was not written in this session: write it again", nil
	}
	file, err := root.Open(name)
	if err != nil {
		return false, "", err
	}
	defer file.Close() //nolint:errcheck // read only
	text := make([]byte, min(info.Size(), maxHeader))
	n, err := file.Read(text)
	if err != nil {
		return false, "", err
	}
	if missing := taskfile.MissingFields(name, string(text[:n]), f.Header); missing != "" {
		return false, missing, nil
	}
	if of := taskfile.FieldOf(string(text[:n]), "task_id"); slices.Contains(f.Header, "task_id") && of != string(f.Task) {
		return false, fmt.Sprintf("%s has task_id %.40q, but this is task %s", name, of, f.Task), nil
	}
	return true, name + " is there", nil
}

// sessionStart returns when the work began: when the conversation of its attempt began, or else f.Since.
func (e Evidence) sessionStart(f *RequiredFile) time.Time {
	if f.Attempt > 0 {
		if at, ok := e.Began(f.Task, f.Attempt); ok {
			return at
		}
	}
	return f.Since
}
