package signal

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// listViolations returns every place at which a value violates a schema, because the library
// stops at the first one. It implements the keywords that the schema of worker results uses,
// and leaves the limits of a handoff to package handoff, which has more of them.
func listViolations(s *jsonschema.Schema, value any, path string) []string {
	kinds := s.Types
	if s.Type != "" {
		kinds = []string{s.Type}
	}
	if len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return isKind(value, k) }) {
		return []string{fmt.Sprintf("%s: must be %s", orRoot(path), withArticle(kinds[0]))}
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		return []string{fmt.Sprintf("%s: %s must be %s", orRoot(path), path[strings.LastIndexByte(path, '/')+1:], joinChoices(s.Enum))}
	}
	var found []string
	switch v := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				found = append(found, path+"/"+name+": is missing")
			}
		}
		for _, name := range s.PropertyOrder {
			if x, ok := v[name]; ok {
				found = append(found, listViolations(s.Properties[name], x, path+"/"+name)...)
			}
		}
	case []any:
		for i := 0; s.Items != nil && i < len(v); i++ {
			found = append(found, listViolations(s.Items, v[i], fmt.Sprintf("%s/%d", path, i))...)
		}
	}
	return found
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

func withArticle(kind string) string {
	switch kind {
	case "object", "array", "integer":
		return "an " + kind
	}
	return "a " + kind
}

func joinChoices(list []any) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprint(x)
	}
	return strings.Join(words, "|")
}

func isKind(value any, kind string) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case json.Number:
		return kind == "number" || kind == "integer" && isWhole(v)
	}
	return false
}

// isWhole reports whether a number is an integer.
func isWhole(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

// keepDeclared keeps only the keys that a schema declares. An object without declared keys
// stays as it is.
func keepDeclared(s *jsonschema.Schema, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if s == nil || len(s.Properties) == 0 {
			return v
		}
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if sub, ok := s.Properties[name]; ok {
				out[name] = keepDeclared(sub, v[name])
			}
		}
		return out
	case []any:
		for i := range v {
			if s != nil && s.Items != nil {
				v[i] = keepDeclared(s.Items, v[i])
			}
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && s != nil && slices.Contains(append(s.Types, s.Type), "integer") {
			return int64(f)
		}
	}
	return value
}

// handoffPath converts a problem in a handoff to a path in the result.
func handoffPath(problem string) string {
	field, rest, _ := strings.Cut(problem, " ")
	if field == "the" {
		return "/stage_context: " + problem
	}
	name, index, listed := strings.Cut(field, "[")
	if listed {
		name += "/" + strings.TrimSuffix(index, "]")
	}
	return "/stage_context/" + strings.TrimSuffix(name, ":") + ": " + rest
}
