package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"orange/internal/view/ansi"
)

// maxSpans limits the nesting of marks: deeper ones have the style of what surrounds them.
const maxSpans = 64

// readText reads the content of a block.
func (r *reader) readText(n ast.Node) []Span {
	w := writer{r: r}
	w.addChildren(n, Span{}, 0)
	w.endSpan()
	return w.out
}

// writer collects spans.
type writer struct {
	r     *reader
	out   []Span
	style Span // style of the current text
	now   strings.Builder
}

func (w *writer) addChildren(n ast.Node, style Span, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.addInline(c, style, depth)
	}
}

func (w *writer) addInline(n ast.Node, style Span, depth int) {
	inner := style
	switch n := n.(type) {
	case *ast.Text:
		w.addTextNode(n, style)
		return
	case *ast.String:
		w.addText(style, string(n.Value))
		return
	case *ast.CodeSpan:
		inner.Raw = true
		w.addCode(n, inner)
		return
	case *ast.AutoLink:
		to := n.URL(w.r.source)
		if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(to, []byte("mailto:")) {
			to = append([]byte("mailto:"), to...)
		}
		inner.Link = safeAddress(to)
		w.addText(inner, string(n.Label(w.r.source)))
		return
	case *tables.TaskCheckBox:
		return
	case *ast.Emphasis:
		inner.Strong, inner.Emphasis = style.Strong || n.Level > 1, style.Emphasis || n.Level == 1
	case *tables.Strikethrough:
		inner.Strikethrough = true
	case *ast.Link:
		w.addLink(n, n.Destination, style, depth)
		return
	case *ast.Image:
		w.addLink(n, n.Destination, style, depth)
		return
	}
	if depth > maxSpans {
		inner = style
	}
	w.addChildren(n, inner, depth+1)
}

func (w *writer) addTextNode(n *ast.Text, style Span) {
	s := string(n.Segment.Value(w.r.source))
	if !n.IsRaw() {
		s = unescapeText(s)
	}
	switch {
	case n.HardLineBreak():
		s += "\n"
	case n.SoftLineBreak() && startsWithLabel(w.r.source[n.Segment.Stop:]):
		s += "\n"
	case n.SoftLineBreak():
		s += " "
	}
	w.addText(style, s)
}

// startsWithLabel reports whether the line after a line break begins with a word in capitals and a colon, as labels in
// TASK.md do. Such a line is not joined to the one before.
func startsWithLabel(after []byte) bool {
	line := bytes.TrimLeft(after[:min(len(after), maxLabel)], "\n >\t")
	n := bytes.IndexByte(line, ':')
	return n > 1 && !bytes.ContainsFunc(line[:n], func(r rune) bool { return (r < 'A' || r > 'Z') && r != '_' && r != '-' && r != ' ' })
}

// maxLabel is the maximum length of a label.
const maxLabel = 40

func (w *writer) addCode(n ast.Node, style Span) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.addText(style, strings.ReplaceAll(string(t.Segment.Value(w.r.source)), "\n", " "))
		}
	}
}

// addLink adds a link, or an image, which is shown by its text. A link without a safe address becomes text; for a path,
// the path is shown.
func (w *writer) addLink(n ast.Node, to []byte, style Span, depth int) {
	inner := style
	if style.Link == "" {
		inner.Link = safeAddress(to)
	}
	before := w.outputSize()
	w.addChildren(n, inner, depth+1)
	path := ansi.OneLine(string(to))
	if w.outputSize() == before { // without text
		w.addText(inner, path)
	} else if inner.Link == "" && isPath(path) {
		w.addText(style, " ("+path+")")
	}
}

// outputSize is used to check whether anything was written.
func (w *writer) outputSize() [2]int { return [2]int{len(w.out), w.now.Len()} }

// addText appends text, to the current span if the style is the same.
func (w *writer) addText(style Span, s string) {
	if s = ansi.SafeText(s); s == "" {
		return
	}
	if style != w.style {
		w.endSpan()
		w.style = style
	}
	w.now.WriteString(s)
}

func (w *writer) endSpan() {
	if w.now.Len() > 0 {
		w.style.Text = w.now.String()
		w.out = append(w.out, w.style)
	}
	w.style = Span{}
	w.now.Reset()
}

// maxAddress is the maximum size of a link's address, in bytes.
const maxAddress = 2000

// safeAddress returns the address of a link, or "" if it is neither web nor mail.
func safeAddress(to []byte) string {
	if len(to) > maxAddress {
		return ""
	}
	s := ansi.OneLine(string(util.URLEscape(to, true)))
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return s
		}
	}
	return ""
}

// isPath reports whether a link leads to a place in the same repository.
func isPath(s string) bool {
	return s != "" && s[0] != '#' && !strings.Contains(s, ":") && len(s) <= maxAddress
}

// unescapeText resolves Markdown escapes and entities: \* and &amp;.
func unescapeText(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
		case s[i] == '&':
			if n := strings.IndexByte(s[i:min(len(s), i+maxEntity)], ';'); n > 0 {
				name := s[i : i+n+1]
				if decoded := string(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(name)))); decoded != name {
					out.WriteString(decoded)
					i += n
					continue
				}
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// maxEntity is the maximum length of an entity, with & and ;.
const maxEntity = 34
