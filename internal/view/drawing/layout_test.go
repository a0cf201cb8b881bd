package drawing

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"orange/internal/core/workflow"
	"os"
	"strings"
	"testing"
)

// drawn lays a file out.
func drawn(t *testing.T, text string) (picture, *layout) {
	t.Helper()
	d, err := workflow.Parse("t.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	p := pictureOf(d)
	p.findBack()
	p = p.withNotes()
	return p, arrangePicture(&p, p.nodeSize, p.labelText)
}

func builtinFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ring is a workflow in which each of n states leads to the next and to the first.
func ring(n int) string {
	var states, edges strings.Builder
	for i := range n {
		fmt.Fprintf(&states, "  s%d: {kind: human}\n", i)
		fmt.Fprintf(&edges, "  - {from: s%d, to: s%d, as: next, by: [human]}\n  - {from: s%d, to: s0, as: back%d, by: [human]}\n  - {from: s%d, to: s%d, as: again, by: [human]}\n",
			i, (i+1)%n, i, i, i, i)
	}
	return "name: ring\nversion: 1\nstates:\n" + states.String() + "edges:\n" + edges.String()
}

func TestNothingInADrawingLiesOnSomethingElse(t *testing.T) {
	for name, text := range map[string]string{
		"orange": builtinFile(t, "../../core/workflow/builtin/orange.yaml"), "orange-direct": builtinFile(t, "../../core/workflow/builtin/orange-direct.yaml"),
		"clean": builtinFile(t, "../../core/workflow/testdata/clean.yaml"), "one state": "name: t\nversion: 1\nstates:\n  a: {kind: human}\n", "ring": ring(12),
	} {
		t.Run(name, func(t *testing.T) {
			_, g := drawn(t, text)
			for i := range g.boxes {
				for j := range i {
					if a, b := &g.boxes[i], &g.boxes[j]; overlapping(a, b) {
						t.Errorf("%+v lies on %+v", *a, *b)
					}
				}
				if a := &g.boxes[i]; a.x-a.w/2 < -0.01 || a.x+a.w/2 > g.width+0.01 || a.y-a.h/2 < -0.01 || a.y+a.h/2 > g.height+0.01 {
					t.Errorf("%+v sticks out of %v x %v", *a, g.width, g.height)
				}
			}
		})
	}
}

func overlapping(a, b *box) bool {
	const touch = 0.01
	return a.x-a.w/2 < b.x+b.w/2-touch && b.x-b.w/2 < a.x+a.w/2-touch && a.y-a.h/2 < b.y+b.h/2-touch && b.y-b.h/2 < a.y+a.h/2-touch
}

func TestEveryLineOfAPictureIsRouted(t *testing.T) {
	p, g := drawn(t, ring(7))
	loops := 0
	for _, l := range p.lines {
		if l.from == l.to {
			loops++
		}
	}
	if loops != 7 || len(g.routes)+loops != len(p.lines) {
		t.Errorf("%d lines, %d routes, %d loops", len(p.lines), len(g.routes), loops)
	}
	for _, r := range g.routes {
		for i := 1; i < len(r.boxes); i++ {
			if g.boxes[r.boxes[i]].row != g.boxes[r.boxes[i-1]].row+1 {
				t.Errorf("route %+v skips a row", r)
			}
		}
	}
}

func TestADrawingIsTheSameEveryTimeAndIsXML(t *testing.T) {
	hostile := strings.NewReplacer("name: ring", "name: ring\ndescribe: '<script>alert(1)</script> & \"more\"'", "as: next", "when: return_to == '<b>'").Replace(ring(9))
	for _, text := range []string{hostile, ring(30), ring(500), builtinFile(t, "../../core/workflow/builtin/orange.yaml")} {
		d, err := workflow.Parse("t.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		svg, dot, mermaid := RenderSVG(d), RenderDOT(d), RenderMermaid(d)
		if RenderSVG(d) != svg || RenderDOT(d) != dot || RenderMermaid(d) != mermaid {
			t.Error("two drawings differ")
		}
		if strings.Contains(svg, "<script") || !strings.Contains(svg, `role="img"`) || !strings.Contains(svg, "<title") {
			t.Errorf("%.400s", svg)
		}
		dec := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNamesThatDifferInADashAreDistinct(t *testing.T) {
	d, err := workflow.Parse("t.yaml", "name: t\nversion: 1\nstates:\n  a-b: {kind: human}\n  a_b: {kind: human}\n  end: {kind: terminal}\nedges:\n  - {from: a-b, to: a_b, as: 'go', by: [human]}\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`state "a-b" as s_a_b`, `state "a_b" as s_2_a_b`, "s_a_b --> s_2_a_b : go", "s_end --> [*]"} {
		if !strings.Contains(RenderMermaid(d), want) {
			t.Errorf("%q is not in\n%s", want, RenderMermaid(d))
		}
	}
}
