package orange_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orange/internal/core/verify"
)

// Every promise of docs/SECURITY.md names tests, or properties of the model checker, that exist.
func TestEveryPromiseOfSecurityIsTested(t *testing.T) {
	declared := map[string]bool{}
	for _, p := range verify.Properties() {
		declared["property `"+string(p)+"`"] = true
	}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range test.FindAllStringSubmatch(string(text), -1) {
			declared["`"+m[1]+"`"] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| Promise | How it is enforced | Tests | Not a boundary |\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("docs/SECURITY.md has no table of promises")
	}
	rows := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 4 {
			t.Errorf("%d cells, want 4: %s", len(cells), line)
			continue
		}
		named := strings.Split(strings.TrimSpace(cells[2]), ", ")
		for _, name := range named {
			if !declared[name] {
				t.Errorf("%s is not a test or a property: %s", name, cells[0])
			}
		}
	}
	if rows == 0 {
		t.Error("the table of promises is empty")
	}
}
