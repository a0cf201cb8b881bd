package workflow_test

import (
	"flag"
	"os"
	"testing"

	"orange/internal/core/workflow/builtin"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGraphsOfTheBuiltinWorkflowsStayAsTheyAre(t *testing.T) {
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		d := parse(t, name+".yaml", text)
		for _, g := range []struct{ ext, got string }{{"mmd", d.Mermaid()}, {"dot", d.DOT()}, {"svg", d.SVG()}} {
			path := "testdata/golden/" + name + "." + g.ext
			if *update {
				if err := os.WriteFile(path, []byte(g.got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := readFile(t, path); g.got != want {
				t.Errorf("%s has changed: look at it, then go test ./internal/core/workflow -update", path)
			}
		}
	}
}
