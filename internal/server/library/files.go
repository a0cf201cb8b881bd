package library

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/adapter/workflowdir"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/cli"
)

// FileSource finds workflow files for the commands that need no server. It implements cli.WorkflowSource.
type FileSource struct{ Dir *workflowdir.Dir }

// FindWorkflow implements cli.WorkflowSource.
func (w FileSource) FindWorkflow(name, cwd string) (file, text string, err error) {
	if strings.ContainsRune(name, '/') || filepath.Ext(name) != "" {
		return readWorkflow(name, cwd)
	}
	file, text, ok, err := w.Dir.Find(name, GitRoot(cwd))
	if err != nil || ok {
		return file, text, err
	}
	if text, ok = builtin.Text(name); ok {
		return builtin.File(name), text, nil
	}
	return "", "", fmt.Errorf("workflow %q is not known: see orange workflow list, or give a file", name)
}

// readWorkflow reads a file given by its path.
func readWorkflow(path, cwd string) (file, text string, err error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(cwd, path)
	}
	f, err := os.Open(at)
	if err != nil {
		return "", "", err
	}
	defer f.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(io.LimitReader(f, workflow.MaxSize+1))
	if err != nil {
		return "", "", err
	}
	text, err = workflowdir.ExpandIncludes(path, filepath.Dir(at), string(b))
	return path, text, err
}

// ListWorkflows implements cli.WorkflowSource.
func (w FileSource) ListWorkflows(cwd string) ([]cli.WorkflowEntry, error) {
	root := GitRoot(cwd)
	var out []cli.WorkflowEntry
	seen := map[string]bool{}
	for _, f := range w.Dir.ListFiles(root) {
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		_, text, _, err := w.Dir.Find(f.Name, root)
		var wrong *workflow.Error
		switch {
		case errors.As(err, &wrong): // list this one without its text, and the others
		case err != nil:
			return nil, err
		case workflow.IsFragment(f.File, text):
			continue
		}
		out = append(out, cli.WorkflowEntry{Name: f.Name, Origin: f.Origin, File: f.File, Text: text})
	}
	for _, name := range builtin.Names() {
		if text, _ := builtin.Text(name); !seen[name] {
			out = append(out, cli.WorkflowEntry{Name: name, Origin: "built-in", File: builtin.File(name), Text: text})
		}
	}
	return out, nil
}

// SaveWorkflows implements cli.WorkflowSource.
func (w FileSource) SaveWorkflows(list []cli.WorkflowEntry, cwd string, user, force bool) ([]string, error) {
	root := GitRoot(cwd)
	switch {
	case user:
		root = ""
	case root == "":
		return nil, errors.New("there is no repository here: change to the project's folder, or add to your own workflows with --user")
	}
	files := make([]workflowdir.File, len(list))
	for i, e := range list {
		files[i] = workflowdir.File{Name: e.Name, Text: e.Text}
	}
	return w.Dir.SaveFiles(files, root, force)
}

// GitRoot returns dir or its nearest parent that holds a repository, or "" if none does.
func GitRoot(dir string) string {
	for ; dir != ""; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}
