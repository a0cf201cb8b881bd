package fakejoan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// args are the checked arguments of a tool.
type args map[string]any

func (a args) textArg(name string) string {
	s, _ := a[name].(string)
	return s
}

// A toolUse is the implementation of a tool, which returns the answer in Joan's words.
type toolUse struct {
	write bool
	do    func(f *Fake, a args) string
}

// toolUses returns the implemented tools.
func toolUses() map[string]toolUse {
	return map[string]toolUse{
		"list_tasks":           {do: (*Fake).listTasks},
		"get_task":             {do: (*Fake).getTask},
		"get_project":          {do: (*Fake).getProject},
		"list_columns":         {do: (*Fake).listColumns},
		"list_project_tags":    {do: (*Fake).listTags},
		"list_task_comments":   {do: (*Fake).listComments},
		"update_task":          {write: true, do: (*Fake).updateTask},
		"add_tag_to_task":      {write: true, do: (*Fake).addTag},
		"remove_tag_from_task": {write: true, do: (*Fake).removeTag},
		"create_task_comment":  {write: true, do: (*Fake).createComment},
	}
}

func notFound(what string) string { return "Resource not found: " + what + " not found" }

func (f *Fake) listTasks(a args) string {
	limit := 50
	if n, ok := a["limit"].(float64); ok {
		limit = int(n)
	}
	var lines []string
	for i, x := range slices.Backward(f.tasks) { // the newest first
		if s := a.textArg("status"); s != "" && s != x.column.status || len(lines) == limit {
			continue
		}
		line := fmt.Sprintf("- #%d %s (ID: %s) [%s]", i+1, x.title, x.id, x.column.status)
		if x.priority > 0 {
			line += " (" + []string{"", "low", "medium", "high"}[x.priority] + ")"
		}
		lines = append(lines, line)
	}
	if of := a.textArg("project_id"); of != "" && of != f.project || len(lines) == 0 {
		return fmt.Sprintf("No tasks found for project %s.", of)
	}
	return fmt.Sprintf("Found %d task(s):\n\n%s", len(lines), strings.Join(lines, "\n"))
}

func (f *Fake) getTask(a args) string {
	x := f.findTask(a.textArg("task_id"))
	if x == nil {
		return notFound("Task")
	}
	tags := []map[string]any{}
	for _, g := range x.tags {
		tags = append(tags, map[string]any{"id": g.id, "name": g.name, "color": "#6B7280", "project_id": f.project})
	}
	return indentJSON(map[string]any{
		"id": x.id, "title": x.title, "description": x.description, "status": backendStatus(x.column.status), "priority": x.priority, "project_id": f.project,
		"column_id": x.column.id, "tags": tags, "creator_name": x.author, "subtasks": []any{}, "due_date": nil, "milestone_id": nil,
		"created_at": x.created.Format(time.RFC3339Nano), "updated_at": x.updated.Format(time.RFC3339Nano),
	})
}

// backendStatus returns the name in Joan's API for a status that its tools name differently.
func backendStatus(status string) string {
	switch status {
	case "todo":
		return "pending"
	case "done":
		return "completed"
	}
	return status
}

func indentJSON(v any) string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "Error: " + err.Error()
	}
	return string(text)
}

func (f *Fake) getProject(a args) string {
	if a.textArg("project_id") != f.project {
		return notFound("Project")
	}
	return indentJSON(map[string]any{"id": f.project, "name": "Shop", "status": "active", "stats": map[string]any{"total_tasks": len(f.tasks)}})
}

func (f *Fake) listColumns(a args) string {
	if a.textArg("project_id") != f.project {
		return notFound("Project")
	}
	var lines []string
	for i, c := range f.columns {
		line := fmt.Sprintf("- %s (ID: %s)", c.name, c.id)
		if i == 0 {
			line += " [default]"
		}
		lines = append(lines, line)
	}
	return fmt.Sprintf("Found %d column(s):\n\n%s", len(lines), strings.Join(lines, "\n"))
}

func (f *Fake) listTags(a args) string {
	if a.textArg("project_id") != f.project {
		return notFound("Project")
	}
	if len(f.tags) == 0 {
		return fmt.Sprintf("No tags found for project %s. Use create_project_tag to add tags.", f.project)
	}
	var lines []string
	for _, g := range f.tags {
		lines = append(lines, fmt.Sprintf("- %s (ID: %s) [#6B7280]", g.name, g.id))
	}
	return fmt.Sprintf("Found %d tag(s) for project %s:\n\n%s", len(lines), f.project, strings.Join(lines, "\n"))
}

func (f *Fake) listComments(a args) string {
	x := f.findTask(a.textArg("task_id"))
	if x == nil {
		return notFound("Task")
	}
	if len(x.comments) == 0 {
		return fmt.Sprintf("No comments found for task %s.", x.id)
	}
	var list []string
	for _, c := range x.comments {
		list = append(list, fmt.Sprintf("- [%s] **%s** (%s):\n  \"%s\"", c.id, c.author, c.at.Format("1/2/2006, 3:04:05 PM"), c.text))
	}
	return fmt.Sprintf("Found %d comment(s):\n\n%s", len(list), strings.Join(list, "\n\n"))
}

func (f *Fake) updateTask(a args) string {
	x := f.findTask(a.textArg("task_id"))
	if x == nil {
		return notFound("Task")
	}
	if id, ok := a["column_id"].(string); ok {
		i := slices.IndexFunc(f.columns, func(c *boardColumn) bool { return c.id == id })
		if i < 0 {
			return "Validation error: Column does not belong to the project"
		}
		x.column = f.columns[i]
	}
	if title := a.textArg("title"); title != "" {
		x.title = title
	}
	if text, ok := a["description"].(string); ok {
		x.description = text
	}
	x.updated = f.nextTime()
	return fmt.Sprintf("Updated task %q (ID: %s)", x.title, x.id)
}

// taskAndTag returns the task and the tag of a call.
func (f *Fake) taskAndTag(a args) (*task, *tag, string) {
	x := f.findTask(a.textArg("task_id"))
	if x == nil || a.textArg("project_id") != f.project {
		return nil, nil, notFound("Task")
	}
	for _, g := range f.tags {
		if g.id == a.textArg("tag_id") {
			return x, g, ""
		}
	}
	return nil, nil, notFound("Tag")
}

func (f *Fake) addTag(a args) string {
	x, g, no := f.taskAndTag(a)
	if no != "" {
		return no
	}
	if slices.Contains(x.tags, g) {
		return "API Error (409): Tag is already assigned to this task"
	}
	x.tags = append(x.tags, g)
	x.updated = f.nextTime()
	return fmt.Sprintf("Added tag %s to task %s", g.id, x.id)
}

func (f *Fake) removeTag(a args) string {
	x, g, no := f.taskAndTag(a)
	if no != "" {
		return no
	}
	if !slices.Contains(x.tags, g) {
		return notFound("Tag assignment")
	}
	x.tags = slices.DeleteFunc(x.tags, func(o *tag) bool { return o == g })
	x.updated = f.nextTime()
	return fmt.Sprintf("Removed tag %s from task %s", g.id, x.id)
}

func (f *Fake) createComment(a args) string {
	x := f.findTask(a.textArg("task_id"))
	if x == nil {
		return notFound("Task")
	}
	c := comment{id: f.newID("comment"), author: account, text: a.textArg("content"), at: f.nextTime()}
	x.comments = append(x.comments, c)
	x.updated = c.at
	return fmt.Sprintf("Comment added to task %s.\nComment ID: %s", x.id, c.id)
}
