package render

import (
	"strings"

	charm "github.com/charmbracelet/x/ansi"

	"charm.land/lipgloss/v2"

	"orange/internal/view/ansi"
)

// RenderScreen renders what a terminal shows: the lower part, if it is too tall. It leaves out empty lines at the end.
func (t Theme) RenderScreen(lines []ansi.Line, width, height int) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].String()) == "" {
		lines = lines[:len(lines)-1]
	}
	lines = lines[max(0, len(lines)-max(height, 0)):]
	s := t.newSheet(width)
	for _, l := range lines {
		var row strip
		for _, run := range l {
			row.addText(t.runPen(run.Style), firstBytes(run.Text, width))
		}
		s.putLine(row)
	}
	return s.lines
}

// runPen returns the pen of a terminal's run. A program's own colours are kept, if there are colours at all.
func (t Theme) runPen(look ansi.Style) pen {
	if look == (ansi.Style{}) {
		return ""
	}
	var style charm.Style
	if t.color && look.FG != "" {
		style = style.ForegroundColor(lipgloss.Color(look.FG))
	}
	if t.color && look.BG != "" {
		style = style.BackgroundColor(lipgloss.Color(look.BG))
	}
	if look.Bold {
		style = style.Bold()
	}
	if look.Faint {
		style = style.Faint()
	}
	if look.Italic {
		style = style.Italic(true)
	}
	if look.Underline {
		style = style.Underline(true)
	}
	if look.Reverse {
		style = style.Reverse(true)
	}
	if len(style) == 0 {
		return ""
	}
	return pen(style.String())
}
