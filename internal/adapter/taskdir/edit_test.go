package taskdir

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An edit that comes in between and cannot be spliced must be there afterwards.
func TestAnEditThatCannotBeSplicedIsKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux exchanges two files in one step")
	}
	for range 50 {
		d, path := begin(t, "old body\n")
		edited := make(chan struct{})
		stop := make(chan struct{})
		go saveBrokenEdit(path, stop, edited)
		err := d.ProjectRecord(record(), nil)
		close(stop)
		<-edited
		if !strings.Contains(everythingIn(t, filepath.Dir(path)), "NEW BODY") {
			t.Fatalf("the edit is lost: %v", err)
		}
	}
}

// saveBrokenEdit replaces TASK.md, like an editor, as soon as Orange's own new file exists and
// is not yet in place, or at the latest when it is told to stop.
func saveBrokenEdit(path string, stop <-chan struct{}, edited chan<- struct{}) {
	defer close(edited)
	dir := filepath.Dir(path)
	temp := filepath.Join(dir, "editor")
	if os.WriteFile(temp, []byte("---\nmine: [\n---\nNEW BODY\n"), 0o600) != nil {
		return
	}
	for {
		select {
		case <-stop:
			os.Rename(temp, path) //nolint:errcheck // the check that follows notices
			return
		default:
			if found, _ := filepath.Glob(filepath.Join(dir, ".TASK.md-*")); len(found) > 0 {
				os.Rename(temp, path) //nolint:errcheck // the check that follows notices
				return
			}
		}
	}
}

func everythingIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
