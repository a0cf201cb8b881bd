//go:build linear

package fakelinear_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"orange/internal/trackertest/fakelinear"
)

// published reads the schema that Linear publishes with its SDK, from the file that ORANGE_LINEAR_SCHEMA names.
func published(t *testing.T) *fakelinear.Schema {
	t.Helper()
	s, err := fakelinear.ReadSchema(os.Getenv("ORANGE_LINEAR_SCHEMA"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheOwnSchemaIsAPartOfThePublishedOne(t *testing.T) {
	theirs := published(t)
	own, err := fakelinear.OwnSchema()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, def := range own.Types {
		if def.BuiltIn || strings.HasPrefix(name, "__") {
			continue
		}
		there := theirs.Types[name]
		if there == nil || there.Kind != def.Kind {
			t.Errorf("there is no such %s %s", def.Kind, name)
			continue
		}
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			checked++
			same(t, name, f, there.Fields.ForName(f.Name))
		}
		for _, v := range def.EnumValues {
			if there.EnumValues.ForName(v.Name) == nil {
				t.Errorf("%s has no value %s", name, v.Name)
			}
		}
		for _, i := range def.Interfaces {
			if !slices.Contains(there.Interfaces, i) {
				t.Errorf("%s is no %s", name, i)
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d fields were compared", checked)
	}
}

func same(t *testing.T, kind string, f, there *ast.FieldDefinition) {
	t.Helper()
	if there == nil || there.Type.String() != f.Type.String() {
		t.Errorf("%s.%s is not %s but %v", kind, f.Name, f.Type, there)
		return
	}
	for _, a := range f.Arguments {
		if has := there.Arguments.ForName(a.Name); has == nil || has.Type.String() != a.Type.String() {
			t.Errorf("%s.%s has no argument %s of type %s", kind, f.Name, a.Name, a.Type)
		}
	}
	for _, a := range there.Arguments {
		if a.Type.NonNull && a.DefaultValue == nil && f.Arguments.ForName(a.Name) == nil {
			t.Errorf("%s.%s lacks the argument %s, which must be given", kind, f.Name, a.Name)
		}
	}
}

// Requests are checked against the own schema, so none can ask for what it leaves out.
func TestTheOwnSchemaHasNothingDeprecatedOrInternal(t *testing.T) {
	theirs := published(t)
	own, err := fakelinear.OwnSchema()
	if err != nil {
		t.Fatal(err)
	}
	internal := func(description string) bool { return strings.Contains(strings.ToLower(description), "[internal]") }
	for name, def := range own.Types {
		if def.BuiltIn || strings.HasPrefix(name, "__") {
			continue
		}
		for _, f := range def.Fields {
			there := theirs.Types[name].Fields.ForName(f.Name)
			if there == nil {
				continue
			}
			if there.Directives.ForName("deprecated") != nil || internal(there.Description) {
				t.Errorf("%s.%s", name, f.Name)
			}
			for _, a := range f.Arguments {
				if has := there.Arguments.ForName(a.Name); has != nil && internal(has.Description) {
					t.Errorf("%s.%s(%s)", name, f.Name, a.Name)
				}
			}
		}
	}
}
