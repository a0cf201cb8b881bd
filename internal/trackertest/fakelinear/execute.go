package fakelinear

import (
	"github.com/vektah/gqlparser/v2/ast"
)

// A node is an object with the fields of its type.
type node struct {
	kind string // type in the schema
	get  func(field string, args map[string]any) (any, *problem)
}

// execution is one request in progress.
type execution struct {
	schema *Schema
	vars   map[string]any
}

// executeRequest returns what a request selects.
func (s *FakeServer) executeRequest(req *request) (map[string]any, *problem) {
	x := &execution{schema: s.opts.Schema, vars: req.vars}
	root := &node{kind: "Query", get: s.resolveQuery}
	if req.isWrite() {
		root = &node{kind: "Mutation", get: s.resolveMutation}
	}
	return x.selectFields(root, req.op.SelectionSet)
}

func (x *execution) selectFields(n *node, set ast.SelectionSet) (map[string]any, *problem) {
	out := map[string]any{}
	for _, sel := range set {
		if bad := x.addSelection(n, sel, out); bad != nil {
			return nil, bad
		}
	}
	return out, nil
}

func (x *execution) addSelection(n *node, sel ast.Selection, out map[string]any) *problem {
	switch sel := sel.(type) {
	case *ast.FragmentSpread:
		return x.addFragment(n, sel.Definition.TypeCondition, sel.Definition.SelectionSet, sel.Directives, out)
	case *ast.InlineFragment:
		return x.addFragment(n, sel.TypeCondition, sel.SelectionSet, sel.Directives, out)
	case *ast.Field:
		if !x.isIncluded(sel.Directives) {
			return nil
		}
		value, bad := x.fieldValue(n, sel)
		if bad != nil {
			bad.Path = append([]any{sel.Alias}, bad.Path...)
			return bad
		}
		out[sel.Alias] = mergeSelections(out[sel.Alias], value)
	}
	return nil
}

func (x *execution) addFragment(n *node, kind string, set ast.SelectionSet, dirs ast.DirectiveList, out map[string]any) *problem {
	if !x.isIncluded(dirs) || !x.isType(n.kind, kind) {
		return nil
	}
	for _, sel := range set {
		if bad := x.addSelection(n, sel, out); bad != nil {
			return bad
		}
	}
	return nil
}

// isType reports whether a type is another one, or implements it.
func (x *execution) isType(is, kind string) bool {
	if kind == "" || is == kind {
		return true
	}
	for _, d := range x.schema.PossibleTypes[kind] {
		if d.Name == is {
			return true
		}
	}
	return false
}

// isIncluded evaluates @skip and @include.
func (x *execution) isIncluded(dirs ast.DirectiveList) bool {
	for _, d := range dirs {
		if on, ok := d.ArgumentMap(x.vars)["if"].(bool); ok && (d.Name == "skip") == on {
			return false
		}
	}
	return true
}

func (x *execution) fieldValue(n *node, f *ast.Field) (any, *problem) {
	if f.Name == "__typename" {
		return n.kind, nil
	}
	value, bad := n.get(f.Name, f.ArgumentMap(x.vars))
	if bad != nil {
		return nil, bad
	}
	if value == nil && f.Definition.Type.NonNull {
		return nil, invalidRequest("there is no value for %s.%s, which must have one", n.kind, f.Name)
	}
	return x.selectValue(value, f.SelectionSet)
}

func (x *execution) selectValue(value any, set ast.SelectionSet) (any, *problem) {
	switch value := value.(type) {
	case *node:
		return x.selectFields(value, set)
	case []*node:
		list := []any{}
		for i, n := range value {
			one, bad := x.selectFields(n, set)
			if bad != nil {
				bad.Path = append([]any{i}, bad.Path...)
				return nil, bad
			}
			list = append(list, one)
		}
		return list, nil
	}
	return value, nil
}

// mergeSelections merges the results of two selections of a field.
func mergeSelections(a, b any) any {
	left, ok := a.(map[string]any)
	right, also := b.(map[string]any)
	if !ok || !also {
		return b
	}
	for name, value := range right {
		left[name] = mergeSelections(left[name], value)
	}
	return left
}
