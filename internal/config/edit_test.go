package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/config"
)

func TestEditFileChangesOnlyWhatIsSet(t *testing.T) {
	tests := []struct {
		name string
		text string
		set  map[string]any
		want string
	}{
		{"no file", "", map[string]any{"harness": "codex"}, "{\n  \"harness\": \"codex\"\n}\n"},
		{"empty file", " \n", map[string]any{"harness": "codex"}, "{\n  \"harness\": \"codex\"\n}\n"},
		{"unknown keys and their order stay", `{"later": {"x":  [1, 2]}, "harness": "claude", "web": "127.0.0.1:1"}`, map[string]any{"harness": "codex", "a": true},
			"{\n  \"later\": {\"x\":  [1, 2]},\n  \"harness\": \"codex\",\n  \"web\": \"127.0.0.1:1\",\n  \"a\": true\n}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.EditFile([]byte(tt.text), tt.set)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, text := range []string{"[]", "{", `{"a": 1} 2`, `{"a": 1, "a": 2}`, `{"a" 1}`} {
		if got, err := config.EditFile([]byte(text), map[string]any{"harness": "codex"}); err == nil {
			t.Errorf("EditFile(%q) = %q, want an error", text, got)
		}
	}
}
