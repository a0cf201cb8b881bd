package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// ourHook is the name that identifies Orange's hooks in a file with other hooks.
const ourHook = "orange"

// object is a JSON object that keeps the order of its keys. Values are *object, []any and, for
// everything else, json.RawMessage, so that numbers keep their notation.
type object struct {
	keys   []string
	values map[string]any
}

// mergeJSON adds ours to theirs; both are JSON objects. Values in theirs always stay. Lists
// below the key hooks, and lists whose keys are in lists, get the items that they lack. If
// nothing is missing, mergeJSON returns theirs unchanged.
func mergeJSON(theirs, ours []byte, lists ...string) ([]byte, error) {
	base, err := parseObject(theirs)
	if err != nil {
		return nil, err
	}
	more, err := parseObject(ours)
	if err != nil {
		return nil, err
	}
	if !base.mergeMissing(more, append([]string{"hooks"}, lists...)) {
		return theirs, nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, encodeJSON(base), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// mergeMissing copies what o lacks from more, and reports whether anything was missing. Lists
// grow if their key is in lists, or below such a key.
func (o *object) mergeMissing(more *object, lists []string) (changed bool) {
	for _, key := range more.keys {
		theirs, have := o.values[key]
		if !have {
			o.setValue(key, more.values[key])
			changed = true
			continue
		}
		grows := lists == nil || slices.Contains(lists, key)
		switch ours := more.values[key].(type) {
		case *object:
			if into, ok := theirs.(*object); ok {
				below := []string{""} // no list
				if grows {
					below = nil // every list
				}
				changed = into.mergeMissing(ours, below) || changed
			}
		case []any:
			if into, ok := theirs.([]any); ok && grows {
				grown, more := growList(into, ours)
				o.values[key] = grown
				changed = changed || more
			}
		}
	}
	return changed
}

// growList appends the items that a list lacks. It replaces an existing hook of Orange, because
// the program may have moved.
func growList(list, more []any) (grown []any, changed bool) {
	for _, item := range more {
		same := func(other any) bool { return bytes.Equal(encodeJSON(other), encodeJSON(item)) }
		if slices.ContainsFunc(list, same) {
			continue
		}
		changed = true
		if i := slices.IndexFunc(list, isOurs); i >= 0 && len(more) == 1 && isOurs(item) {
			list[i] = item
			continue
		}
		list = append(list, item)
	}
	return list, changed
}

// isOurs reports whether a group of hooks contains only one of Orange's hooks.
func isOurs(item any) bool {
	group, ok := item.(*object)
	if !ok {
		return false
	}
	hooks, ok := group.values["hooks"].([]any)
	if !ok || len(hooks) != 1 {
		return false
	}
	hook, ok := hooks[0].(*object)
	if !ok {
		return false
	}
	name, ok := hook.values["name"].(json.RawMessage)
	return ok && string(name) == `"`+ourHook+`"`
}

func (o *object) setValue(key string, value any) {
	if _, have := o.values[key]; !have {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

// maxNesting limits how deep settings nest.
const maxNesting = 100

func parseObject(text []byte) (*object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	value, err := parseValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	o, ok := value.(*object)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	return o, nil
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxNesting {
		return nil, errors.New("it nests too deep")
	}
	switch t {
	case json.Delim('{'):
		return parseMembers(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return encodeScalar(t)
}

func parseMembers(d *json.Decoder, depth int) (any, error) {
	o := &object{values: map[string]any{}}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		o.setValue(key.(string), v) // a decoder accepts only strings as keys
	}
	_, err := d.Token()
	return o, err
}

func encodeScalar(t json.Token) (any, error) {
	if n, ok := t.(json.Number); ok {
		return json.RawMessage(n), nil
	}
	return encodeJSON(t), nil
}

// encodeJSON encodes a value without a line ending.
func encodeJSON(v any) json.RawMessage {
	var out bytes.Buffer
	writeJSON(&out, v)
	return out.Bytes()
}

func writeJSON(out *bytes.Buffer, v any) {
	switch v := v.(type) {
	case *object:
		out.WriteByte('{')
		for i, key := range v.keys {
			if i > 0 {
				out.WriteByte(',')
			}
			writeJSON(out, key)
			out.WriteByte(':')
			writeJSON(out, v.values[key])
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			writeJSON(out, item)
		}
		out.WriteByte(']')
	case json.RawMessage:
		out.Write(v)
	default: // a string, a bool or nil, which always encode
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		out.Truncate(out.Len() - 1)
	}
}
