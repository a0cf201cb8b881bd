package drawing

import (
	"fmt"
	"orange/internal/core/workflow"
	"strings"
)

// What a drawing in a page adds to the style of a picture: the path of a task stands out, and the rest is subdued. The
// page defines the colours of paper and accent.
const drawingStyle = `.drawing { height: auto; max-width: 100%; }
.drawing.wf-wide { max-width: none; }
.drawing .wf-label { fill: var(--drawing-paper, #ffffff); }
.drawing .wf-note { fill: var(--drawing-paper, #fafafa); }
.drawing .wf-tip { fill: context-stroke; }
.drawing a { text-decoration: none; }
.drawing a:focus-visible { outline: none; }
.drawing a:focus-visible .wf-state, .drawing a:hover .wf-state { stroke-width: 3; }
.drawing.wf-walked .wf-line { opacity: 0.4; }
.drawing.wf-walked .wf-small { opacity: 0.7; }
.drawing.wf-walked .wf-place { opacity: 0.6; }
.drawing.wf-walked .wf-line.wf-taken { opacity: 1; stroke: var(--drawing-accent, #d9480f); stroke-width: 2.4; }
.drawing.wf-walked .wf-small.wf-taken, .drawing.wf-walked .wf-place.wf-visited, .drawing.wf-walked .wf-place.wf-visited .wf-small { opacity: 1; }
.drawing .wf-ring { fill: none; stroke: var(--drawing-accent, #d9480f); stroke-width: 3; }
.drawing .wf-badge { fill: var(--drawing-accent, #d9480f); }
.drawing .wf-count { font-size: 11px; font-weight: 600; fill: var(--drawing-paper, #ffffff); }
@media (prefers-reduced-motion: no-preference) {
.drawing .wf-live .wf-ring { animation: drawing-live 2s ease-in-out infinite; }
}
@keyframes drawing-live { 50% { stroke-opacity: 0.25; stroke-width: 6; } }
`

// CSS returns the style of drawings in pages.
func CSS() string {
	var b strings.Builder
	writeScopedRules(&b, svgStyle)
	for _, w := range workflow.Kinds() {
		fill, stroke := kindColor(w)
		writeScopedRules(&b, fmt.Sprintf(".state.%s { fill: %s; }\n.%s { stroke: %s; }\n", w, fill, w, stroke))
	}
	b.WriteString("@media (prefers-color-scheme: dark) {\n")
	writeScopedRules(&b, svgDark)
	for _, w := range workflow.Kinds() {
		writeScopedRules(&b, fmt.Sprintf(".state.%s { fill: %s; }\n", w, darkFill(w)))
	}
	return b.String() + "}\n" + drawingStyle
}

// writeScopedRules writes rules so that they apply inside drawings only. Each rule is one line.
func writeScopedRules(b *strings.Builder, rules string) {
	for rule := range strings.Lines(rules) {
		selector, rest, ok := strings.Cut(rule, " {")
		switch {
		case !ok:
			continue
		case selector == "svg":
			selector = ".drawing"
		default:
			selector = ".drawing " + strings.ReplaceAll(selector, ".", "."+classPrefix)
		}
		b.WriteString(selector + " {" + rest)
	}
}
