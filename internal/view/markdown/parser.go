package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits of what is parsed as Markdown. What exceeds them is text: the time to parse grows with the square of each.
const (
	maxDepth   = 24     // nesting of quotes and lists
	maxMarks   = 500    // marks of emphasis, links and code in one block
	maxColumns = 64     // of a table
	maxCells   = 10_000 // likewise
)

// newParser returns a parser for GitHub's Markdown, except that HTML and link definitions are text.
func newParser() parser.Parser {
	// The order is the order in which they are tried.
	blocks := []parser.BlockParser{
		parser.NewSetextHeadingParser(), parser.NewThematicBreakParser(), depthLimit{parser.NewListParser()}, parser.NewListItemParser(),
		parser.NewCodeBlockParser(), parser.NewATXHeadingParser(), parser.NewFencedCodeBlockParser(), depthLimit{parser.NewBlockquoteParser()},
		parser.NewParagraphParser(),
	}
	inlines := []parser.InlineParser{
		extension.NewTaskCheckBoxParser(), markLimit{parser.NewCodeSpanParser()}, markLimit{parser.NewLinkParser()}, markLimit{parser.NewAutoLinkParser()},
		markLimit{parser.NewEmphasisParser()}, markLimit{extension.NewStrikethroughParser()}, extension.NewLinkifyParser(), markCounter{},
	}
	return parser.NewParser(
		parser.WithBlockParsers(inOrder(blocks)...),
		parser.WithInlineParsers(inOrder(inlines)...),
		parser.WithParagraphTransformers(inOrder([]parser.ParagraphTransformer{tableLimit{}, extension.NewTableParagraphTransformer()})...),
	)
}

func inOrder[T any](list []T) []util.PrioritizedValue {
	out := make([]util.PrioritizedValue, len(list))
	for i, v := range list {
		out[i] = util.Prioritized(v, i)
	}
	return out
}

// depthLimit opens no block that is nested too deeply.
type depthLimit struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (s depthLimit) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > 2*maxDepth { // a list and its item are two
			return nil, parser.NoChildren
		}
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// markLimit parses a limited number of marks per block and leaves the others as text.
type markLimit struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (f markLimit) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	n, _ := pc.Get(marks).(int)
	if n >= maxMarks {
		return nil
	}
	pc.Set(marks, n+1)
	return f.InlineParser.Parse(parent, block, pc)
}

// CloseBlock implements parser.CloseBlocker.
func (f markLimit) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := f.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// marks is the key of the number of marks in a block.
var marks = parser.NewContextKey()

// markCounter resets the count at the end of each block. It parses nothing.
type markCounter struct{}

// Trigger implements parser.InlineParser.
func (markCounter) Trigger() []byte { return nil }

// Parse implements parser.InlineParser.
func (markCounter) Parse(ast.Node, text.Reader, parser.Context) ast.Node { return nil }

// CloseBlock implements parser.CloseBlocker.
func (markCounter) CloseBlock(_ ast.Node, _ text.Reader, pc parser.Context) { pc.Set(marks, 0) }

// tableLimit leaves a table that is too large as text.
type tableLimit struct{}

// Transform implements parser.ParagraphTransformer.
func (tableLimit) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines := node.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		row := line.Value(reader.Source())
		if len(bytes.Trim(row, " \t\n|:-")) > 0 {
			continue
		}
		columns := bytes.Count(row, []byte("|")) + 1
		if columns > maxColumns || columns*lines.Len() > maxCells {
			raw := ast.NewCodeBlock()
			raw.SetLines(lines)
			node.Parent().ReplaceChild(node.Parent(), node, raw)
			return
		}
	}
}
