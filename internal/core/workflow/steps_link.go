package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The states of a step workflow that are not steps.
const (
	stepPending   = "pending"
	stepHalted    = "halted"
	stepComplete  = "complete"
	stepCancelled = "cancelled"
)

// linkSteps sets the state of every step and the target of every code.
func (f *stepFile) linkSteps(r *reader) {
	taken := []string{New, stepPending, stepHalted, stepComplete, stepCancelled}
	for i := range f.steps {
		s := &f.steps[i]
		s.state = uniqueName(s.role, taken)
		taken = append(taken, s.state)
	}
	for i := range f.steps {
		for j := range f.steps[i].codes {
			t := &f.steps[i].codes[j]
			if t.next == "" {
				continue
			}
			to, why := f.findStep(i, t)
			if why != "" {
				r.failAt(t.pos, "%s: %s: next_step %q %s", f.stepTitle(i), t.code, t.next, why)
			}
			t.to = to
		}
	}
}

// uniqueName returns name, or name with the first number after it that is not taken.
func uniqueName(name string, taken []string) string {
	out := name
	for n := 2; slices.Contains(taken, out); n++ {
		out = name + "-" + strconv.Itoa(n)
	}
	return out
}

// findStep returns the step that a code of step from leads to. A name means the next step of
// that agent; if the agent has only earlier steps, it means the earlier one if there is exactly
// one.
func (f *stepFile) findStep(from int, t *transition) (step int, why string) {
	var behind []int
	for i := range f.steps {
		switch {
		case t.number || f.steps[i].role != t.next:
		case i > from:
			return i, ""
		default:
			behind = append(behind, i)
		}
	}
	n, err := strconv.Atoi(t.next)
	switch {
	case len(behind) == 1:
		return behind[0], ""
	case len(behind) > 1:
		return -1, fmt.Sprintf("is ambiguous: give the step's number, one of %s", joinNumbers(behind))
	case err == nil && n >= 0 && n < len(f.steps):
		return n, ""
	case err == nil:
		return -1, fmt.Sprintf("is the number of no step: use 0 to %d", len(f.steps)-1)
	}
	return -1, fmt.Sprintf("is the agent of no step: use %s, the number of a step, or null%s", orList(f.agentNames()), suggestSimilar(t.next, f.agentNames()))
}

func joinNumbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

// agentNames returns every agent once, in the order of the steps.
func (f *stepFile) agentNames() []string {
	var out []string
	for i := range f.steps {
		if !slices.Contains(out, f.steps[i].role) {
			out = append(out, f.steps[i].role)
		}
	}
	return out
}

// stateNames lists the states of the steps.
func (f *stepFile) stateNames() []string {
	out := make([]string, len(f.steps))
	for i := range f.steps {
		out[i] = f.steps[i].state
	}
	return out
}

func (f *stepFile) stepTitle(i int) string { return stepName(i, f.steps[i].role) }

func stepName(number int, agent string) string {
	if agent == "" {
		return fmt.Sprintf("step %d", number)
	}
	return fmt.Sprintf("step %d (%s)", number, agent)
}

// endKind returns how a code that leads to no step ends the work.
func (t *transition) endKind() string {
	switch {
	case t.kind != "":
		return t.kind
	case slices.Contains(haltCodes[:], t.code):
		return endsHalt
	}
	return endsComplete
}

// hasLoop reports whether the steps can form a cycle.
func (f *stepFile) hasLoop() bool {
	const open, closed = 1, 2
	seen := make([]int, len(f.steps))
	var visit func(int) bool
	visit = func(i int) bool {
		seen[i] = open
		for _, t := range f.steps[i].codes {
			if t.to >= 0 && (seen[t.to] == open || seen[t.to] == 0 && visit(t.to)) {
				return true
			}
		}
		seen[i] = closed
		return false
	}
	for i := range f.steps {
		if seen[i] == 0 && visit(i) {
			return true
		}
	}
	return false
}

// stepBound returns how many steps a task may take before a person must act, or 0 for no bound:
// steps that lead only forward end by themselves.
func (f *stepFile) stepBound() int {
	switch {
	case f.max > 0:
		return f.max
	case f.hasLoop():
		return min(50, 3*(len(f.steps)+1))
	}
	return 0
}

// EnhancementName returns the name under which steps keep files for each other: the last part
// of the branch's name, safe as the name of a folder.
func EnhancementName(branch string) string {
	last := branch[strings.LastIndexByte(branch, '/')+1:]
	safe := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, last)
	if safe = strings.TrimLeft(safe, ".-"); safe == "" {
		return "task"
	}
	return safe
}
