package paint

import (
	"fmt"
	"strconv"

	"orange/internal/core/diff"
)

// maxDiffLines is how many lines of changes are shown.
const maxDiffLines = 3000

// Diff is what changed.
func (t Theme) Diff(files []diff.File, width int) []string {
	s := t.sheet(width)
	if len(files) == 0 {
		s.put(strip{{"Nothing has changed.", s.faint}})
	}
	left := maxDiffLines
	for i := range files {
		f := &files[i]
		s.blank()
		s.file(f)
		for j := range f.Hunks {
			if left <= 0 {
				break
			}
			left = s.hunk(&f.Hunks[j], left)
		}
	}
	if rest := changedLines(files) - maxDiffLines; rest > 0 {
		s.blank()
		s.wrap(nil, nil, strip{{strconv.Itoa(rest) + " more lines are not shown: see git diff", s.warn}})
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

func (s *sheet) file(f *diff.File) {
	var name, counts strip
	if f.Old != "" && f.Old != f.Path {
		name.add(s.faint, f.Old+" → ")
	}
	name.add(s.strong, oneLine(f.Path))
	switch {
	case f.Binary:
		counts.add(s.faint, "not text")
	case len(f.Hunks) == 0 && f.Old != "":
		counts.add(s.faint, "renamed")
	default:
		counts = s.changed(f.Added, f.Deleted)
	}
	if f.Uncommitted {
		name.add(s.warn, " (uncommitted)")
	}
	s.spread(name.cut(max(1, s.width-counts.columns()-1)), counts)
	s.put(strip{{rule(s.width), s.border}})
}

// changed says how many lines came and went.
func (s *sheet) changed(added, deleted int) strip {
	return strip{{"+" + strconv.Itoa(added), s.good}, {" ", ""}, {"-" + strconv.Itoa(deleted), s.bad}}
}

// hunk shows a stretch of lines with their numbers, and says how many lines may follow.
func (s *sheet) hunk(h *diff.Hunk, left int) int {
	old, now := 0, 0
	if len(h.Lines) > 0 {
		old, now = h.Lines[0].Old, h.Lines[0].New
	}
	var head strip
	head.addf(s.busy, "@@ %d → %d", old, now)
	if h.Uncommitted {
		head.add(s.warn, " uncommitted")
	}
	head.add(s.faint, " "+h.Header)
	s.put(head)
	for i := range h.Lines {
		if left == 0 {
			return 0
		}
		left--
		s.put(s.changedLine(&h.Lines[i]))
	}
	return left
}

func (s *sheet) changedLine(l *diff.Line) strip {
	number, look, mark := l.New, s.text, " "
	switch l.Kind {
	case "+":
		look, mark = s.good, "+"
	case "-":
		look, mark, number = s.bad, "-", l.Old
	}
	row := strip{}
	if s.width >= 40 {
		row = append(row, piece{numbered(number) + " ", s.faint})
	}
	row = append(row, piece{mark + " ", look})
	for i, text := range safe(within(l.Text, s.width)) {
		if i > 0 {
			text = " " + text
		}
		row = append(row, piece{text, look})
	}
	return row
}

// numbered is the number of a line in a column of its own, empty if it has none.
func numbered(n int) string {
	if n <= 0 {
		return "     "
	}
	return fmt.Sprintf("%5d", n)
}
