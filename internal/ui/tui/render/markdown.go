package render

import (
	"strconv"
	"strings"

	"orange/internal/view/markdown"
)

// RenderMarkdown renders a text in Markdown, such as TASK.md. Code is cut at the right edge, not wrapped.
func (t Theme) RenderMarkdown(text string, width int) []string {
	s := t.newSheet(width)
	if width < 1 {
		return nil
	}
	s.putBlocks(markdown.ParseBlocks(text), nil, false)
	return s.lines
}

// putBlocks puts blocks on the sheet, each line behind a margin.
func (s *sheet) putBlocks(list []markdown.Block, margin strip, tight bool) {
	for i := range list {
		if i > 0 && !tight {
			s.putGap(margin)
		}
		s.putBlock(&list[i], margin, margin)
	}
}

// putGap adds an empty line within a margin.
func (s *sheet) putGap(margin strip) {
	if len(margin) == 0 {
		s.putBlank()
		return
	}
	s.putLine(trimMargin(margin))
}

// putBlock puts a block on the sheet: its first line behind first, the others behind rest.
func (s *sheet) putBlock(b *markdown.Block, first, rest strip) {
	switch b.Kind {
	case markdown.Heading:
		s.putHeading(b, first, rest)
	case markdown.Paragraph:
		s.putParagraph(b.Text, "", first, rest)
	case markdown.Code:
		s.putCode(b, first, rest)
	case markdown.Rule:
		s.putLine(joinStrips(first, strip{{horizontalRule(min(s.width, 40)), s.border}}))
	case markdown.Quote:
		bar := piece{"▎ ", s.border}
		s.putNested(b.Blocks, joinStrips(first, strip{bar}), joinStrips(rest, strip{bar}), false)
	case markdown.List:
		s.putList(b, first, rest)
	case markdown.Table:
		s.putTable(b, first, rest)
	}
}

// putNested puts the blocks of an item or a quote on the sheet.
func (s *sheet) putNested(list []markdown.Block, first, rest strip, tight bool) {
	if len(list) == 0 {
		s.putLine(trimMargin(first))
	}
	for i := range list {
		if i > 0 && !tight {
			s.putGap(rest)
		}
		s.putBlock(&list[i], first, rest)
		first = rest
	}
}

func (s *sheet) putHeading(b *markdown.Block, first, rest strip) {
	style := s.title
	if b.Level > 2 {
		style = s.strong
	}
	s.putParagraph(b.Text, style, first, rest)
	if b.Level <= 2 && len(first) == 0 {
		line := "─"
		if b.Level == 1 {
			line = "━"
		}
		s.putLine(strip{{strings.Repeat(line, s.width), s.border}})
	}
}

// putParagraph wraps text; a line break of its own begins a new line.
func (s *sheet) putParagraph(spans []markdown.Span, style pen, first, rest strip) {
	lines := []strip{nil}
	for i, sp := range spans {
		for j, text := range strings.Split(sp.Text, "\n") {
			if j > 0 {
				lines = append(lines, nil)
			}
			lines[len(lines)-1].addText(s.spanPen(sp, style), text)
		}
		if sp.Link != "" && (i+1 == len(spans) || spans[i+1].Link != sp.Link) && !showsAddress(spans[:i+1], sp.Link) {
			lines[len(lines)-1].addText(s.faint, " ("+sp.Link+")")
		}
	}
	for _, l := range lines {
		s.putWrapped(first, rest, l)
		first = rest
	}
}

// showsAddress reports whether the text of a link, the last of the spans, is its address.
func showsAddress(spans []markdown.Span, link string) bool {
	words := ""
	for i := len(spans) - 1; i >= 0 && spans[i].Link == link; i-- {
		words = spans[i].Text + words
	}
	bare := func(a string) string {
		for _, scheme := range []string{"https://", "http://", "mailto:"} {
			a = strings.TrimPrefix(a, scheme)
		}
		return strings.TrimSuffix(a, "/")
	}
	return bare(strings.TrimSpace(words)) == bare(link)
}

func (s *sheet) spanPen(sp markdown.Span, style pen) pen {
	if sp.Raw {
		style = s.accent
	}
	if sp.Link != "" {
		style += s.key + underline
	}
	if sp.Strong {
		style += bold
	}
	if sp.Emphasis {
		style += italic
	}
	if sp.Strikethrough {
		style += strikethrough
	}
	return style
}

func (s *sheet) putCode(b *markdown.Block, first, rest strip) {
	for _, text := range cleanLines(b.Code) {
		s.putLine(joinStrips(first, strip{{"│ ", s.border}, {text, s.written}}))
		first = rest
	}
}

func (s *sheet) putList(b *markdown.Block, first, rest strip) {
	for i := range b.Items {
		it := &b.Items[i]
		if i > 0 && !b.Tight {
			s.putGap(rest)
		}
		mark := piece{"• ", s.accent}
		switch {
		case it.Tick == markdown.Done:
			mark = piece{"☑ ", s.good}
		case it.Tick == markdown.Open:
			mark = piece{"☐ ", s.warn}
		case b.Number > 0:
			mark.text = strconv.Itoa(b.Number+i) + ". "
		}
		s.putNested(it.Blocks, joinStrips(first, strip{mark}), joinStrips(rest, indentStrip(textColumns(mark.text))), b.Tight)
		first = rest
	}
}

func joinStrips(a, b strip) strip { return append(a[:len(a):len(a)], b...) }

// trimMargin returns a margin without the spaces at its end.
func trimMargin(margin strip) strip {
	for n := len(margin); n > 0; n = len(margin) {
		text := strings.TrimRight(margin[n-1].text, " ")
		if text != "" {
			return append(margin[:n-1:n-1], piece{text, margin[n-1].pen})
		}
		margin = margin[:n-1]
	}
	return nil
}

func horizontalRule(width int) string { return strings.Repeat("─", max(width, 0)) }
