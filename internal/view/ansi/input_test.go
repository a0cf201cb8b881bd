package ansi

import (
	"strings"
	"testing"
)

func TestHolds(t *testing.T) {
	long := strings.Repeat("one two three ", 40) + "the end"
	for name, tt := range map[string]struct {
		line, text string
		want       bool
	}{
		"its words":                 {"a b\nc", "a b\nc", true},
		"broken elsewhere":          {"> a\nb│ c", "> a b\nc", true},
		"accents and other scripts": {"größe 日本", "größe\n日本", true},
		"nothing":                   {"", "a", false},
		"more in front":             {"x a b", "a b", false},
		"more behind":               {"a b x", "a b", false},
		"less":                      {"a", "a b", false},
		"a short form":              {"[Pasted text #1 +12 lines]", "a b", true},
		"another short form":        {"[paste #2 1600 chars]", "a b", true},
		"more than a short form":    {"hm [Pasted text #1 +12 lines]", "a b", false},
		"two short forms":           {"[Pasted text #1][Pasted text #2]", "a b", false},
		"brackets":                  {"[a b]", "c", false},
		"the end of a long text":    {long[200:], long, true},
		"more than the end":         {long[200:] + "x", long, false},
		"too little of the end":     {"the end", long, false},
	} {
		if got := (Input{Kind: Prompt, Line: tt.line}).HoldsText(tt.text); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if (Input{Kind: Dialog, Line: tt.line}).HoldsText(tt.text) {
			t.Errorf("%s: in a dialog", name)
		}
	}
}

func TestColumns(t *testing.T) {
	line := ParseLines("a\x1b[1m日本\x1b[0me\u0301x")[0]
	if line.Width() != 7 {
		t.Errorf("width %d", line.Width())
	}
	for _, tt := range []struct {
		from, to int
		want     string
	}{{0, 1, "a"}, {1, 3, "日"}, {3, 5, "本"}, {5, 7, "e\u0301x"}, {7, 9, ""}} {
		if got := line.ColumnRange(tt.from, tt.to).String(); got != tt.want {
			t.Errorf("%d to %d: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}
