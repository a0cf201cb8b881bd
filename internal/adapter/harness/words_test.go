package harness

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        nil,
		"  \t\n ":                 nil,
		"a b":                     {"a", "b"},
		" a  b ":                  {"a", "b"},
		`a 'b c' "d e"`:           {"a", "b c", "d e"},
		`a '' ""`:                 {"a", "", ""},
		`a"b"'c'd`:                {"abcd"},
		`a\ b \"`:                 {"a b", `"`},
		`"a\"b\\c\nd $x"`:         {`a"b\c\nd $x`},
		`'a\'`:                    {`a\`},
		"é 🍊":                     {"é", "🍊"},
		"sh -c 'echo $1; ls' {x}": {"sh", "-c", "echo $1; ls", "{x}"},
	} {
		words, err := splitWords(line)
		if err != nil || !slices.Equal(words, want) {
			t.Errorf("%q: %q, %v; want %q", line, words, err, want)
		}
	}
	for _, line := range []string{`'a`, `"a`, `a\`, `"a\`} {
		if words, err := splitWords(line); err == nil {
			t.Errorf("%q: %q", line, words)
		}
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add("a 'b c' \"d\" \\e")
	f.Add("'")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = splitWords(text)
		words := strings.Split(text, ",")
		var line []string
		for _, w := range words {
			line = append(line, shellWord(w))
		}
		back, err := splitWords(strings.Join(line, " "))
		if err != nil || !slices.Equal(back, words) {
			t.Errorf("%q comes back as %q, %v", words, back, err)
		}
	})
}
