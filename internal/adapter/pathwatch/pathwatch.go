// Package pathwatch waits until files may have been created, removed or replaced, by themselves
// or together with folders above them. It does not report what happened, and ignores what is
// written to the files; package filewatch is for that.
package pathwatch

import (
	"os"
	"path/filepath"
)

// folder is a folder to watch.
type folder struct {
	path  string
	names []string // entries that matter; none if only the folder itself does
}

// foldersToWatch returns what to watch for paths: for each, its folder or the nearest existing
// one above, for the entry in it; and the folders above that, because they can be moved or
// removed.
func foldersToWatch(paths []string) []folder {
	var out []folder
	index := map[string]int{}
	add := func(path string, names ...string) {
		i, ok := index[path]
		if !ok {
			i = len(out)
			index[path] = i
			out = append(out, folder{path: path})
		}
		out[i].names = append(out[i].names, names...)
	}
	for _, path := range paths {
		dir, name := filepath.Dir(path), filepath.Base(path)
		for !isFolder(dir) && dir != filepath.Dir(dir) {
			dir, name = filepath.Dir(dir), filepath.Base(dir)
		}
		add(dir, name)
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			add(filepath.Dir(dir))
		}
	}
	return out
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
