package shim

import "path/filepath"

// A Description is what the kernel says about a process. It has no command line: arguments
// may hold secrets. Its texts are whatever the process chose.
type Description struct {
	Program  string // name of the file it runs
	Path     string // of that file; "" if that cannot be told
	Parent   string // name of the program that started it
	Terminal string // such as pts/3; "" without one
}

// DescribeProcess describes a process. What cannot be told, because the process has ended or
// belongs to somebody else, is left out.
func DescribeProcess(pid int) Description {
	d := Description{Path: programOf(pid)}
	parent, name, terminal := processTraits(pid)
	d.Terminal = terminal
	d.Program = baseOr(d.Path, name)
	if parent > 0 {
		_, name, _ := processTraits(parent)
		d.Parent = baseOr(programOf(parent), name)
	}
	return d
}

// baseOr is the last element of a path, or name if there is no path.
func baseOr(path, name string) string {
	if path == "" {
		return name
	}
	return filepath.Base(path)
}
