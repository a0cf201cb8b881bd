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
		{"no header", "# body", "Output missing metadata header"},
		{"empty", "", "Output missing metadata header"},
		{"not closed", "---\nagent: a\n", "Output missing metadata header: its second --- is not there"},
		{"one is missing", "---\nenhancement: e\ntask_id: t\n---\n", "Missing metadata field 'agent'"},
		{"one is empty", "---\nenhancement: e\nagent:\ntask_id: t\n---\n", "Missing metadata field 'agent'"},
	} {
		if got := taskfile.MissingFields(tt.text, fields); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	if got := taskfile.MissingFields(good, []string{"status"}); got != "Missing metadata field 'status'" {
		t.Errorf("a longer name, or a line of the body, counts: %q", got)
	}
	if taskfile.MissingFields("", nil) != "" {
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
