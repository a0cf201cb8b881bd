package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	for _, w := range []struct {
		text string
		mode fs.FileMode
	}{{"first", 0o600}, {"second", 0o644}} {
		if err := atomicfile.Write(path, []byte(w.text), w.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != w.mode {
			t.Errorf("%v, %v", info, err)
		}
		expect(t, path, w.text)
	}
	broken := errors.New("broken off")
	err := atomicfile.WriteFrom(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "none", "key"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	expect(t, path, "second")
}

// expect makes sure of the file's text, and that nothing else is in its folder.
func expect(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}
