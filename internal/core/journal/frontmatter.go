package journal

import (
	"fmt"
	"slices"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Frontmatter returns the part of a record that TASK.md shows, in writing order. It leaves out a counter with the name
// of a field of the record.
func Frontmatter(t task.Task) []taskfile.Field {
	fields := []taskfile.Field{
		{Key: "id", Value: string(t.ID)},
		{Key: "project", Value: t.Project},
		{Key: "branch", Value: t.Branch},
		{Key: "harness", Value: t.Harness},
		{Key: "review_harness", Value: t.ReviewHarness},
		{Key: "effort", Value: textOrNil(t.Effort)},
		{Key: "review_effort", Value: textOrNil(t.ReviewEffort)},
		{Key: "status", Value: t.Status},
		{Key: "summary", Value: t.Summary},
		{Key: "workflow", Value: t.Workflow},
		{Key: "workspace", Value: textOrNil(t.Workspace)},
		{Key: "tmux_session", Value: textOrNil(t.TmuxSession)},
		{Key: "created_at", Value: Timestamp(t.CreatedAt)},
		{Key: "updated_at", Value: Timestamp(t.UpdatedAt)},
		{Key: "pr_url", Value: textOrOmit(t.PRURL)},
		{Key: "pr_state", Value: textOrOmit(t.PRState)},
	}
	at := fieldIndex(fields, "summary")
	for _, c := range t.Counters {
		if fieldIndex(fields, c.Name) < 0 {
			fields = slices.Insert(fields, at, taskfile.Field{Key: c.Name, Value: c.Value})
			at++
		}
	}
	return fields
}

func fieldIndex(fields []taskfile.Field, key string) int {
	return slices.IndexFunc(fields, func(f taskfile.Field) bool { return f.Key == key })
}

func textOrOmit(s string) any {
	if s == "" {
		return taskfile.Omit
	}
	return s
}

// TamperedFields lists the keys of Orange whose value in a document differs from the record: From is what Orange wrote,
// To is the present value. It ignores keys that Orange does not own.
func TamperedFields(doc taskfile.Document, t task.Task) []signal.Field {
	var changed []signal.Field
	for _, f := range Frontmatter(t) {
		have, there := doc.Get(f.Key)
		wanted := f.Value != taskfile.Omit
		if there == wanted && (!there || valueText(have) == valueText(f.Value)) {
			continue
		}
		changed = append(changed, signal.Field{Name: f.Key, From: valueText(f.Value), To: valueText(have)})
	}
	return changed
}

// valueText returns a value for comparison: null and an empty text are equal.
func valueText(v any) string {
	if v == nil || v == taskfile.Omit {
		return ""
	}
	return fmt.Sprint(v)
}
