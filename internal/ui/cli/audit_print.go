package cli

import (
	"fmt"
	"io"
	"strings"

	"orange/internal/core/engine"
)

// print says what an audit found.
func (a *auditor) print(out io.Writer, r *audited) error {
	w := &lineWriter{w: out}
	fact := func(name, format string, args ...any) { w.line("%-10s "+format, append([]any{name}, args...)...) }
	switch r.How {
	case auditMerged:
		fact("Commit", "%s is the merge of the task", r.Commit)
	case auditHead:
		fact("Commit", "%s is the last commit of the task", r.Commit)
	default:
		fact("Commit", "%s is a commit of the task's branch", r.Commit)
	}
	fact("Task", "%s  %s", r.Task, r.Summary)
	fact("Project", "%s, branch %s", r.Project, r.Branch)
	if r.Head != "" {
		fact("Work", "%s, begun at %s", r.Head, r.Base)
	}
	fact("Merged", "%s as %s (entry %d, row %d)", clock(a.Now(), r.At), r.Merged, r.Seq, r.Row)
	if r.PRURL != "" {
		fact("Request", "%s", r.PRURL)
	}
	fact("Workflow", "%s, SHA-256 %s", r.Workflow, r.Hash)
	w.line("")
	for i := range r.Steps {
		a.printStep(w, &r.Steps[i])
	}
	w.line("")
	if r.Journal.OK {
		fact("Journal", "%s are what was written, the last link is %.16s", count(int(r.Journal.Rows), "row", "rows"), r.Journal.Head)
	} else {
		fact("Journal", "NOT VERIFIED: %s", r.Journal.Problem)
	}
	fact("Anchors", "%s", anchorWords(&r.Anchors))
	again := fmt.Sprintf("re-decided %s (%s): ", count(r.Redecided.Entries, "entry", "entries"), count(r.Redecided.Decisions, "decision", "decisions"))
	if r.Redecided.Same {
		fact("Decisions", "%sequal", again)
		return w.err
	}
	fact("Decisions", "%s%d NOT equal", again, r.Redecided.Differ)
	if r.Redecided.First != nil && w.err == nil {
		t := timeline{now: a.Now()}
		t.divergence(r.Redecided.First)
		_, w.err = io.WriteString(out, t.String())
	}
	return w.err
}

// printStep prints one entry as task history does, with who, and what opened the way.
func (a *auditor) printStep(w *lineWriter, s *engine.AuditStep) {
	for i, e := range s.Events {
		text, err := e.MarshalJSON()
		if err != nil {
			continue
		}
		row := historyRow(a.Now(), text)
		number := ""
		if i == 0 {
			number = fmt.Sprintf("#%d", s.Seq)
			if s.Who != "" {
				row[2] = s.Who + ": " + row[2]
			}
			if s.Harness != "" {
				row[2] += "  harness=" + s.Harness
			}
		}
		w.line("%-5s %s  %s  %s", number, row[0], row[1], row[2])
	}
	for _, gate := range s.Gates {
		w.indented(gate)
	}
	if len(s.Effects) > 0 {
		w.indented("asks for " + strings.Join(s.Effects, ", "))
	}
}

// indented writes a line below another.
func (l *lineWriter) indented(text string) {
	if l.err == nil {
		_, l.err = fmt.Fprintln(l.w, "        "+cleanLine(text))
	}
}

// anchorWords says what an audit found about anchors.
func anchorWords(a *auditAnchors) string {
	switch {
	case a.Store == "":
		return "not compared: the export does not say which store it is of"
	case a.Repository == "":
		return "not compared: no repository was given, use --repo"
	case a.Problem != "":
		return "NOT AS IT WAS: " + a.Problem
	case a.Anchors == 0:
		return "none in " + a.Repository + ": fetch refs/orange/journal/" + a.Store + " from where it was published"
	}
	var parts []string
	parts = append(parts, fmt.Sprintf("%s in %s compared, and the journal agrees", count(a.Agree, "anchor", "anchors"), a.Repository))
	if a.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d of rows that were lost when the store was restored", a.Lost))
	}
	if a.Later > 0 {
		parts = append(parts, fmt.Sprintf("%d of later rows", a.Later))
	}
	if a.This {
		parts = append(parts, "this merge is covered")
	} else {
		parts = append(parts, "this merge is not covered yet")
	}
	return strings.Join(parts, "; ")
}
