package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxDepth limits how deep the JSON of a handoff may nest.
const maxDepth = 64

// FromJSON parses a handoff from JSON. It ignores unknown keys, and null means that a field is
// missing. It checks the limits only if something else is wrong: then the error lists
// everything.
func FromJSON(data []byte) (Handoff, error) {
	if err := json.Unmarshal(data, &json.RawMessage{}); err != nil {
		return Handoff{}, fmt.Errorf("this is not JSON: %w", err)
	}
	value, err := DecodeStrict(data, maxDepth)
	if err != nil {
		return Handoff{}, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return Handoff{}, fmt.Errorf("a handoff is an object: %s does not fit", kindOf(value))
	}
	f := fields{object: object}
	h := f.toHandoff()
	if len(f.problems) == 0 {
		return h, nil
	}
	for _, p := range h.Check() {
		if !slices.Contains(f.wrong, p[:strings.IndexAny(p+" ", " [:")]) {
			f.problems = append(f.problems, p)
		}
	}
	return Handoff{}, errors.New(strings.Join(f.problems, "; "))
}

// fields are the fields of an object that should be a handoff, and what does not fit in them.
type fields struct {
	object   map[string]any
	problems []string
	wrong    []string // names of fields with something that does not fit
}

func (f *fields) toHandoff() Handoff {
	h := Handoff{From: f.textField("from_stage"), To: f.textField("to_stage"), Summary: f.textField("summary")}
	lists := h.listsByField()
	for _, b := range h.fieldBounds() {
		*lists[b.name] = f.listField(b.name)
	}
	h.Metadata = f.mappingField("metadata")
	return h
}

// refuseField records that the value of a field does not fit; where is the field, or a place in
// it.
func (f *fields) refuseField(name, where string, value any, want string) {
	f.wrong = append(f.wrong, name)
	f.problems = append(f.problems, fmt.Sprintf("%s: %s does not fit: give %s", where, kindOf(value), want))
}

func (f *fields) textField(name string) string {
	text, ok := f.object[name].(string)
	if value := f.object[name]; !ok && value != nil {
		f.refuseField(name, name, value, "a text")
	}
	return text
}

func (f *fields) listField(name string) []string {
	value := f.object[name]
	items, ok := value.([]any)
	switch {
	case value == nil:
		return nil
	case !ok:
		f.refuseField(name, name, value, "a list of texts")
		return nil
	}
	out := make([]string, len(items))
	for i, item := range items {
		if out[i], ok = item.(string); !ok {
			f.refuseField(name, fmt.Sprintf("%s[%d]", name, i), item, "a text")
		}
	}
	return out
}

// mappingField reads a mapping with any values.
func (f *fields) mappingField(name string) map[string]any {
	value := f.object[name]
	if _, ok := value.(map[string]any); !ok {
		if value != nil {
			f.refuseField(name, name, value, "an object")
		}
		return nil
	}
	var out map[string]any
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		f.wrong = append(f.wrong, name)
		f.problems = append(f.problems, name+" has a number that is too large: write it as a text")
	}
	return out
}

// kindOf returns the kind of a JSON value in words.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a JSON boolean"
	case string:
		return "a JSON string"
	case []any:
		return "a JSON array"
	case map[string]any:
		return "a JSON object"
	}
	return "a JSON number"
}
