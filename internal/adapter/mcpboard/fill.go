package mcpboard

import (
	"strings"

	"orange/internal/lazy"
)

var placeholder = lazy.NewRegexp(`\{([a-z_]+)(\??)\}`)

// templateVariables returns the names of the placeholders in an argument's template.
func templateVariables(template any) []string {
	var out []string
	switch v := template.(type) {
	case string:
		for _, m := range placeholder.FindAllStringSubmatch(v, -1) {
			out = append(out, m[1])
		}
	case []any:
		for _, e := range v {
			out = append(out, templateVariables(e)...)
		}
	case map[string]any:
		for _, e := range v {
			out = append(out, templateVariables(e)...)
		}
	}
	return out
}

// fillArguments fills values into the arguments of a tool. A text that consists of one
// placeholder becomes the value itself, which may be a list. Optional arguments that are empty
// are left out.
func fillArguments(args map[string]any, vars map[string]any) map[string]any {
	out := map[string]any{}
	for name, template := range args {
		if v, ok := fillOne(template, vars); ok {
			out[name] = v
		}
	}
	return out
}

func fillOne(template any, vars map[string]any) (any, bool) {
	switch v := template.(type) {
	case string:
		return fillText(v, vars)
	case []any:
		list := []any{}
		for _, e := range v {
			if x, ok := fillOne(e, vars); ok {
				list = append(list, x)
			}
		}
		return list, true
	case map[string]any:
		return fillArguments(v, vars), true
	}
	return template, true
}

func fillText(template string, vars map[string]any) (any, bool) {
	m := placeholder.FindStringSubmatch(template)
	if m != nil && m[0] == template {
		v := vars[m[1]]
		if v == nil {
			v = ""
		}
		return v, m[2] == "" || v != ""
	}
	return placeholder.ReplaceAllStringFunc(template, func(h string) string {
		text, _ := vars[strings.Trim(h, "{?}")].(string)
		return text
	}), true
}
