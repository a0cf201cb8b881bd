// Package diff parses the diffs of git, and turns remarks about their lines into text for an agent. Texts are
// untrusted: the package makes them safe to show, and its callers limit their size.
package diff

import (
	"fmt"
	"strconv"
	"strings"

	"orange/internal/view/ansi"
)

// A Comparison is what a branch changes.
type Comparison struct {
	Base  string // the commit that the branch is compared with
	Head  string // the last commit of work that was merged; "" if it was not
	Files []File
	Cut   bool // there is more than Files has

	Worktree string // the folder whose files were compared; "" if it was the last commit of the branch
	Problem  string // why the files in the workspace were not compared, "" if nothing is wrong
}

// A File is what changed in one file.
type File struct {
	Path    string `json:"path"`
	Old     string `json:"old,omitempty"` // previous path, if it was renamed
	Binary  bool   `json:"binary,omitempty"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Hunks   []Hunk `json:"hunks"`

	Uncommitted bool `json:"uncommitted,omitempty"` // it differs from the last commit
}

// A Hunk is a stretch of lines.
type Hunk struct {
	Header string `json:"header"` // the context that git found above it
	Lines  []Line `json:"lines"`

	Uncommitted bool `json:"uncommitted,omitempty"` // some of it is not in the last commit
}

// A Line is a line of a hunk. Its number is 0 on a side where it does not exist.
type Line struct {
	Kind string `json:"kind"` // "+", "-" or " "
	Old  int    `json:"old,omitempty"`
	New  int    `json:"new,omitempty"`
	Text string `json:"text"`
}

// Parse parses a diff in git's format. It skips what it cannot parse: a truncated diff yields the files and lines that
// are there.
func Parse(text string) []File {
	var p parser
	for s := range strings.SplitSeq(text, "\n") {
		p.parseLine(s)
	}
	return p.files
}

// MarkUncommitted marks the files and hunks that are not committed. pending is how the files differ from the last
// commit, with the same new side; untracked names files that git does not track yet, which are added without their
// lines.
func MarkUncommitted(files, pending []File, untracked []string) []File {
	for i := range files {
		f := &files[i]
		for j := range pending {
			if pending[j].Path == f.Path {
				f.Uncommitted = true
				f.markHunks(&pending[j])
			}
		}
	}
	for _, path := range untracked {
		files = append(files, File{Path: ansi.OneLine(path), Hunks: []Hunk{}, Uncommitted: true})
	}
	return files
}

// markHunks marks the hunks that overlap the other diff. A deleted line is at the position of the next line.
func (f *File) markHunks(pending *File) {
	for i := range f.Hunks {
		first, last := f.Hunks[i].lineRange()
		for _, h := range pending.Hunks {
			next := 0
			for _, l := range h.Lines {
				if l.New > 0 {
					next = l.New + 1
				}
				at := max(l.New, next)
				if l.Kind != " " && (last == 0 || at == 0 || at >= first && at <= last+1) {
					f.Hunks[i].Uncommitted = true
				}
			}
		}
	}
}

// lineRange returns the first and the last line of the new side, 0 if there is none.
func (h *Hunk) lineRange() (first, last int) {
	for _, l := range h.Lines {
		if l.New == 0 {
			continue
		}
		if first == 0 {
			first = l.New
		}
		last = l.New
	}
	return first, last
}

type parser struct {
	files    []File
	old, new int // numbers of the next lines
	left     int // remaining lines of the hunk on the old side
	right    int // likewise on the new side
}

func (p *parser) parseLine(s string) {
	switch {
	case p.left > 0 || p.right > 0:
		p.inHunk(s)
		return
	case strings.HasPrefix(s, "diff --git "):
		p.files = append(p.files, File{Path: bothNames(s), Hunks: []Hunk{}})
		return
	case len(p.files) == 0:
		return
	}
	f := &p.files[len(p.files)-1]
	switch {
	case strings.HasPrefix(s, "@@ "):
		p.parseHunk(f, s)
	case strings.HasPrefix(s, "rename from "):
		f.Old = unquotePath(strings.TrimPrefix(s, "rename from "))
	case strings.HasPrefix(s, "rename to "):
		f.Path = unquotePath(strings.TrimPrefix(s, "rename to "))
	case strings.HasPrefix(s, "+++ ") && s != "+++ /dev/null":
		f.Path = trimSide(s[4:])
	case strings.HasPrefix(s, "--- ") && s != "--- /dev/null" && f.Path == "":
		f.Path = trimSide(s[4:])
	case strings.HasPrefix(s, "Binary files "), strings.HasPrefix(s, "GIT binary patch"):
		f.Binary = true
	}
}

// parseHunk parses "@@ -1,2 +3,4 @@ words".
func (p *parser) parseHunk(f *File, s string) {
	ranges, words, _ := strings.Cut(strings.TrimPrefix(s, "@@ "), " @@")
	before, after, ok := strings.Cut(ranges, " ")
	if !ok {
		return
	}
	p.old, p.left = parseRange(strings.TrimPrefix(before, "-"))
	p.new, p.right = parseRange(strings.TrimPrefix(after, "+"))
	f.Hunks = append(f.Hunks, Hunk{Header: ansi.OneLine(words), Lines: []Line{}})
}

func parseRange(s string) (from, count int) {
	first, n, more := strings.Cut(s, ",")
	from, _ = strconv.Atoi(first)
	count = 1
	if more {
		count, _ = strconv.Atoi(n)
	}
	return from, max(count, 0)
}

func (p *parser) inHunk(s string) {
	f := &p.files[len(p.files)-1]
	h := &f.Hunks[len(f.Hunks)-1]
	if strings.HasPrefix(s, `\`) { // no newline at the end
		return
	}
	kind, text := " ", ""
	if s != "" {
		kind, text = s[:1], s[1:]
	}
	l := Line{Kind: kind, Text: ansi.SafeText(strings.TrimSuffix(text, "\r"))}
	switch kind {
	case "+":
		l.New = p.new
		p.new, p.right = p.new+1, p.right-1
		f.Added++
	case "-":
		l.Old = p.old
		p.old, p.left = p.old+1, p.left-1
		f.Deleted++
	case " ":
		l.Old, l.New = p.old, p.new
		p.old, p.new, p.left, p.right = p.old+1, p.new+1, p.left-1, p.right-1
	default: // the diff is truncated here
		p.left, p.right = 0, 0
		return
	}
	h.Lines = append(h.Lines, l)
}

// bothNames returns the path in "diff --git a/x b/x", if both sides have the same.
func bothNames(s string) string {
	s = strings.TrimPrefix(s, "diff --git ")
	if n := len(s); n%2 == 1 && s[n/2] == ' ' {
		if a, b := trimSide(s[:n/2]), trimSide(s[n/2+1:]); a == b {
			return a
		}
	}
	return ""
}

// trimSide removes the prefix of its side from a path.
func trimSide(s string) string {
	s = unquotePath(strings.TrimSuffix(s, "\t"))
	if len(s) > 2 && s[1] == '/' {
		return s[2:]
	}
	return s
}

// unquotePath returns a path, which git quotes if it has unusual characters.
func unquotePath(s string) string {
	if len(s) > 1 && s[0] == '"' {
		if plain, err := strconv.Unquote(s); err == nil {
			s = plain
		}
	}
	return ansi.OneLine(s)
}

// A Remark is a person's comment on a line, or on a file if it names no line.
type Remark struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	Old  bool   `json:"old,omitempty"` // a deleted line
	Text string `json:"text"`

	Quote string `json:"quote,omitempty"` // the line itself
}

// quoteCode quotes a text as code, with more backticks than any run of them in it, so that none ends the quotation.
func quoteCode(s string) string {
	fence, run := 0, 0
	for _, c := range s {
		if run++; c != '`' {
			run = 0
		}
		fence = max(fence, run)
	}
	marks := strings.Repeat("`", fence+1)
	if fence > 0 {
		s = " " + s + " "
	}
	return marks + s + marks
}

// DescribeRemarks turns remarks into text for an agent, after the comment about the whole. round makes their ids unique within a task.
func DescribeRemarks(whole string, round int, remarks []Remark) string {
	var out strings.Builder
	out.WriteString(strings.TrimSpace(whole))
	n := 0
	for _, r := range remarks {
		if strings.TrimSpace(r.Text) == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		place := ansi.OneLine(r.Path)
		if r.Line > 0 {
			place += fmt.Sprintf(":%d", r.Line)
		}
		if r.Old {
			place += " (a line that was removed)"
		}
		n++
		fmt.Fprintf(&out, "%s %s", remarkID(round, n), quoteCode(place))
		if r.Quote != "" {
			out.WriteString(" " + quoteCode(r.Quote))
		}
		fmt.Fprintf(&out, ": %s", strings.TrimSpace(ansi.SafeText(r.Text)))
	}
	if n > 0 {
		out.WriteString("\n\n" + replyRequest(remarkID(round, 1)))
	}
	return out.String()
}
