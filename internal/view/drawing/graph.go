package drawing

import (
	"fmt"
	"orange/internal/core/workflow"
	"slices"
	"strconv"
	"strings"
)

// A picture is a workflow as nodes and lines, before layout.
type picture struct {
	nodes []node
	lines []line
}

// A node is a state, the beginning, or a note that replaces several states.
type node struct {
	name string
	kind workflow.Kind // of the state; noteKind or startKind for other nodes
	role string
}

// The kinds of nodes that are not states.
const (
	startKind workflow.Kind = "start"
	noteKind  workflow.Kind = "note"
)

// A line leads from one node to another. Each label is one edge of the file.
type line struct {
	from, to int
	labels   []label
	auto     bool // taken by the engine only
	back     bool // leads back to an earlier state
}

// A label is the trigger of an edge and its condition.
type label struct{ verb, condition string }

func (l label) String() string { return strings.TrimSpace(l.verb + " " + l.condition) }

// pictureOf returns a picture with one line for each pair of states.
func pictureOf(d *workflow.Definition) picture {
	p := picture{nodes: []node{{name: workflow.New, kind: startKind}}}
	at := map[string]int{workflow.New: 0}
	for i := range d.States {
		s := &d.States[i]
		at[s.Name] = len(p.nodes)
		p.nodes = append(p.nodes, node{name: s.Name, kind: s.Kind, role: s.Role})
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		for _, from := range e.From {
			p.joinNodes(at[from], at[e.To], labelOf(e), !e.AnswersTo(workflow.OnRequest, "") && from != workflow.New)
		}
	}
	for i := range d.States {
		if s := &d.States[i]; s.Reopen != "" {
			p.joinNodes(at[s.Name], at[s.Reopen], label{verb: "reopen"}, false)
		}
	}
	return p
}

func (p *picture) joinNodes(from, to int, l label, auto bool) {
	i := slices.IndexFunc(p.lines, func(have line) bool { return have.from == from && have.to == to })
	if i < 0 {
		p.lines = append(p.lines, line{from: from, to: to, labels: []label{l}, auto: auto})
		return
	}
	p.lines[i].labels = append(p.lines[i].labels, l)
	p.lines[i].auto = p.lines[i].auto && auto
}

// EdgeLabel returns the trigger of an edge, and its condition, "" for none.
func EdgeLabel(e *workflow.Edge) (verb, condition string) {
	l := labelOf(e)
	return l.verb, l.condition
}

func labelOf(e *workflow.Edge) label {
	var verbs, conditions []string
	for _, t := range e.On {
		word := string(t.Kind)
		switch {
		case t.Kind == workflow.OnCreate:
			continue
		case t.Kind == workflow.OnRequest && e.As != "":
			word = e.As
		case t.Kind == workflow.OnTimer:
			word = "after " + shortTime(t.Value)
		case t.Value != "":
			word = t.Value
		}
		verbs = append(verbs, word)
	}
	if len(e.Gates) > 0 {
		conditions = append(conditions, "["+strings.Join(e.Gates, ", ")+"]")
	}
	if e.When != nil {
		conditions = append(conditions, e.When.Source)
	}
	return label{verb: strings.Join(verbs, ", "), condition: strings.Join(conditions, " ")}
}

// shortTime removes the zeros at the end of a duration: 2h0m0s is 2h.
func shortTime(s string) string {
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// kindColor returns the colours of a kind of states: fill and line, on white.
func kindColor(k workflow.Kind) (fill, stroke string) {
	switch k {
	case workflow.Queued:
		return "#eceff1", "#607d8b"
	case workflow.Agent:
		return "#e3f2fd", "#1976d2"
	case workflow.Waiting:
		return "#fff3e0", "#ef6c00"
	case workflow.HumanDo:
		return "#f3e5f5", "#8e24aa"
	case workflow.Halt:
		return "#ffebee", "#d32f2f"
	}
	return "#e8f5e9", "#388e3c"
}

// usedKinds lists the kinds of states in the picture, in the order of the vocabulary.
func (p *picture) usedKinds() []workflow.Kind {
	var out []workflow.Kind
	for _, w := range workflow.Kinds() {
		if slices.ContainsFunc(p.nodes, func(n node) bool { return n.kind == w }) {
			out = append(out, w)
		}
	}
	return out
}

// RenderMermaid draws the workflow as a state diagram in the language of mermaid.js.
func RenderMermaid(d *workflow.Definition) string {
	p := pictureOf(d)
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for i := range p.nodes[1:] {
		fmt.Fprintf(&b, "    state %q as %s\n", p.nodes[i+1].name, mermaidID(&p, i+1))
	}
	for _, l := range p.lines {
		for _, text := range l.labels {
			fmt.Fprintf(&b, "    %s --> %s", mermaidID(&p, l.from), mermaidID(&p, l.to))
			if said := text.String(); said != "" {
				b.WriteString(" : " + mermaidEscape.Replace(said))
			}
			b.WriteString("\n")
		}
	}
	for i := range p.nodes {
		if p.nodes[i].kind == workflow.Terminal {
			fmt.Fprintf(&b, "    %s --> [*]\n", mermaidID(&p, i))
		}
	}
	for _, k := range p.usedKinds() {
		fill, stroke := kindColor(k)
		var members []string
		for i := range p.nodes {
			if p.nodes[i].kind == k {
				members = append(members, mermaidID(&p, i))
			}
		}
		fmt.Fprintf(&b, "    classDef %s fill:%s,stroke:%s,color:#1a1a1a\n", mermaidClass(k), fill, stroke)
		fmt.Fprintf(&b, "    class %s %s\n", strings.Join(members, ","), mermaidClass(k))
	}
	return b.String()
}

// mermaidID returns an identifier for a state that is neither a keyword nor an arrow. Names that differ only in dashes
// are distinguished by their position.
func mermaidID(p *picture, i int) string {
	if p.nodes[i].kind == startKind {
		return "[*]"
	}
	id := strings.ReplaceAll(p.nodes[i].name, "-", "_")
	for j := range i {
		if strings.EqualFold(strings.ReplaceAll(p.nodes[j].name, "-", "_"), id) {
			return "s_" + strconv.Itoa(i) + "_" + id
		}
	}
	return "s_" + id
}

func mermaidClass(k workflow.Kind) string { return "kind_" + string(k) }

var mermaidEscape = strings.NewReplacer("#", "#35;", ";", "#59;", "<", "#60;", ">", "#62;", ":", "#58;", `"`, "#34;", "\n", " ")

// RenderDOT draws the workflow in the language of Graphviz.
func RenderDOT(d *workflow.Definition) string {
	p := pictureOf(d)
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", dotString(d.Name))
	b.WriteString("  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n")
	b.WriteString("  edge [fontname=\"sans-serif\", fontsize=10];\n")
	for _, n := range p.nodes {
		if n.kind == startKind {
			fmt.Fprintf(&b, "  %s [label=\"\", shape=circle, width=0.2, fillcolor=\"#424242\"];\n", dotString(n.name))
			continue
		}
		fill, stroke := kindColor(n.kind)
		shape := ""
		if n.kind == workflow.Terminal {
			shape = ", peripheries=2"
		}
		fmt.Fprintf(&b, "  %s [label=%s, fillcolor=%q, color=%q%s];\n", dotString(n.name), dotString(n.name+"\n"+n.caption()), fill, stroke, shape)
	}
	for _, l := range p.lines {
		style := ""
		if l.auto {
			style = ", style=dashed"
		}
		for _, text := range l.labels {
			fmt.Fprintf(&b, "  %s -> %s [label=%s%s];\n", dotString(p.nodes[l.from].name), dotString(p.nodes[l.to].name),
				dotString(strings.TrimSpace(text.verb+"\n"+text.condition)), style)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// caption returns the second line of a node.
func (n node) caption() string {
	if n.role == "" {
		return string(n.kind)
	}
	return string(n.kind) + " · " + n.role
}

func dotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
