package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/lazy"
)

// Vars are texts of people that prompts may name, as {vars.NAME}. They are shown to agents and stored in plain text, so
// they must not contain secrets.
type Vars map[string]string

// Limits of variables.
const (
	maxVars     = 64
	maxVarBytes = 8 << 10
)

var varName = lazy.NewRegexp(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// WithChanges returns v with the changes applied; an empty text removes a variable.
func (v Vars) WithChanges(change Vars) Vars {
	out := maps.Clone(v)
	for name, text := range change {
		if out == nil {
			out = Vars{}
		}
		if out[name] = text; text == "" {
			delete(out, name)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Check returns what is wrong with the variables, or nil.
func (v Vars) Check() error {
	if len(v) > maxVars {
		return fmt.Errorf("there are %d variables, and the limit is %d: remove some with --var NAME=", len(v), maxVars)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch text := v[name]; {
		case !varName.MatchString(name):
			return fmt.Errorf("variable %q: use letters, digits, dash and underscore, beginning with a letter, at most 64", name)
		case len(text) > maxVarBytes:
			return fmt.Errorf("variable %s has %d bytes, and the limit is %d: put the text into a file of the repository", name, len(text), maxVarBytes)
		case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
			return fmt.Errorf("variable %s has characters that are no text: leave them out", name)
		}
	}
	return nil
}

// ParseVars reads NAME=TEXT arguments.
func ParseVars(list []string) (Vars, error) {
	out := Vars{}
	for _, item := range list {
		name, text, ok := strings.Cut(item, "=")
		if !ok {
			return nil, fmt.Errorf("variable %q: give NAME=TEXT", item)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("variable %s is given twice: keep one", name)
		}
		out[name] = text
	}
	return out, out.Check()
}
