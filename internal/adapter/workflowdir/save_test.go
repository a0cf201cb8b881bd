package workflowdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files lists a folder, hidden files too.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestSaveWritesWhatFindFinds(t *testing.T) {
	user, repo := filepath.Join(t.TempDir(), "new", "folder"), t.TempDir()
	d := New(user)
	for _, root := range []string{repo, ""} {
		where, err := d.SaveFiles([]File{{"a", "text of a in " + root}, {"b", "text of b"}}, root, false)
		if err != nil || len(where) != 2 {
			t.Fatal(where, err)
		}
		file, text, ok, err := d.Find("a", root)
		if err != nil || !ok || file != where[0] || text != "text of a in "+root {
			t.Errorf("%q: %s, %q, %v, %v", root, file, text, ok, err)
		}
		if got := files(t, filepath.Dir(where[1])); got != "a.json b.json" {
			t.Error(got)
		}
	}
	list := d.ListFiles(repo)
	if len(list) != 4 || list[0].Name != "a" || list[0].Origin != OfRepository {
		t.Errorf("%+v", list)
	}
}

func TestSaveIsAllOrNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		there string
		files []File
		force bool
		want  string
		left  string
	}{
		"a file that is there":          {"b.json", []File{{"a", "x"}, {"b", "x"}}, false, "b.json already exists: replace it with --force", "b.json"},
		"a file that is found first":    {"b.yaml", []File{{"a", "x"}, {"b", "x"}}, true, "b.yaml exists and takes precedence", "b.yaml"},
		"another file found first":      {"b.yml", []File{{"b", "x"}}, false, "takes precedence", "b.yml"},
		"a name that leads elsewhere":   {"", []File{{"a", "x"}, {"../b", "x"}}, true, "plain name", ""},
		"a name that is an option":      {"", []File{{"-b", "x"}}, true, "plain name", ""},
		"a folder in place of a file":   {"b.json/", []File{{"a", "x"}, {"b", "x"}}, true, "b.json is a folder", "b.json"},
		"a replacement that is ordered": {"b.json", []File{{"a", "x"}, {"b", "x"}}, true, "", "a.json b.json"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if folder, ok := strings.CutSuffix(tc.there, "/"); ok {
				if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			} else if tc.there != "" {
				write(t, "old", dir, tc.there)
			}
			_, err := New(dir).SaveFiles(tc.files, "", tc.force)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if got := files(t, dir); got != tc.left {
				t.Errorf("left: %q, want %q", got, tc.left)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "b.json")); tc.want == "" && string(text) != "x" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	if _, err := New("").SaveFiles([]File{{"a", "x"}}, "", false); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Error(err)
	}
}

func TestSaveLeavesNothingBehindWhenItCannotWrite(t *testing.T) {
	repo := t.TempDir()
	write(t, "a plain file", repo, ".orange")
	if _, err := New("").SaveFiles([]File{{"a", "x"}}, repo, false); err == nil || !strings.Contains(err.Error(), ".orange") {
		t.Error(err)
	}
	if got := files(t, repo); got != ".orange" {
		t.Error(got)
	}
}

func TestAStepFileIsFoundAfterTheOthers(t *testing.T) {
	dir := t.TempDir()
	write(t, "steps", dir, "a.json")
	if _, text, ok, err := New(dir).Find("a", ""); text != "steps" || !ok || err != nil {
		t.Error(text, ok, err)
	}
	write(t, "states", dir, "a.yaml")
	if _, text, _, _ := New(dir).Find("a", ""); text != "states" {
		t.Error(text)
	}
}
