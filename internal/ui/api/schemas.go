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

// schemas builds a named schema for every requested struct, and for those in it. Schemas for reading and writing
// differ: a request requires only the fields that its route requires, and a response has all its fields.
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

// schemaOf returns the schema of a type, or a reference to it.
func (s *schemas) schemaOf(t reflect.Type, in bool) *jsonschema.Schema {
	if t.Kind() == reflect.Struct {
		return schemaRef(s.schemaName(t, in))
	}
	return s.inferSchema(t, in)
}

func schemaRef(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}
}

// schemaName returns the name of a struct's schema. It builds the schema on first use.
func (s *schemas) schemaName(t reflect.Type, in bool) string {
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
	out := s.inferSchema(t, in)
	if in {
		out.Required = nil
	}
	out.Description = typeDescriptions()[t]
	s.named[name] = out
	return name
}

// inferSchema builds the schema of a type. Structs in it become references.
func (s *schemas) inferSchema(t reflect.Type, in bool) *jsonschema.Schema {
	refs := plainTypes()
	if _, own := refs[t]; !own {
		s.collectRefs(t, in, refs)
	}
	out, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: refs})
	if err != nil {
		s.err = cmp.Or(s.err, fmt.Errorf("describe %s: %w", t, err))
		return &jsonschema.Schema{}
	}
	s.nestGroups(t, out, in)
	s.tidySchema(t, out, in)
	return out
}

// nestGroups puts the fields of an embedded struct that has a name in JSON below that name, where encoding/json puts
// them.
func (s *schemas) nestGroups(t reflect.Type, out *jsonschema.Schema, in bool) {
	if t.Kind() != reflect.Struct || out.Properties == nil {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.Anonymous:
			continue
		case name == "":
			s.nestGroups(f.Type, out, in)
			continue
		}
		for _, below := range reflect.VisibleFields(f.Type) {
			gone, _, _ := strings.Cut(below.Tag.Get("json"), ",")
			delete(out.Properties, gone)
			isGone := func(name string) bool { return name == gone }
			out.Required, out.PropertyOrder = slices.DeleteFunc(out.Required, isGone), slices.DeleteFunc(out.PropertyOrder, isGone)
		}
		out.Properties[name] = schemaRef(s.schemaName(f.Type, in))
		out.PropertyOrder = append(out.PropertyOrder, name)
		if !strings.Contains(options, "omit") {
			out.Required = append(out.Required, name)
		}
	}
}

// collectRefs adds references to the structs inside a type to refs. An embedded struct is a part of the type itself.
func (s *schemas) collectRefs(t reflect.Type, in bool, refs map[reflect.Type]*jsonschema.Schema) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		s.collectRef(t.Elem(), in, refs)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if f.IsExported() && !f.Anonymous && f.Tag.Get("json") != "-" {
				s.collectRef(f.Type, in, refs)
			}
		}
	}
}

func (s *schemas) collectRef(t reflect.Type, in bool, refs map[reflect.Type]*jsonschema.Schema) {
	_, done := refs[t]
	switch {
	case done:
	case t.Kind() == reflect.Struct && t.Name() != "":
		refs[t] = schemaRef(s.schemaName(t, in))
	default:
		s.collectRefs(t, in, refs)
	}
}

// tidySchema corrects where the type and its JSON differ: a field that is omitted when empty is never null, and neither
// is a list in a response.
func (s *schemas) tidySchema(t reflect.Type, out *jsonschema.Schema, in bool) {
	splitNullableRefs(out)
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

// notNull removes null from the types of a schema.
func notNull(p *jsonschema.Schema) {
	if len(p.AnyOf) == 2 {
		*p = *p.AnyOf[0]
	}
	p.Types = slices.DeleteFunc(p.Types, func(t string) bool { return t == "null" })
	if len(p.Types) == 1 {
		p.Type, p.Types = p.Types[0], nil
	}
}

// splitNullableRefs turns references that may be null into a choice, recursively.
func splitNullableRefs(s *jsonschema.Schema) {
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
		splitNullableRefs(p)
	}
	splitNullableRefs(s.Items)
	splitNullableRefs(s.AdditionalProperties)
}

// plainTypes maps types that are not objects in JSON to their schemas.
func plainTypes() map[reflect.Type]*jsonschema.Schema {
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
	for t, values := range enumValues() {
		out[t] = &jsonschema.Schema{Type: "string", Enum: values}
	}
	return out
}
