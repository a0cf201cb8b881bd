package journal

import (
	"fmt"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Frontmatter is the part of a record that TASK.md shows, in the order it is written.
func Frontmatter(t task.Task) []taskfile.Field {
	fields := []taskfile.Field{
		{Key: "id", Value: string(t.ID)},
		{Key: "project", Value: t.Project},
		{Key: "branch", Value: t.Branch},
		{Key: "harness", Value: t.Harness},
		{Key: "review_harness", Value: t.ReviewHarness},
		{Key: "effort", Value: nullable(t.Effort)},
		{Key: "review_effort", Value: nullable(t.ReviewEffort)},
		{Key: "status", Value: t.Status},
	}
	for _, c := range t.Counters {
		fields = append(fields, taskfile.Field{Key: c.Name, Value: c.Value})
	}
	return append(fields,
		taskfile.Field{Key: "summary", Value: t.Summary},
		taskfile.Field{Key: "workflow", Value: t.Workflow},
		taskfile.Field{Key: "workspace", Value: nullable(t.Workspace)},
		taskfile.Field{Key: "tmux_session", Value: nullable(t.Session)},
		taskfile.Field{Key: "created_at", Value: Timestamp(t.CreatedAt)},
		taskfile.Field{Key: "updated_at", Value: Timestamp(t.UpdatedAt)},
		taskfile.Field{Key: "pr_url", Value: omittable(t.PRURL)},
		taskfile.Field{Key: "pr_state", Value: omittable(t.PRState)},
	)
}

func omittable(s string) any {
	if s == "" {
		return taskfile.Omit
	}
	return s
}

// Tampered lists the keys of Orange that a document shows differently from the
// record: From is what Orange wrote, To is what is there now. Keys that Orange does
// not own are nobody's business here.
func Tampered(doc taskfile.Document, t task.Task) []signal.Field {
	var changed []signal.Field
	for _, f := range Frontmatter(t) {
		have, there := doc.Get(f.Key)
		wanted := f.Value != taskfile.Omit
		if there == wanted && (!there || text(have) == text(f.Value)) {
			continue
		}
		changed = append(changed, signal.Field{Name: f.Key, From: text(f.Value), To: text(have)})
	}
	return changed
}

// text is a value as it counts: null and an empty text are the same.
func text(v any) string {
	if v == nil || v == taskfile.Omit {
		return ""
	}
	return fmt.Sprint(v)
}
