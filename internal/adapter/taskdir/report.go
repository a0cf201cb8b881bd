package taskdir

import (
	"bytes"
	"fmt"
	"strings"

	"orange/internal/core/journal"
)

// ReportSection is the heading under which TASK.md has the last report on the task.
const ReportSection = "Last report"

// reportMark begins the line by which the section is found again. A section of that name which
// somebody else wrote stays as it is.
const reportMark = "## " + ReportSection + "\n\n<!-- orange:last-report "

// maxReport bounds what TASK.md has of a report, in bytes.
const maxReport = 6 << 10

// showReport puts the newest report among the entries into TASK.md, in place of the one before it.
func (d *Dir) showReport(dir string, entries []journal.Entry) error {
	for i := len(entries) - 1; i >= 0; i-- {
		if text := reportText(&entries[i]); text != "" {
			mark := fmt.Sprintf("%s%d -->\n", reportMark, entries[i].Seq)
			return d.splice(dir, func(path string, src []byte) ([]byte, error) {
				if bytes.Contains(src, []byte(mark)) {
					return src, nil
				}
				out := append(bytes.TrimRight(withoutReport(src), "\n"), "\n\n"+mark+text+"\n"...)
				return allowed(path, bytes.TrimLeft(out, "\n"))
			})
		}
	}
	return nil
}

// reportText is what an entry says about how an agent said it went, quoted; "" if no agent did.
func reportText(e *journal.Entry) string {
	s := e.Said
	if s == nil {
		return ""
	}
	says := s.Outcome
	if s.Code != "" {
		says = s.Code
	}
	if s.Detail != "" {
		says += ": " + s.Detail
	}
	text := fmt.Sprintf("The %s in %s:\n\n> %s", s.Role, s.State, strings.Join(strings.Fields(says), " "))
	if e.Heard == nil || strings.TrimSpace(e.Heard.Final) == "" {
		return text
	}
	final := strings.TrimSpace(e.Heard.Final)
	if len(final) > maxReport {
		final = "[...] " + final[len(final)-maxReport:]
	}
	final = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(strings.ToValidUTF8(final, "\ufffd"))
	return text + "\n>\n> " + strings.ReplaceAll(final, "\n", "\n> ")
}

// withoutReport cuts out the section that showReport wrote.
func withoutReport(src []byte) []byte {
	at := bytes.Index(src, []byte(reportMark))
	if at < 0 || at > 0 && src[at-1] != '\n' {
		return bytes.Clone(src)
	}
	out := bytes.Clone(src[:at])
	lines := bytes.SplitAfter(src[at+len(reportMark):], []byte("\n"))
	for i, line := range lines[1:] { // of its own it has nothing but one line, quotations and empty lines
		own := i == 0 && bytes.HasPrefix(line, []byte("The "))
		if !own && len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte(">")) {
			return append(out, bytes.Join(lines[i+1:], nil)...)
		}
	}
	return out
}
