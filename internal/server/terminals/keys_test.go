package terminals

import (
	"testing"

	"orange/internal/view/ansi"
)

func TestDigestScreen(t *testing.T) {
	dialog := ansi.Input{Kind: ansi.Dialog, Question: "rm -rf build\nDo you want to proceed?\n1. Yes\n2. No"}
	other := ansi.Input{Kind: ansi.Dialog, Question: "rm -rf /\nDo you want to proceed?\n1. Yes\n2. No"}
	prompt := ansi.Input{Kind: ansi.Prompt}
	a, b := ansi.View{Text: "one"}, ansi.View{Text: "two"}
	for _, c := range []struct {
		name        string
		left, right string
		same        bool
	}{
		{"a dialog while something else is drawn", digestScreen(1, a, dialog), digestScreen(1, b, dialog), true},
		{"a dialog about another command", digestScreen(1, a, dialog), digestScreen(1, a, other), false},
		{"the same dialog of another attempt", digestScreen(1, a, dialog), digestScreen(2, a, dialog), false},
		{"a dialog that opened since", digestScreen(1, a, prompt), digestScreen(1, a, dialog), false},
		{"an input line while the agent works", digestScreen(1, a, prompt), digestScreen(1, b, prompt), true},
		{"an unknown screen that changed", digestScreen(1, a, ansi.Input{}), digestScreen(1, b, ansi.Input{}), false},
		{"an unknown screen in other colours", digestScreen(1, a, ansi.Input{}), digestScreen(1, ansi.View{Text: "\x1b[31mone\x1b[0m"}, ansi.Input{}), true},
	} {
		if (c.left == c.right) != c.same {
			t.Errorf("%s: %s and %s", c.name, c.left, c.right)
		}
	}
}

func TestKeysFor(t *testing.T) {
	dialog := ansi.Input{Kind: ansi.Dialog, Question: "Do you want to proceed?\n1. Yes\n2. No"}
	for key, want := range map[string]string{"enter": "\r", "esc": "\x1b", "2": "2", "ctrl-c": "\x03"} {
		if got, err := keysFor(key, dialog); got != want || err != nil {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	for _, key := range []string{"3", "", "rm -rf /", "\x03", "12"} {
		if got, err := keysFor(key, dialog); err == nil {
			t.Errorf("%q types %q", key, got)
		}
	}
	if _, err := keysFor("1", ansi.Input{Kind: ansi.Prompt}); err == nil {
		t.Error("a choice can be typed where there is none")
	}
}
