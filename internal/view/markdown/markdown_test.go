package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestBlocks(t *testing.T) {
	got := ParseBlocks("# Title\n\nSome **strong `code`** [words](https://x.example).\n\n2. a\n   - [x] b\n\n> c\n\n```sh\nls\n```\n\n---\n\n|a|b|\n|:-:|-|\n|c||\n")
	want := []Block{
		{Kind: Heading, Level: 1, Text: []Span{{Text: "Title"}}},
		{Kind: Paragraph, Text: []Span{{Text: "Some "}, {Text: "strong ", Strong: true}, {Text: "code", Strong: true, Raw: true}, {Text: " "}, {Text: "words", Link: "https://x.example"}, {Text: "."}}},
		{Kind: List, Number: 2, Tight: true, Items: []Item{{Blocks: []Block{
			{Kind: Paragraph, Text: []Span{{Text: "a"}}},
			{Kind: List, Tight: true, Items: []Item{{Tick: Done, Blocks: []Block{{Kind: Paragraph, Text: []Span{{Text: "b"}}}}}}},
		}}}},
		{Kind: Quote, Blocks: []Block{{Kind: Paragraph, Text: []Span{{Text: "c"}}}}},
		{Kind: Code, Lang: "sh", Code: "ls"},
		{Kind: Rule},
		{Kind: Table, Rows: [][]Cell{
			{{Text: []Span{{Text: "a"}}, Align: "center"}, {Text: []Span{{Text: "b"}}}},
			{{Text: []Span{{Text: "c"}}, Align: "center"}, {}},
		}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestALongTextIsCutBetweenLines(t *testing.T) {
	line := strings.Repeat("é", 50) + "\n\n"
	got := ParseBlocks(strings.Repeat(line, maxSize/len(line)+10))
	last := got[len(got)-1]
	if last.Text[0].Text != tooLong {
		t.Errorf("the end is %+v", last)
	}
	if cut := got[len(got)-3]; cut.Text[0].Text != strings.TrimSpace(line) {
		t.Errorf("the last line is %+v", cut)
	}
}

func TestALongLineIsCutBetweenCharacters(t *testing.T) {
	for shift := range 3 {
		got := ParseBlocks(strings.Repeat("x", shift) + strings.Repeat("日", maxSize))
		if text := got[0].Text[0].Text; !utf8.ValidString(text) || strings.Contains(text, "\ufffd") {
			t.Errorf("ends in %q", text[len(text)-8:])
		}
	}
}

// What is too deep or too large stays text: no word of it is lost.
func TestNothingIsLost(t *testing.T) {
	tests := map[string]string{
		"deep quotes":    strings.Repeat("> ", 100) + "word",
		"deep lists":     strings.Repeat("- ", 100) + "word",
		"many marks":     strings.Repeat("*a* ", 2000) + "**word**",
		"a wide table":   strings.Repeat("|a", 100) + "|\n" + strings.Repeat("|-", 100) + "|\n|word|\n",
		"a long table":   "|a|b|\n|-|-|\n" + strings.Repeat("|c|d|\n", 9000) + "|word|e|\n",
		"in a comment":   "<!-- word -->",
		"a definition":   "[x]: http://y 'word'",
		"an odd element": "<word a=b>",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			if page := RenderHTML(text); !strings.Contains(page, "word") {
				t.Errorf("the word is gone: %.300s", page)
			}
		})
	}
}
