package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"strings"
)

// sampleText is the answer where the content does not matter, such as a title.
const sampleText = "Scripted session"

// schema is the part of a JSON schema that is needed to create a value.
type schema struct {
	Type       json.RawMessage   `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Minimum    json.Number       `json:"minimum"`
}

// parseSchema parses a schema. An invalid schema allows anything.
func parseSchema(text json.RawMessage) schema {
	var s schema
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&s); err != nil {
		return schema{}
	}
	return s
}

// valueType returns the type of a value, in lower case as in JSON Schema. Gemini writes it in
// capitals, and several types may be allowed.
func (s schema) valueType() string {
	var one string
	var several []string
	switch {
	case json.Unmarshal(s.Type, &one) == nil:
		return strings.ToLower(one)
	case json.Unmarshal(s.Type, &several) == nil && len(several) > 0:
		return strings.ToLower(several[0])
	case len(s.Properties) > 0:
		return "object"
	}
	return "string"
}

// sampleValue returns a value that fits the schema.
func (s schema) sampleValue() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.valueType() {
	case "object":
		value := map[string]any{}
		for _, name := range s.Required {
			value[name] = s.Properties[name].sampleValue()
		}
		return value
	case "array":
		return []any{}
	case "boolean":
		return false
	case "integer", "number":
		if s.Minimum != "" {
			return s.Minimum
		}
		return 0
	case "null":
		return nil
	}
	return sampleText
}

// compactJSON returns a value as JSON on one line, without HTML escapes.
func compactJSON(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "{}"
	}
	return strings.TrimSuffix(out.String(), "\n")
}
