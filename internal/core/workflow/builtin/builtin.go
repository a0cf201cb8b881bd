// Package builtin carries the workflows that come with Orange, as the files they
// are. A project that wants its own copies one into .orange/workflows and edits it.
package builtin

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Default is the workflow of a task that names none.
const Default = "orange"

// Names lists the built-in workflows, in alphabetical order.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil // the files are part of the program: there is no disk to fail
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// Text returns the built-in workflow file called name.
func Text(name string) (string, bool) {
	b, err := files.ReadFile(name + ".yaml")
	return string(b), err == nil
}
