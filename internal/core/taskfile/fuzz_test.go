package taskfile

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", sample, "\ufeff" + sample, "---\n---\n", "---\na: |\n  x\nb: [1,\n 2]\n---\n", "---\n{a: 1}\n---\n",
		"---\r\na: 'x' # y\r\n---\r\n## Plan\r\n", "---\nid:\n- a\nstatus: &x 1\n---\n",
	} {
		f.Add([]byte(seed), "working: true")
	}
	f.Fuzz(func(t *testing.T, src []byte, status string) {
		d, err := Parse(src)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if !bytes.Equal(d.Bytes(), src) {
			t.Fatalf("round trip gave %q", d.Bytes())
		}
		fields := []Field{{"id", "x"}, {"status", status}, {"review_round", 2}, {"pr_url", Omit}}
		edited, err := d.WithFields(fields)
		if err != nil {
			return
		}
		again, err := Parse(edited.Bytes())
		if err != nil {
			t.Fatalf("%q does not parse: %v", edited.Bytes(), err)
		}
		if !bytes.Equal(again.Body(), d.Body()) {
			t.Fatalf("body changed to %q", again.Body())
		}
		if got, _ := again.Get("status"); got != status {
			t.Fatalf("status reads back as %q", got)
		}
	})
}

func FuzzSections(f *testing.F) {
	for _, seed := range []string{
		"## Plan\n\nAPPROACH: x\n", "Review\n---\n\n**Verdict: PASS**\r\n", "```\n## Plan\n", "- a\n\n  ## Plan\n<!--\nDONE: x\n-->",
		"##", "## ##\n\t## x", "> a\n---\n## b", "[a]: b\n---\n", "<pre>\n## x\n</pre>## y", "1. ```\n   DONE: x\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if quick, whole := readHidden(body), readOutline(body); !slices.Equal(quick.hidden, whole.hidden) {
			t.Fatalf("hidden lines %v, and %v by its blocks", quick.hidden, whole.hidden)
		}
		headings := 0
		for _, h := range readOutline(body).headings {
			if h.level == 2 {
				headings++
			}
		}
		seen := 0
		for line := range strings.Lines(body) {
			if looksLikeSection([]byte(line)) {
				seen++
			}
		}
		if headings > seen {
			t.Fatalf("%d sections, and %d lines that look like one", headings, seen)
		}
		last := 1 + strings.Count(body, "\n")
		line := 0
		for _, s := range (Document{body: body}).Sections() {
			if s.Line <= line || s.Line > last || s.TextLine < s.Line || s.TextLine > last || !strings.Contains(body, s.Text) {
				t.Fatalf("section %+v after line %d of %d", s, line, last)
			}
			line = s.Line
			for _, field := range s.Fields {
				if field.Line <= s.Line || field.Line > last {
					t.Fatalf("field %+v of section %+v", field, s)
				}
			}
			if _, at, why := s.Verdict(); at < s.Line || at > last || strings.Contains(why, "\n") {
				t.Fatalf("verdict at line %d: %s", at, why)
			}
			s.WordVerdict()
		}
		if got, ok := checkContext(body); !ok && len(body) < MaxSize/4 {
			t.Fatalf("as context %q gives %+v", QuoteContext(body), got)
		}
	})
}
