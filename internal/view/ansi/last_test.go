package ansi_test

import (
	"slices"
	"testing"

	"orange/internal/view/ansi"
)

func TestLastLinesAreThoseThatSaySomething(t *testing.T) {
	for text, want := range map[string][]string{
		"":                   nil,
		"\n \n──────\n│ │\n": nil,
		"one\ntwo\nthree\n":  {"two", "three"},
		"╭────╮\n│ \x1b[1mno key\x1b[0m │\n╰────╯\n❯ 1. Yes\n\n": {"no key", "❯ 1. Yes"},
	} {
		if got := ansi.LastLines(text, 2); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
