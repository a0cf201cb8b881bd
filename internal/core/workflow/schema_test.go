package workflow_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// resolved returns the schema as an editor gets it: through JSON.
func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := json.Marshal(workflow.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func instance(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaAcceptsWhatParseAccepts(t *testing.T) {
	s := resolved(t)
	for _, name := range builtin.Names() {
		if filepath.Ext(builtin.File(name)) == ".json" {
			continue // written in steps
		}
		text, _ := builtin.Text(name)
		if err := s.Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, _ := filepath.Glob("testdata/check/*.yaml")
	for _, path := range append(files, "testdata/clean.yaml") {
		if err := s.Validate(instance(t, readFile(t, path))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSchemaRefusesWhatIsMisspelt(t *testing.T) {
	s, clean := resolved(t), readFile(t, "testdata/clean.yaml")
	tests := []struct{ name, old, text string }{
		{"no name", "name: t\n", ""},
		{"another version", "version: 1", "version: 2"},
		{"an unknown key of the file", "version: 1", "version: 1\nstats: {}"},
		{"an unknown key of a role", "{prompt: worker}", "{promt: worker}"},
		{"an unknown key of a state", "{kind: halt}", "{kind: halt, colour: red}"},
		{"an unknown key of an edge", "as: complete", "verb: complete"},
		{"an unknown key of a gate", "verdict: PASS", "verdct: PASS"},
		{"an unknown key of a deadline", "idle: 5m", "idel: 5m"},
		{"an unknown kind", "{kind: halt}", "{kind: stop}"},
		{"a state without kind", "{kind: halt}", "{}"},
		{"an unknown trigger", "on: crash-limit", "on: crash"},
		{"an unknown trigger with a value", "on: crash-limit", "on: {mail: x}"},
		{"an unknown effect", "count: {round: +1}", "do: [dance]"},
		{"an effect without its role", "count: {round: +1}", "do: [spawn_agent]"},
		{"an effect with too much", "count: {round: +1}", "do: [{spawn_next: worker}]"},
		{"a counter without bound", "round: {max: 2}", "round: {}"},
		{"a counter that falls", "round: +1", "round: '-1'"},
		{"a gate of nothing", "gates:\n", "gates:\n  none: {fresh: visit}\n"},
		{"a gate of two things", "verdict: PASS", "evidence: merged"},
		{"a list for a mapping", "roles:\n  worker: {prompt: worker}", "roles: [worker]"},
		{"text for a number", "max: 2, per", "max: two, per"},
		{"text for a time", "wall: 1h", "wall: soon"},
		{"an edge from nowhere", "from: hold, ", ""},
		{"a name with a space", "  todo: {", "  to do: {"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(clean, tt.old, tt.text, 1)
			if text == clean {
				t.Fatalf("%q is not in the file", tt.old)
			}
			if s.Validate(instance(t, text)) == nil {
				t.Error("it is accepted")
			}
		})
	}
}

// Parse names the keys it knows when it meets one it does not; the schema has the same.
func TestSchemaHasTheKeysThatParseKnows(t *testing.T) {
	root := workflow.Schema()
	clean := readFile(t, "testdata/clean.yaml")
	tests := []struct {
		old, text string
		keys      *jsonschema.Schema
	}{
		{"version: 1", "version: 1\nx: 1", root},
		{"{prompt: worker}", "{x: 1}", root.Properties["roles"].AdditionalProperties},
		{"{max: 2}", "{x: 1}", root.Properties["counters"].AdditionalProperties},
		{"verdict: PASS", "x: 1", root.Properties["gates"].AdditionalProperties},
		{"{kind: halt}", "{x: 1}", root.Properties["states"].AdditionalProperties},
		{"as: complete", "x: 1", root.Properties["edges"].Items},
		{"on: crash-limit", "on: {x: 1}", root.Properties["edges"].Items.Properties["on"].AnyOf[0].AnyOf[1]},
	}
	for _, tt := range tests {
		_, err := workflow.Parse("t.yaml", strings.Replace(clean, tt.old, tt.text, 1))
		if err == nil {
			t.Fatalf("%s is read", tt.text)
		}
		_, list, _ := strings.Cut(err.Error(), ": use ")
		known := strings.Split(strings.Replace(list, " or ", ", ", 1), ", ")
		if diff := cmp.Diff(known, tt.keys.PropertyOrder); diff != "" {
			t.Errorf("%s: parse knows -, the schema has +\n%s", tt.text, diff)
		}
	}
}

func TestEveryKeyOfTheSchemaIsDescribed(t *testing.T) {
	var walk func(path string, s *jsonschema.Schema)
	walk = func(path string, s *jsonschema.Schema) {
		for name, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", path, name)
			}
			walk(path+"."+name, p)
		}
		if s.AdditionalProperties != nil {
			walk(path+".*", s.AdditionalProperties)
		}
		if s.Items != nil {
			walk(path+"[]", s.Items)
		}
		for _, a := range s.AnyOf {
			walk(path, a)
		}
	}
	walk("", workflow.Schema())
}
