package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// schemas makes a named schema of every struct that is asked for, and of those in it.
// What is read and what is written differ: nothing in a request is required that its
// route does not demand, and an answer has all its fields.
type schemas struct {
	named map[string]*jsonschema.Schema
	known map[schemaKey]string
	err   error
}

type schemaKey struct {
	of reflect.Type
	in bool // read, not written
}

func newSchemas() *schemas {
	return &schemas{named: map[string]*jsonschema.Schema{}, known: map[schemaKey]string{}}
}

// of is the schema of a type, or a reference to it.
func (s *schemas) of(t reflect.Type, in bool) *jsonschema.Schema {
	if t.Kind() == reflect.Struct {
		return ref(s.name(t, in))
	}
	return s.infer(t, in)
}

func ref(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}
}

// name is what the schema of a struct is called. It is made when it is first asked for.
func (s *schemas) name(t reflect.Type, in bool) string {
	key := schemaKey{t, in}
	if name, ok := s.known[key]; ok {
		return name
	}
	name := t.Name()
	if pkg := path.Base(t.PkgPath()); pkg != "wire" {
		name = pkg + "." + name
	}
	if in {
		name += "Request"
	}
	s.known[key] = name
	out := s.infer(t, in)
	if in {
		out.Required = nil
	}
	out.Description = about()[t]
	s.named[name] = out
	return name
}

// infer makes the schema of a type. Structs in it are references.
func (s *schemas) infer(t reflect.Type, in bool) *jsonschema.Schema {
	refs := plain()
	if _, own := refs[t]; !own {
		s.refer(t, in, refs)
	}
	out, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: refs})
	if err != nil {
		s.err = cmp.Or(s.err, fmt.Errorf("describe %s: %w", t, err))
		return &jsonschema.Schema{}
	}
	s.tidy(t, out, in)
	return out
}

// refer puts references to the structs inside of a type into refs. A struct that is
// embedded is a part of the type itself.
func (s *schemas) refer(t reflect.Type, in bool, refs map[reflect.Type]*jsonschema.Schema) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		s.inside(t.Elem(), in, refs)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if f.IsExported() && !f.Anonymous && f.Tag.Get("json") != "-" {
				s.inside(f.Type, in, refs)
			}
		}
	}
}

func (s *schemas) inside(t reflect.Type, in bool, refs map[reflect.Type]*jsonschema.Schema) {
	_, done := refs[t]
	switch {
	case done:
	case t.Kind() == reflect.Struct && t.Name() != "":
		refs[t] = ref(s.name(t, in))
	default:
		s.refer(t, in, refs)
	}
}

// tidy puts right what a type says and JSON does not: what is left out when it is empty
// is never null, and neither is a list of ours.
func (s *schemas) tidy(t reflect.Type, out *jsonschema.Schema, in bool) {
	strict(out)
	if t.Kind() != reflect.Struct || out.Properties == nil {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := out.Properties[name]
		if p == nil || in {
			continue
		}
		if strings.Contains(options, "omit") || f.Type.Kind() == reflect.Slice && path.Base(t.PkgPath()) == "wire" {
			notNull(p)
		}
	}
}

// notNull takes null out of the types of a schema.
func notNull(p *jsonschema.Schema) {
	if len(p.AnyOf) == 2 {
		*p = *p.AnyOf[0]
	}
	p.Types = slices.DeleteFunc(p.Types, func(t string) bool { return t == "null" })
	if len(p.Types) == 1 {
		p.Type, p.Types = p.Types[0], nil
	}
}

// strict makes a choice of a reference that may be null, all the way down.
func strict(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Ref != "" && slices.Contains(s.Types, "null") {
		*s = jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Ref: s.Ref}, {Type: "null"}}}
	}
	if s.Enum != nil && slices.Contains(s.Types, "null") {
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
	for _, p := range s.Properties {
		strict(p)
	}
	strict(s.Items)
	strict(s.AdditionalProperties)
}

// plain are the types that are no objects, and what JSON makes of them.
func plain() map[reflect.Type]*jsonschema.Schema {
	out := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[time.Duration]():   {Type: "integer", Description: "nanoseconds"},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[journal.Link]():    {Type: "string"},
		reflect.TypeFor[task.ID]():         {Type: "string", Pattern: "^([0-9A-Za-z]{21})?$", Description: "id of a task; empty if there is none"},
		reflect.TypeFor[journal.Event](): {Type: "object", Required: []string{"type", "timestamp", "seq"}, Properties: map[string]*jsonschema.Schema{
			"type": {Type: "string"}, "timestamp": {Type: "string", Format: "date-time"}, "seq": {Type: "integer"},
		}, Description: "a line of history.jsonl: what else is in it depends on its type"},
	}
	for t, values := range enums() {
		out[t] = &jsonschema.Schema{Type: "string", Enum: values}
	}
	return out
}
