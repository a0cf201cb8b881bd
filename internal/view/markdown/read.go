package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"orange/internal/lazy"
)

// reader converts the parser's nodes into blocks.
type reader struct{ source []byte }

func parseClean(clean string) []Block {
	source := []byte(clean)
	r := reader{source}
	return r.readBlocks(newParser().Parse(text.NewReader(source)))
}

func (r *reader) readBlocks(parent ast.Node) []Block {
	var out []Block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if b, ok := r.readBlock(n); ok {
			out = append(out, b)
		}
	}
	return out
}

func (r *reader) readBlock(n ast.Node) (Block, bool) {
	switch n := n.(type) {
	case *ast.Heading:
		return Block{Kind: Heading, Level: n.Level, Text: r.readText(n)}, true
	case *ast.Paragraph, *ast.TextBlock:
		spans := r.withoutMark(n, r.readText(n))
		return Block{Kind: Paragraph, Text: spans}, len(spans) > 0
	case *ast.ThematicBreak:
		return Block{Kind: Rule}, true
	case *ast.Blockquote:
		return Block{Kind: Quote, Blocks: r.readBlocks(n)}, true
	case *ast.FencedCodeBlock:
		return Block{Kind: Code, Lang: languageName(string(n.Language(r.source))), Code: r.readLines(n)}, true
	case *ast.CodeBlock:
		return Block{Kind: Code, Code: r.readLines(n)}, true
	case *ast.List:
		return r.readList(n), true
	case *tables.Table:
		return r.readTable(n), true
	}
	return Block{}, false
}

// mark matches the id of an effect in a comment: a task, an entry of its journal, a number.
var mark = lazy.NewRegexp(`^<!-- [0-9A-Za-z]{21}/[0-9]{1,9}/[0-9]{1,9} -->$`)

// withoutMark removes the mark of Orange that is the first line of a paragraph. A short text follows it in the same one.
func (r *reader) withoutMark(n ast.Node, text []Span) []Span {
	if n.Lines().Len() == 0 || len(text) == 0 || text[0] != (Span{Text: text[0].Text}) {
		return text
	}
	line := n.Lines().At(0)
	found := strings.TrimSpace(string(line.Value(r.source)))
	if !mark.MatchString(found) {
		return text
	}
	if text[0].Text = strings.TrimLeft(strings.TrimPrefix(text[0].Text, found), " \n"); text[0].Text == "" {
		return text[1:]
	}
	return text
}

func (r *reader) readList(n *ast.List) Block {
	out := Block{Kind: List, Tight: n.IsTight}
	if n.IsOrdered() {
		out.Number = max(n.Start, 1)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out.Items = append(out.Items, Item{Tick: tickOf(c), Blocks: r.readBlocks(c)})
	}
	return out
}

// tickOf returns the check box at the beginning of an item.
func tickOf(item ast.Node) Tick {
	first := item.FirstChild()
	if first == nil {
		return NoTick
	}
	box, ok := first.FirstChild().(*tables.TaskCheckBox)
	switch {
	case !ok:
		return NoTick
	case box.IsChecked:
		return Done
	}
	return Open
}

func (r *reader) readTable(n *tables.Table) Block {
	out := Block{Kind: Table}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []Cell
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cell := Cell{Text: r.readText(c)}
			if t, ok := c.(*tables.TableCell); ok && t.Alignment != tables.AlignNone {
				cell.Align = t.Alignment.String()
			}
			for i := range cell.Text { // in a table, a bar in code is escaped with a backslash
				if s := &cell.Text[i]; s.Raw {
					s.Text = strings.ReplaceAll(s.Text, `\|`, "|")
				}
			}
			cells = append(cells, cell)
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

func (r *reader) readLines(n ast.Node) string {
	var out strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		out.Write(line.Value(r.source))
	}
	return strings.TrimRight(out.String(), "\n")
}

// maxWord is the maximum length of a language's name.
const maxWord = 32

// languageName returns the name of a language, or "" if it contains anything else.
func languageName(s string) string {
	odd := strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("_+#.-", r)
	})
	if odd || len(s) > maxWord {
		return ""
	}
	return s
}
