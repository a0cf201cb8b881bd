package fakejoan

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// A tool is offered with a schema, and checks what it is called with.
type tool struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	InputSchema *jsonschema.Schema `json:"inputSchema"`
	resolved    *jsonschema.Resolved
}

// offered are the tools of the fake: Joan's own, or those that it knows.
func (f *Fake) offered() ([]*tool, error) {
	var out []*tool
	if len(f.o.Tools) > 0 {
		if err := json.Unmarshal(f.o.Tools, &out); err != nil {
			return nil, fmt.Errorf("read Joan's tools: %w", err)
		}
	} else {
		out = own()
	}
	for _, t := range out {
		r, err := t.InputSchema.Resolve(nil)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		t.resolved = r
	}
	return out, nil
}

// own are the tools that are used here, with the arguments that are.
func own() []*tool {
	id := &jsonschema.Schema{Type: "string", Format: "uuid"}
	word := &jsonschema.Schema{Type: "string"}
	one, most, hundred := 1, 10000, 100.0
	schemas := map[string]map[string]*jsonschema.Schema{
		"list_tasks":           {"project_id": id, "status": word, "limit": {Type: "integer", Minimum: jsonschema.Ptr(1.0), Maximum: &hundred}},
		"get_task":             {"task_id": id},
		"get_project":          {"project_id": id},
		"list_columns":         {"project_id": id},
		"list_project_tags":    {"project_id": id},
		"list_task_comments":   {"task_id": id},
		"update_task":          {"task_id": id, "title": {Type: "string", MinLength: &one}, "description": word, "column_id": id},
		"add_tag_to_task":      {"project_id": id, "task_id": id, "tag_id": id},
		"remove_tag_from_task": {"project_id": id, "task_id": id, "tag_id": id},
		"create_task_comment":  {"task_id": id, "content": {Type: "string", MinLength: &one, MaxLength: &most}},
	}
	optional := map[string]bool{"status": true, "limit": true, "title": true, "description": true, "column_id": true}
	var out []*tool
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
		for arg, kind := range schemas[name] {
			s.Properties[arg] = kind.CloneSchemas()
			if !optional[arg] {
				s.Required = append(s.Required, arg)
			}
		}
		slices.Sort(s.Required)
		out = append(out, &tool{Name: name, Description: name, InputSchema: s})
	}
	return out
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// check says what is wrong with a call's arguments.
func (t *tool) check(a args) error {
	if err := t.resolved.Validate(map[string]any(a)); err != nil {
		return err
	}
	for name, s := range t.InputSchema.Properties {
		if v, ok := a[name].(string); ok && s.Format == "uuid" && !uuid.MatchString(v) {
			return fmt.Errorf("%s is no UUID: %.60q", name, v)
		}
	}
	return nil
}
