// Package builtin contains the built-in workflows as files. A project that needs a variant
// copies one into .orange/workflows and edits it.
package builtin

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.yaml *.json
var files embed.FS

// Default is the workflow of a task that does not name one.
const Default = "orange"

// Names lists the built-in workflows, in alphabetical order.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil // the files are embedded, so there is no disk error
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
	}
	return names
}

// Text returns the built-in workflow file called name.
func Text(name string) (string, bool) {
	b, err := files.ReadFile(File(name))
	return string(b), err == nil
}

// File returns the file name of a built-in workflow, with its extension.
func File(name string) string {
	if file := name + ".json"; fs.ValidPath(file) {
		if _, err := fs.Stat(files, file); err == nil {
			return file
		}
	}
	return name + ".yaml"
}
