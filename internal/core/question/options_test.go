package question

import (
	"slices"
	"testing"
)

func TestListOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		message string
		want    []string
	}{
		"a list below a question": {"Which colour?\n\n- blue, as on the start page\n- **green**\n", []string{"blue, as on the start page", "green"}},
		"numbers, and a remark":   {"Where should it go?\n\n1. into `form.go`\n2. into a new file\n\nI would take the first.", []string{"into form.go", "into a new file"}},
		"the last list":           {"Done:\n\n- a\n- b\n\nWhich next?\n\n- c\n- d\n", []string{"c", "d"}},
		"one point":               {"Go on?\n\n- yes\n", nil},
		"questions":               {"- Which colour?\n- Which size?\n", nil},
		"points with parts":       {"Which?\n\n- a\n\n  more about it\n- b\n", nil},
		"the same twice":          {"Which?\n\n- a\n- a\n", nil},
		"too many":                {"Which?\n\n- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n- 7\n- 8\n- 9\n- 10\n", nil},
		"no list":                 {"Blue or green?", nil},
		"nothing":                 {"", nil},
	} {
		if got := ListOptions(tt.message); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
