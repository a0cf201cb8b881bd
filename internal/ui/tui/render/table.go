package render

import (
	"strings"

	"orange/internal/view/markdown"
)

// minColumn is the minimum width of a column before the table is cut.
const minColumn = 6

// putTable puts a table on the sheet. It narrows columns that are too wide, the widest first, and cuts their texts.
func (s *sheet) putTable(b *markdown.Block, first, rest strip) {
	widths := s.columnWidths(b, s.width-first.columnCount())
	for i, row := range b.Rows {
		line := strip(nil)
		for j := range widths {
			if j > 0 {
				line = append(line, piece{" │ ", s.border})
			}
			var cell markdown.Cell
			if j < len(row) {
				cell = row[j]
			}
			line = append(line, s.cellStrip(cell, widths[j], i == 0)...)
		}
		s.putLine(joinStrips(first, line))
		first = rest
		if i == 0 {
			s.putLine(joinStrips(rest, strip{{headerRule(widths), s.border}}))
		}
	}
}

func (s *sheet) columnWidths(b *markdown.Block, room int) []int {
	var widths []int
	for _, row := range b.Rows {
		for j, c := range row {
			if j == len(widths) {
				widths = append(widths, 1)
			}
			widths[j] = max(widths[j], s.cellText(c, false).columnCount())
		}
	}
	room -= 3 * (len(widths) - 1)
	for {
		sum, widest := 0, 0
		for j, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = j
			}
		}
		if sum <= room || widths[widest] <= minColumn {
			return widths
		}
		widths[widest] = max(minColumn, widths[widest]-(sum-room))
	}
}

func (s *sheet) cellText(c markdown.Cell, head bool) strip {
	style := pen("")
	if head {
		style = s.strong
	}
	var out strip
	for _, sp := range c.Text {
		out.addText(s.spanPen(sp, style), sp.Text)
	}
	return out
}

func (s *sheet) cellStrip(c markdown.Cell, width int, head bool) strip {
	text := s.cellText(c, head).cutTo(width)
	left, right := 0, width-text.columnCount()
	switch c.Align {
	case "right":
		left, right = right, 0
	case "center":
		left, right = right/2, right-right/2
	}
	return joinStrips(joinStrips(indentStrip(left), text), indentStrip(right))
}

// headerRule returns the line below the head of a table.
func headerRule(widths []int) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	return strings.Join(parts, "─┼─")
}
