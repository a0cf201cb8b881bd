package fakelinear

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// list makes nodes of things, the newest first, as Linear lists them.
func list[T any](things []T, make func(T) *node) []*node {
	out := []*node{}
	for _, t := range slices.Backward(things) {
		out = append(out, make(t))
	}
	return out
}

// maxPage is how much Linear lists at once.
const maxPage = 250

// size is how much a list is asked for.
func size(args map[string]any) int {
	for _, name := range []string{"first", "last"} {
		if n, ok := number(args[name]); ok {
			return n
		}
	}
	return 50
}

func number(v any) (int, bool) {
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

// connection is the part of a list that is asked for, in the order that is asked for.
func connection(kind string, nodes []*node, args map[string]any) (any, *problem) {
	if f, ok := args["filter"].(map[string]any); ok {
		var fit []*node
		for _, n := range nodes {
			ok, bad := passes(n, f)
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
		slices.SortStableFunc(nodes, func(a, b *node) int { return strings.Compare(text(b, "updatedAt"), text(a, "updatedAt")) })
	}
	n := size(args)
	if n < 1 || n > maxPage {
		return nil, wrongInput("A page has 1 to 250 entries.")
	}
	from, to, bad := window(nodes, n, args)
	if bad != nil {
		return nil, bad
	}
	return pageOf(kind, nodes, from, to), nil
}

// window is where a page begins and ends.
func window(nodes []*node, n int, args map[string]any) (from, to int, bad *problem) {
	from, to = 0, len(nodes)
	if cursor, ok := args["after"].(string); ok {
		if from = at(nodes, cursor) + 1; from == 0 {
			return 0, 0, wrongInput("after is not a cursor of this list.")
		}
	}
	if cursor, ok := args["before"].(string); ok {
		if to = at(nodes, cursor); to < 0 {
			return 0, 0, wrongInput("before is not a cursor of this list.")
		}
	}
	if _, backwards := number(args["last"]); backwards {
		return max(from, to-n), to, nil
	}
	return from, min(to, from+n), nil
}

func at(nodes []*node, cursor string) int {
	return slices.IndexFunc(nodes, func(n *node) bool { return text(n, "id") == cursor })
}

func pageOf(kind string, nodes []*node, from, to int) *node {
	cursor := func(i int) any {
		if from >= to {
			return nil
		}
		return text(nodes[i], "id")
	}
	return object(kind+"Connection", map[string]any{
		"nodes": nodes[from:to],
		"pageInfo": object("PageInfo", map[string]any{
			"hasNextPage": to < len(nodes), "hasPreviousPage": from > 0, "startCursor": cursor(from), "endCursor": cursor(to - 1),
		}),
	})
}

// object is a node of values that are known.
func object(kind string, fields map[string]any) *node {
	return &node{kind: kind, get: func(field string, _ map[string]any) (any, *problem) {
		value, ok := fields[field]
		if !ok {
			return nil, unknown(kind, field)
		}
		return value, nil
	}}
}

func unknown(kind, field string) *problem {
	return invalid("this server does not know %s.%s", kind, field)
}

func text(n *node, field string) string {
	v, _ := n.get(field, nil)
	s, _ := v.(string)
	return s
}

// passes says whether a node is what a filter asks for.
func passes(n *node, filter map[string]any) (bool, *problem) {
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
		for _, one := range elements(want) {
			sub, _ := one.(map[string]any)
			ok, bad := passes(n, sub)
			if bad != nil || ok == (name == "or") {
				return ok, bad
			}
		}
		return name == "and", nil
	case "null":
		return want == false, nil // there is something
	}
	sub, ok := want.(map[string]any)
	if !ok {
		return false, invalid("this server does not know the filter %s", name)
	}
	value, bad := n.get(name, nil)
	if bad != nil {
		return false, bad
	}
	switch value := value.(type) {
	case nil:
		return sub["null"] == true, nil
	case *node:
		return passes(value, sub)
	}
	return compare(value, sub)
}

func elements(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func compare(value any, how map[string]any) (bool, *problem) {
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
			ok = slices.Contains(elements(want), value)
		case "gt", "gte", "lt", "lte":
			a, errA := time.Parse(time.RFC3339, s)
			b, errB := time.Parse(time.RFC3339, w)
			if errA != nil || errB != nil {
				return false, wrongInput("That is no date.")
			}
			c := a.Compare(b)
			ok = op == "gt" && c > 0 || op == "gte" && c >= 0 || op == "lt" && c < 0 || op == "lte" && c <= 0
		default:
			return false, invalid("this server does not know the comparison %s", op)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}
