package signal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeStrict reads one JSON value, numbers as they are written. A key that is there
// twice is an error, which other decoders do not see.
func decodeStrict(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	value, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the object")
	}
	return value, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if depth++; depth > maxResultDepth+1 {
		return nil, fmt.Errorf("it nests deeper than %d levels", maxResultDepth)
	}
	switch token {
	case json.Delim('{'):
		return decodeObject(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := decodeValue(d, depth)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("it is not JSON: %w", err)
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("the key %s is there twice", plain(key))
		}
		if object[key], err = decodeValue(d, depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return object, err
}

// withoutNulls leaves out the keys whose value is null, which mean the same as no key.
func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, x := range v {
			if x == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutNulls(x)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return value
}
