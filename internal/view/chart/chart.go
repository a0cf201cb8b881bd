// Package chart draws the results of workflow simulations and formats their figures: for the command line as a
// self-contained picture, for pages as one that is styled by a stylesheet. It takes results and returns text.
package chart

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"orange/internal/core/simulate"
	"orange/internal/lazy"
)

// Measures of the drawing, in pixels.
const (
	plotWidth   = 980.0
	plotHeight  = 710.0
	panelWidth  = 390.0
	panelHeight = 200.0
	panelLeft   = 70.0
	panelGap    = 80.0 // between two panels of a row
	histTop     = 150.0
	curveTop    = 425.0
	plotBins    = 48
)

// The style of the drawing. It has its own background, and a darker one for viewers that prefer that.
const plotStyle = `
svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
text { fill: #1f2933; font-size: 12px; }
.paper { fill: #ffffff; }
.title { font-size: 18px; font-weight: 600; }
.head { font-size: 14px; font-weight: 600; }
.soft { fill: #5f6b76; }
.axis { stroke: #5f6b76; fill: none; }
.grid { stroke: #e3e8ec; fill: none; }
.bars { stroke-width: 1.2; fill-opacity: 0.28; }
.curve { fill: none; stroke-width: 2; }
.mark { fill: none; stroke-width: 1.2; stroke-dasharray: 4 3; }
.v0 { stroke: #1565c0; } .f0 { fill: #1565c0; }
.v1 { stroke: #d9480f; } .f1 { fill: #d9480f; }
.f2 { fill: #7b8794; } .f3 { fill: #b3261e; } .f4 { fill: #8a6d00; }
@media (prefers-color-scheme: dark) {
text { fill: #e8edf1; }
.paper { fill: #14181c; }
.soft { fill: #a9b4be; }
.axis { stroke: #a9b4be; }
.grid { stroke: #2b333a; }
.v0 { stroke: #64b5f6; } .f0 { fill: #64b5f6; }
.v1 { stroke: #ff9f5a; } .f1 { fill: #ff9f5a; }
.f2 { fill: #8795a1; } .f3 { fill: #ff6b5e; } .f4 { fill: #e0c04d; }
}
`

// A Simulation is the data of a drawing.
type Simulation struct {
	Workflow string
	Runs     int // of each variant
	Seed     uint64
	Variants []Variant // the unchanged workflow, then at most one changed
}

// A Variant is the results of one workflow's tasks.
type Variant struct {
	Changes string // what is different, "" for nothing
	Result  simulate.Result
	Summary simulate.Summary
}

// SVG draws the distribution of durations and costs, as a self-contained picture.
func (s *Simulation) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"t d\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n",
		plotWidth, plotHeight, plotWidth, plotHeight)
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n", escapeText(s.chartTitle()), escapeText(s.describeFigures()))
	b.WriteString("<style>" + plotStyle + "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n")
	s.drawContents(&b)
	return b.String()
}

// InlineSVG returns the same picture for a page. It has classes and no style: the style is in CSS.
func (s *Simulation) InlineSVG() string {
	var b strings.Builder
	s.drawContents(&b)
	return fmt.Sprintf("<svg class=\"chart\" role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n",
		escapeText(s.chartTitle()+". "+s.describeFigures()), plotWidth, plotHeight, plotWidth, plotHeight) + ownClasses(b.String())
}

// classPrefix separates the classes of a drawing from those of the page.
const classPrefix = "plot-"

var classAttribute = lazy.NewRegexp(` class="[^"]*"`)

// ownClasses adds the prefix to classes. Texts contain no attributes, because they are escaped.
func ownClasses(svg string) string {
	return classAttribute.ReplaceAllStringFunc(svg, func(a string) string {
		names := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(a, ` class="`), `"`))
		return ` class="` + classPrefix + strings.Join(names, " "+classPrefix) + `"`
	})
}

// CSS returns the style of drawings in pages.
func CSS() string {
	var b strings.Builder
	for line := range strings.Lines(plotStyle) {
		if strings.HasPrefix(line, "@") || strings.HasPrefix(line, "}") {
			b.WriteString(line)
			continue
		}
		for rule := range strings.SplitSeq(strings.TrimSpace(line), "} ") {
			selector, rest, ok := strings.Cut(rule, " {")
			switch {
			case !ok:
				continue
			case selector == "svg":
				selector = ".chart"
			default:
				selector = ".chart " + strings.ReplaceAll(selector, ".", "."+classPrefix)
			}
			b.WriteString(selector + " {" + strings.TrimSuffix(rest, "}") + "}\n")
		}
	}
	return b.String() + ".chart { max-width: 100%; height: auto; }\n"
}

func (s *Simulation) chartTitle() string {
	return fmt.Sprintf("Simulation of workflow %s: %s runs, seed %d", s.Workflow, FormatGrouped(s.Runs), s.Seed)
}

// drawContents draws everything on the paper, and closes the drawing.
func (s *Simulation) drawContents(b *strings.Builder) {
	fmt.Fprintf(b, "<text class=\"title\" x=\"%.0f\" y=\"36\">%s</text>\n", panelLeft, escapeText(s.chartTitle()))
	s.drawKey(b)
	for i, name := range []string{simulate.Duration, simulate.Cost} {
		s.drawPanels(b, name, panelLeft+float64(i)*(panelWidth+panelGap))
	}
	fmt.Fprintf(b, "<text class=\"soft\" x=\"%.0f\" y=\"%.0f\">Horizontal axes are logarithmic, cut into %d equal steps. P50: half of all runs stay below. P95: 95 of 100 do.</text>\n</svg>\n",
		panelLeft, plotHeight-16, plotBins)
}

// drawKey draws which colour is which variant.
func (s *Simulation) drawKey(b *strings.Builder) {
	if len(s.Variants) < 2 {
		return
	}
	for i, text := range []string{"as is", "what if " + s.Variants[1].Changes} {
		x := panelLeft + float64(i)*110
		fmt.Fprintf(b, "<rect class=\"f%d\" x=\"%.0f\" y=\"52\" width=\"12\" height=\"12\"/><text x=\"%.0f\" y=\"63\">%s</text>\n", i, x, x+18, escapeText(text))
	}
}

// describeFigures describes the drawing for those who cannot see it.
func (s *Simulation) describeFigures() string {
	var out []string
	for i := range s.Variants {
		name, v := []string{"as is", "what if"}[min(i, 1)], &s.Variants[i].Summary
		for _, f := range []simulate.Figure{v.FindFigure(simulate.Duration), v.FindFigure(simulate.Cost)} {
			out = append(out, fmt.Sprintf("%s, %s: P50 %s, P95 %s.", name, f.Name, FormatQuantity(f.P50, f.Unit, false), FormatQuantity(f.P95, f.Unit, false)))
		}
	}
	return strings.Join(out, " ")
}

// figureSamples returns the values of a figure, for each variant.
func (s *Simulation) figureSamples(name string) [][]float64 {
	var out [][]float64
	for i := range s.Variants {
		values, err := s.Variants[i].Result.SortedValues(name)
		if err == nil && len(values) > 0 {
			out = append(out, values)
		}
	}
	return out
}

// drawPanels draws the histogram of one figure and, below it, its cumulative curve.
func (s *Simulation) drawPanels(b *strings.Builder, name string, left float64) {
	samples := s.figureSamples(name)
	unit, head := simulate.Seconds, "Duration of a task"
	if name == simulate.Cost {
		unit, head = simulate.Dollars, "Cost of a task, in dollars"
	}
	fmt.Fprintf(b, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", left, histTop-54, head)
	for i := range s.Variants {
		f := s.Variants[i].Summary.FindFigure(name)
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\"><tspan class=\"f%d\">P50</tspan> %s <tspan class=\"f%d\" dx=\"12\">P95</tspan> %s <tspan class=\"f%d\" dx=\"12\">mean</tspan> %s</text>\n",
			left, histTop-32+16*float64(i), i, FormatQuantity(f.P50, unit, false), i, FormatQuantity(f.P95, unit, false), i, FormatQuantity(f.Mean, unit, true))
	}
	x, ok := newLogScale(samples, unit, left)
	if !ok {
		fmt.Fprintf(b, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\">it is always nothing</text>\n", left, histTop+20)
		return
	}
	x.drawHistogram(b, samples)
	x.drawCurves(b, samples)
}

// escapeText makes text safe inside a drawing.
func escapeText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}
