package taskfile_test

import (
	"testing"

	"orange/internal/core/taskfile"
)

func TestFieldsOfAFrontmatter(t *testing.T) {
	const good = "---\nenhancement: e\nagent: a\ntask_id: \"t1\"\nsubstatus: no\n---\n# body\nstatus: later\n"
	fields := []string{"enhancement", "agent", "task_id"}
	for _, tt := range []struct{ name, text, want string }{
		{"all there", good, ""},
		{"with carriage returns", "---\r\nenhancement: e\r\nagent: a\r\ntask_id: t\r\n---\r\n", ""},
		{"no header", "# body", "Output missing metadata header: o.md"},
		{"empty", "", "Output missing metadata header: o.md"},
		{"not closed", "---\nagent: a\n", "Output missing metadata header: o.md: its second --- is not there"},
		{"one is missing", "---\nenhancement: e\ntask_id: t\n---\n", "Missing metadata field 'agent' in: o.md"},
		{"one is empty", "---\nenhancement: e\nagent:\ntask_id: t\n---\n", "Missing metadata field 'agent' in: o.md"},
	} {
		if got := taskfile.MissingFields("o.md", tt.text, fields); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	if got := taskfile.MissingFields("o.md", good, []string{"status"}); got != "Missing metadata field 'status' in: o.md" {
		t.Errorf("a longer name, or a line of the body, counts: %q", got)
	}
	if taskfile.MissingFields("o.md", "", nil) != "" {
		t.Error("nothing is asked for, and something is missing")
	}
	if got := taskfile.FieldOf(good, "task_id"); got != "t1" {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"", "# body", "---\n---\ntask_id: t\n"} {
		if got := taskfile.FieldOf(text, "task_id"); got != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}
