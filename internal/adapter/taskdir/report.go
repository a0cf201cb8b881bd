package taskdir

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/lazy"
)

// ReportSection is the heading of the section of TASK.md with the last report on the task.
const ReportSection = "Last report"

// reportMark is the line that identifies the section that Orange wrote, with the number of the
// entry. A section of the same name without this line stays unchanged.
const reportMark = "<!-- orange:last-report %d -->"

// notesHeading opens a separate section for text that someone wrote below the report without a
// heading.
const notesHeading = "## Notes"

// sectionStart matches a line that opens a section.
var sectionStart = lazy.NewRegexp(`^ {0,3}#{1,2}(?:\s|$)`)

// maxReport limits the size of a report in TASK.md, in bytes.
const maxReport = 6 << 10

// showReport writes the newest report among the entries to TASK.md, in place of the previous
// one.
func (d *Dir) showReport(dir string, entries []journal.Entry) error {
	for i := len(entries) - 1; i >= 0; i-- {
		if text := reportText(&entries[i]); text != "" {
			mark := fmt.Sprintf(reportMark, entries[i].Seq)
			return d.spliceLocked(dir, func(path string, src []byte) ([]byte, error) {
				if slices.ContainsFunc(bytes.Split(src, []byte("\n")), func(line []byte) bool { return isLine(line, mark) }) {
					return src, nil
				}
				section, eol := "\n\n## "+ReportSection+"\n\n"+mark+"\n"+text+"\n", "\n"
				if bytes.Contains(src, []byte("\r\n")) {
					eol = "\r\n"
				}
				out := append(bytes.TrimRight(withoutReport(src, eol), "\r\n"), strings.ReplaceAll(section, "\n", eol)...)
				return checkSize(path, bytes.TrimLeft(out, "\r\n"))
			})
		}
	}
	return nil
}

// reportText returns an agent's own account of its work from an entry, quoted, or "" if the
// entry has none.
func reportText(e *journal.Entry) string {
	s := e.LastReport
	if s == nil || s.Outcome+s.Code+s.Detail == "" {
		return ""
	}
	says := s.Outcome
	if s.Code != "" {
		says = s.Code
	}
	final := agentReport(e)
	if !strings.HasPrefix(strings.Join(strings.Fields(final), " "), s.Detail) {
		says += ": " + s.Detail
	}
	text := fmt.Sprintf("The %s in %s:\n\n> %s", s.Role, s.State, strings.Join(strings.Fields(says), " "))
	if final == "" {
		return text
	}
	return text + "\n>\n> " + strings.ReplaceAll(final, "\n", "\n> ")
}

// agentReport returns the long report of an entry's agent, truncated.
func agentReport(e *journal.Entry) string {
	final := e.Snapshot.AttemptWords()
	if len(final) > maxReport {
		final = "[...] " + final[len(final)-maxReport:]
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(strings.ToValidUTF8(final, "\ufffd"))
}

// withoutReport cuts out the section that showReport wrote. Text that someone else wrote below
// it stays, in a section of its own.
func withoutReport(src []byte, eol string) []byte {
	var out [][]byte
	lines := bytes.SplitAfter(src, []byte("\n"))
	for i := 0; i < len(lines); {
		var seq int
		if n, err := fmt.Sscanf(string(lines[i]), reportMark, &seq); n == 0 || err != nil || !isLine(lines[i], fmt.Sprintf(reportMark, seq)) {
			out = append(out, lines[i])
			i++
			continue
		}
		n := len(out)
		for n > 0 && isLine(out[n-1], "") {
			n--
		}
		if n > 0 && isLine(out[n-1], "## "+ReportSection) {
			out = out[:n-1]
		}
		i = reportEnd(lines, i+1)
		if i < len(lines) && !sectionStart.Match(lines[i]) {
			out = append(out, []byte(notesHeading+eol+eol))
		}
	}
	return bytes.Join(out, nil)
}

// reportEnd returns the first line after a report whose text begins at line i. A report
// consists of one line, quotations and empty lines.
func reportEnd(lines [][]byte, i int) int {
	titled := false
	for ; i < len(lines); i++ {
		line := bytes.TrimSpace(lines[i])
		title := !titled && bytes.HasPrefix(line, []byte("The ")) && bytes.HasSuffix(line, []byte(":"))
		if len(line) > 0 && !title && !bytes.HasPrefix(line, []byte(">")) {
			return i
		}
		titled = titled || len(line) > 0
	}
	return i
}

// isLine reports whether a line has this text, apart from trailing white space.
func isLine(line []byte, text string) bool { return string(bytes.TrimRight(line, " \t\r\n")) == text }
