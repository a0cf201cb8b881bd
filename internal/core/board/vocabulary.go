package board

import (
	"slices"
	"strings"
)

// Check returns what is wrong with a vocabulary, or nil.
func (v Vocabulary) Check() error {
	if len(v.Columns) == 0 {
		return Refusef("a board needs a column")
	}
	if err := checkNames("column", v.Columns); err != nil {
		return err
	}
	return checkNames("tag", v.Tags)
}

func checkNames(what string, names []string) error {
	if len(names) > maxKnown {
		return Refusef("a board has at most %d %ss", maxKnown, what)
	}
	for i, name := range names {
		if err := checkName(what, name); err != nil {
			return err
		}
		if findName(names[:i], name) != "" {
			return Refusef("%s %q is there twice", what, name)
		}
	}
	return nil
}

// UnionWith returns the vocabulary extended by what only other has. Existing names keep their spelling and place; a new
// name comes after the name that it follows in other.
func (v Vocabulary) UnionWith(other Vocabulary) Vocabulary {
	return Vocabulary{Columns: uniteNames(v.Columns, other.Columns), Tags: uniteNames(v.Tags, other.Tags)}
}

func uniteNames(have, more []string) []string {
	out := append([]string{}, have...)
	at := 0
	for _, name := range more {
		if known := findName(out, name); known != "" {
			at = slices.Index(out, known) + 1
			continue
		}
		out = slices.Insert(out, at, name)
		at++
	}
	return out
}

// findName returns name as the list spells it, or "" if it is not there.
func findName(list []string, name string) string {
	if slices.Contains(list, name) {
		return name
	}
	for _, known := range list {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return ""
}

// resolveName returns the known tag or column for a name.
func resolveName(what, name string, known []string) (string, error) {
	if found := findName(known, strings.TrimSpace(name)); found != "" {
		return found, nil
	}
	return "", Refusef("%s %q is not known on this board: use %s", what, cutName(name), joinChoices(known))
}

// maxChoices limits the names that an error lists, in bytes.
const maxChoices = 400

func joinChoices(known []string) string {
	if len(known) == 0 {
		return "none, it has none"
	}
	var out strings.Builder
	for i, name := range known {
		if i > 0 {
			out.WriteString(", ")
		}
		if out.Len()+len(name) > maxChoices {
			out.WriteString("...")
			break
		}
		out.WriteString(name)
	}
	return out.String()
}
