package taskdir

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const frontmatter = `---
id: "000000000000000000001"
project: p
branch: b
harness: claude
review_harness: claude
effort: null
review_effort: null
status: pending
review_round: 0
crash_count: 1
summary: "do: it"
workflow: orange
workspace: null
tmux_session: null
created_at: 2026-01-02T03:04:05.678Z
updated_at: 2026-01-02T03:04:06.678Z
---
`

func TestProjectWritesTheFrontmatter(t *testing.T) {
	const body = "\n## Context\n\nfix it\n"
	for name, tc := range map[string]struct{ before, want string }{
		"a body only":            {body, frontmatter + body},
		"nothing":                {"", frontmatter},
		"an older record":        {strings.Replace(frontmatter, "pending", "done", 1) + body, frontmatter + body},
		"unknown keys are kept":  {"---\nmine: [1, 2] # why\nstatus: x\n---\n" + body, ""},
		"a removed key comes in": {strings.Replace(frontmatter, "branch: b\n", "", 1) + body, frontmatter + body},
		"a stray pull request":   {strings.Replace(frontmatter, "---\n", "---\npr_url: http://x\n", 1) + body, frontmatter + body},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := begin(t, tc.before)
			if err := d.ProjectRecord(record(), nil); err != nil {
				t.Fatal(err)
			}
			got := read(t, path)
			if tc.want != "" && got != tc.want {
				t.Errorf("(-want +got)\n%s", cmp.Diff(tc.want, got))
			}
			if !strings.HasSuffix(got, "---\n"+body) && tc.before != "" {
				t.Errorf("the body changed: %q", got)
			}
			if strings.Contains(tc.before, "mine") && !strings.Contains(got, "mine: [1, 2] # why\n") {
				t.Errorf("a key that is not Orange's was dropped: %q", got)
			}
			onlyFiles(t, filepath.Dir(path), taskName)
		})
	}
}

func TestProjectMakesAMissingTaskFile(t *testing.T) {
	d := New(t.TempDir())
	if err := d.ProjectRecord(record(), nil); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(d.Path("p", id), taskName)); got != frontmatter {
		t.Errorf("(-want +got)\n%s", cmp.Diff(frontmatter, got))
	}
}

func TestProjectOfADeletedTaskMakesNothing(t *testing.T) {
	d := New(t.TempDir())
	gone := record()
	gone.Deleted = true
	if err := d.ProjectRecord(gone, nil); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, d.root)
}

func TestProjectWritesNothingIfNothingChanges(t *testing.T) {
	d, path := begin(t, frontmatter+"x")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ProjectRecord(record(), nil); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || before.ModTime() != after.ModTime() {
		t.Errorf("the file was written (%v)", err)
	}
}

func TestProjectKeepsTheMode(t *testing.T) {
	d, path := begin(t, "x")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := d.ProjectRecord(record(), nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// An editor writes body after body while Orange writes the frontmatter. Whatever the
// order, the editor's last body must be there in the end.
func TestProjectNeverDropsAnEdit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who has a file open for writing")
	}
	for name, edit := range map[string]func(path, text string) error{
		"written in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) },
		"written in small pieces": func(path, text string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			for part := range strings.SplitAfterSeq(text, "\n") {
				if _, err := f.WriteString(part); err != nil {
					return err
				}
			}
			return f.Close()
		},
		"replaced by rename": func(path, text string) error {
			temp := path + "~"
			if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Rename(temp, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := begin(t, "begin\n")
			for round := range 20 {
				race(t, d, func(n int) error {
					return edit(path, fmt.Sprintf("# Round %d\n\nedit %d\n%s", round, n, strings.Repeat("more\n", 50)))
				})
				last := fmt.Sprintf("# Round %d\n\nedit %d\n", round, edits-1)
				if got := read(t, path); !strings.Contains(got, last) {
					t.Fatalf("the last edit of round %d is gone:\n%.600s", round, got)
				}
				if err := d.ProjectRecord(record(), nil); err != nil {
					t.Fatal(err)
				}
				if got := read(t, path); !strings.HasPrefix(got, frontmatter) || !strings.Contains(got, last) {
					t.Fatalf("round %d ends with\n%.600s", round, got)
				}
			}
			onlyFiles(t, filepath.Dir(path), taskName)
		})
	}
}

const edits = 20

// race edits while records are projected, and waits for both.
func race(t *testing.T, d *Dir, edit func(n int) error) {
	t.Helper()
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		r := record()
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			r.Counters[1].Value = n
			_ = d.ProjectRecord(r, nil) // "keeps changing" is an answer: the next one succeeds
		}
	})
	for n := range edits {
		if err := edit(n); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
}

func TestExchangeByLink(t *testing.T) {
	dir := t.TempDir()
	path, temp := filepath.Join(dir, taskName), filepath.Join(dir, ".temp")
	write(t, path, "old")
	write(t, temp, "new")
	old, err := exchangeByLink(temp, path)
	if err != nil || read(t, path) != "new" || read(t, old) != "old" {
		t.Errorf("%q, %v", old, err)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	_, err = exchangeByLink(temp, path)
	wantError(t, err, "no such file")
	onlyFiles(t, dir, taskName)
}

func TestAFileThatStaysOpenIsPutBack(t *testing.T) {
	for name, tc := range map[string]struct{ meanwhile, kept string }{
		"and nothing else happened":      {"new", ""},
		"and the new one was edited too": {"edited", "edited"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, old := filepath.Join(dir, taskName), filepath.Join(dir, ".old")
			write(t, old, "being written")
			write(t, path, tc.meanwhile)
			wantError(t, takeBack(old, path, []byte("new"), os.ErrDeadlineExceeded), "timeout", tc.kept)
			if got := read(t, path); got != "being written" {
				t.Errorf("got %q", got)
			}
			if tc.kept != "" && read(t, path+".edited") != tc.kept {
				t.Error("the other edit is gone")
			}
		})
	}
}
