package orange_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
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

// A type name that many packages declare says nothing by itself: a search finds all of them, and a reader must look at the
// import to know which one is meant.
func TestNoTypeNameIsDeclaredInFourPackages(t *testing.T) {
	const most = 3
	files, _ := sources(t)
	where := map[string][]string{}
	for _, s := range files {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				name := spec.(*ast.TypeSpec).Name.Name
				if !slices.Contains(where[name], s.dir) {
					where[name] = append(where[name], s.dir)
				}
			}
		}
	}
	for name, dirs := range where {
		if len(dirs) > most {
			t.Errorf("%d packages declare a type %s, want at most %d: %v", len(dirs), name, most, dirs)
		}
	}
}
