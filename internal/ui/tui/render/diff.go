package render

import (
	"fmt"
	"strconv"

	"orange/internal/view/diff"
)

// maxDiffLines is how many lines of changes are shown.
const maxDiffLines = 3000

// RenderDiff renders a diff.
func (t Theme) RenderDiff(files []diff.File, width int) []string {
	s := t.newSheet(width)
	if len(files) == 0 {
		s.putLine(strip{{"Nothing has changed.", s.faint}})
	}
	left := maxDiffLines
	for i := range files {
		f := &files[i]
		s.putBlank()
		s.putFile(f)
		for j := range f.Hunks {
			if left <= 0 {
				break
			}
			left = s.putHunk(&f.Hunks[j], left)
		}
	}
	if rest := changedLines(files) - maxDiffLines; rest > 0 {
		s.putBlank()
		s.putWrapped(nil, nil, strip{{strconv.Itoa(rest) + " more lines are not shown: see git diff", s.warn}})
	}
	return s.lines
}

func changedLines(files []diff.File) int {
	n := 0
	for i := range files {
		for j := range files[i].Hunks {
			n += len(files[i].Hunks[j].Lines)
		}
	}
	return n
}

func (s *sheet) putFile(f *diff.File) {
	var name, counts strip
	if f.Old != "" && f.Old != f.Path {
		name.addText(s.faint, f.Old+" → ")
	}
	name.addText(s.strong, oneLine(f.Path))
	switch {
	case f.Binary:
		counts.addText(s.faint, "not text")
	case len(f.Hunks) == 0 && f.Old != "":
		counts.addText(s.faint, "renamed")
	default:
		counts = s.changeCounts(f.Added, f.Deleted)
	}
	if f.Uncommitted {
		name.addText(s.warn, " (uncommitted)")
	}
	s.putSpread(name.cutTo(max(1, s.width-counts.columnCount()-1)), counts)
	s.putLine(strip{{horizontalRule(s.width), s.border}})
}

// changeCounts returns how many lines were added and deleted.
func (s *sheet) changeCounts(added, deleted int) strip {
	return strip{{"+" + strconv.Itoa(added), s.good}, {" ", ""}, {"-" + strconv.Itoa(deleted), s.bad}}
}

// putHunk adds a hunk with line numbers, and returns how many lines may follow.
func (s *sheet) putHunk(h *diff.Hunk, left int) int {
	old, now := 0, 0
	if len(h.Lines) > 0 {
		old, now = h.Lines[0].Old, h.Lines[0].New
	}
	var head strip
	head.addTextf(s.busy, "@@ %d → %d", old, now)
	if h.Uncommitted {
		head.addText(s.warn, " uncommitted")
	}
	head.addText(s.faint, " "+h.Header)
	s.putLine(head)
	for i := range h.Lines {
		if left == 0 {
			return 0
		}
		left--
		s.putLine(s.changedLine(&h.Lines[i]))
	}
	return left
}

func (s *sheet) changedLine(l *diff.Line) strip {
	number, style, mark := l.New, s.text, " "
	switch l.Kind {
	case "+":
		style, mark = s.good, "+"
	case "-":
		style, mark, number = s.bad, "-", l.Old
	}
	row := strip{}
	if s.width >= 40 {
		row = append(row, piece{lineNumberText(number) + " ", s.faint})
	}
	row = append(row, piece{mark + " ", style})
	for i, text := range cleanLines(firstBytes(l.Text, s.width)) {
		if i > 0 {
			text = " " + text
		}
		row = append(row, piece{text, style})
	}
	return row
}

// lineNumberText returns the number of a line in its column, empty if it has none.
func lineNumberText(n int) string {
	if n <= 0 {
		return "     "
	}
	return fmt.Sprintf("%5d", n)
}
