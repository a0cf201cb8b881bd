package taskfile

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheFirstLineOfRequirementsIsASummary(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for text, want := range map[string]string{
		"Fix the login":                          "Fix the login",
		"\n\n# Fix the login\n\nIt is broken.\n": "Fix the login",
		"- [ ] 1. fix\n- two":                    "fix",
		"---\n```\n> quoted words":               "quoted words",
		"2) second":                              "second",
		"#hashtag stays":                         "#hashtag stays",
		"2026 is the year":                       "2026 is the year",
		"tab\there\x1b[31m":                      "tab here [31m",
		"":                                       "",
		"***\n":                                  "",
		long:                                     strings.TrimSpace(strings.Repeat("word ", 14)) + "...",
		strings.Repeat("x", 100):                 strings.Repeat("x", 69) + "...",
		strings.Repeat("é", 72):                  strings.Repeat("é", 72),
		strings.Repeat("a", 69) + " and much more": strings.Repeat("a", 69) + "...",
	} {
		got := SummaryFrom(text)
		if got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
		if utf8.RuneCountInString(got) > maxSummary {
			t.Errorf("of %q: %d characters", text, utf8.RuneCountInString(got))
		}
	}
}
