package diff

import (
	"strings"

	"orange/internal/view/ansi"
	"orange/internal/view/syntax"
)

// A Row is a line of a file's changes as a page shows it: the header of a hunk, a line on both sides, or a line on one.
// In a split view a row may hold a deleted line beside the added line that replaces it.
type Row struct {
	Gap      *Gap
	Old, New *Cell // nil on a side where the row has no line
}

// A Cell is a line on one side of a diff.
type Cell struct {
	Line
	Spans []TextPart
}

// A TextPart is a part of a line: its text, its CSS class, and whether it is what differs from the other side.
type TextPart struct {
	Class  string
	Text   string
	Marked bool
}

// A Gap is a stretch of lines that the diff leaves out, before a hunk or behind the last one.
type Gap struct {
	Header      string // the context that git found
	Uncommitted bool   // some of the lines that follow are not committed
	From, To    int    // the lines on the new side; 0 if they are not known
	Shift       int    // what to add to a number of the new side for that of the old one
}

// Count returns the number of lines, 0 if it is not known.
func (g *Gap) Count() int {
	if g.From == 0 {
		return 0
	}
	return g.To - g.From + 1
}

// A FileText is the whole text of a file on both sides of a diff. The zero FileText knows nothing: then lines have no colours, and those that
// the diff leaves out cannot be shown.
type FileText struct {
	old, new           []string
	oldSpans, newSpans [][]syntax.Span
}

// NewFileText returns the source of a file. Either text may be empty.
func NewFileText(f *File, before, after string) *FileText {
	s := &FileText{old: sourceLines(before), new: sourceLines(after)}
	was := f.Old
	if was == "" {
		was = f.Path
	}
	s.oldSpans = syntax.Highlight(was, strings.Join(s.old, "\n"))
	s.newSpans = syntax.Highlight(f.Path, strings.Join(s.new, "\n"))
	return s
}

// sourceLines returns the lines of a text as Parse returns those of a diff.
func sourceLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = ansi.SafeText(strings.TrimSuffix(lines[i], "\r"))
	}
	return lines
}

// colour returns the spans of a line. The line may have changed since the source was read; then it has no colours.
func (s *FileText) colour(l Line) []TextPart {
	lines, spans, at := s.new, s.newSpans, l.New-1
	if l.Kind == "-" {
		lines, spans, at = s.old, s.oldSpans, l.Old-1
	}
	if at < 0 || at >= len(lines) || at >= len(spans) || lines[at] != l.Text {
		return []TextPart{{Text: l.Text}}
	}
	out := make([]TextPart, len(spans[at]))
	for i, one := range spans[at] {
		out[i] = TextPart{Class: one.Class, Text: one.Text}
	}
	return out
}

// cell returns the cell of a line, which is cut if it is longer than a person reads.
func (s *FileText) cell(l Line, marks [][2]int) *Cell {
	spans := s.colour(l)
	if len(marks) > 0 {
		spans = markSpans(spans, marks)
	}
	return &Cell{l, cutSpans(spans)}
}

// maxLine limits how much of a line is shown, in bytes.
const maxLine = 2000

func cutSpans(spans []TextPart) []TextPart {
	left := maxLine
	for i := range spans {
		if left -= len(spans[i].Text); left < 0 {
			spans[i].Text = strings.ToValidUTF8(spans[i].Text[:len(spans[i].Text)+left], "") + "…"
			return spans[:i+1]
		}
	}
	return spans
}

// BuildRows returns the rows of a file, for a unified or a split view.
func BuildRows(f *File, s *FileText, split bool) []Row {
	if s == nil {
		s = &FileText{}
	}
	var out []Row
	next, shift := 1, 0 // the first line of the new side that is not shown yet
	for i := range f.Hunks {
		h := &f.Hunks[i]
		g := &Gap{Header: h.Header, Uncommitted: h.Uncommitted}
		if first, last := h.lineRange(); first > 0 {
			if first > next && len(s.new) > 0 {
				g.From, g.To, g.Shift = next, first-1, shift
			}
			next = last + 1
		}
		for _, l := range h.Lines {
			switch l.Kind {
			case "+":
				shift--
			case "-":
				shift++
			}
		}
		if len(out) > 0 || g.From > 0 || g.Header != "" || g.Uncommitted {
			out = append(out, Row{Gap: g})
		}
		out = append(out, s.hunkRows(h, split)...)
	}
	if len(f.Hunks) > 0 && next <= len(s.new) {
		out = append(out, Row{Gap: &Gap{From: next, To: len(s.new), Shift: shift}})
	}
	return out
}

// ContextRows returns rows of the new side that a diff leaves out, from and to inclusive.
func (s *FileText) ContextRows(from, to, shift int) []Row {
	var out []Row
	for n := max(from, 1); n <= min(to, len(s.new)); n++ {
		c := s.cell(Line{Kind: " ", Old: n + shift, New: n, Text: s.new[n-1]}, nil)
		out = append(out, Row{Old: c, New: c})
	}
	return out
}

// hunkRows returns the rows of a hunk. Deleted lines and the added lines behind them are compared in pairs.
func (s *FileText) hunkRows(h *Hunk, split bool) []Row {
	var out []Row
	for i := 0; i < len(h.Lines); {
		if h.Lines[i].Kind == " " {
			c := s.cell(h.Lines[i], nil)
			out = append(out, Row{Old: c, New: c})
			i++
			continue
		}
		gone, added := changedRun(h.Lines[i:])
		i += len(gone) + len(added)
		var olds, news []*Cell
		for k := range max(len(gone), len(added)) {
			var before, after [][2]int
			if k < len(gone) && k < len(added) {
				before, after = compareWords(gone[k].Text, added[k].Text)
			}
			if k < len(gone) {
				olds = append(olds, s.cell(gone[k], before))
			}
			if k < len(added) {
				news = append(news, s.cell(added[k], after))
			}
		}
		out = append(out, arrangeCells(olds, news, split)...)
	}
	return out
}

// changedRun returns the deleted lines at the beginning of lines, and the added ones behind them.
func changedRun(lines []Line) (gone, added []Line) {
	n := 0
	for n < len(lines) && lines[n].Kind == "-" {
		n++
	}
	m := n
	for m < len(lines) && lines[m].Kind == "+" {
		m++
	}
	return lines[:n], lines[n:m]
}

// arrangeCells returns the rows of changed lines: side by side, or the deleted ones first.
func arrangeCells(olds, news []*Cell, split bool) []Row {
	var out []Row
	if !split {
		for _, c := range olds {
			out = append(out, Row{Old: c})
		}
		for _, c := range news {
			out = append(out, Row{New: c})
		}
		return out
	}
	for k := range max(len(olds), len(news)) {
		var r Row
		if k < len(olds) {
			r.Old = olds[k]
		}
		if k < len(news) {
			r.New = news[k]
		}
		out = append(out, r)
	}
	return out
}
