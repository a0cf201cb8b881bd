package paint

import (
	"strconv"
	"strings"

	"orange/internal/core/markdown"
)

// Markdown is a text in Markdown, such as TASK.md. Code is cut at the right edge, not
// broken.
func (t Theme) Markdown(text string, width int) []string {
	s := t.sheet(width)
	if width < 1 {
		return nil
	}
	s.blocks(markdown.Blocks(text), nil, false)
	return s.lines
}

// blocks puts blocks on the sheet, each line behind a margin.
func (s *sheet) blocks(list []markdown.Block, margin strip, tight bool) {
	for i := range list {
		if i > 0 && !tight {
			s.gap(margin)
		}
		s.block(&list[i], margin, margin)
	}
}

// gap is an empty line within a margin.
func (s *sheet) gap(margin strip) {
	if len(margin) == 0 {
		s.blank()
		return
	}
	s.put(trimmed(margin))
}

// block puts a block on the sheet: its first line behind first, the others behind rest.
func (s *sheet) block(b *markdown.Block, first, rest strip) {
	switch b.Kind {
	case markdown.Heading:
		s.heading(b, first, rest)
	case markdown.Paragraph:
		s.paragraph(b.Text, "", first, rest)
	case markdown.Code:
		s.code(b, first, rest)
	case markdown.Rule:
		s.put(joined(first, strip{{rule(min(s.width, 40)), s.border}}))
	case markdown.Quote:
		bar := piece{"▎ ", s.border}
		s.nested(b.Blocks, joined(first, strip{bar}), joined(rest, strip{bar}), false)
	case markdown.List:
		s.list(b, first, rest)
	case markdown.Table:
		s.table(b, first, rest)
	}
}

// nested puts blocks that belong to a point or a quote.
func (s *sheet) nested(list []markdown.Block, first, rest strip, tight bool) {
	if len(list) == 0 {
		s.put(trimmed(first))
	}
	for i := range list {
		if i > 0 && !tight {
			s.gap(rest)
		}
		s.block(&list[i], first, rest)
		first = rest
	}
}

func (s *sheet) heading(b *markdown.Block, first, rest strip) {
	look := s.title
	if b.Level > 2 {
		look = s.strong
	}
	s.paragraph(b.Text, look, first, rest)
	if b.Level <= 2 && len(first) == 0 {
		line := "─"
		if b.Level == 1 {
			line = "━"
		}
		s.put(strip{{strings.Repeat(line, s.width), s.border}})
	}
}

// paragraph wraps text; a line break of its own begins a new line.
func (s *sheet) paragraph(spans []markdown.Span, look pen, first, rest strip) {
	lines := []strip{nil}
	for i, sp := range spans {
		for j, text := range strings.Split(sp.Text, "\n") {
			if j > 0 {
				lines = append(lines, nil)
			}
			lines[len(lines)-1].add(s.spanPen(sp, look), text)
		}
		if sp.Link != "" && (i+1 == len(spans) || spans[i+1].Link != sp.Link) && !says(spans[:i+1], sp.Link) {
			lines[len(lines)-1].add(s.faint, " ("+sp.Link+")")
		}
	}
	for _, l := range lines {
		s.wrap(first, rest, l)
		first = rest
	}
}

// says tells whether the words of a link, the last of the spans, are its address.
func says(spans []markdown.Span, link string) bool {
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

func (s *sheet) spanPen(sp markdown.Span, look pen) pen {
	if sp.Raw {
		look = s.accent
	}
	if sp.Link != "" {
		look += s.key + underline
	}
	if sp.Strong {
		look += bold
	}
	if sp.Emphasis {
		look += italic
	}
	if sp.Struck {
		look += struck
	}
	return look
}

func (s *sheet) code(b *markdown.Block, first, rest strip) {
	for _, text := range safe(b.Code) {
		s.put(joined(first, strip{{"│ ", s.border}, {text, s.written}}))
		first = rest
	}
}

func (s *sheet) list(b *markdown.Block, first, rest strip) {
	for i := range b.Items {
		it := &b.Items[i]
		if i > 0 && !b.Tight {
			s.gap(rest)
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
		s.nested(it.Blocks, joined(first, strip{mark}), joined(rest, indent(columns(mark.text))), b.Tight)
		first = rest
	}
}

func joined(a, b strip) strip { return append(a[:len(a):len(a)], b...) }

// trimmed is a margin without the spaces at its end.
func trimmed(margin strip) strip {
	for n := len(margin); n > 0; n = len(margin) {
		text := strings.TrimRight(margin[n-1].text, " ")
		if text != "" {
			return append(margin[:n-1:n-1], piece{text, margin[n-1].pen})
		}
		margin = margin[:n-1]
	}
	return nil
}

func rule(width int) string { return strings.Repeat("─", max(width, 0)) }
