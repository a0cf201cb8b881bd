package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// EditFile returns the text of a config.json with some keys set. Everything else stays as it is and where it is, also keys
// that this version does not know; new keys come last. An empty text is that of a file that does not exist.
func EditFile(text []byte, set map[string]any) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	keys, values, err := splitObject(text)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		value, err := json.Marshal(set[key])
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", key, err)
		}
		if _, known := values[key]; !known {
			keys = append(keys, key)
		}
		values[key] = value
	}
	var out bytes.Buffer
	out.WriteString("{")
	for i, key := range keys {
		if i > 0 {
			out.WriteString(",")
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", key, err)
		}
		fmt.Fprintf(&out, "\n  %s: %s", name, values[key])
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// splitObject returns the keys of a JSON object in their order, and the text of each value.
func splitObject(text []byte) (keys []string, values map[string]json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, errors.New("the file is not a JSON object: write {} or remove it")
	}
	values = map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("not JSON: %w", err)
		}
		key, _ := t.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, fmt.Errorf("not JSON: %w", err)
		}
		if _, twice := values[key]; twice {
			return nil, nil, fmt.Errorf("key %q is there twice", key)
		}
		keys, values[key] = append(keys, key), value
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("there is something after the object")
	}
	return keys, values, nil
}
