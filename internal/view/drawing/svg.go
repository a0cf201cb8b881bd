package drawing

import (
	"fmt"
	"orange/internal/core/workflow"
	"slices"
	"strings"
	"unicode/utf8"
)

// Measures of the drawing, in pixels. Widths of text are estimated on the wide side,
// because the font is the viewer's.
const (
	margin      = 24.0
	nameWidth   = 8.2 // of a character of a state's name
	smallWidth  = 6.6 // of a character of a caption or a label
	labelLine   = 14.0
	stateHeight = 46.0
	noteWidth   = 34 // characters of a line of a note
	loopWidth   = 26.0
)

// manySources is how many states must have a line in common before one note replaces them.
const manySources = 4

// Larger workflows need a dedicated program.
const (
	maxDrawnNodes = 120
	maxDrawnLines = 400
)

// RenderSVG draws the workflow as a self-contained picture: states as boxes in rows, from the beginning of a task to
// its end. What many states have in common is drawn once, from a note that lists them.
func RenderSVG(d *workflow.Definition) string {
	c, kinds, ok := drawWorkflow(d, nil)
	if !ok {
		return tooLarge(d)
	}
	return frameDrawing(d, c, kinds)
}

// drawWorkflow lays the workflow out and draws its parts, marked if there are marks. It returns false if there are too
// many parts.
func drawWorkflow(d *workflow.Definition, m *marked) (c *canvas, kinds []workflow.Kind, ok bool) {
	p := pictureOf(d)
	if len(p.nodes) > maxDrawnNodes || len(p.lines) > maxDrawnLines {
		return nil, nil, false
	}
	if m != nil {
		p.wrapLabels(labelWidth)
	}
	p.findBack()
	drawn := p.withNotes()
	g := arrangePicture(&drawn, drawn.nodeSize, drawn.labelText)
	c = &canvas{p: &drawn, g: g, marks: m}
	if m != nil {
		m.indexPath(&p)
	}
	for i := range g.routes {
		c.drawRoute(&g.routes[i])
	}
	for i, l := range drawn.lines {
		if l.from == l.to {
			c.drawLoop(&drawn.lines[i])
		}
	}
	for i := range g.boxes {
		c.drawBox(&g.boxes[i])
	}
	return c, p.usedKinds(), true
}

// withNotes draws lines that many states have in common from one note, and gives each state in which a task may begin a
// separate beginning.
func (p *picture) withNotes() picture {
	out := picture{nodes: slices.Clone(p.nodes)}
	sources := map[string][]string{}
	for _, l := range p.lines {
		sources[l.noteKey()] = append(sources[l.noteKey()], p.nodes[l.from].name)
	}
	begun := false
	for _, l := range p.lines {
		names := sources[l.noteKey()]
		switch {
		case l.from == 0 && begun:
			l.from = out.addNode(node{name: workflow.New, kind: startKind})
		case l.from == 0:
			begun = true
		case l.from != l.to && len(names) >= manySources:
			if names[0] != p.nodes[l.from].name {
				continue // the first one is drawn for all
			}
			l.from = out.addNode(node{name: "any of " + strings.Join(names, ", "), kind: noteKind})
			l.back = false
		}
		out.lines = append(out.lines, l)
	}
	return out
}

// noteKey returns the same key for lines that one note can replace.
func (l *line) noteKey() string {
	return fmt.Sprint(l.to, l.labels, l.auto, l.from == 0, l.from == l.to)
}

func (p *picture) addNode(n node) int {
	p.nodes = append(p.nodes, n)
	return len(p.nodes) - 1
}

// nodeSize returns the size of a node.
func (p *picture) nodeSize(n node) (w, h float64) {
	switch n.kind {
	case startKind:
		return 20, 20
	case noteKind:
		lines := wrapWords(n.name, noteWidth)
		return textWidth(lines, smallWidth) + 20, float64(len(lines))*labelLine + 12
	}
	w = max(charsWidth(n.name, nameWidth), charsWidth(n.caption(), smallWidth)) + 28
	for _, l := range p.lines {
		if l.from == l.to && p.nodes[l.from].name == n.name {
			lines, labelWidth, _ := p.labelText(l)
			w += 2 * (loopWidth + labelWidth)
			return w, max(stateHeight, float64(len(lines))*labelLine+8)
		}
	}
	return w, stateHeight
}

// labelText returns the text of a line's labels, and its size.
func (p *picture) labelText(l line) (lines []string, w, h float64) {
	for _, text := range l.labels {
		for _, part := range []string{text.verb, text.condition} {
			if part != "" {
				lines = append(lines, part)
			}
		}
	}
	if len(lines) == 0 {
		return nil, 2, 0
	}
	return lines, textWidth(lines, smallWidth) + 12, float64(len(lines))*labelLine + 4
}

func textWidth(lines []string, char float64) float64 {
	w := 0.0
	for _, l := range lines {
		w = max(w, charsWidth(l, char))
	}
	return w
}

func charsWidth(s string, char float64) float64 {
	return float64(float64(utf8.RuneCountInString(s)) * char)
}

// wrapWords breaks text at blanks into lines of about n characters.
func wrapWords(text string, n int) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		last := len(out) - 1
		if last < 0 || utf8.RuneCountInString(out[last])+1+utf8.RuneCountInString(word) > n {
			out = append(out, word)
			continue
		}
		out[last] += " " + word
	}
	return out
}
