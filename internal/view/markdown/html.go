package markdown

import (
	"html"
	"strconv"
	"strings"
)

// RenderHTML returns the text as HTML that is safe to put into a page: it has only the elements, attributes and
// addresses that Markdown itself creates. Headings begin at the second level, because a page has a heading of its own.
func RenderHTML(text string) string {
	var p page
	p.writeBlocks(ParseBlocks(text), false)
	return p.String()
}

// page is the HTML output.
type page struct{ strings.Builder }

func (p *page) writeEscaped(s string) { p.WriteString(html.EscapeString(s)) }

// writeBlocks writes blocks. In a tight list paragraphs have no element.
func (p *page) writeBlocks(list []Block, tight bool) {
	for i := range list {
		b := &list[i]
		if tight && b.Kind == Paragraph {
			p.writeSpans(b.Text)
			p.WriteByte('\n')
			continue
		}
		p.writeBlock(b)
	}
}

func (p *page) writeBlock(b *Block) {
	switch b.Kind {
	case Heading:
		name := "h" + strconv.Itoa(min(b.Level+1, 6))
		p.WriteString("<" + name + ">")
		p.writeSpans(b.Text)
		p.WriteString("</" + name + ">\n")
	case Paragraph:
		p.WriteString("<p>")
		p.writeSpans(b.Text)
		p.WriteString("</p>\n")
	case List:
		p.writeList(b)
	case Quote:
		p.WriteString("<blockquote>\n")
		p.writeBlocks(b.Blocks, false)
		p.WriteString("</blockquote>\n")
	case Code:
		p.WriteString("<pre><code")
		if b.Lang != "" {
			p.WriteString(` class="language-` + html.EscapeString(b.Lang) + `"`)
		}
		p.WriteString(">")
		p.writeEscaped(b.Code)
		p.WriteString("</code></pre>\n")
	case Rule:
		p.WriteString("<hr>\n")
	case Table:
		p.writeTable(b)
	}
}

func (p *page) writeList(b *Block) {
	name := "ul"
	if b.Number > 0 {
		name = "ol"
	}
	p.WriteString("<" + name)
	if b.Number > 1 {
		p.WriteString(` start="` + strconv.Itoa(b.Number) + `"`)
	}
	p.WriteString(">\n")
	for i := range b.Items {
		it := &b.Items[i]
		switch it.Tick {
		case NoTick:
			p.WriteString("<li>")
		case Open:
			p.WriteString(`<li class="todo"><input type="checkbox" disabled aria-label="Done"> `)
		case Done:
			p.WriteString(`<li class="todo"><input type="checkbox" checked disabled aria-label="Done"> `)
		}
		p.writeBlocks(it.Blocks, b.Tight)
		p.WriteString("</li>\n")
	}
	p.WriteString("</" + name + ">\n")
}

func (p *page) writeTable(b *Block) {
	p.WriteString("<table>\n")
	for i, row := range b.Rows {
		switch i {
		case 0:
			p.WriteString("<thead>\n")
		case 1:
			p.WriteString("<tbody>\n")
		}
		p.writeRow(row, i == 0)
		if i == 0 {
			p.WriteString("</thead>\n")
		}
	}
	if len(b.Rows) > 1 {
		p.WriteString("</tbody>\n")
	}
	p.WriteString("</table>\n")
}

func (p *page) writeRow(cells []Cell, head bool) {
	name := "td"
	if head {
		name = "th"
	}
	p.WriteString("<tr>")
	for _, c := range cells {
		p.WriteString("<" + name)
		if c.Align != "" {
			p.WriteString(` class="` + c.Align + `"`)
		}
		p.WriteString(">")
		p.writeSpans(c.Text)
		p.WriteString("</" + name + ">")
	}
	p.WriteString("</tr>\n")
}

// writeSpans writes text. Neighbours with the same target form one link.
func (p *page) writeSpans(list []Span) {
	to := ""
	for _, s := range list {
		if s.Link != to {
			p.endLink(to)
			p.startLink(s.Link)
			to = s.Link
		}
		p.writeSpan(s)
	}
	p.endLink(to)
}

func (p *page) startLink(to string) {
	if to != "" {
		p.WriteString(`<a href="` + html.EscapeString(to) + `" rel="noreferrer noopener">`)
	}
}

func (p *page) endLink(to string) {
	if to != "" {
		p.WriteString("</a>")
	}
}

func (p *page) writeSpan(s Span) {
	var names []string
	for _, style := range []struct {
		has  bool
		name string
	}{{s.Strong, "strong"}, {s.Emphasis, "em"}, {s.Strikethrough, "del"}, {s.Raw, "code"}} {
		if style.has {
			names = append(names, style.name)
			p.WriteString("<" + style.name + ">")
		}
	}
	for i, line := range strings.Split(s.Text, "\n") {
		if i > 0 {
			p.WriteString("<br>\n")
		}
		p.writeEscaped(line)
	}
	for i := len(names) - 1; i >= 0; i-- {
		p.WriteString("</" + names[i] + ">")
	}
}
