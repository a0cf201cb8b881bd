package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// Limits of a diff on a page, in lines. Files are collapsed if there is more than a person can read at
// a glance.
const (
	maxDiffLines = 4000
	maxFileLines = 1500
	maxDiffFiles = 300
	foldedAbove  = 400
	maxDiffText  = 2000 // bytes of one line
)

// maxRemarks limits the number of remarks in one form.
const maxRemarks = 500

// A taskDiff is the diff of a branch, as a page shows it.
type taskDiff struct {
	Base    string
	Files   []taskFile
	Added   int
	Deleted int
	Cut     bool // there is more than is shown
	May     bool // the person may send remarks
	Whole   string
	Orphans []diff.Remark // remarks about lines that are not shown
}

// A taskFile is one file of a diff.
type taskFile struct {
	diff.File
	ID     string
	Open   bool
	Left   int // lines that are not shown
	Rows   []taskLine
	Remark string // about the whole file
}

// A taskLine is a line of a diff, or the header of a hunk.
type taskLine struct {
	diff.Line
	Head   string
	IsHead bool
	Number int    // the line number for a remark
	Side   string // "old" for a removed line
	Remark string
	Noted  bool

	Uncommitted bool // of a header: some of the lines that follow are not committed
}

// taskDiffOf prepares a diff for a page and places the remarks at their lines.
func taskDiffOf(d wire.Diff, whole string, remarks []diff.Remark) *taskDiff {
	out := &taskDiff{Base: d.Base, Cut: d.Cut, Whole: whole}
	lines := 0
	for i := range d.Files {
		out.Added, out.Deleted = out.Added+d.Files[i].Added, out.Deleted+d.Files[i].Deleted
		for _, h := range d.Files[i].Hunks {
			lines += len(h.Lines)
		}
	}
	left := maxDiffLines
	out.Cut = out.Cut || len(d.Files) > maxDiffFiles
	for i := range d.Files[:min(len(d.Files), maxDiffFiles)] {
		f := taskFile{File: d.Files[i], ID: "file-" + strconv.Itoa(i+1), Open: lines <= foldedAbove}
		f.fillRows(min(left, maxFileLines))
		left -= len(f.Rows)
		out.Files = append(out.Files, f)
	}
	for _, r := range remarks {
		if !out.placeRemark(r) {
			out.Orphans = append(out.Orphans, r)
		}
	}
	return out
}

// fillRows sets the rows of the file, up to n lines.
func (f *taskFile) fillRows(n int) {
	for _, h := range f.Hunks {
		if len(f.Rows) < n {
			f.Rows = append(f.Rows, taskLine{IsHead: true, Head: h.Header, Uncommitted: h.Uncommitted})
		}
		for _, l := range h.Lines {
			if len(f.Rows) >= n {
				f.Left++
				continue
			}
			row := taskLine{Line: l, Number: l.New}
			if l.Kind == "-" {
				row.Number, row.Side = l.Old, "old"
			}
			row.Text = humanize.Cut(row.Text, maxDiffText)
			f.Rows = append(f.Rows, row)
		}
	}
	f.Hunks = nil
}

// placeRemark shows a remark at its line. It returns false if the line is not shown.
func (d *taskDiff) placeRemark(r diff.Remark) bool {
	at := slices.IndexFunc(d.Files, func(f taskFile) bool { return f.Path == r.Path })
	if at < 0 {
		return false
	}
	f := &d.Files[at]
	if r.Line == 0 {
		f.Remark, f.Open = r.Text, true
		return true
	}
	for i := range f.Rows {
		row := &f.Rows[i]
		if !row.IsHead && row.Number == r.Line && (row.Side == "old") == r.Old && !row.Noted {
			row.Remark, row.Noted, f.Open = r.Text, true, true
			return true
		}
	}
	return false
}

// readRemarks reads the remarks of a form: a path, a line, a side and a text for each.
func readRemarks(form url.Values) ([]diff.Remark, error) {
	paths, lines, sides, texts := form["path"], form["line"], form["side"], form["remark"]
	if len(paths) != len(texts) || len(lines) != len(texts) || len(sides) != len(texts) {
		return nil, newRefusal(http.StatusBadRequest, "cannot read the remarks: reload the page and try again")
	}
	var out []diff.Remark
	for i, text := range texts {
		text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
		if text == "" {
			continue
		}
		line, err := strconv.Atoi("0" + lines[i])
		if err != nil || !utf8.ValidString(paths[i]) || len(out) == maxRemarks {
			return nil, newRefusal(http.StatusBadRequest, "cannot read the remarks: send at most %d, each for a line of the diff", maxRemarks)
		}
		out = append(out, diff.Remark{Path: ansi.OneLine(paths[i]), Line: line, Old: sides[i] == "old", Text: text})
	}
	return out, nil
}
