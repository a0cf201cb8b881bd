package task

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Named is what people may call a task by.
type Named struct {
	ID      ID
	Project string
	Branch  string
	Status  string
	Summary string
	Over    bool // in a terminal state
}

// ChooseNamed returns the tasks of list that name means. The whole id of a task means that task only. Any other name
// means the tasks whose id begins with it and those whose branch it is, alone or after the project and a slash; if
// there are none, those whose id begins with it in any case; and if there are none, those whose summary has the same
// words. Of several tasks with the branch or the summary, those of the project count if there are any, and then those
// that are not over.
//
// A task that is named by its branch never takes precedence over one whose id begins with the name: somebody who may create
// a branch could otherwise redirect a request for another task.
func ChooseNamed(name, project string, list []Named) []Named {
	if i := slices.IndexFunc(list, func(n Named) bool { return string(n.ID) == name }); i >= 0 {
		return list[i : i+1]
	}
	narrow := func(list []Named) []Named {
		list = preferNamed(list, func(n Named) bool { return n.Project == project })
		return preferNamed(list, func(n Named) bool { return !n.Over })
	}
	begun := chooseNamed(list, func(n Named) bool { return name != "" && strings.HasPrefix(string(n.ID), name) })
	branches := chooseNamed(list, func(n Named) bool { return n.isBranch(name) })
	if len(branches) == 0 {
		branches = chooseNamed(list, func(n Named) bool {
			return n.isBranch(name) || strings.EqualFold(n.Branch, name) || strings.EqualFold(n.Project+"/"+n.Branch, name)
		})
	}
	for _, n := range narrow(branches) {
		if !slices.ContainsFunc(begun, func(o Named) bool { return o.ID == n.ID }) {
			begun = append(begun, n)
		}
	}
	if len(begun) == 0 {
		begun = chooseNamed(list, func(n Named) bool { return hasPrefixFold(string(n.ID), name) })
	}
	if slug := Slug(name); len(begun) == 0 && slug != "" {
		begun = narrow(chooseNamed(list, func(n Named) bool { return Slug(n.Summary) == slug }))
	}
	return begun
}

func (n Named) isBranch(name string) bool {
	return n.Branch != "" && (n.Branch == name || n.Project+"/"+n.Branch == name)
}

func chooseNamed(list []Named, passes func(Named) bool) (out []Named) {
	for _, n := range list {
		if passes(n) {
			out = append(out, n)
		}
	}
	return out
}

// preferNamed returns the tasks that pass, or all if none does.
func preferNamed(list []Named, passes func(Named) bool) []Named {
	if out := chooseNamed(list, passes); len(out) > 0 {
		return out
	}
	return list
}

func hasPrefixFold(s, prefix string) bool {
	return prefix != "" && len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// Slug returns the words of a text in lower case, joined by dashes: letters and digits in any script. It is "" if there
// are none.
func Slug(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }), "-")
}

// maxBranchWords is the length of a branch name that is made from words, in bytes.
const maxBranchWords = 48

// BranchFromWords returns a branch name made from a text, such as fix-the-login-bug, cut after a word if it is long.
// The n-th choice, from 1, has its number at the end if n is not 1. It returns "" if the text has no words.
func BranchFromWords(text string, n int) string {
	name := Slug(text)
	if len(name) > maxBranchWords {
		if cut := strings.LastIndexByte(name[:maxBranchWords+1], '-'); cut > 0 {
			name = name[:cut]
		} else {
			name = strings.ToValidUTF8(name[:maxBranchWords], "")
		}
	}
	if name != "" && n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	return name
}
