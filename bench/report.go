package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// figure is one line of the table.
type figure struct {
	Name     string `json:"figure"`
	Measured string `json:"measured"`
	Target   string `json:"target"` // "" if it has none
	Met      bool   `json:"met"`
	Note     string `json:"note,omitempty"` // what it was compared with, and how
}

func (f figure) metText() string {
	switch {
	case f.Target == "":
		return "-"
	case f.Met:
		return "yes"
	}
	return "no"
}

// report is the results of one run, and its machine.
type report struct {
	Date    string   `json:"date"`
	Machine string   `json:"machine"`
	Figures []figure `json:"figures"`
	Missing []string `json:"missing,omitempty"` // what could not be measured, and why
}

func newReport() *report {
	return &report{
		Date:    time.Now().UTC().Format(time.DateOnly),
		Machine: fmt.Sprintf("%s/%s, %d cores, %s%s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), describeLoad()),
	}
}

// describeLoad returns the load of the machine when the run began.
func describeLoad() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) == 0 {
		return ""
	}
	return ", load average " + fields[0] + " before"
}

func (r *report) addFigure(f figure) { r.Figures = append(r.Figures, f) }

func (r *report) countMissed() int {
	n := 0
	for _, f := range r.Figures {
		if f.Target != "" && !f.Met {
			n++
		}
	}
	return n
}

func (r *report) printJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func (r *report) printTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FIGURE\tMEASURED\tTARGET\tMET")
	for _, f := range r.Figures {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Name, f.Measured, f.Target, f.metText())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, f := range r.Figures {
		if f.Note != "" {
			fmt.Fprintf(w, "%s: %s\n", f.Name, f.Note)
		}
	}
	fmt.Fprintf(w, "\n%s; %s. %d of %d targets missed.\n", r.Date, r.Machine, r.countMissed(), r.countTargets())
	for _, m := range r.Missing {
		fmt.Fprintln(w, "not measured:", m)
	}
	return nil
}

func (r *report) countTargets() int {
	n := 0
	for _, f := range r.Figures {
		if f.Target != "" {
			n++
		}
	}
	return n
}

// The table in the document is between these lines.
const (
	beginMark = "<!-- bench: begin -->\n"
	endMark   = "<!-- bench: end -->"
)

// updateDocument puts the table into the document.
func (r *report) updateDocument(path string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document to update: %w", err)
	}
	before, rest, ok := bytes.Cut(doc, []byte(beginMark))
	_, after, closed := bytes.Cut(rest, []byte(endMark))
	if !ok || !closed {
		return fmt.Errorf("update %s: it has no line %q with %q below it; put them where the table belongs", path, strings.TrimSpace(beginMark), endMark)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(beginMark)
	r.writeMarkdown(&b)
	b.WriteString(endMark)
	b.Write(after)
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func (r *report) writeMarkdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nMeasured with `make bench` on %s: %s.\n\n", r.Date, r.Machine)
	b.WriteString("| Figure | Measured | Target | Met | Compared with |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range r.Figures {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", f.Name, f.Measured, f.Target, f.metText(), f.Note)
	}
	b.WriteByte('\n')
}

func formatMicros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}

func formatMillis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// formatThousands formats a number with separators.
func formatThousands(n float64) string {
	s := fmt.Sprintf("%.0f", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
