package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A Template is one step workflow of a file that has several.
type Template struct {
	ID   string
	Text string // as a separate file, for Parse

	place string // the same workflow, at its position in the whole file
}

// HasTemplates reports whether a text is a file of several step workflows.
func HasTemplates(text string) bool {
	several := false
	for _, m := range objectMembers(text, 0) {
		if m.key == "steps" {
			return false
		}
		several = several || m.key == "workflows"
	}
	return several && json.Valid([]byte(text))
}

// SplitTemplates splits a file of step workflows, {"workflows": {"ID": {"steps": ...}}}, in
// file order. It does not check them.
func SplitTemplates(file, text string) ([]Template, error) {
	r := &reader{file: file}
	if _, ok := r.openRoot(text); ok && !json.Valid([]byte(text)) {
		if r.json {
			r.failJSON(text)
		}
		r.failAt(beginning, "the file is not JSON, and only JSON is split: write it as JSON, or each workflow in a file of its own")
	}
	if r.err != nil {
		return nil, r.err
	}
	var out []Template
	for _, m := range objectMembers(text, 0) {
		if m.key != "workflows" {
			continue // version, description and the like do not belong to a workflow
		}
		for _, w := range objectMembers(m.raw, m.from) {
			out = append(out, newTemplate(r, text, w))
		}
	}
	if len(out) == 0 {
		r.failAt(beginning, "the file has no workflows: expected {\"workflows\": {\"ID\": {\"steps\": [...]}}}")
	}
	if r.err != nil {
		return nil, r.err
	}
	return out, nil
}

func newTemplate(r *reader, text string, m member) Template {
	named, err := WithID(m.raw, m.key)
	if err != nil {
		r.failAt(placeOf(text, m.from), "workflow %s: %s", m.key, err)
	}
	return Template{ID: m.key, Text: named, place: blankLines(text[:m.from]) + m.raw}
}

// A member is a key of a JSON object with its value as it is written.
type member struct {
	key  string
	raw  string
	from int // where the value begins in the file, in bytes
}

// objectMembers returns the members of an object that begins at offset from of its file, or
// none if the text is something else.
func objectMembers(object string, from int) []member {
	dec := json.NewDecoder(strings.NewReader(object))
	var out []member
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var raw json.RawMessage
		if err != nil || !ok || dec.Decode(&raw) != nil {
			return out
		}
		out = append(out, member{key: name, raw: string(raw), from: from + int(dec.InputOffset()) - len(raw)})
	}
	return out
}

// blankLines keeps the line breaks of a text and nothing else.
func blankLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// Parse parses the template. Errors have their position in the whole file.
func (t Template) Parse(file string) (*Definition, error) {
	d, err := Parse(file+"#"+t.ID, t.Text)
	if err == nil {
		return d, nil
	}
	if _, there := Parse(file, t.place); there != nil {
		return nil, there
	}
	return nil, err
}

// WithID replaces the id of a step workflow in JSON, and with it the name.
func WithID(text, id string) (string, error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") || !json.Valid([]byte(text)) {
		return "", errors.New("a step workflow is a JSON object: write {\"steps\": [...]}")
	}
	var b, out bytes.Buffer
	b.WriteString(`{"id": ` + quoteJSON(id))
	for _, m := range objectMembers(text, 0) {
		if m.key != "id" {
			b.WriteString(", " + quoteJSON(m.key) + ": " + m.raw)
		}
	}
	b.WriteString("}")
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return "", err
	}
	return out.String() + "\n", nil
}

func quoteJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}

// refuseTemplates reports that a file has several workflows, and how to choose one.
func refuseTemplates(root value) {
	for _, p := range root.readPairs("the file") {
		if p.key != "workflows" {
			continue
		}
		var ids []string
		if _, ok := p.val.node.(ast.MapNode); ok {
			ids = p.val.mappingKeys()
		}
		file := root.r.file
		root.r.failAt(p.pos, "the file has %d workflows (%s), not one: import them with orange workflow import %s, or name one as %s#ID",
			len(ids), strings.Join(ids, ", "), file, file)
	}
}

// textDepth returns how deep a text nests. For JSON it is exact.
func textDepth(text string) int {
	if !json.Valid([]byte(text)) {
		return nestingDepth(text)
	}
	deepest, now, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\' && inString:
			i++
		case inString:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
