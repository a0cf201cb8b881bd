package render

import (
	"fmt"
	"slices"
	"strings"

	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/journal"
	"orange/internal/core/workflow"
)

// RenderGraph renders a workflow with the path of a task and its present state. Successive states are below one
// another; states beside the path, such as questions and trouble, come last. Without a workflow it renders the path
// only.
func (t Theme) RenderGraph(def *workflow.Definition, at string, entries []journal.Entry, width int) []string {
	if width < 1 {
		return nil
	}
	s := t.newSheet(width)
	path := pathOf(entries)
	if def != nil {
		g := newGraph(def, at, path)
		s.putGraph(g)
		s.putLegend()
	}
	if _, known := stateOf(def, at); !known && at != "" {
		s.putBlank()
		s.putWrapped(strip{{markHere, s.accent}}, indentStrip(2), strip{{oneLine(at), s.selected}, {" is not in this workflow", s.warn}})
	}
	s.putPath(path)
	return s.lines
}

// CurrentStateLine returns the line of a graph that shows the task's present state, or -1 if there is none.
func CurrentStateLine(graph []string) int {
	return slices.IndexFunc(graph, func(l string) bool {
		text := charm.Strip(l)
		return strings.HasPrefix(text, markHere) && !strings.HasPrefix(text, legendHere)
	})
}

// Signs of where the task is, and what explains them.
const (
	markHere   = "▶ "
	legendHere = "▶ here  ●"
)

func stateOf(def *workflow.Definition, name string) (*workflow.State, bool) {
	if def == nil {
		return nil, false
	}
	return def.StateNamed(name)
}

// pathOf returns the states that a task went through, in order.
func pathOf(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		if to := entries[i].To; to != "" {
			out = append(out, to)
		}
	}
	return out
}

func (s *sheet) putGraph(g *graph) {
	for _, chain := range g.chains {
		s.putBlank()
		for i, name := range chain {
			next := ""
			if i+1 < len(chain) {
				next = chain[i+1]
			}
			s.putState(g, name)
			s.putWaysOut(g, name, next)
		}
	}
}

// putState adds the line of a state: whether the task is here, was here, and how often.
func (s *sheet) putState(g *graph, name string) {
	st, _ := g.def.StateNamed(name)
	mark, style := piece{"○ ", s.faint}, s.text
	n := g.visits[name]
	switch {
	case name == g.at:
		mark, style = piece{markHere, s.accent}, s.selected+bold
	case n > 0:
		mark, style = piece{"● ", s.good}, s.strong
	}
	left := strip{mark, {oneLine(name), style}}
	if n > 1 {
		left.addTextf(s.good, " ×%d", n)
	}
	var right strip
	right.addText(s.faint, stateCaption(st))
	s.putSpread(left, right)
}

func stateCaption(st *workflow.State) string {
	if st.Role == "" || st.Role == st.Name {
		return string(st.Kind)
	}
	return string(st.Kind) + " · " + st.Role
}

// putWaysOut adds the ways out of a state. The way to the next state is the line itself.
func (s *sheet) putWaysOut(g *graph, name, next string) {
	var rows []strip
	for _, b := range g.listBranches(name, next) {
		rows = append(rows, s.branchStrip(b))
	}
	main, bar, lead := g.findWay(name, next), piece{"│", s.border}, piece{"├", s.border}
	if main != nil && main.taken > 0 {
		bar, lead = piece{"┃", s.good}, piece{"┠", s.good}
	}
	for i, row := range rows {
		if main == nil && i == len(rows)-1 {
			lead.text = "╰"
		}
		s.putLine(joinStrips(strip{lead}, row))
	}
	if main != nil {
		s.putLine(joinStrips(strip{bar, {" ", ""}}, s.wayLabel(main)))
	}
}

// branchStrip returns one branch, or several by their names only.
func (s *sheet) branchStrip(b branch) strip {
	sign := piece{b.arrowSign() + " ", s.faint}
	if len(b.ways) > 1 {
		names := make([]string, len(b.ways))
		for i, w := range b.ways {
			names[i] = oneLine(w.to)
		}
		return strip{sign, {strings.Join(names, ", "), s.faint}}
	}
	w, style := b.ways[0], s.text
	if w.taken > 0 {
		sign.pen, style = s.good, s.strong
	}
	return joinStrips(strip{sign, {oneLine(w.to), style}, {"  ", ""}}, s.wayLabel(w))
}

// wayLabel returns how often a way was taken, and its trigger.
func (s *sheet) wayLabel(w *way) strip {
	var out strip
	if w.taken > 1 {
		out.addTextf(s.good, "×%d ", w.taken)
	}
	out.addText(s.faint, w.triggerText())
	return out
}

// putLegend explains the signs.
func (s *sheet) putLegend() {
	s.putBlank()
	s.putWrapped(nil, nil, strip{{legendHere + " been  ○ not yet  ┃ ⇒ taken  │ → possible  ↩ ⇐ back", s.faint}})
}

// maxPath is how many steps of a path are shown, the last ones.
const maxPath = 40

func (s *sheet) putPath(path []string) {
	if len(path) == 0 {
		return
	}
	s.beginPart("The way so far")
	var line strip
	if n := len(path) - maxPath; n > 0 {
		line.addTextf(s.faint, "%d more, then ", n)
		path = path[n:]
	}
	for i, name := range path {
		if i > 0 {
			line.addText(s.accent, " → ")
		}
		line.addText(s.text, name)
	}
	s.putWrapped(indentStrip(2), indentStrip(2), line)
}

// triggerText returns the trigger of a way. If there is only one edge, it includes the condition.
func (w *way) triggerText() string {
	out := strings.Join(w.verbs, ", ")
	if len(w.conditions) == 1 && w.edges == 1 {
		out += " " + w.conditions[0]
	}
	if w.stays {
		return fmt.Sprintf("stays: %s", out)
	}
	return out
}
