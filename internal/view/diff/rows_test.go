package diff

import (
	"fmt"
	"strings"
	"testing"
)

const rowsDiff = `diff --git a/a.go b/a.go
--- a/a.go
+++ b/a.go
@@ -3,3 +3,4 @@ func f()
 a := 1
-b := old(1)
+b := fresh(1)
+c := 2
 return
`

// drawRows writes rows as text: marked parts in brackets, classes left out.
func drawRows(rows []Row) string {
	var out strings.Builder
	cell := func(c *Cell) string {
		if c == nil {
			return "."
		}
		text := c.Kind
		for _, s := range c.Spans {
			if s.Marked {
				text += "[" + s.Text + "]"
				continue
			}
			text += s.Text
		}
		return text
	}
	for _, r := range rows {
		if g := r.Gap; g != nil {
			fmt.Fprintf(&out, "@ %s %d-%d%+d\n", g.Header, g.From, g.To, g.Shift)
			continue
		}
		if r.Old == r.New {
			fmt.Fprintf(&out, "%d %d %s\n", r.Old.Line.Old, r.New.Line.New, cell(r.Old))
			continue
		}
		fmt.Fprintf(&out, "%s | %s\n", cell(r.Old), cell(r.New))
	}
	return out.String()
}

func TestBuildRows(t *testing.T) {
	f := &Parse(rowsDiff)[0]
	old := "one\ntwo\na := 1\nb := old(1)\nreturn\nend\nlast\n"
	src := NewFileText(f, old, strings.Replace(old, "b := old(1)", "b := fresh(1)\nc := 2", 1))
	for _, c := range []struct {
		name  string
		src   *FileText
		split bool
		want  string
	}{
		{"unified", src, false, "@ func f() 1-2+0\n3 3  a := 1\n-b := [old](1) | .\n. | +b := [fresh](1)\n. | +c := 2\n5 6  return\n@  7-8-1\n"},
		{"split", src, true, "@ func f() 1-2+0\n3 3  a := 1\n-b := [old](1) | +b := [fresh](1)\n. | +c := 2\n5 6  return\n@  7-8-1\n"},
		{"without the text of the file", nil, false, "@ func f() 0-0+0\n3 3  a := 1\n-b := [old](1) | .\n. | +b := [fresh](1)\n. | +c := 2\n5 6  return\n"},
	} {
		if got := drawRows(BuildRows(f, c.src, c.split)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if got, want := drawRows(src.ContextRows(7, 99, -1)), "6 7  end\n7 8  last\n"; got != want {
		t.Errorf("the lines behind the last hunk: %q, want %q", got, want)
	}
	rows := BuildRows(f, src, false)
	if got := rows[5].New.Spans[0]; got.Class != "hl-keyword" || got.Text != "return" {
		t.Errorf("the line of the keyword begins with %+v", got)
	}
	other := NewFileText(f, "", strings.Repeat("other\n", 9))
	if got := BuildRows(f, other, false)[5].New.Spans[0]; got.Class != "" || got.Text != "return" {
		t.Errorf("a line of a file that changed meanwhile is %+v", got)
	}
}

func TestCompareWords(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"return n * 1.19", "return round(n * 1.19, 2)", "return n * 1.19 | return [round(]n * 1.19[, 2)]"},
		{"a b c d e f", "a x y d e f", "a [b c] d e f | a [x y] d e f"},
		{"completely different", "nothing alike here", "completely different | nothing alike here"},
		{"", "x", " | x"},
		{"größe := 1", "größe := 2", "größe := [1] | größe := [2]"},
		{strings.Repeat("a ", 200), strings.Repeat("a ", 200) + "b", strings.Repeat("a ", 200) + " | " + strings.Repeat("a ", 200) + "b"},
	} {
		gone, added := compareWords(c.before, c.after)
		draw := func(text string, marks [][2]int) string {
			out := ""
			for _, s := range markSpans([]TextPart{{Text: text}}, marks) {
				if s.Marked {
					out += "[" + s.Text + "]"
					continue
				}
				out += s.Text
			}
			return out
		}
		if got := draw(c.before, gone) + " | " + draw(c.after, added); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestLongLines(t *testing.T) {
	f := &File{Path: "x.js", Hunks: []Hunk{{Lines: []Line{{Kind: "+", New: 1, Text: strings.Repeat("ö", maxLine)}}}}}
	if got := BuildRows(f, nil, false)[0].New.Spans; len(got) != 1 || len(got[0].Text) > maxLine+3 || !strings.HasSuffix(got[0].Text, "…") {
		t.Errorf("a long line has %d spans", len(got))
	}
}

func TestFileTree(t *testing.T) {
	var files []File
	for _, p := range []string{"z.go", "internal/ui/web/a.go", "internal/ui/web/b.go", "README", "docs/x.md", "a//b", strings.Repeat("d/", 40) + "deep"} {
		files = append(files, File{Path: p, Added: 1})
	}
	var out strings.Builder
	var draw func(list []Node, indent string)
	draw = func(list []Node, indent string) {
		for _, n := range list {
			fmt.Fprintf(&out, "%s%s +%d\n", indent, n.Name, n.Added)
			draw(n.Nodes, indent+" ")
		}
	}
	draw(FileTree(files), "")
	want := "a +1\n /b +1\n" + strings.Repeat("d/", 11) + "d +1\n " + strings.Repeat("d/", 28) + "deep +1\ndocs +1\n x.md +1\ninternal/ui/web +2\n a.go +1\n b.go +1\nREADME +1\nz.go +1\n"
	if got := out.String(); got != want {
		t.Errorf("the tree is\n%s\nwant\n%s", got, want)
	}
}
