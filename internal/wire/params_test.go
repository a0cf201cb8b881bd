package wire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The server and the client take the names of query parameters from this package, so that they cannot disagree.
func TestNamesOfQueryParametersAreDeclaredHere(t *testing.T) {
	uses := 0
	for _, folder := range []string{"../ui/api", "../ui/client"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", folder, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if name := literalParam(n); name != "" {
					t.Errorf("%s: query parameter %s is a literal: declare it in internal/wire/wire.go", set.Position(n.Pos()), name)
				}
				if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Param") {
					uses++
				}
				return true
			})
		}
	}
	if uses < 20 {
		t.Errorf("only %d uses of parameters were found", uses)
	}
}

// literalParam returns the literal that n uses as the name of a query parameter, or "". It takes every Get and Set whose
// receiver is neither a header nor a tag for one of a query.
func literalParam(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if regexp.MustCompile(`^"[^"]*[?&][a-z_]+=`).MatchString(n.Value) {
			return n.Value
		}
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || len(n.Args) == 0 || !slices.Contains([]string{"Get", "Has", "Set", "Add", "Del"}, method.Sel.Name) || isHeader(method.X) {
			return ""
		}
		return literal(n.Args[0])
	case *ast.CompositeLit:
		if typ, ok := n.Type.(*ast.SelectorExpr); !ok || typ.Sel.Name != "Values" {
			return ""
		}
		for _, e := range n.Elts {
			if name := literal(e.(*ast.KeyValueExpr).Key); name != "" {
				return name
			}
		}
	}
	return ""
}

func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		return l.Value
	}
	return ""
}

// isHeader reports whether an expression is r.Header, w.Header(), a variable with such a name, or the tag of a field.
func isHeader(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		e = call.Fun
	}
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name == "Header" || e.Sel.Name == "Tag"
	case *ast.Ident:
		return strings.HasPrefix(strings.ToLower(e.Name), "h")
	}
	return false
}
