package diff

import (
	"cmp"
	"slices"
	"strings"
)

// A Node is a folder or a file in the tree of changed files.
type Node struct {
	Name           string // of a folder: all folders that have only one entry, joined
	File           int    // index of the file, -1 for a folder
	Added, Deleted int
	Nodes          []Node
}

// maxDepth limits how deep the tree is: below it, names have slashes.
const maxDepth = 12

// FileTree returns the folders and files that changed, folders first and in the order of their names.
func FileTree(files []File) []Node {
	all := make([]treeEntry, len(files))
	for i := range files {
		all[i] = treeEntry{files[i].Path, i}
	}
	return buildTree(files, all, maxDepth)
}

// treeEntry is a file with the rest of its path.
type treeEntry struct {
	rest string
	file int
}

func buildTree(files []File, list []treeEntry, depth int) []Node {
	var out []Node
	folders := map[string][]treeEntry{}
	for _, e := range list {
		name, rest, below := strings.Cut(e.rest, "/")
		if below && name != "" && rest != "" && depth > 0 {
			folders[name] = append(folders[name], treeEntry{rest, e.file})
			continue
		}
		f := &files[e.file]
		out = append(out, Node{Name: e.rest, File: e.file, Added: f.Added, Deleted: f.Deleted})
	}
	for name, inside := range folders {
		n := Node{Name: name, File: -1, Nodes: buildTree(files, inside, depth-1)}
		for _, below := range n.Nodes {
			n.Added, n.Deleted = n.Added+below.Added, n.Deleted+below.Deleted
		}
		if len(n.Nodes) == 1 && n.Nodes[0].File < 0 {
			n.Name, n.Nodes = n.Name+"/"+n.Nodes[0].Name, n.Nodes[0].Nodes
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b Node) int {
		return cmp.Or(cmp.Compare(min(a.File, 0), min(b.File, 0)), strings.Compare(a.Name, b.Name))
	})
	return out
}
