package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"orange/internal/view/ansi"
)

// The measures of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 12
	titleBar   = 28
)

// shownHome is the home in pictures.
const shownHome = "/home/me"

// replaceHome parses a capture and shows a temporary folder as shownHome. It fails if the name of the folder cannot be
// replaced, because the terminal wrapped or coloured it.
func replaceHome(capture, home string) ([]ansi.Line, error) {
	if home == "" || strings.HasPrefix(shownHome, home) {
		return nil, fmt.Errorf("%q is no temporary home", home)
	}
	lines := ansi.ParseLines(strings.ReplaceAll(capture, home, shownHome))
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.String())
	}
	if strings.Contains(text.String(), home) {
		return nil, fmt.Errorf("%s is not on one line in one colour: make the terminal wider", home)
	}
	return lines, nil
}

// drawTerminal draws the lines that a terminal shows. Every run has its own position, so that fonts of another width
// move nothing.
func drawTerminal(lines []ansi.Line, title string) string {
	columns := 0
	for _, l := range lines {
		columns = max(columns, utf8.RuneCountInString(l.String()))
	}
	wide, tall := float64(columns)*cellWidth+2*margin, float64(len(lines)*cellHeight+titleBar+margin)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" fill="#d8d8d8" role="img" aria-label="%s">`+"\n", wide, tall, wide, tall, html.EscapeString(title))
	b.WriteString(`<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;white-space:pre}</style>` + "\n")
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="8" fill="#161616"/>`+"\n", wide, tall)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="14" r="5" fill="%s"/>`, margin+6+i*18, colour)
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="18" text-anchor="middle" fill-opacity=".6">%s</text>`+"\n", wide/2, html.EscapeString(title))
	for y, l := range lines {
		drawLine(&b, l, titleBar+y*cellHeight)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawLine(b *strings.Builder, l ansi.Line, top int) {
	column := 0
	for _, r := range l {
		n := utf8.RuneCountInString(r.Text)
		x, w := margin+float64(column)*cellWidth, float64(n)*cellWidth
		fg, bg := colourOf(r.FG, "#d8d8d8"), colourOf(r.BG, "")
		if r.Reverse {
			fg, bg = orElse(bg, "#161616"), fg
		}
		if bg != "" {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, x, top, w, cellHeight, bg)
		}
		if strings.TrimSpace(r.Text) != "" {
			fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`, x, top+14, w, styleAttributes(r.Style, fg), html.EscapeString(r.Text))
		}
		column += n
	}
	b.WriteByte('\n')
}

func styleAttributes(s ansi.Style, fg string) string {
	out := ""
	if fg != "#d8d8d8" {
		out += ` fill="` + fg + `"`
	}
	if s.Bold {
		out += ` font-weight="bold"`
	}
	if s.Faint {
		out += ` fill-opacity=".6"`
	}
	if s.Italic {
		out += ` font-style="italic"`
	}
	if s.Underline {
		out += ` text-decoration="underline"`
	}
	return out
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// colourOf returns a colour of the usual palette as SVG names it.
func colourOf(name, none string) string {
	n, err := strconv.Atoi(name)
	switch {
	case strings.HasPrefix(name, "#"):
		return name
	case err != nil:
		return none
	case n < 16:
		return [...]string{"#1c1c1c", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#d8d8d8", "#6e6e6e", "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0f2", "#ffffff"}[n]
	case n < 232:
		n -= 16
		level := func(v int) int { return [...]int{0, 95, 135, 175, 215, 255}[v] }
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", 8+10*(n-232))
}
