package ansi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	red := Style{FG: "1"}
	tests := map[string]struct {
		in   string
		want []Line
	}{
		"plain":                    {"a b\n\nc\n", []Line{{{Text: "a b"}}, {}, {{Text: "c"}}}},
		"colour goes on":           {"\x1b[31ma\nb\x1b[0mc", []Line{{{Text: "a", Style: red}}, {{Text: "b", Style: red}, {Text: "c"}}}},
		"the same colour again":    {"\x1b[31ma\x1b[31mb", []Line{{{Text: "ab", Style: red}}}},
		"bright and bold":          {"\x1b[1;92;104mx", []Line{{{Text: "x", Style: Style{Bold: true, FG: "10", BG: "12"}}}}},
		"of 256":                   {"\x1b[38;5;208mx\x1b[48;5;999my", []Line{{{Text: "xy", Style: Style{FG: "208"}}}}},
		"red, green and blue":      {"\x1b[38;2;255;128;7mx", []Line{{{Text: "x", Style: Style{FG: "#ff8007"}}}}},
		"reset without a number":   {"\x1b[7mx\x1b[my", []Line{{{Text: "x", Style: Style{Reverse: true}}, {Text: "y"}}}},
		"an empty part is a reset": {"\x1b[1;mx", []Line{{{Text: "x"}}}},
		"other sequences":          {"\x1b[2Ja\x1b]0;title\x07b\x1b[5;5Hc\x07\u202ed", []Line{{{Text: "abcd"}}}},
		"a broken one":             {"\x1b[38;5mx\x1b[?25mm", []Line{{{Text: "xm"}}}},
		"tabs":                     {"a\tb", []Line{{{Text: "a b"}}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ParseLines(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzLinesLeaveNothingDangerous(f *testing.F) {
	for _, s := range []string{"\x1b[31m", "\x1b[38;5;1m\x1b[48;2;1;2;3m", "\xc2\x9b31m\xff", "\x1b[;;m\n\x1b[m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, line := range ParseLines(s) {
			for _, run := range line {
				if needsCleaning(run.Text) || run.Text == "" || strings.Contains(run.Text, "\n") {
					t.Errorf("%q became %q", s, run.Text)
				}
			}
		}
	})
}
