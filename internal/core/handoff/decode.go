package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A TwiceError means that an object has a duplicate key.
type TwiceError struct{ Key string }

func (e *TwiceError) Error() string {
	return fmt.Sprintf("the key %.80q is there twice: keep one", e.Key)
}

// DecodeStrict decodes one JSON value that nests at most depth levels, and keeps numbers as
// they are written. A duplicate key, which other decoders accept, is a TwiceError.
func DecodeStrict(text []byte, depth int) (any, error) {
	d := decoder{json.NewDecoder(bytes.NewReader(text)), depth}
	d.UseNumber()
	value, err := d.decodeValue(0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the object")
	}
	return value, nil
}

type decoder struct {
	*json.Decoder
	deepest int
}

func (d decoder) decodeValue(depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if depth++; depth > d.deepest+1 {
		return nil, fmt.Errorf("it nests deeper than %d levels", d.deepest)
	}
	switch token {
	case json.Delim('{'):
		return d.decodeObject(depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := d.decodeValue(depth)
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

func (d decoder) decodeObject(depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("it is not JSON: %w", err)
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			return nil, &TwiceError{key}
		}
		if object[key], err = d.decodeValue(depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return object, err
}
