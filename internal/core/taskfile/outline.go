package taskfile

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"orange/internal/lazy"
)

// maxMarks is how many characters of quote marks, list marks and indentation a line may start
// with; the Markdown parser takes quadratic time in the nesting.
const maxMarks = 100

var linkDefinition = lazy.NewRegexp(`^ {0,3}\[[^\]]+\]:`)

// outline is the block structure of a Markdown text.
type outline struct {
	lines
	headings []heading
	hidden   []bool // by line: inside a code fence or a comment
}

// heading is a heading that is not part of a quote, a list or code.
type heading struct {
	level       int
	name        string
	first, last int // lines, both inclusive
	underlined  bool
}

// blocks parses the blocks of a text. It is safe for concurrent use.
var blocks = lazy.OnFirstUse(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
})

// readHidden finds the hidden lines of a text, and not its headings. A text without the marks
// of code fences and comments, like most sections, hides nothing.
func readHidden(src string) outline {
	for _, mark := range []string{"```", "~~~", "<!--"} {
		if strings.Contains(src, mark) {
			return readOutline(src)
		}
	}
	o := outline{lines: newLines(src)}
	o.hidden = make([]bool, o.lineCount())
	return o
}

func readOutline(src string) outline {
	o := outline{lines: newLines(src)}
	o.hidden = make([]bool, o.lineCount())
	root := blocks().Parse(text.NewReader(flattenMarks(o.lines)))
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		if h, ok := node.(*ast.Heading); ok {
			o.addHeading(h)
		}
	}
	// The visitor returns no error.
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if node.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if entering {
			o.hideNode(node)
		}
		return ast.WalkContinue, nil
	})
	return o
}

// flattenMarks overwrites the marks of lines that are nested too deep, in place, so that
// offsets stay valid.
func flattenMarks(text lines) []byte {
	flat := []byte(text.text)
	for i := range text.lineCount() {
		line := text.lineText(i)
		marks := len(line) - len(strings.TrimLeft(line, "> \t-+*.)0123456789"))
		if marks > maxMarks && !isRule(line[:marks]) {
			copy(flat[text.lineStart(i):], strings.Repeat("x", marks))
		}
	}
	return flat
}

// isRule reports whether the marks open no quote or list: they are blank, or a line drawn with
// one character.
func isRule(marks string) bool {
	trimmed := strings.TrimSpace(marks)
	if trimmed == "" {
		return true
	}
	return trimmed[0] != '>' && len(trimmed) > maxMarks/2 && strings.Trim(trimmed, trimmed[:1]) == ""
}

func (o *outline) addHeading(node *ast.Heading) {
	h := heading{level: node.Level}
	segments := node.Lines()
	if segments.Len() == 0 {
		h.first = o.lineAt(node.Pos())
		h.last = h.first
		o.headings = append(o.headings, h)
		return
	}
	begin := segments.At(0)
	h.first, h.last = o.lineAt(begin.Start), o.lineAt(begin.Start)
	h.underlined = !strings.Contains(o.text[o.lineStart(h.first):begin.Start], "#")
	if h.underlined {
		h.last = o.lineAt(segments.At(segments.Len()-1).Start) + 1
		if o.isProse(h) {
			return
		}
	}
	var parts []string
	for _, s := range segments.Sliced(0, segments.Len()) {
		parts = append(parts, strings.TrimSpace(o.text[s.Start:s.Stop]))
	}
	h.name = strings.Join(parts, " ")
	o.headings = append(o.headings, h)
}

// isProse distinguishes a rule below a label, a verdict or a link definition from a heading.
func (o *outline) isProse(h heading) bool {
	if linkDefinition.MatchString(o.lineText(h.first)) {
		return true
	}
	for i := h.first; i < h.last; i++ {
		if _, ok := readLabel(o.lineText(i)); ok {
			return true
		}
		if verdictOf(o.lineText(i)) != "" {
			return true
		}
	}
	return false
}

func (o *outline) hideNode(node ast.Node) {
	switch n := node.(type) {
	case *ast.FencedCodeBlock:
		o.hideSegments(n.Lines())
	case *ast.HTMLBlock:
		if n.HTMLBlockType != ast.HTMLBlockType2 {
			return
		}
		o.hideSegments(n.Lines())
		if n.HasClosure() {
			o.hidden[o.lineAt(n.ClosureLine.Start)] = true
		}
	}
}

func (o *outline) hideSegments(segments *text.Segments) {
	for _, s := range segments.Sliced(0, segments.Len()) {
		if s.Start < len(o.text) {
			o.hidden[o.lineAt(s.Start)] = true
		}
	}
}
