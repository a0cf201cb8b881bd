package taskfile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sectionsOf(body string) []Section {
	return Document{body: body}.Sections()
}

func names(sections []Section) []string {
	var out []string
	for _, s := range sections {
		out = append(out, s.Name)
	}
	return out
}

func TestWhichHeadingsOpenASection(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want []string
	}{
		"plain":                              {"## Plan\n\ntext\n\n## Review\n", []string{"Plan", "Review"}},
		"closing marks":                      {"## Review ##\n## Plan ####  \n", []string{"Review", "Plan"}},
		"trailing white space":               {"## Plan  \t\n", []string{"Plan"}},
		"a tab behind the marks":             {"##\tPlan\n", []string{"Plan"}},
		"three spaces before it":             {"   ## Plan\n", []string{"Plan"}},
		"four spaces are code":               {"\n    ## Plan\n", nil},
		"a tab before it is code":            {"\n\t## Plan\n", nil},
		"no space behind the marks":          {"##Plan\n", nil},
		"other levels":                       {"# Plan\n### Plan\n", nil},
		"underlined with dashes":             {"Plan\n---\n\ntext\n", []string{"Plan"}},
		"underlined with equal signs":        {"Plan\n===\n\ntext\n", nil},
		"a rule is no heading":               {"text\n\n---\n\nmore\n", nil},
		"a rule right under a label":         {"## Handoff\nDONE: x\n---\nREMAINING: y\n", []string{"Handoff"}},
		"a rule right under a verdict":       {"## Review\nVerdict: PASS\n---\nfine\n", []string{"Review"}},
		"a rule right under a link":          {"## Review\n[x]: http://y\n---\nfine\n", []string{"Review"}},
		"inside a fence":                     {"```\n## Plan\n```\n", nil},
		"inside a tilde fence":               {"~~~md\n## Plan\n```\n## Plan\n~~~\n", nil},
		"inside a fence that is never ended": {"```\n## Plan\n", nil},
		"behind a fence":                     {"```\nx\n```\n## Plan\n", []string{"Plan"}},
		"a fence in a list":                  {"- a\n  ```\n  ## Plan\n  ```\n\n## Review\n", []string{"Review"}},
		"inside a quote":                     {"> ## Plan\n", nil},
		"inside a list":                      {"- ## Plan\n\n1. ## Plan\n", nil},
		"inside a comment":                   {"<!--\n## Plan\n-->\n## Review\n", []string{"Review"}},
		"inside preformatted HTML":           {"<pre>\n## Plan\n\n## Plan\n</pre>\n", nil},
		"right behind text":                  {"text\n## Plan\n", []string{"Plan"}},
		"windows line endings":               {"## Plan\r\n\r\nx\r\n## Review\r\n", []string{"Plan", "Review"}},
		"no line ending at the end":          {"## Plan", []string{"Plan"}},
		"without a name":                     {"## Plan\n##\ntext\n## \n", []string{"Plan", "", ""}},
		"unicode":                            {"## Übersicht 😀\n", []string{"Übersicht 😀"}},
		"markup stays as written":            {"## **Plan** `x`\n", []string{"**Plan** `x`"}},
		"an empty body":                      {"", nil},
		"quotes nested without end":          {strings.Repeat(">", 300000) + "\n\n## Plan\n", []string{"Plan"}},
		"lists nested without end":           {strings.Repeat("- + ", 100000) + "\n\n## Plan\n", []string{"Plan"}},
		"lists nested by indent":             {nestedList(1000) + "\n## Plan\n", []string{"Plan"}},
		"a long underline":                   {"Plan\n" + strings.Repeat("-", 200) + "\n", []string{"Plan"}},
		"link definitions without end":       {strings.Repeat("[a]: b\n", 40000) + "\n## Plan\n", []string{"Plan"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, names(sectionsOf(tc.body))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func nestedList(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

func TestSectionContent(t *testing.T) {
	for name, tc := range map[string]struct{ body, want string }{
		"at the end of the body":        {"## Plan\n\nAPPROACH: x", "APPROACH: x"},
		"up to the next section":        {"## Plan\na\n\n### sub\nb\n\n## Review\nc", "a\n\n### sub\nb"},
		"up to a level 1 heading":       {"## Plan\na\n# Top\nb", "a"},
		"up to an underlined heading":   {"## Plan\na\n\nReview\n------\nb", "a"},
		"fences are kept":               {"## Plan\n```\n## no\n```\nb", "```\n## no\n```\nb"},
		"empty":                         {"## Plan\n\n\n## Review\nx", ""},
		"empty at the end":              {"## Plan", ""},
		"windows line endings are kept": {"## Plan\r\n\r\na\r\nb\r\n", "a\r\nb"},
		"an underlined heading's":       {"Plan\n---\na\n", "a"},
		"white space around it":         {"## Plan\n \t\n  a  \n \n", "a"},
		"of several the last":           {"## Plan\na\n## Review\nr\n## Plan\nb\n", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			s, ok := FindSection(sectionsOf(tc.body), "Plan")
			if !ok || s.Text != tc.want {
				t.Errorf("got %q, %v, want %q", s.Text, ok, tc.want)
			}
		})
	}
}

func TestFindIsExact(t *testing.T) {
	sections := sectionsOf("## plan\n## Plan B\n## **Plan**\n")
	if s, ok := FindSection(sections, "Plan"); ok {
		t.Errorf("found %+v", s)
	}
}

func TestLinesCountInTheWholeFile(t *testing.T) {
	d := mustParse(t, "---\na: 1\n---\n\n## Plan\n\n\n- APPROACH: x\n\nReview\n---\n\nVerdict: PASS\n## Empty\n")
	var got [][]int
	for _, s := range d.Sections() {
		row := []int{s.Line, s.TextLine}
		for _, f := range s.Fields {
			row = append(row, f.Line)
		}
		got = append(got, row)
	}
	if diff := cmp.Diff([][]int{{5, 8, 8}, {10, 13}, {14, 14}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDigest(t *testing.T) {
	base := sectionsOf("## Plan\n\nAPPROACH: x\n\n- y\n")[0].Digest
	for name, tc := range map[string]struct {
		body string
		same bool
	}{
		"other line endings":      {"## Plan\r\n\r\nAPPROACH: x\r\n\r\n- y\r\n", true},
		"white space at line end": {"## Plan\n\nAPPROACH: x  \n\t\n- y\t", true},
		"blank lines around":      {"## Plan\n\n\nAPPROACH: x\n\n- y\n\n\n## Next\n", true},
		"another heading":         {"## Other\nAPPROACH: x\n\n- y\n", true},
		"another word":            {"## Plan\n\nAPPROACH: z\n\n- y\n", false},
		"a round line":            {"## Plan\n\nAPPROACH: x\n\n- y\nRound: 2\n", false},
		"another indent":          {"## Plan\n\nAPPROACH: x\n\n  - y\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := sectionsOf(tc.body)[0].Digest
			if (got == base) != tc.same || len(got) != 16 {
				t.Errorf("digest %s against %s, want same=%v", got, base, tc.same)
			}
		})
	}
}

func TestSectionsSurviveJSON(t *testing.T) {
	before := sectionsOf("## Plan\n\nAPPROACH: a\nb\n## Review\r\n\r\nVerdict: PASS\r\n## Empty\n")
	raw, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	var after []Section
	if err := json.Unmarshal(raw, &after); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	for _, key := range []string{`"name"`, `"line"`, `"text"`, `"digest"`, `"fields"`, `"label"`} {
		if !strings.Contains(string(raw), key) {
			t.Errorf("no %s in %s", key, raw)
		}
	}
}
