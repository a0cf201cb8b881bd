package wire_test

import (
	"testing"

	"orange/internal/wire"
)

func TestFillPath(t *testing.T) {
	tests := []struct {
		pattern string
		values  []string
		want    string
	}{
		{wire.PathTasks, nil, "/tasks"},
		{wire.PathTask, []string{"abc"}, "/tasks/abc"},
		{wire.PathTaskScreenEvents, []string{"abc"}, "/tasks/abc/screen/events"},
		{wire.PathWorkflow, []string{"a/b"}, "/workflows/a%2Fb"},
		{wire.PathCard, []string{"a b{", "3"}, "/boards/a%20b%7B/cards/3"},
		{wire.PathCardHistory, []string{"..", "3"}, "/boards/../cards/3/history"},
	}
	for _, tt := range tests {
		if got := wire.FillPath(tt.pattern, tt.values...); got != tt.want {
			t.Errorf("FillPath(%q, %q) = %q, want %q", tt.pattern, tt.values, got, tt.want)
		}
	}
}
