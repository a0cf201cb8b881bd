package fakelinear

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// listNodes converts things to nodes, newest first, as Linear lists them.
func listNodes[T any](things []T, make func(T) *node) []*node {
	out := []*node{}
	for _, t := range slices.Backward(things) {
		out = append(out, make(t))
	}
	return out
}

// maxPage is the largest page of Linear.
const maxPage = 250

// pageSize returns the requested page size.
func pageSize(args map[string]any) int {
	for _, name := range []string{"first", "last"} {
		if n, ok := intValue(args[name]); ok {
			return n
		}
	}
	return 50
}

func intValue(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(v), true
	case int:
		return v, true
	case float64:
		return int(v), true
	case json.Number:
		n, err := v.Int64()
		return int(n), err == nil
	}
	return 0, false
}

// buildConnection returns the requested part of a list, in the requested order.
func buildConnection(kind string, nodes []*node, args map[string]any) (any, *problem) {
	if f, ok := args["filter"].(map[string]any); ok {
		var fit []*node
		for _, n := range nodes {
			ok, bad := passesFilter(n, f)
			if bad != nil {
				return nil, bad
			}
			if ok {
				fit = append(fit, n)
			}
		}
		nodes = fit
	}
	if args["orderBy"] == "updatedAt" {
		nodes = slices.Clone(nodes)
		slices.SortStableFunc(nodes, func(a, b *node) int { return strings.Compare(textField(b, "updatedAt"), textField(a, "updatedAt")) })
	}
	n := pageSize(args)
	if n < 1 || n > maxPage {
		return nil, wrongInput("A page has 1 to 250 entries.")
	}
	from, to, bad := pageWindow(nodes, n, args)
	if bad != nil {
		return nil, bad
	}
	return pageOf(kind, nodes, from, to), nil
}

// pageWindow returns where a page begins and ends.
func pageWindow(nodes []*node, n int, args map[string]any) (from, to int, bad *problem) {
	from, to = 0, len(nodes)
	if cursor, ok := args["after"].(string); ok {
		if from = cursorIndex(nodes, cursor) + 1; from == 0 {
			return 0, 0, wrongInput("after is not a cursor of this list.")
		}
	}
	if cursor, ok := args["before"].(string); ok {
		if to = cursorIndex(nodes, cursor); to < 0 {
			return 0, 0, wrongInput("before is not a cursor of this list.")
		}
	}
	if _, backwards := intValue(args["last"]); backwards {
		return max(from, to-n), to, nil
	}
	return from, min(to, from+n), nil
}

func cursorIndex(nodes []*node, cursor string) int {
	return slices.IndexFunc(nodes, func(n *node) bool { return textField(n, "id") == cursor })
}

func pageOf(kind string, nodes []*node, from, to int) *node {
	cursor := func(i int) any {
		if from >= to {
			return nil
		}
		return textField(nodes[i], "id")
	}
	return objectNode(kind+"Connection", map[string]any{
		"nodes": nodes[from:to],
		"pageInfo": objectNode("PageInfo", map[string]any{
			"hasNextPage": to < len(nodes), "hasPreviousPage": from > 0, "startCursor": cursor(from), "endCursor": cursor(to - 1),
		}),
	})
}

// objectNode returns a node with known values.
func objectNode(kind string, fields map[string]any) *node {
	return &node{kind: kind, get: func(field string, _ map[string]any) (any, *problem) {
		value, ok := fields[field]
		if !ok {
			return nil, unknownField(kind, field)
		}
		return value, nil
	}}
}

func unknownField(kind, field string) *problem {
	return invalidRequest("this server does not know %s.%s", kind, field)
}

func textField(n *node, field string) string {
	v, _ := n.get(field, nil)
	s, _ := v.(string)
	return s
}

// passesFilter reports whether a node matches a filter.
func passesFilter(n *node, filter map[string]any) (bool, *problem) {
	for name, want := range filter {
		if want == nil {
			continue
		}
		ok, bad := passesOne(n, name, want)
		if bad != nil || !ok {
			return false, bad
		}
	}
	return true, nil
}

func passesOne(n *node, name string, want any) (bool, *problem) {
	switch name {
	case "and", "or":
		for _, one := range listElements(want) {
			sub, _ := one.(map[string]any)
			ok, bad := passesFilter(n, sub)
			if bad != nil || ok == (name == "or") {
				return ok, bad
			}
		}
		return name == "and", nil
	case "null":
		return want == false, nil // there is a value
	}
	sub, ok := want.(map[string]any)
	if !ok {
		return false, invalidRequest("this server does not know the filter %s", name)
	}
	value, bad := n.get(name, nil)
	if bad != nil {
		return false, bad
	}
	switch value := value.(type) {
	case nil:
		return sub["null"] == true, nil
	case *node:
		return passesFilter(value, sub)
	}
	return compareText(value, sub)
}

func listElements(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func compareText(value any, how map[string]any) (bool, *problem) {
	s, _ := value.(string)
	for op, want := range how {
		w, _ := want.(string)
		var ok bool
		switch op {
		case "eq":
			ok = value == want
		case "neq":
			ok = value != want
		case "eqIgnoreCase":
			ok = strings.EqualFold(s, w)
		case "in":
			ok = slices.Contains(listElements(want), value)
		case "gt", "gte", "lt", "lte":
			a, errA := time.Parse(time.RFC3339, s)
			b, errB := time.Parse(time.RFC3339, w)
			if errA != nil || errB != nil {
				return false, wrongInput("That is no date.")
			}
			c := a.Compare(b)
			ok = op == "gt" && c > 0 || op == "gte" && c >= 0 || op == "lt" && c < 0 || op == "lte" && c <= 0
		default:
			return false, invalidRequest("this server does not know the comparison %s", op)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}
