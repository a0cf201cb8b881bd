// Package drawing draws workflows: as Mermaid, as DOT, as an SVG file, and as an SVG inside a page that shows where a
// task is.
package drawing

import (
	"fmt"
	"html"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
	"strconv"
	"strings"
)

// Marks is what a drawing shows of one task in addition to its workflow.
type Marks struct {
	Path  []string // its states, from the first to the present one
	Live  bool     // an agent is at work there
	Links string   // prefix of the address of a state; "": states are not links
}

// Measures of a drawing in a page.
const (
	labelWidth = 30     // characters per line of a label
	veryWide   = 1500.0 // pixels beyond which it is scrolled instead of scaled
)

// wrapLabels breaks long labels into several.
func (p *picture) wrapLabels(n int) {
	for i := range p.lines {
		var out []label
		for _, l := range p.lines[i].labels {
			for _, text := range wrapWords(l.verb, n) {
				out = append(out, label{verb: text})
			}
			for _, text := range wrapWords(l.condition, n) {
				out = append(out, label{condition: text})
			}
		}
		p.lines[i].labels = out
	}
}

// maxPathSteps limits how many steps of a path the description lists.
const maxPathSteps = 12

// RenderPage returns the workflow as a picture for a page, with the path of a task. It has classes and no style: the
// style is in CSS.
func RenderPage(d *workflow.Definition, m Marks) string {
	c, kinds, ok := drawWorkflow(d, &marked{Marks: m})
	var b strings.Builder
	if !ok {
		fmt.Fprintf(&b, "<svg class=\"drawing\" role=\"img\" aria-label=\"%s\" viewBox=\"0 0 640 60\" width=\"640\" height=\"60\">\n", html.EscapeString(describeDrawing(d, m)))
		fmt.Fprintf(&b, "<text class=\"key\" x=\"24\" y=\"34\">%s has too many states or edges to draw here.</text>\n</svg>\n", html.EscapeString(humanize.OneLine(d.Name)))
		return ownClasses(b.String())
	}
	legend := keyItems(kinds)
	wide := max(c.g.width, keyWidth(legend)) + 2*margin
	tall := c.g.height + 2*margin + 34
	class, role := "drawing", "img"
	if len(m.Path) > 0 {
		class += " walked"
	}
	if wide > veryWide {
		class += " wide"
	}
	if m.Links != "" {
		role = "group" // its content is accessible
	}
	fmt.Fprintf(&b, "<svg class=\"%s\" role=\"%s\" aria-label=\"%s\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\">\n",
		class, role, html.EscapeString(describeDrawing(d, m)), formatPx(wide), formatPx(tall), formatPx(wide), formatPx(tall))
	b.WriteString("<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerUnits=\"userSpaceOnUse\" markerWidth=\"10\" markerHeight=\"10\" orient=\"auto-start-reverse\"><path class=\"tip\" d=\"M0,1L10,5L0,9z\"/></marker></defs>\n")
	fmt.Fprintf(&b, "<g transform=\"translate(%s,%s)\">\n%s%s</g>\n", formatPx((wide-c.g.width)/2), formatPx(margin), c.lines.String(), c.boxes.String())
	drawKey(&b, legend, tall-margin)
	b.WriteString("</svg>\n")
	return ownClasses(b.String())
}

// classPrefix separates the classes of a drawing from those of the page.
const classPrefix = "wf-"

// ownClasses adds the prefix to the classes of a drawing. Texts contain no attributes, because they are escaped.
func ownClasses(svg string) string {
	var b strings.Builder
	for i, part := range strings.Split(svg, ` class="`) {
		if i == 0 {
			b.WriteString(part)
			continue
		}
		names, rest, _ := strings.Cut(part, `"`)
		b.WriteString(` class="`)
		for k, name := range strings.Fields(names) {
			if k > 0 {
				b.WriteByte(' ')
			}
			if name != "drawing" {
				b.WriteString(classPrefix)
			}
			b.WriteString(name)
		}
		b.WriteString(`"` + rest)
	}
	return b.String()
}

// describeDrawing describes the drawing for those who cannot see it.
func describeDrawing(d *workflow.Definition, m Marks) string {
	name := "Workflow " + humanize.OneLine(d.Name) + ". "
	if len(m.Path) == 0 {
		return name + describeWorkflow(d)
	}
	at := m.Path[len(m.Path)-1]
	path, begin := m.Path, "Its way was "
	if len(path) > maxPathSteps {
		path, begin = path[len(path)-maxPathSteps:], "The end of its way was "
	}
	return name + "The task is in " + humanize.OneLine(at) + ". " + begin + humanize.OneLine(strings.Join(path, ", then ")) + "."
}

// marked is what is known of a task while its workflow is drawn.
type marked struct {
	Marks
	visits  map[string]int
	steps   map[pathStep]bool
	sources map[string][]string // of lines that one note replaces
}

// A pathStep is one step of a path.
type pathStep struct{ from, to string }

// indexPath prepares for the lines of a picture.
func (m *marked) indexPath(p *picture) {
	m.visits, m.steps, m.sources = map[string]int{}, map[pathStep]bool{}, map[string][]string{}
	from := workflow.New
	for _, state := range m.Path {
		m.visits[state]++
		m.steps[pathStep{from, state}] = true
		from = state
	}
	for i := range p.lines {
		l := &p.lines[i]
		m.sources[l.noteKey()] = append(m.sources[l.noteKey()], p.nodes[l.from].name)
	}
}

// hasTaken reports whether the task has taken a line.
func (m *marked) hasTaken(p *picture, l *line) bool {
	to := p.nodes[l.to].name
	if p.nodes[l.from].kind != noteKind {
		return m.steps[pathStep{p.nodes[l.from].name, to}]
	}
	for _, name := range m.sources[l.noteKey()] {
		if m.steps[pathStep{name, to}] {
			return true
		}
	}
	return false
}

// currentState returns the task's state.
func (m *marked) currentState() string {
	if len(m.Path) == 0 {
		return ""
	}
	return m.Path[len(m.Path)-1]
}

// openPlace opens the element around a state of a marked drawing; the returned function closes it.
func (c *canvas) openPlace(b *box, n node, w float64) func() {
	m := c.marks
	if m == nil {
		return func() {}
	}
	visits, here := m.visits[n.name], n.name == m.currentState()
	class := "place"
	if visits > 0 {
		class += " visited"
	}
	if here {
		class += " here"
	}
	if here && m.Live {
		class += " live"
	}
	end := "</g>\n"
	if m.Links != "" {
		end = "</a>\n"
		fmt.Fprintf(&c.boxes, "<a class=\"%s\" href=\"%s\" aria-label=\"%s\">\n", class, html.EscapeString(m.Links+n.name), html.EscapeString(n.describeNode(visits, here)))
	} else {
		fmt.Fprintf(&c.boxes, "<g class=\"%s\">\n", class)
	}
	if here {
		fmt.Fprintf(&c.boxes, "<rect class=\"ring\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"13\"/>\n", formatPx(b.x-w/2-5), formatPx(b.y-stateHeight/2-5), formatPx(w+10), formatPx(stateHeight+10))
	}
	return func() {
		if visits > 1 {
			c.drawBadge(b.x+w/2-2, b.y-stateHeight/2+2, strconv.Itoa(visits)+"×")
		}
		c.boxes.WriteString(end)
	}
}

// describeNode describes a state.
func (n node) describeNode(visits int, here bool) string {
	out := n.name + ", " + n.caption()
	switch {
	case visits == 1:
		out += ", visited once"
	case visits > 1:
		out += fmt.Sprintf(", visited %d times", visits)
	}
	if here {
		out += ", the task is here"
	}
	return out
}

// drawBadge draws a small sign at the corner of a state.
func (c *canvas) drawBadge(x, y float64, text string) {
	w := charsWidth(text, smallWidth) + 8
	fmt.Fprintf(&c.boxes, "<rect class=\"badge\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"16\" rx=\"8\"/>\n", formatPx(x-w/2), formatPx(y-8), formatPx(w))
	fmt.Fprintf(&c.boxes, "<text class=\"count\" x=\"%s\" y=\"%s\">%s</text>\n", formatPx(x), formatPx(y+4), text)
}
