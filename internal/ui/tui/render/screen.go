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
func (t Theme) runPen(from ansi.Style) pen {
	if from == (ansi.Style{}) {
		return ""
	}
	var style charm.Style
	if t.color && from.FG != "" {
		style = style.ForegroundColor(lipgloss.Color(from.FG))
	}
	if t.color && from.BG != "" {
		style = style.BackgroundColor(lipgloss.Color(from.BG))
	}
	if from.Bold {
		style = style.Bold()
	}
	if from.Faint {
		style = style.Faint()
	}
	if from.Italic {
		style = style.Italic(true)
	}
	if from.Underline {
		style = style.Underline(true)
	}
	if from.Reverse {
		style = style.Reverse(true)
	}
	if len(style) == 0 {
		return ""
	}
	return pen(style.String())
}
