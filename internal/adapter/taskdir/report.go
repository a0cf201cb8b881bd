package taskdir

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/lazy"
)

// ReportSection is the heading under which TASK.md has the last report on the task.
const ReportSection = "Last report"

// reportMark is the line by which the section is found again, with the number of the entry. A section
// of that name which somebody else wrote stays as it is.
const reportMark = "<!-- orange:last-report %d -->"

// notesHeading opens a section of its own for what somebody wrote below the report without a heading.
const notesHeading = "## Notes"

// sectionStart is a line that opens a section.
var sectionStart = lazy.NewRegexp(`^ {0,3}#{1,2}(?:\s|$)`)

// maxReport bounds what TASK.md has of a report, in bytes.
const maxReport = 6 << 10

// showReport puts the newest report among the entries into TASK.md, in place of the one before it.
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

// reportText is what an entry says about how an agent said it went, quoted; "" if no agent did.
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

// agentReport is what the agent of an entry said at length, cut short.
func agentReport(e *journal.Entry) string {
	final := e.Snapshot.AttemptWords()
	if len(final) > maxReport {
		final = "[...] " + final[len(final)-maxReport:]
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(strings.ToValidUTF8(final, "\ufffd"))
}

// withoutReport cuts out the section that showReport wrote. What somebody else wrote below it stays, and not
// as part of the section above.
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

// reportEnd is the first line behind a report whose text begins at line i: of its own it has nothing but one line, quotations and
// empty lines.
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

// isLine says whether a line has this text, whatever white space ends it.
func isLine(line []byte, text string) bool { return string(bytes.TrimRight(line, " \t\r\n")) == text }
