package orange_test

import (
	"go/ast"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTheWalksAreTrue fails when docs/ARCHITECTURE.md names a function in a walk that does not exist, and when the
// table of the walks disagrees with the lists.
func TestTheWalksAreTrue(t *testing.T) {
	_, rest, _ := strings.Cut(readText(t, "docs/ARCHITECTURE.md"), "\n## Four walks\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	intro, lists, _ := strings.Cut(text, "\n### ")
	functions := map[string]bool{}
	files, _ := sources(t)
	for _, src := range files {
		for _, d := range src.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !strings.HasSuffix(src.name, "_test.go") {
				functions[path.Base(src.dir)+"."+f.Name.Name] = true
			}
		}
	}
	rows := regexp.MustCompile(`(?m)^\| (.+) \| (\d+) \| (\d+) \|$`).FindAllStringSubmatch(intro, -1)
	walks := strings.Split(lists, "\n### ")
	if len(rows) != 4 || len(walks) != 4 {
		t.Fatalf("the table has %d walks and there are %d lists, want 4 of both", len(rows), len(walks))
	}
	hop := regexp.MustCompile("(?m)^(\\d+)\\. `([a-z]+\\.[A-Za-z]+)`")
	for i, walk := range walks {
		name, _, _ := strings.Cut(walk, "\n")
		if want := strings.ReplaceAll(rows[i][1], "`", ""); !strings.EqualFold(name, want) {
			t.Errorf("walk %d is called %q, and %q in the table", i+1, name, want)
		}
		hops := hop.FindAllStringSubmatch(walk, -1)
		for n, h := range hops {
			if h[1] != strconv.Itoa(n+1) {
				t.Errorf("%s: crossing %d has number %s", name, n+1, h[1])
			}
			if !functions[h[2]] {
				t.Errorf("%s: crossing %s is %s, and there is no such function: trace the walk again", name, h[1], h[2])
			}
		}
		if strconv.Itoa(len(hops)) != rows[i][3] {
			t.Errorf("%s has %d crossings, and the table says %s", name, len(hops), rows[i][3])
		}
	}
}
