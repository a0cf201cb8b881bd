package drawing

import (
	"cmp"
	"fmt"
	"html"
	"orange/internal/core/workflow"
	"slices"
	"strings"
)

// A canvas collects the parts of a drawing, lines first, so that boxes are on top.
type canvas struct {
	p     *picture
	g     *layout
	marks *marked // nil: nothing is marked
	lines strings.Builder
	boxes strings.Builder
}

// drawRoute draws a line from box to box: straight through each, and in a curve between.
func (c *canvas) drawRoute(r *route) {
	l := &c.p.lines[r.line]
	var d strings.Builder
	last := len(r.boxes) - 1
	x, y := c.portX(r, 0), c.boxBottom(r.boxes[0])
	fmt.Fprintf(&d, "M%s,%s", formatPx(x), formatPx(y))
	for i := 1; i <= last; i++ {
		b := &c.g.boxes[r.boxes[i]]
		nextX, nextY := b.x, b.y-b.h/2
		if i == last {
			nextX, nextY = c.portX(r, last), c.boxTop(r.boxes[i])
		}
		bend := float64((nextY - y) * 0.55) // float64 prevents machines from rounding differently
		fmt.Fprintf(&d, "C%s,%s %s,%s %s,%s", formatPx(x), formatPx(y+bend), formatPx(nextX), formatPx(nextY-bend), formatPx(nextX), formatPx(nextY))
		if i < last && b.h > 0 {
			fmt.Fprintf(&d, "V%s", formatPx(b.y+b.h/2))
		}
		x, y = nextX, b.y+b.h/2
	}
	end := `marker-end="url(#arrow)"`
	if l.back {
		end = `marker-start="url(#arrow)"`
	}
	fmt.Fprintf(&c.lines, "<path class=\"%s\" d=\"%s\" %s/>\n", c.lineClass(l), d.String(), end)
}

func (c *canvas) lineClass(l *line) string {
	class := "line"
	switch {
	case c.p.nodes[l.from].kind == startKind:
		class = "line begin"
	case l.auto:
		class = "line auto"
	}
	return class + c.takenClass(l)
}

// takenClass returns " taken" for a line that the marked task has taken.
func (c *canvas) takenClass(l *line) string {
	if c.marks == nil || !c.marks.hasTaken(c.p, l) {
		return ""
	}
	return " taken"
}

// boxTop and boxBottom return where lines meet a box; an arrow needs a little room.
func (c *canvas) boxTop(b int) float64    { return c.g.boxes[b].y - c.boxHeight(b)/2 }
func (c *canvas) boxBottom(b int) float64 { return c.g.boxes[b].y + c.boxHeight(b)/2 }

func (c *canvas) boxHeight(b int) float64 {
	if n := c.g.boxes[b].node; n >= 0 && c.p.nodes[n].kind != noteKind && c.p.nodes[n].kind != startKind {
		return stateHeight
	}
	return c.g.boxes[b].h
}

// portX returns where on a box a route begins or ends: the routes of a side share it in the order of their targets.
func (c *canvas) portX(r *route, end int) float64 {
	at, next := r.boxes[end], r.boxes[1]
	if end > 0 {
		next = r.boxes[end-1]
	}
	type sibling struct {
		x     float64
		route *route
	}
	var siblings []sibling
	for i := range c.g.routes {
		other := &c.g.routes[i]
		last := len(other.boxes) - 1
		switch {
		case end == 0 && other.boxes[0] == at:
			siblings = append(siblings, sibling{c.g.boxes[other.boxes[1]].x, other})
		case end > 0 && other.boxes[last] == at:
			siblings = append(siblings, sibling{c.g.boxes[other.boxes[last-1]].x, other})
		}
	}
	slices.SortStableFunc(siblings, func(a, b sibling) int { return cmp.Compare(a.x, b.x) })
	mine := slices.IndexFunc(siblings, func(v sibling) bool { return v.route == r })
	b := &c.g.boxes[at]
	room := min(c.innerWidth(at)-24, float64(len(siblings)-1)*22)
	if len(siblings) == 1 || room <= 0 {
		reach := max(0, c.innerWidth(at)/2-16) // a single line is as straight as possible
		return min(max(c.g.boxes[next].x, b.x-reach), b.x+reach)
	}
	return b.x - room/2 + room*float64(mine)/float64(len(siblings)-1)
}

// innerWidth returns how wide a box is drawn: a state with a loop has room beside it.
func (c *canvas) innerWidth(b int) float64 {
	n := c.g.boxes[b].node
	w := c.g.boxes[b].w
	for _, l := range c.p.lines {
		if l.from == l.to && l.from == n {
			_, labelWidth, _ := c.p.labelText(l)
			return w - 2*(loopWidth+labelWidth)
		}
	}
	return w
}

// drawLoop draws a line from a state to itself, at its right side.
func (c *canvas) drawLoop(l *line) {
	b := &c.g.boxes[l.from]
	x := b.x + c.innerWidth(l.from)/2
	fmt.Fprintf(&c.lines, "<path class=\"%s\" d=\"M%s,%sh10a12,12 0 0 1 0,24h-10\" marker-end=\"url(#arrow)\"/>\n", c.lineClass(l), formatPx(x), formatPx(b.y-12))
	words, w, h := c.p.labelText(*l)
	c.drawLabel(x+loopWidth+w/2, b.y, w, h, words, c.takenClass(l))
}

// drawBox draws a state, a note, the beginning or a label.
func (c *canvas) drawBox(b *box) {
	if b.node < 0 {
		if len(b.text) > 0 {
			l := &c.p.lines[c.g.routes[b.lane].line]
			c.drawLabel(b.x, b.y, b.w, float64(len(b.text))*labelLine+4, b.text, c.takenClass(l))
		}
		return
	}
	n := c.p.nodes[b.node]
	switch n.kind {
	case startKind:
		fmt.Fprintf(&c.boxes, "<circle class=\"start\" cx=\"%s\" cy=\"%s\" r=\"9\"/>\n", formatPx(b.x), formatPx(b.y))
	case noteKind:
		fmt.Fprintf(&c.boxes, "<rect class=\"note\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n", formatPx(b.x-b.w/2), formatPx(b.y-b.h/2), formatPx(b.w), formatPx(b.h))
		c.drawText("small", b.x, b.y, wrapWords(n.name, noteWidth))
	default:
		c.drawState(b, n)
	}
}

func (c *canvas) drawState(b *box, n node) {
	w := c.innerWidth(b.node)
	defer c.openPlace(b, n, w)()
	fmt.Fprintf(&c.boxes, "<rect class=\"state %s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"9\"/>\n",
		n.kind, formatPx(b.x-w/2), formatPx(b.y-stateHeight/2), formatPx(w), formatPx(stateHeight))
	if n.kind == workflow.Terminal {
		fmt.Fprintf(&c.boxes, "<rect class=\"inner %s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"6\"/>\n",
			n.kind, formatPx(b.x-w/2+4), formatPx(b.y-stateHeight/2+4), formatPx(w-8), formatPx(stateHeight-8))
	}
	c.drawText("name", b.x, b.y-8, []string{n.name})
	c.drawText("small", b.x, b.y+10, []string{n.caption()})
}

// drawLabel writes the text of a line; how is the class for a line that was taken.
func (c *canvas) drawLabel(x, y, w, h float64, lines []string, how string) {
	fmt.Fprintf(&c.boxes, "<rect class=\"label\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"4\"/>\n", formatPx(x-w/2), formatPx(y-h/2), formatPx(w), formatPx(h))
	c.drawText("small"+how, x, y, lines)
}

// drawText writes lines around a centre.
func (c *canvas) drawText(class string, x, y float64, lines []string) {
	first := y - float64(len(lines)-1)*labelLine/2 + 4
	for i, l := range lines {
		style := class
		if strings.HasPrefix(l, "[") {
			style += " condition"
		}
		fmt.Fprintf(&c.boxes, "<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>\n", style, formatPx(x), formatPx(first+float64(i)*labelLine), html.EscapeString(l))
	}
}

// formatPx formats a measure with one digit, the same on every machine.
func formatPx(v float64) string {
	s := fmt.Sprintf("%.1f", v+0.0)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		return "0"
	}
	return s
}
