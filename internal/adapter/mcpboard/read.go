package mcpboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A record is one item of an answer.
type record struct {
	fields map[string][]string
	lists  map[string][]record
	forged map[string]bool // lists in which someone imitated what only the board writes
}

func (r record) firstValue(names ...string) string {
	for _, name := range names {
		if v := r.fields[name]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

// errForged means that an answer in plain text has more items than its count: someone's text in
// it looks like an item.
var errForged = errors.New("the answer has more items than it says")

// maxItems limits the items of one answer.
const maxItems = 10000

// An answer is the result of a tool.
type answer struct {
	text       string
	structured any
}

// readAnswer returns the records of an answer: for a reading without items, one record. With
// errForged it also returns the records, but which of them are genuine is unknown.
func (r *Reading) readAnswer(a answer) ([]record, error) {
	switch r.As {
	case "structured":
		if a.structured == nil {
			return nil, errors.New("it has no structured content")
		}
		return r.readJSON(a.structured)
	case "json":
		v, err := decodeJSON(a.text)
		if err != nil {
			return nil, err
		}
		return r.readJSON(v)
	}
	return r.readText(a.text, nil)
}

func decodeJSON(text string) (any, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("it is not JSON")
	}
	return v, nil
}

func (r *Reading) readJSON(v any) ([]record, error) {
	things := []any{v}
	if r.Items != "" {
		things = followPath(v, r.Items)
		if len(things) == 1 {
			if list, ok := things[0].([]any); ok {
				things = list
			}
		}
	}
	if len(things) > maxItems {
		return nil, fmt.Errorf("it has more than %d items", maxItems)
	}
	var out []record
	for _, thing := range things {
		if _, ok := thing.(map[string]any); !ok && r.Items == "" {
			return nil, errors.New("it is not a JSON object")
		}
		rec := record{fields: map[string][]string{}, lists: map[string][]record{}}
		for name, f := range r.Fields {
			rec.fields[name] = f.fieldValues(thing)
		}
		for name, l := range r.Lists {
			items, err := l.readJSON(thing)
			if err != nil {
				return nil, err
			}
			rec.lists[name] = items
		}
		out = append(out, rec)
	}
	return out, nil
}

func (f FieldRule) fieldValues(v any) []string {
	for place := range strings.SplitSeq(f.Path, "|") {
		var out []string
		for _, x := range followPath(v, strings.TrimSpace(place)) {
			if text, ok := scalarText(x); ok {
				out = append(out, text)
			}
		}
		if len(out) > 0 {
			return f.splitValues(out)
		}
	}
	return nil
}

// splitValues splits texts that contain several values, and drops those that mean no value.
func (f FieldRule) splitValues(values []string) []string {
	var out []string
	for _, v := range values {
		parts := []string{v}
		if f.Split != "" {
			parts = strings.Split(v, f.Split)
		}
		for _, p := range parts {
			if f.None == "" || p != f.None {
				out = append(out, p)
			}
		}
	}
	return out
}

func scalarText(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case json.Number:
		return x.String(), true
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(x), true
	}
	return "", false
}

// followPath follows a path through JSON. A missing value gives nothing.
func followPath(v any, path string) []any {
	at := []any{v}
	if path == "" || path == "." {
		return at
	}
	for step := range strings.SplitSeq(path, ".") {
		var next []any
		for _, x := range at {
			switch y := x.(type) {
			case map[string]any:
				if z, ok := y[step]; ok && z != nil {
					next = append(next, z)
				}
			case []any:
				if step == "*" {
					next = append(next, y...)
				}
			}
		}
		at = next
	}
	return at
}

// readText parses plain text. parts are the parts of the enclosing answer.
func (r *Reading) readText(text string, parts map[string]string) ([]record, error) {
	if r.Parts != nil {
		m := r.Parts.FindStringSubmatch(text)
		if m == nil {
			return nil, errors.New("it does not match the mapping")
		}
		parts = namedGroups(r.Parts, m)
	}
	if r.In != "" {
		text = parts[r.In]
	}
	if r.Item == nil {
		return r.readOne(text, parts)
	}
	return r.readItems(text)
}

func (r *Reading) readOne(text string, parts map[string]string) ([]record, error) {
	rec := record{fields: map[string][]string{}, lists: map[string][]record{}, forged: map[string]bool{}}
	for name, f := range r.Fields {
		in := text
		if f.In != "" {
			in = parts[f.In]
		}
		if m := f.Pattern.FindStringSubmatch(in); m != nil {
			rec.fields[name] = f.splitValues(m[1:2])
		}
	}
	for name, l := range r.Lists {
		items, err := l.readText(text, parts)
		if err != nil && !errors.Is(err, errForged) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		rec.lists[name], rec.forged[name] = items, err != nil
	}
	return []record{rec}, nil
}

func (r *Reading) readItems(text string) ([]record, error) {
	if r.None.matches(text) {
		return nil, nil
	}
	textIndex := -1
	if r.Count != nil {
		m := r.Count.FindStringSubmatch(text)
		if m == nil {
			return nil, errors.New("it does not contain the number of items")
		}
		var err error
		if textIndex, err = strconv.Atoi(m[1]); err != nil {
			return nil, errors.New("it does not contain the number of items")
		}
	}
	at := r.Item.FindAllStringSubmatchIndex(text, maxItems+1)
	if len(at) > maxItems {
		return nil, fmt.Errorf("it has more than %d items", maxItems)
	}
	if textIndex > len(at) {
		return nil, fmt.Errorf("it states %d items, and %d can be parsed", textIndex, len(at))
	}
	var out []record
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		rec := record{fields: map[string][]string{}}
		setGroupFields(rec, r.Item, submatchTexts(text, m))
		if r.Body != nil {
			setGroupFields(rec, r.Body, r.Body.FindStringSubmatch(text[m[1]:end]))
		}
		out = append(out, rec)
	}
	if textIndex >= 0 && len(at) > textIndex {
		return out, errForged
	}
	return out, nil
}

func submatchTexts(text string, at []int) []string {
	var out []string
	for pair := range slices.Chunk(at, 2) {
		if pair[0] < 0 {
			out = append(out, "")
			continue
		}
		out = append(out, text[pair[0]:pair[1]])
	}
	return out
}

func setGroupFields(rec record, p *Pattern, m []string) {
	for name, v := range namedGroups(p, m) {
		rec.fields[name] = []string{v}
	}
}

func namedGroups(p *Pattern, m []string) map[string]string {
	out := map[string]string{}
	for i, name := range p.SubexpNames() {
		if name != "" && i < len(m) {
			out[name] = m[i]
		}
	}
	return out
}
