package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"orange/internal/lazy"
)

// Format is the version of the format in which entries are stored. It grows only by optional fields and new types of
// entries; docs/FORMAT.md lists the rules.
const Format = 1

// formatHead begins every entry of this format.
const formatHead = `{"format":1,`

// ErrUpgrade means that a later version wrote an entry.
var ErrUpgrade = errors.New("upgrade orange")

// Encode returns an entry as stores keep it.
func Encode(e *Entry) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(formatHead)+len(text))
	return append(append(out, formatHead...), text[1:]...), nil
}

// Decode parses an entry as a store keeps it, in this format or the unversioned one before it. It is several times as
// fast as encoding/json for what Encode wrote. The error is ErrUpgrade for an entry of a later version.
func Decode(text []byte) (Entry, error) {
	var e Entry
	if bytes.HasPrefix(text, []byte(formatHead)) {
		s := scanner{text: text, at: len(formatHead)}
		if s.readFields(entryShape().fields, reflect.ValueOf(&e).Elem()); !s.lost && s.at == len(text) {
			return completeEntry(e)
		}
	}
	return decodeSlowly(text)
}

// decodeSlowly parses everything that encoding/json parses.
func decodeSlowly(text []byte) (Entry, error) {
	var head struct {
		Format int `json:"format"`
	}
	err := json.Unmarshal(text, &head)
	switch {
	case err != nil:
	case head.Format < 0 || head.Format > Format:
		err = fmt.Errorf("its format is %d, and this version reads up to %d: %w", head.Format, Format, ErrUpgrade)
	case head.Format == 0:
		text, err = convertUnversioned(text)
	}
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	if err := json.Unmarshal(text, &e); err != nil {
		return Entry{}, err
	}
	return completeEntry(e)
}

// completeEntry adds what the entry was written without, and checks that this version knows the entry's type.
func completeEntry(e Entry) (Entry, error) {
	addPauseCause(&e)
	return e, e.Type.check()
}

// EntryJSON returns the entry of a row as clients see it: in the format of this version, whichever version wrote it.
func (r *Row) EntryJSON() (json.RawMessage, error) {
	if rest, ok := bytes.CutPrefix(r.Entry, []byte(formatHead)); ok {
		return append([]byte{'{'}, rest...), nil
	}
	e, err := Decode(r.Entry)
	if err != nil {
		return nil, fmt.Errorf("read row %d: %w", r.ID, err)
	}
	return json.Marshal(&e)
}

// entryShape is computed once, so that reading needs no reflection on types.
var entryShape = lazy.OnFirstUse(func() *shape { return shapeOf(reflect.TypeFor[Entry]()) })

// shape describes how a value of a type is read.
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
			if name == "" || strings.Contains(options, "string") {
				return &shape{}
			}
			s.fields = append(s.fields, shapeField{name: name, index: i, shape: shapeOf(f.Type)})
		}
	}
	return s
}
