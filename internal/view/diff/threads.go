package diff

import (
	"fmt"
	"strconv"
	"strings"

	"orange/internal/lazy"
	"orange/internal/view/ansi"
)

// A Thread is a remark that was sent, with what the agent answered.
type Thread struct {
	Remark
	ID       string
	Reply    string // "" if there is none
	Resolved bool   // the agent says so
}

// RepliesSection is the section of TASK.md in which agents answer remarks.
const RepliesSection = "Remarks"

// remarkID names a remark: the entry of the journal before it was sent, and its number.
func remarkID(round, n int) string { return fmt.Sprintf("R%d-%d", round, n) }

// replyRequest says how to answer remarks.
func replyRequest(first string) string {
	return "Answer each remark in the section `## " + RepliesSection + "` of TASK.md, on a line of its own: `" + first + ": resolved, and what you changed`, or why you did not change it."
}

var (
	remarkStart  = lazy.NewRegexp("(?m)^(R[0-9]+-[0-9]+) ")
	replyStart   = lazy.NewRegexp(`(?m)^[ \t>*+-]*(?:\*\*|` + "`" + `)?(R[0-9]+-[0-9]+)(?:\*\*|` + "`" + `)?:`)
	linePosition = lazy.NewRegexp(`^(.*):([0-9]+)( \(a line that was removed\))?$`)
	resolvedWord = lazy.NewRegexp(`(?i)^(?:resolved|done|fixed)\b`)
)

// ParseRemarks returns the remarks of a text that DescribeRemarks wrote. A person may write what looks like one; then it is one.
func ParseRemarks(note string) []Thread {
	var out []Thread
	starts := remarkStart.FindAllStringSubmatchIndex(note, -1)
	for i, at := range starts {
		end := len(note)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		place, rest, ok := cutCode(note[at[1]:end])
		if !ok {
			continue
		}
		t := Thread{ID: note[at[2]:at[3]]}
		t.Path = place
		if m := linePosition.FindStringSubmatch(place); m != nil {
			t.Path, t.Old = m[1], m[3] != ""
			t.Line, _ = strconv.Atoi(m[2])
		}
		if quote, after, ok := cutCode(strings.TrimPrefix(rest, " ")); ok && strings.HasPrefix(rest, " ") {
			t.Quote, rest = quote, after
		}
		text, _, _ := strings.Cut(strings.TrimPrefix(rest, ":"), "\n\n"+replyRequest(remarkPrefix(note)))
		if t.Text = strings.TrimSpace(text); t.Text != "" {
			out = append(out, t)
		}
	}
	return out
}

// remarkPrefix returns the first id of a text.
func remarkPrefix(note string) string {
	if m := remarkStart.FindStringSubmatch(note); m != nil {
		return m[1]
	}
	return ""
}

// cutCode cuts a quotation that quoteCode made from the beginning of a text.
func cutCode(text string) (inside, rest string, ok bool) {
	marks := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	if marks == "" {
		return "", text, false
	}
	inside, rest, ok = strings.Cut(text[len(marks):], marks)
	if len(marks) > 1 {
		inside = strings.TrimSuffix(strings.TrimPrefix(inside, " "), " ")
	}
	return inside, rest, ok
}

// ReadReplies sets the replies of threads from the section of TASK.md in which agents answer.
func ReadReplies(threads []Thread, section string) {
	starts := replyStart.FindAllStringSubmatchIndex(section, -1)
	for i, at := range starts {
		end := len(section)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		reply := strings.TrimSpace(ansi.SafeText(section[at[1]:end]))
		for k := range threads {
			if threads[k].ID == section[at[2]:at[3]] {
				threads[k].Reply, threads[k].Resolved = reply, resolvedWord.MatchString(reply)
			}
		}
	}
}

// FindLine returns the row at which a thread belongs now: the line that it quotes, as near as possible to where it was. It returns -1 if
// that line is not shown.
func (t *Thread) FindLine(rows []Row) int {
	best, far := -1, 0
	for i, r := range rows {
		c, at := r.New, 0
		if t.Old {
			c = r.Old
		}
		if c == nil || t.Old && c.Kind != "-" {
			continue
		}
		if at = c.New; t.Old {
			at = c.Old
		}
		if cutQuote(c.Text) != t.Quote || t.Quote == "" {
			continue
		}
		if d := max(at-t.Line, t.Line-at); best < 0 || d < far {
			best, far = i, d
		}
	}
	return best
}

// maxQuote limits how much of a line a remark quotes, in bytes.
const maxQuote = 160

// cutQuote returns a line as a remark quotes it.
func cutQuote(line string) string {
	line = strings.TrimSpace(ansi.OneLine(line))
	if len(line) > maxQuote {
		line = strings.TrimSpace(strings.ToValidUTF8(line[:maxQuote], ""))
	}
	return line
}

// QuoteLines sets what the remarks quote: the lines of a diff that they are about.
func QuoteLines(remarks []Remark, files []File) {
	for i := range remarks {
		r := &remarks[i]
		for _, f := range files {
			if f.Path == r.Path && r.Line > 0 {
				r.Quote = f.quoteLine(r)
			}
		}
	}
}

// QuoteText sets what a remark quotes from the whole text of its file.
func (r *Remark) QuoteText(text string) {
	if lines := sourceLines(text); r.Line > 0 && r.Line <= len(lines) {
		r.Quote = cutQuote(lines[r.Line-1])
	}
}

func (f *File) quoteLine(r *Remark) string {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if !r.Old && l.New == r.Line || r.Old && l.Kind == "-" && l.Old == r.Line {
				return cutQuote(l.Text)
			}
		}
	}
	return ""
}
