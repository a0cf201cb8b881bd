package taskdir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

const id = task.ID("000000000000000000001")

var start = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func record() task.Task {
	return task.Task{
		ID: id, Project: "p", Branch: "b", Status: "pending",
		Counters: []task.Counter{{Name: "review_round"}, {Name: "crash_count", Value: 1}},
		Summary:  "do: it", CreatedAt: start, UpdatedAt: start.Add(time.Second), Seq: 1,
		Setup: task.Setup{Workflow: "orange", Harness: "claude", ReviewHarness: "claude"},
	}
}

// begin makes a task's folder with a body and returns the path of its TASK.md.
func begin(t *testing.T, body string) (*Dir, string) {
	t.Helper()
	d := New(filepath.Join(t.TempDir(), "tasks"))
	if err := d.CreateFolder("p", id, []byte(body)); err != nil {
		t.Fatal(err)
	}
	return d, filepath.Join(d.Path("p", id), taskName)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
}

func TestCreate(t *testing.T) {
	d, path := begin(t, "## Context\n")
	if got := read(t, path); got != "## Context\n" {
		t.Errorf("got %q", got)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	if err := d.CreateFolder("p", id, []byte("## Context\n")); err != nil {
		t.Errorf("the same again: %v", err)
	}
	wantError(t, d.CreateFolder("p", id, []byte("other")), "a file with another text exists", "move it away")
	wantError(t, d.CreateFolder("p", "x", make([]byte, taskfile.MaxSize+1)), "shorten it")
	onlyFiles(t, filepath.Dir(path), taskName)
}

func TestNamesStayInside(t *testing.T) {
	d := New(t.TempDir())
	for _, project := range []string{"", ".", "..", "a/b", "../x", "a\x00b"} {
		wantError(t, d.CreateFolder(project, id, nil), "cannot be the name of a folder")
		wantError(t, d.RemoveFolder(project, id), "cannot be the name of a folder")
		_, err := d.ReadTaskFile("p", task.ID(project))
		wantError(t, err, "cannot be the name of a folder")
	}
}

func TestRemove(t *testing.T) {
	d, path := begin(t, "x")
	if err := d.RemoveFolder("p", id); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if err := d.RemoveFolder("p", id); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := New(filepath.Join(t.TempDir(), "none")).RemoveFolder("p", id); err != nil {
		t.Errorf("without any tasks: %v", err)
	}
}

func TestRemoveFollowsNoLinkOutside(t *testing.T) {
	d, _ := begin(t, "x")
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(outside, string(id)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(d.root, "linked")); err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveFolder("linked", id); err == nil {
		t.Error("a folder outside was removed without an error")
	}
	if _, err := os.Stat(filepath.Join(outside, string(id))); err != nil {
		t.Errorf("a folder outside was removed: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(path string) error
		want []string
	}{
		"a link":   {func(path string) error { return os.Symlink("/etc/passwd", path) }, []string{"it is a link", "regular file"}},
		"a pipe":   {func(path string) error { return syscall.Mkfifo(path, 0o600) }, []string{"it is a pipe"}},
		"a folder": {func(path string) error { return os.Mkdir(path, 0o700) }, []string{"it is a folder"}},
		"50 MB":    {func(path string) error { return sparse(path, 50<<20) }, []string{"52428800 bytes", "shorten it"}},
		"binary":   {func(path string) error { return os.WriteFile(path, []byte("a\x00b"), 0o600) }, []string{"not a text file"}},
		"broken frontmatter": {func(path string) error { return os.WriteFile(path, []byte("---\nid: [\n---\n"), 0o600) },
			[]string{"frontmatter, line 2", "write plain key: value lines"}},
		"open frontmatter": {func(path string) error { return os.WriteFile(path, []byte("---\nid: 1\n"), 0o600) }, []string{"never closed"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := begin(t, "")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := tc.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			_, err := d.ReadTaskFile("p", id)
			wantError(t, err, append(tc.want, path)...)

			wantError(t, d.ProjectRecord(record(), []journal.Entry{{Task: id, Seq: 1, Type: journal.TaskPaused}}), tc.want...)
			if last, err := d.LastSeq("p", id); last != 1 || err != nil {
				t.Errorf("history was not appended: %d, %v", last, err)
			}
			if after, _ := os.Lstat(path); !os.SameFile(before, after) {
				t.Error("what cannot be read was touched")
			}
		})
	}
}

// sparse makes a large file that takes no room on the disk.
func sparse(path string, size int64) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

func TestReadMissing(t *testing.T) {
	doc, err := New(t.TempDir()).ReadTaskFile("p", id)
	if err != nil || len(doc.Bytes()) != 0 {
		t.Errorf("%q, %v", doc.Bytes(), err)
	}
}

func TestProjectInAFolderThatMayNotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write everything")
	}
	d, path := begin(t, "x")
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	wantError(t, d.ProjectRecord(record(), nil), "permission denied", "check the owner")
}

func TestProjectWhereAFileIsInTheWay(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "p"), "")
	wantError(t, New(root).ProjectRecord(record(), nil), "not a directory", "move it away")
}
