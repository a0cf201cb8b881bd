// Package workflowdir finds workflow files, those of a repository before those of the user, and
// adds new ones. It reads and writes text; other packages know its meaning and the built-in
// workflows.
package workflowdir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orange/internal/core/workflow"
)

// MaxSize is the number of bytes a workflow file may have.
const MaxSize = 1 << 20

// The origins of workflow files.
const (
	OfRepository = "repository"
	OfUser       = "user"
)

// Dir is where workflow files are searched.
type Dir struct {
	user string
}

// New returns the workflows of a user, whose files are in userDir.
func New(userDir string) *Dir { return &Dir{user: userDir} }

// Found is a workflow file.
type Found struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Origin string `json:"origin"`
}

// fileExtensions returns the extensions of workflow files, in order of precedence.
func fileExtensions() []string { return []string{".yaml", ".yml", stepFile} }

// stepFile is the extension of workflows in steps.
const stepFile = ".json"

// searchFolders returns the folders to search, in order of precedence.
func (d *Dir) searchFolders(repoRoot string) []Found {
	var out []Found
	if repoRoot != "" {
		out = append(out, Found{File: filepath.Join(repoRoot, ".orange", "workflows"), Origin: OfRepository})
	}
	if d.user != "" {
		out = append(out, Found{File: d.user, Origin: OfUser})
	}
	return out
}

// Find returns the file and the text of the workflow called name. An empty repoRoot means that
// there is no repository.
func (d *Dir) Find(name, repoRoot string) (file, text string, ok bool, err error) {
	if !isPlainName(name) {
		return "", "", false, fmt.Errorf("%q is not the name of a workflow: give a plain name without slashes", name)
	}
	for _, place := range d.searchFolders(repoRoot) {
		for _, extension := range fileExtensions() {
			file := filepath.Join(place.File, name+extension)
			text, err := readPlainFile(file)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				continue
			}
			if err != nil {
				return "", "", false, fmt.Errorf("read workflow %s: %w", file, err)
			}
			whole, err := ExpandIncludes(file, place.File, text)
			if err != nil {
				return file, text, false, err
			}
			return file, whole, true, nil
		}
	}
	return "", "", false, nil
}

// ExpandIncludes adds the fragments that a workflow includes to its text, from the folder of
// the workflow. It follows no link out of that folder, so that an untrusted repository can read
// nothing else on this machine.
func ExpandIncludes(file, folder, text string) (string, error) {
	return workflow.ExpandIncludes(file, text, func(name string) (string, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return "", err
		}
		defer root.Close() //nolint:errcheck // read only
		f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return "", err
		}
		got, err := readFrom(f)
		return got, errors.Join(err, f.Close())
	})
}

// ListFiles returns every workflow file, sorted by name; of several with the same name, the one
// that Find returns comes first. A folder that cannot be read counts as empty.
func (d *Dir) ListFiles(repoRoot string) []Found {
	var out []Found
	for _, place := range d.searchFolders(repoRoot) {
		entries, err := os.ReadDir(place.File)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
			if !e.IsDir() && isPlainName(name) && slices.Contains(fileExtensions(), filepath.Ext(e.Name())) {
				out = append(out, Found{Name: name, File: filepath.Join(place.File, e.Name()), Origin: place.Origin})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Found) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func isPlainName(name string) bool {
	return name != "" && len(name) <= 255 && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "-") &&
		!strings.ContainsAny(name, "/\\\x00")
}

// readPlainFile reads a regular file of at most the allowed size. The path may be a link.
func readPlainFile(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return "", err
	}
	text, err := readFrom(f)
	return text, errors.Join(err, f.Close())
}

func readFrom(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file; replace it with one")
	}
	size := info.Size()
	if size <= MaxSize {
		text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
		if err != nil || len(text) <= MaxSize {
			return string(text), err
		}
		size = int64(len(text))
	}
	return "", fmt.Errorf("it has %d bytes and %d are allowed; shorten it", size, MaxSize)
}
