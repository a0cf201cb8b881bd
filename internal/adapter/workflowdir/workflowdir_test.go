package workflowdir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFind(t *testing.T) {
	user, repo := t.TempDir(), t.TempDir()
	inRepo := filepath.Join(repo, ".orange", "workflows")
	write(t, "repo", inRepo, "both.yml")
	write(t, "user", user, "both.yaml")
	write(t, "mine", user, "mine.yml")
	write(t, "first", user, "twice.yaml")
	write(t, "second", user, "twice.yml")
	write(t, "secret", filepath.Dir(user), "secret.yaml")
	for name, tc := range map[string]struct{ name, repo, want string }{
		"the repository comes first":  {"both", repo, "repo"},
		"the user's, without a repo":  {"both", "", "user"},
		"the user's, beside a repo":   {"mine", repo, "mine"},
		"yaml before yml":             {"twice", repo, "first"},
		"not there":                   {"none", repo, ""},
		"in a repo without a folder":  {"none", t.TempDir(), ""},
		"in a repo that is not there": {"mine", filepath.Join(repo, "gone"), "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			file, text, ok, err := New(user).Find(tc.name, tc.repo)
			if err != nil || text != tc.want || ok != (tc.want != "") || ok != filepath.IsAbs(file) {
				t.Errorf("got %q from %q, %v, %v, want %q", text, file, ok, err, tc.want)
			}
		})
	}
	for _, name := range []string{"", "../secret", "a/b", ".hidden", "..", `a\b`, "-x"} {
		if _, _, ok, err := New(user).Find(name, repo); ok || err == nil || !strings.Contains(err.Error(), "plain name") {
			t.Errorf("%q: %v, %v", name, ok, err)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(file string) error
		want string
	}{
		"a large file": {func(file string) error {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(file, 50<<20)
		}, "shorten it"},
		"a pipe":   {func(file string) error { return syscall.Mkfifo(file, 0o600) }, "not a regular file"},
		"a folder": {func(file string) error { return os.Mkdir(file, 0o700) }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			user := t.TempDir()
			file := filepath.Join(user, "x.yaml")
			if err := tc.make(file); err != nil {
				t.Fatal(err)
			}
			_, _, ok, err := New(user).Find("x", "")
			if ok || err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
}

func TestList(t *testing.T) {
	user, repo := t.TempDir(), t.TempDir()
	inRepo := filepath.Join(repo, ".orange", "workflows")
	b := write(t, "", inRepo, "b.yml")
	a := write(t, "", user, "a.yaml")
	other := write(t, "", user, "b.yaml")
	write(t, "", user, "notes.txt")
	write(t, "", user, ".hidden.yaml")
	if err := os.Mkdir(filepath.Join(user, "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := []Found{{"a", a, OfUser}, {"b", b, OfRepository}, {"b", other, OfUser}}
	if diff := cmp.Diff(want, New(user).ListFiles(repo)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := New(filepath.Join(user, "none")).ListFiles(""); got != nil {
		t.Errorf("got %v", got)
	}
}

// A workflow takes fragments from its own folder, and nothing else of the machine.
func TestFragmentsComeFromTheFolderOfTheWorkflow(t *testing.T) {
	repo := t.TempDir()
	folder := filepath.Join(repo, ".orange", "workflows")
	secret := filepath.Join(repo, "secret.yaml")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(secret, "prompts: {key: secret}\n")
	write(filepath.Join(folder, "shared.yaml"), "prompts: {a: hello}\n")
	for name, link := range map[string]string{"out.yaml": secret, "up.yaml": "../../secret.yaml", "inside.yaml": "shared.yaml"} {
		if err := os.Symlink(link, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir := New("")
	for include, good := range map[string]bool{"shared.yaml": true, "inside.yaml": true, "out.yaml": false, "up.yaml": false, "../../secret.yaml": false, "none.yaml": false} {
		write(filepath.Join(folder, "mine.yaml"), "name: mine\nversion: 1\ninclude: ["+include+"]\nstates: {a: {kind: terminal}}\n")
		_, text, ok, err := dir.Find("mine", repo)
		if ok != good || (err == nil) != good || strings.Contains(text, "secret}") || good && !strings.Contains(text, "hello") {
			t.Errorf("%s: %v, %v, %q", include, ok, err, text)
		}
	}
}
