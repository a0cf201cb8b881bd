package cli

import (
	"strings"
	"testing"

	charm "github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"orange/internal/config"
)

func TestColumnsOfATableStandBelowEachOther(t *testing.T) {
	rows := [][]string{{"TASK", "NOTE", "SUMMARY"}, {"shop/日本語", "-", "買い物"}, {"shop/🍊👩‍🔧", "crashed", "Fruit"}, {"shop/e\u0301te\u0301", "-", "Summer"}}
	const want = `TASK         NOTE     SUMMARY
shop/日本語  -        買い物
shop/🍊👩‍🔧    crashed  Fruit
shop/été     -        Summer
`
	var out strings.Builder
	if err := printTable(&out, 0, rows); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(out.String(), "e\u0301", "é")); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	if err := printTable(&out, 27, append(rows, []string{"x", "y", strings.Repeat("語", 40)})); err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(out.String()) {
		if n := charm.StringWidth(strings.TrimSuffix(l, "\n")); n > 27 {
			t.Errorf("%q is %d wide", l, n)
		}
	}
}

func TestCut(t *testing.T) {
	tests := map[string]struct {
		text string
		n    int
		want string
	}{
		"it fits":              {"abcdef", 6, "abcdef"},
		"it is long":           {"abcdefg", 6, "abc..."},
		"a space at the place": {"ab cdefg", 6, "ab..."},
		"wide, it fits":        {"日本語", 6, "日本語"},
		"wide":                 {"日本語日", 7, "日本..."},
		"half a character":     {"日本語日", 6, "日..."},
		"marks without end":    {"a" + strings.Repeat("\u0301", 1000), 6, "a" + strings.Repeat("\u0301", 47) + "..."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := cutToWidth(tt.text, tt.n); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
		})
	}
}

func TestATestNotificationHasAConfiguredKind(t *testing.T) {
	for want, on := range map[string][]string{"review": nil, "stuck": {"stuck", "review"}} {
		if got := testKind(&config.Notify{On: on}); got != want {
			t.Errorf("of %v it is %s, not %s", on, got, want)
		}
	}
}
