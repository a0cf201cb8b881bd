package drawing

import (
	"fmt"
	"html"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
	"strings"
)

// The style of the drawing. It has its own background, and a darker one for viewers that prefer that.
const svgStyle = `
svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
.paper { fill: #ffffff; }
.line { fill: none; stroke: #5f6b76; stroke-width: 1.4; }
.auto { stroke-dasharray: 5 4; }
.begin { stroke-dasharray: 1.5 4; stroke-linecap: round; }
.tip { fill: #5f6b76; }
.start { fill: #37474f; }
.label { fill: #ffffff; }
.note { fill: #fafafa; stroke: #9aa5ae; stroke-dasharray: 3 3; }
text { text-anchor: middle; fill: #1f2933; }
.title { font-size: 16px; font-weight: 600; text-anchor: start; }
.name { font-size: 14px; font-weight: 600; }
.small { font-size: 11px; }
.condition { font-style: italic; }
.key { font-size: 11px; text-anchor: start; }
.state { stroke-width: 1.6; }
.inner { fill: none; stroke-width: 1; }
`

const svgDark = `.paper { fill: #14181c; }
.line { stroke: #a9b4be; }
.tip { fill: #a9b4be; }
.start { fill: #cfd8dc; }
.label { fill: #14181c; }
.note { fill: #1d2328; stroke: #6b7780; }
text { fill: #e8edf1; }
`

// darkFill returns the fill of states of a kind on a dark background.
func darkFill(k workflow.Kind) string {
	switch k {
	case workflow.Queued:
		return "#2a3338"
	case workflow.Agent:
		return "#12324d"
	case workflow.Waiting:
		return "#46300f"
	case workflow.HumanDo:
		return "#3a1f42"
	case workflow.Halt:
		return "#471d1f"
	}
	return "#1c3a20"
}

// frameDrawing combines title, drawing and key.
func frameDrawing(d *workflow.Definition, c *canvas, kinds []workflow.Kind) string {
	legend := keyItems(kinds)
	head := 34.0
	wide := max(c.g.width, charsWidth(d.Name+": "+d.Describe, 6.8), keyWidth(legend)) + 2*margin
	tall := c.g.height + head + 2*margin + 34
	var b strings.Builder
	writeOpening(d, &b, wide, tall, kinds)
	fmt.Fprintf(&b, "<text class=\"title\" x=\"%s\" y=\"%s\">%s</text>\n", formatPx(margin), formatPx(margin+8), html.EscapeString(d.Name))
	if d.Describe != "" {
		fmt.Fprintf(&b, "<text class=\"key\" x=\"%s\" y=\"%s\">%s</text>\n", formatPx(margin), formatPx(margin+24), html.EscapeString(humanize.OneLine(d.Describe)))
	}
	left := (wide - c.g.width) / 2
	fmt.Fprintf(&b, "<g transform=\"translate(%s,%s)\">\n%s%s</g>\n", formatPx(left), formatPx(margin+head), c.lines.String(), c.boxes.String())
	drawKey(&b, legend, tall-margin)
	b.WriteString("</svg>\n")
	return b.String()
}

// writeOpening writes everything up to the first part of the drawing.
func writeOpening(d *workflow.Definition, b *strings.Builder, wide, tall float64, kinds []workflow.Kind) {
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"t d\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\">\n",
		formatPx(wide), formatPx(tall), formatPx(wide), formatPx(tall))
	fmt.Fprintf(b, "<title id=\"t\">Workflow %s</title>\n<desc id=\"d\">%s</desc>\n", html.EscapeString(d.Name), html.EscapeString(describeWorkflow(d)))
	b.WriteString("<style>" + svgStyle)
	for _, k := range kinds {
		fill, stroke := kindColor(k)
		fmt.Fprintf(b, ".state.%s { fill: %s; }\n.%s { stroke: %s; }\n", k, fill, k, stroke)
	}
	b.WriteString("@media (prefers-color-scheme: dark) {\n" + svgDark)
	for _, k := range kinds {
		fmt.Fprintf(b, ".state.%s { fill: %s; }\n", k, darkFill(k))
	}
	b.WriteString("}\n</style>\n")
	b.WriteString("<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto-start-reverse\"><path class=\"tip\" d=\"M0,1L10,5L0,9z\"/></marker></defs>\n")
	b.WriteString("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n")
}

// describeWorkflow describes, for those who cannot see the drawing, where each state leads.
func describeWorkflow(d *workflow.Definition) string {
	p := pictureOf(d)
	var out []string
	for i, n := range p.nodes {
		var to []string
		for _, l := range p.lines {
			if l.from == i {
				to = append(to, p.nodes[l.to].name)
			}
		}
		if len(to) > 0 {
			out = append(out, n.name+" leads to "+strings.Join(to, ", ")+".")
		}
	}
	return strings.Join(out, " ")
}

// A keyItem explains a colour or a kind of line.
type keyItem struct {
	kind workflow.Kind // of a state, "" for a line
	line string        // class of the line
	text string
}

func keyItems(kinds []workflow.Kind) []keyItem {
	var out []keyItem
	for _, k := range kinds {
		out = append(out, keyItem{kind: k, text: string(k)})
	}
	return append(out, keyItem{line: "line", text: "may be asked for"}, keyItem{line: "line auto", text: "the engine alone"}, keyItem{line: "line begin", text: "a task begins"})
}

const keySwatch = 26.0

func keyWidth(items []keyItem) float64 {
	w := 0.0
	for _, it := range items {
		w += keySwatch + charsWidth(it.text, smallWidth) + 14
	}
	return w
}

func drawKey(b *strings.Builder, items []keyItem, y float64) {
	x := margin
	for _, it := range items {
		if it.kind != "" {
			fmt.Fprintf(b, "<rect class=\"state %s\" x=\"%s\" y=\"%s\" width=\"18\" height=\"12\" rx=\"3\"/>\n", it.kind, formatPx(x), formatPx(y-10))
		} else {
			fmt.Fprintf(b, "<path class=\"%s\" d=\"M%s,%sh20\" marker-end=\"url(#arrow)\"/>\n", it.line, formatPx(x), formatPx(y-4))
		}
		fmt.Fprintf(b, "<text class=\"key\" x=\"%s\" y=\"%s\">%s</text>\n", formatPx(x+keySwatch), formatPx(y), html.EscapeString(it.text))
		x += keySwatch + charsWidth(it.text, smallWidth) + 14
	}
}

// tooLarge returns a small picture that says why there is no large one.
func tooLarge(d *workflow.Definition) string {
	var b strings.Builder
	writeOpening(d, &b, 640, 80, nil)
	fmt.Fprintf(&b, "<text class=\"key\" x=\"24\" y=\"44\">%s has too many states or edges to draw here: use --format dot and Graphviz.</text>\n</svg>\n", html.EscapeString(d.Name))
	return b.String()
}
