package tracker

import "strings"

// RequiredChecks returns the checks of a pull request that a forge requires. Required are their names, or patterns in which
// * stands for any text. One that was not reported yet is pending. If the forge does not say what it requires, all checks
// are required.
func RequiredChecks(all []Check, required []string) []Check {
	if len(required) == 0 {
		return all
	}
	var out []Check
	for _, pattern := range required {
		found := false
		for _, c := range all {
			if matchesName(pattern, c.Name) {
				out, found = append(out, c), true
			}
		}
		if !found {
			out = append(out, Check{Name: pattern, State: CheckPending})
		}
	}
	return out
}

// matchesName reports whether a name matches a pattern.
func matchesName(pattern, name string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, first)
	if !ok || !more {
		return ok && name == ""
	}
	for i := range len(name) + 1 {
		if matchesName(rest, name[i:]) {
			return true
		}
	}
	return false
}

// ChecksIn returns the names of the checks in a state.
func ChecksIn(list []Check, state string) []string {
	var out []string
	for i := range list {
		if list[i].State == state {
			out = append(out, list[i].Name)
		}
	}
	return out
}

// ApprovedBy returns the people whose last word about a pull request is that they approve it, and those who request
// changes.
func (p *PR) ApprovedBy() (approved, against []string) {
	last := map[string]string{}
	var order []string
	for _, r := range p.Reviews {
		if r.Bot || r.Verdict == Commented {
			continue
		}
		if last[r.Author] == "" {
			order = append(order, r.Author)
		}
		last[r.Author] = r.Verdict
	}
	for _, name := range order {
		if last[name] == Approved {
			approved = append(approved, name)
		} else {
			against = append(against, name)
		}
	}
	return approved, against
}
