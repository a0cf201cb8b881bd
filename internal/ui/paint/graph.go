package paint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/core/journal"
	"orange/internal/core/workflow"
)

// Graph is a workflow, with the path that a task took and where it is. States that
// follow on one another stand below one another; what lies beside the way, such as
// questions and trouble, comes last. Without a workflow there is the path alone.
func (t Theme) Graph(def *workflow.Definition, at string, entries []journal.Entry, width int) []string {
	if width < 1 {
		return nil
	}
	s := t.sheet(width)
	path := pathOf(entries)
	if def != nil {
		g := newGraph(def, at, path)
		s.graph(g)
		s.legend()
	}
	if _, known := stateOf(def, at); !known && at != "" {
		s.blank()
		s.wrap(strip{{markHere, s.accent}}, indent(2), strip{{oneLine(at), s.selected}, {" is not in this workflow", s.warn}})
	}
	s.path(path)
	return s.lines
}

// Here is the line of a graph on which the state stands that the task is in, -1 if there
// is none.
func Here(graph []string) int {
	return slices.IndexFunc(graph, func(l string) bool {
		text := ansi.Strip(l)
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
	return def.State(name)
}

// pathOf is the states a task went through, in order.
func pathOf(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		if to := entries[i].To; to != "" {
			out = append(out, to)
		}
	}
	return out
}

func (s *sheet) graph(g *graph) {
	for _, chain := range g.chains {
		s.blank()
		for i, name := range chain {
			next := ""
			if i+1 < len(chain) {
				next = chain[i+1]
			}
			s.state(g, name)
			s.leaving(g, name, next)
		}
	}
}

// state is the line of a state: whether the task is here, was here, and how often.
func (s *sheet) state(g *graph, name string) {
	st, _ := g.def.State(name)
	mark, look := piece{"○ ", s.faint}, s.text
	n := g.visits[name]
	switch {
	case name == g.at:
		mark, look = piece{markHere, s.accent}, s.selected+bold
	case n > 0:
		mark, look = piece{"● ", s.good}, s.strong
	}
	left := strip{mark, {oneLine(name), look}}
	if n > 1 {
		left.addf(s.good, " ×%d", n)
	}
	var right strip
	right.add(s.faint, caption(st))
	s.spread(left, right)
}

func caption(st *workflow.State) string {
	if st.Role == "" || st.Role == st.Name {
		return string(st.Kind)
	}
	return string(st.Kind) + " · " + st.Role
}

// leaving shows the ways out of a state. The way to the next one is the line itself.
func (s *sheet) leaving(g *graph, name, next string) {
	var rows []strip
	for _, b := range g.branches(name, next) {
		rows = append(rows, s.branch(b))
	}
	onward, bar, lead := g.way(name, next), piece{"│", s.border}, piece{"├", s.border}
	if onward != nil && onward.taken > 0 {
		bar, lead = piece{"┃", s.good}, piece{"┠", s.good}
	}
	for i, row := range rows {
		if onward == nil && i == len(rows)-1 {
			lead.text = "╰"
		}
		s.put(joined(strip{lead}, row))
	}
	if onward != nil {
		s.put(joined(strip{bar, {" ", ""}}, s.labelled(onward)))
	}
}

// branch is one way that leaves the line, or several of which only the names are told.
func (s *sheet) branch(b branch) strip {
	sign := piece{b.sign() + " ", s.faint}
	if len(b.ways) > 1 {
		names := make([]string, len(b.ways))
		for i, w := range b.ways {
			names[i] = oneLine(w.to)
		}
		return strip{sign, {strings.Join(names, ", "), s.faint}}
	}
	w, look := b.ways[0], s.text
	if w.taken > 0 {
		sign.pen, look = s.good, s.strong
	}
	return joined(strip{sign, {oneLine(w.to), look}, {"  ", ""}}, s.labelled(w))
}

// labelled is how often a way was taken, and what takes it.
func (s *sheet) labelled(w *way) strip {
	var out strip
	if w.taken > 1 {
		out.addf(s.good, "×%d ", w.taken)
	}
	out.add(s.faint, w.label())
	return out
}

// legend explains the signs.
func (s *sheet) legend() {
	s.blank()
	s.wrap(nil, nil, strip{{legendHere + " been  ○ not yet  ┃ ⇒ taken  │ → possible  ↩ ⇐ back", s.faint}})
}

// maxPath is how many steps of a path are told, the last ones.
const maxPath = 40

func (s *sheet) path(path []string) {
	if len(path) == 0 {
		return
	}
	s.part("The way so far")
	var line strip
	if n := len(path) - maxPath; n > 0 {
		line.addf(s.faint, "%d more, then ", n)
		path = path[n:]
	}
	for i, name := range path {
		if i > 0 {
			line.add(s.accent, " → ")
		}
		line.add(s.text, name)
	}
	s.wrap(indent(2), indent(2), line)
}

// label is what takes a way. What must be true first is told if there is one edge.
func (w *way) label() string {
	out := strings.Join(w.verbs, ", ")
	if len(w.conditions) == 1 && w.edges == 1 {
		out += " " + w.conditions[0]
	}
	if w.stays {
		return fmt.Sprintf("stays: %s", out)
	}
	return out
}
