package workflow

import (
	"path"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// A GateKind is one kind of evidence that a gate can require.
type GateKind struct {
	Key  string // of the workflow file
	asks func(*Gate) bool
}

// GateKinds returns the kinds of evidence, in the order in which messages name them.
func GateKinds() []GateKind {
	return []GateKind{
		{"section", func(g *Gate) bool { return g.Section != "" }},
		{"evidence", func(g *Gate) bool { return g.Evidence != "" }},
		{"file", func(g *Gate) bool { return g.File != "" }},
		{"children", func(g *Gate) bool { return len(g.Children) > 0 }},
		{"check", func(g *Gate) bool { return g.Check != "" }},
	}
}

// kindCount returns how many kinds of evidence the gate requires; a valid gate requires one.
func (g *Gate) kindCount() int {
	n := 0
	for _, k := range GateKinds() {
		if k.asks(g) {
			n++
		}
	}
	return n
}

// gateKeys returns the kinds of gates as part of a sentence.
func gateKeys() string {
	var keys []string
	for _, k := range GateKinds() {
		keys = append(keys, k.Key+":")
	}
	return strings.Join(keys[:len(keys)-1], ", ") + " and " + keys[len(keys)-1]
}

// FactName returns the name of the fact that the runtime has to look up for the gate, or "" if
// there is none: sections are always read.
func (g *Gate) FactName() string {
	switch {
	case g.Evidence != "":
		return g.Evidence
	case g.File != "":
		return FileFact + g.Name
	case g.Check != "":
		return CheckFact + g.Check
	}
	return ""
}

// HandsOver reports whether the gate requires that the agent's work is committed. A person gets
// a warning if it is not; an agent must commit it first.
func (g *Gate) HandsOver() bool { return g.Evidence == Commits || g.Evidence == Clean }

// The section in which an agent hands over, and the label by which it declares there that it
// has nothing to commit.
const (
	HandoffSection = "Handoff"
	NothingLabel   = "NOTHING"
)

// FileFact is the prefix of the name of the evidence that a gate's file exists.
const FileFact = "file:"

// CheckFact is the prefix of the name of the evidence that a check passed on the present tree.
const CheckFact = "check:"

// badPath returns why a file of a gate cannot be a file of the worktree, or "" if it can.
func badPath(file string) string {
	switch {
	case file == "":
		return ""
	case path.IsAbs(file) || strings.Contains(file, `\`):
		return "is not a path in the worktree: write it relative, with /"
	case slices.Contains(strings.Split(file, "/"), ".."):
		return "leads out of the worktree: write it without .."
	}
	return ""
}

func (n *nameResolver) checkGate(g *Gate) {
	for _, s := range g.Children {
		n.requireThat(n.d.hasState(s), g.Pos, "gate %s: state %q is not declared: use %s%s", g.Name, s, n.d.stateNames(), n.d.similarState(s))
	}
	for _, name := range PromptVariables(g.File) {
		n.requireThat(name == "enhancement_name" || name == "enhancement_dir", g.Pos, "gate %s: file: {%s} cannot be used in a path: use {enhancement_name} or {enhancement_dir}", g.Name, name)
	}
}

// WaitsForChildren reports whether an edge out of the state waits for the task's children.
func (d *Definition) WaitsForChildren(state string) bool {
	for _, i := range d.edgesFrom[state] {
		for _, g := range d.Edges[i].gates {
			if len(d.Gates[g].Children) > 0 {
				return true
			}
		}
	}
	return false
}

// IsTerminal reports whether a state is terminal.
func (d *Definition) IsTerminal(state string) bool {
	s, ok := d.StateNamed(state)
	return ok && s.Kind == Terminal
}

// KnowsChildren reports whether the workflow handles tasks with children.
func (d *Definition) KnowsChildren() bool {
	return slices.ContainsFunc(d.States, func(s State) bool { return d.WaitsForChildren(s.Name) })
}

// mostChildren limits how many children of a task are distinguished.
const mostChildren = 50

// MostChildren returns how many children of a task guards distinguish: with more children no
// guard changes its value.
func (d *Definition) MostChildren() int {
	most := 1
	for i := range d.Edges {
		if when := d.Edges[i].When; when != nil && slices.Contains(when.Names, children) {
			most = max(most, min(when.most+1, mostChildren))
		}
	}
	return most
}

// AsksForChildren reports whether an edge out of the state depends on the task's children.
func (d *Definition) AsksForChildren(state string) bool {
	for _, i := range d.edgesFrom[state] {
		if when := d.Edges[i].When; when != nil && slices.Contains(when.Names, children) {
			return true
		}
	}
	return d.WaitsForChildren(state)
}

// VerdictSections returns the sections in which edges out of the state require a verdict.
func (d *Definition) VerdictSections(state string) []string {
	var out []string
	for _, i := range d.edgesFrom[state] {
		for _, g := range d.Edges[i].gates {
			if gate := &d.Gates[g]; gate.Verdict != "" && !slices.Contains(out, gate.Section) {
				out = append(out, gate.Section)
			}
		}
	}
	return out
}

// MayJudge reports whether a role may use a verdict in the section while a task is in the
// state: the state is its own, or an edge that requires the verdict is.
func (d *Definition) MayJudge(state, section, role string) bool {
	if s, ok := d.StateNamed(state); ok && s.Role == role {
		return true
	}
	for _, i := range d.edgesFrom[state] {
		e := &d.Edges[i]
		asks := slices.ContainsFunc(e.gates, func(g int) bool { return d.Gates[g].Verdict != "" && d.Gates[g].Section == section })
		if asks && e.PermitsActor(task.Actor(role)) {
			return true
		}
	}
	return false
}

// AsksForVerdict reports whether the edge has a gate that requires the verdict, and returns the
// section.
func (d *Definition) AsksForVerdict(e *Edge, verdict string) (section string, ok bool) {
	for _, g := range e.gates {
		if d.Gates[g].Verdict == verdict {
			return d.Gates[g].Section, true
		}
	}
	return "", false
}

// FarthestChildState returns the state of a child that satisfies the most gates, or "" if no
// gate requires children.
func (d *Definition) FarthestChildState() string {
	best, most := "", 0
	for i := range d.Gates {
		for _, state := range d.Gates[i].Children {
			n := 0
			for k := range d.Gates {
				if slices.Contains(d.Gates[k].Children, state) {
					n++
				}
			}
			if n > most {
				best, most = state, n
			}
		}
	}
	return best
}
