package journal

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"orange/internal/lazy"
)

// Decode reads an entry from JSON. It reads whatever encoding/json reads, and what
// encoding/json wrote it reads several times as fast.
func Decode(text []byte) (Entry, error) {
	var e Entry
	s := scanner{text: text}
	if s.readValue(entryShape(), reflect.ValueOf(&e).Elem()); !s.lost && s.at == len(text) {
		return e, nil
	}
	e = Entry{}
	err := json.Unmarshal(text, &e)
	return e, err
}

// entryShape never changes: reading needs no look at the types then.
var entryShape = lazy.OnFirstUse(func() *shape { return shapeOf(reflect.TypeFor[Entry]()) })

// shape is how a value of a type is read.
type shape struct {
	kind   reflect.Kind // Invalid if only encoding/json can read it
	moment bool         // a time
	elem   *shape       // of a pointer or a slice
	of     reflect.Type // what a pointer points to
	fields []shapeField // of a struct, in the order encoding/json writes them
}

type shapeField struct {
	name  string
	index int
	*shape
}

func shapeOf(t reflect.Type) *shape {
	s := &shape{kind: t.Kind()}
	switch {
	case t == reflect.TypeFor[time.Time]():
		s.moment = true
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		s.kind = reflect.Invalid
	case s.kind == reflect.Pointer || s.kind == reflect.Slice:
		s.of, s.elem = t.Elem(), shapeOf(t.Elem())
	case s.kind == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || f.Anonymous || strings.Contains(options, "string") {
				return &shape{}
			}
			s.fields = append(s.fields, shapeField{name: name, index: i, shape: shapeOf(f.Type)})
		}
	}
	return s
}
