package als

import (
	"bytes"
	"encoding/json"
	"slices"
)

// MarshalJSON returns an object: the known keys, with empty values for those that are missing,
// then the others in their order.
func (c Comment) MarshalJSON() ([]byte, error) {
	empty := map[string]Kind{TagsAdd: List, TagsRemove: List, Details: List, Links: Map}
	var fields []Field
	for _, key := range knownKeys {
		f, ok := c.FieldOf(key)
		if !ok {
			f = Field{Key: key, Kind: empty[key]}
		}
		fields = append(fields, f)
	}
	for _, f := range c.Fields {
		if !slices.Contains(knownKeys[:], f.Key) {
			fields = append(fields, f)
		}
	}
	o := newObject()
	for _, f := range fields {
		if err := o.addMember(f.Key, f.jsonValue()); err != nil {
			return nil, err
		}
	}
	return o.closeObject(), nil
}

func (f Field) jsonValue() any {
	switch f.Kind {
	case List:
		return append([]string{}, f.List...)
	case Map:
		return pairs(f.Map)
	}
	return f.Text
}

// pairs is a map that keeps its order in JSON.
type pairs []Pair

// MarshalJSON returns an object.
func (p pairs) MarshalJSON() ([]byte, error) {
	o := newObject()
	for _, pair := range p {
		if err := o.addMember(pair.Key, pair.Value); err != nil {
			return nil, err
		}
	}
	return o.closeObject(), nil
}

// object writes a JSON object key by key.
type object struct {
	text bytes.Buffer
	enc  *json.Encoder
}

func newObject() *object {
	o := &object{}
	o.enc = json.NewEncoder(&o.text)
	o.enc.SetEscapeHTML(false)
	return o
}

func (o *object) addMember(key string, value any) error {
	lead := byte(',')
	if o.text.Len() == 0 {
		lead = '{'
	}
	o.text.WriteByte(lead)
	if err := o.enc.Encode(key); err != nil {
		return err
	}
	o.text.WriteByte(':')
	return o.enc.Encode(value)
}

func (o *object) closeObject() []byte {
	if o.text.Len() == 0 {
		return []byte("{}")
	}
	o.text.WriteByte('}')
	return o.text.Bytes()
}
