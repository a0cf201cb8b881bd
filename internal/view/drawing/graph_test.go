package drawing_test

import (
	"flag"
	"os"
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/drawing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGraphsOfTheBuiltinWorkflowsStayAsTheyAre(t *testing.T) {
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		d, err := workflow.Parse(name+".yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []struct{ ext, got string }{{"mmd", drawing.RenderMermaid(d)}, {"dot", drawing.RenderDOT(d)}, {"svg", drawing.RenderSVG(d)}} {
			path := "testdata/golden/" + name + "." + g.ext
			if *update {
				if err := os.WriteFile(path, []byte(g.got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(path); err != nil || g.got != string(want) {
				t.Errorf("%s has changed: look at it, then go test ./internal/view/drawing -update", path)
			}
		}
	}
}
