package linear

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	gql "github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// requests returns all requests, each with values as they are sent and with what its answer is
// read into.
func requests() map[string]struct {
	query  string
	vars   []any
	answer any
} {
	text, after := "text", "cursor"
	return map[string]struct {
		query  string
		vars   []any
		answer any
	}{
		"whoamiQuery":          {whoamiQuery, []any{struct{}{}}, whoamiAnswer{}},
		"teamQuery":            {teamQuery, []any{teamVars{Team: "ENG", Project: "Shop"}, teamVars{Team: "ENG"}}, teamAnswer{}},
		"statesQuery":          {statesQuery, []any{teamPageVars{Team: "ENG"}, teamPageVars{Team: "ENG", After: &after}}, statesAnswer{}},
		"labelsQuery":          {labelsQuery, []any{teamPageVars{Team: "ENG"}, teamPageVars{Team: "ENG", After: &after}}, labelsAnswer{}},
		"namesQuery":           {namesQuery, []any{namesVars{States: []string{unknownID}, Labels: []string{unknownID, unknownID}}}, namesAnswer{}},
		"issueQuery":           {issueQuery, []any{issueVars{ID: "ENG-1"}}, issueAnswer{}},
		"moreLabelsQuery":      {moreLabelsQuery, []any{moreVars{"id", after}}, moreLabelsAnswer{}},
		"moreCommentsQuery":    {moreCommentsQuery, []any{moreVars{"id", after}}, moreCommentsAnswer{}},
		"moreChildrenQuery":    {moreChildrenQuery, []any{moreVars{"id", after}}, moreChildrenAnswer{}},
		"moreBlockersQuery":    {moreBlockersQuery, []any{moreVars{"id", after}}, moreBlockersAnswer{}},
		"moreAttachmentsQuery": {moreAttachmentsQuery, []any{moreVars{"id", after}}, moreAttachmentsAnswer{}},
		"issuesQuery": {issuesQuery, []any{
			issuesVars{Filter: filter{Team: keyFilter{textFilter{"ENG"}}}, Last: perPage},
			issuesVars{Filter: filter{
				Team: keyFilter{textFilter{"ENG"}}, Project: &nameFilter{textFilter{"Shop"}},
				State: &stateFilter{Or: []nameFilter{{textFilter{"Backlog"}}, {textFilter{"Started"}}}}, UpdatedAt: &dateFilter{time.Now()},
			}, Last: 1, Before: &after},
		}, issuesAnswer{}},
		"updateMutation": {updateMutation, []any{
			updateVars{"ENG-1", updateInput{}},
			updateVars{"ENG-1", updateInput{unknownID, []string{unknownID}, []string{unknownID}, text, &text}},
		}, updateAnswer{}},
		"commentMutation": {commentMutation, []any{commentVars{commentInput{unknownID, unknownID, text}}, commentVars{commentInput{IssueID: unknownID, Body: text}}}, commentAnswer{}},
	}
}

// schema returns the part of Linear's that the fake server answers to.
func schema(t *testing.T) *gql.Schema {
	t.Helper()
	text, err := os.ReadFile("../../trackertest/fakelinear/schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	s, err := gqlparser.LoadSchema(&gql.Source{Name: "linear", Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryRequestFitsTheSchema(t *testing.T) {
	s := schema(t)
	for name, r := range requests() {
		doc, errs := gqlparser.LoadQueryWithRules(s, r.query, rules.NewDefaultRules())
		if len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
			continue
		}
		if len(doc.Operations) != 1 || doc.Operations[0].Name != operationName(r.query) {
			t.Errorf("%s is not one operation that is called %s", name, operationName(r.query))
		}
		for _, vars := range r.vars {
			text, err := json.Marshal(vars)
			if err != nil {
				t.Fatal(err)
			}
			var given map[string]any
			if err := json.Unmarshal(text, &given); err != nil {
				t.Fatal(err)
			}
			for given := range given {
				if doc.Operations[0].VariableDefinitions.ForName(given) == nil {
					t.Errorf("%s is given %s, which it does not take", name, given)
				}
			}
			if _, err := validator.VariableValues(s, doc.Operations[0], given); err != nil {
				t.Errorf("%s with %s: %v", name, text, err)
			}
		}
	}
}

// TestAnswersAreReadAsTheyAreAskedFor compares what is selected with what it is read
// into, both ways.
func TestAnswersAreReadAsTheyAreAskedFor(t *testing.T) {
	s := schema(t)
	for name, r := range requests() {
		doc, errs := gqlparser.LoadQueryWithRules(s, r.query, rules.NewDefaultRules())
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		fits(t, name, doc.Operations[0].SelectionSet, reflect.TypeOf(r.answer))
	}
}

func fits(t *testing.T, where string, set gql.SelectionSet, into reflect.Type) {
	t.Helper()
	fields := fieldsOf(into)
	selected := selectedBy(set)
	for name := range fields {
		if selected[name] == nil {
			t.Errorf("%s: %s is read, and not asked for", where, name)
		}
	}
	for name, f := range selected {
		to, ok := fields[name]
		switch {
		case !ok:
			t.Errorf("%s: %s is asked for, and not read", where, name)
		case len(f.SelectionSet) > 0:
			fits(t, where+"."+name, f.SelectionSet, to)
		case f.Definition.Type.Elem != nil || !scalar(f.Definition.Type.Name(), to):
			t.Errorf("%s: %s is a %s and is read into a %s", where, name, f.Definition.Type, to)
		case !f.Definition.Type.NonNull && to.Kind() != reflect.Pointer && to.Kind() != reflect.String && to.Kind() != reflect.Bool:
			t.Errorf("%s: %s may be null and is read into a %s", where, name, to)
		}
	}
}

func selectedBy(set gql.SelectionSet) map[string]*gql.Field {
	out := map[string]*gql.Field{}
	for _, sel := range set {
		switch sel := sel.(type) {
		case *gql.Field:
			out[sel.Alias] = sel
		case *gql.FragmentSpread:
			for name, f := range selectedBy(sel.Definition.SelectionSet) {
				out[name] = f
			}
		}
	}
	return out
}

func fieldsOf(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	out := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous && len(f.Index) > 0 {
			out[f.Tag.Get("json")] = f.Type
		}
	}
	return out
}

// scalar reports whether a value of a type can be read into a variable.
func scalar(kind string, into reflect.Type) bool {
	if into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	switch kind {
	case "String", "ID":
		return into.Kind() == reflect.String
	case "Float", "Int":
		return into.Kind() == reflect.Float64
	case "Boolean":
		return into.Kind() == reflect.Bool
	case "DateTime":
		return into == reflect.TypeFor[time.Time]()
	case "JSONObject":
		return into == reflect.TypeFor[json.RawMessage]()
	}
	return false
}

// TestEveryRequestIsChecked finds requests that the table above lacks.
func TestEveryRequestIsChecked(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "queries.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, name := range spec.Names {
				if strings.HasSuffix(name.Name, "Query") || strings.HasSuffix(name.Name, "Mutation") {
					found = append(found, name.Name)
				}
			}
		}
		return true
	})
	slices.Sort(found)
	var checked []string
	for name := range requests() {
		checked = append(checked, name)
	}
	slices.Sort(checked)
	if !slices.Equal(found, checked) {
		t.Errorf("there are the requests %q, and %q are checked", found, checked)
	}
}
