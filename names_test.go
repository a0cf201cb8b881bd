package orange_test

import (
	"go/ast"
	"regexp"
	"testing"
)

// severalWords matches names such as takeEdge, NewID and HTTPClient.
var severalWords = regexp.MustCompile(`[a-z0-9][A-Z]|[A-Z]{2,}[a-z]`)

// A name of one word is enough where the package or the receiver says the rest, as in journal.Parse. Where
// most names are one word, a reader must open the body to know what happens.
func TestFunctionsAreNamedByMoreThanOneWord(t *testing.T) {
	const most = 35 // percent
	files, _ := sources(t)
	all, short := 0, 0
	for _, s := range files {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				all++
				if !severalWords.MatchString(f.Name.Name) {
					short++
				}
			}
		}
	}
	if short*100 >= most*all {
		t.Errorf("%d of %d functions have a name of one word, not under %d %%", short, all, most)
	}
}
