package host

import (
	"strings"
	"testing"
)

func TestTyped(t *testing.T) {
	for name, tc := range map[string]struct{ in, want, wrong string }{
		"text":               {"yes, go on", "yes, go on", ""},
		"lines":              {"one\r\ntwo\n\n", "one\ntwo", ""},
		"a tab":              {"a\tb", "a\tb", ""},
		"Enter alone":        {"\n", "", ""},
		"other scripts":      {"für 日本 🍊", "für 日本 🍊", ""},
		"an escape sequence": {"\x1b[A", "", "control character"},
		"the end of a paste": {"x\x1b[201~", "", "control character"},
		"one of one byte":    {"x\u009b", "", "control character"},
		"a lone return":      {"rm\rx", "", "control character"},
		"no text":            {"\xff", "", "UTF-8"},
		"too much":           {strings.Repeat("x", maxTyped+1), "", "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := CleanTypedText(tc.in)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want one line with %q", err, tc.wrong)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
