package workflow

import "github.com/google/jsonschema-go/jsonschema"

// key is one key of a mapping in a schema.
type key struct {
	name  string
	value *jsonschema.Schema
}

// mappingSchema describes a mapping with these keys and no others.
func mappingSchema(describe string, keys ...key) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Description: describe,
		Properties:           make(map[string]*jsonschema.Schema, len(keys)),
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, k := range keys {
		s.Properties[k.name] = k.value
		s.PropertyOrder = append(s.PropertyOrder, k.name)
	}
	return s
}

// namedSchema describes a mapping from declared names to values of one kind.
func namedSchema(describe string, value *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Description: describe,
		PropertyNames: &jsonschema.Schema{Pattern: namePattern}, AdditionalProperties: value,
	}
}

// listOf describes a list; a single value counts as a list of one.
func listOf(item *jsonschema.Schema, describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Description: describe, AnyOf: []*jsonschema.Schema{item, {Type: "array", Items: item.CloneSchemas()}}}
}

// textSchema describes a scalar. YAML reads some words as numbers and booleans; they are taken
// as they are written.
func textSchema(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"string", "number", "boolean"}, Description: describe}
}

func nameOf(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: namePattern, Description: describe}
}

func durationSchema(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: timePattern, Description: describe}
}

// wordsSchema describes a word of a fixed list.
func wordsSchema(describe string, list ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: describe}
	for _, w := range list {
		s.Enum = append(s.Enum, w)
	}
	return s
}
