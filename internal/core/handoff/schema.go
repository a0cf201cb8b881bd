package handoff

import "github.com/google/jsonschema-go/jsonschema"

// Schema returns the JSON Schema (draft 2020-12) of a handoff, with the limits that Check
// enforces. Sizes of JSON cannot be expressed in a schema: they are in the descriptions. As
// elsewhere, null means that a field is missing.
func Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "Orange handoff", Type: "object",
		Description: "What one stage of work tells the next; at most 3072 bytes.",
		Properties:  map[string]*jsonschema.Schema{},
		Required:    []string{"from_stage", "to_stage", "key_decisions"},
	}
	add := func(name string, value *jsonschema.Schema) {
		s.Properties[name] = value
		s.PropertyOrder = append(s.PropertyOrder, name)
	}
	add("from_stage", stageSchema("The stage that hands over."))
	add("to_stage", stageSchema("The stage that continues."))
	add("summary", &jsonschema.Schema{Types: []string{"string", "null"}, Description: "What was done, in one sentence."})
	for _, b := range (Handoff{}).fieldBounds() {
		add(b.name, b.listSchema())
	}
	s.Properties["key_decisions"].Type, s.Properties["key_decisions"].Types = "array", nil
	add("metadata", &jsonschema.Schema{Types: []string{"object", "null"}, Description: "Anything else; at most 1024 bytes."})
	return s
}

func stageSchema(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: stagePattern, MaxLength: jsonschema.Ptr(maxStageLength), Description: describe}
}

func (b fieldBound) listSchema() *jsonschema.Schema {
	item := &jsonschema.Schema{Type: "string"}
	if b.length > 0 {
		item.MaxLength = jsonschema.Ptr(b.length)
	}
	return &jsonschema.Schema{Types: []string{"array", "null"}, Items: item, MaxItems: jsonschema.Ptr(b.count), Description: b.describe}
}
