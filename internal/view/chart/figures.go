package chart

import (
	"fmt"
	"strings"

	"orange/internal/core/stats"
	"orange/internal/view/humanize"
)

// NotMeasured stands in place of a figure that nobody measured.
const NotMeasured = "not measured"

// DescribeCost returns the cost of a group for people. A cost that no harness reported is not measured; one that some
// reported is at least so much.
func DescribeCost(g *stats.Group) string {
	return describeMeasured(g.Attempts, g.CostMeasured, fmt.Sprintf("$%.2f", float64(g.Usage.CostMicroUSD)/1e6))
}

// DescribeTokens returns the tokens of a group for people, cached ones included.
func DescribeTokens(g *stats.Group) string {
	return describeMeasured(g.Attempts, g.TokensMeasured, formatShort(float64(g.Usage.InputTokens+g.Usage.OutputTokens+g.Usage.CachedTokens)))
}

func describeMeasured(attempts, measured int, figure string) string {
	switch {
	case attempts == 0:
		return "-"
	case measured == 0:
		return NotMeasured
	case measured < attempts:
		return "at least " + figure
	}
	return figure
}

// DescribeRounds returns the review rounds of a task on average.
func DescribeRounds(g *stats.Group) string {
	if g.Tasks == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(g.Rounds)/float64(g.Tasks))
}

// OutcomeName returns an outcome as a heading.
func OutcomeName(o stats.Outcome) string {
	if o == stats.Completed {
		return "no merge"
	}
	return string(o)
}

// Bars is a chart with one horizontal bar for each row. A bar has a part for each series.
type Bars struct {
	Title  string
	Series []string // names of the parts; one part needs no name
	Rows   []Bar
}

// A Bar is one row of a chart.
type Bar struct {
	Name   string
	Values []float64 // of each series
	Label  string    // what the bar comes to, for people
}

// Measures of a chart of bars, in pixels.
const (
	barsWidth  = 980.0
	barsLeft   = 230.0 // room for names
	barsRight  = 330.0 // room for labels
	barHeight  = 22.0
	barPitch   = 32.0
	maxBarName = 30 // characters of a name that fit
)

// InlineSVG draws the chart for a page, in the style of CSS.
func (c *Bars) InlineSVG() string {
	top := 6.0
	if len(c.Series) > 1 {
		top = 34
	}
	height := top + barPitch*float64(len(c.Rows)) + 8
	var b strings.Builder
	c.drawSeries(&b)
	longest := c.longestBar()
	for i := range c.Rows {
		c.drawBar(&b, &c.Rows[i], top+barPitch*float64(i), longest)
	}
	b.WriteString("</svg>\n")
	return fmt.Sprintf("<svg class=\"chart\" role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n",
		escapeText(c.describe()), barsWidth, height, barsWidth, height) + ownClasses(b.String())
}

// drawSeries draws which colour is which part.
func (c *Bars) drawSeries(b *strings.Builder) {
	if len(c.Series) < 2 {
		return
	}
	for i, name := range c.Series {
		x := barsLeft + 130*float64(i)
		fmt.Fprintf(b, "<rect class=\"f%d\" x=\"%.0f\" y=\"6\" width=\"12\" height=\"12\"/><text x=\"%.0f\" y=\"17\">%s</text>\n", i, x, x+18, escapeText(name))
	}
}

func (c *Bars) longestBar() float64 {
	longest := 0.0
	for i := range c.Rows {
		sum := 0.0
		for _, v := range c.Rows[i].Values {
			sum += v
		}
		longest = max(longest, sum)
	}
	return longest
}

func (c *Bars) drawBar(b *strings.Builder, row *Bar, y, longest float64) {
	middle := y + barHeight/2 + 4
	fmt.Fprintf(b, "<text x=\"0\" y=\"%.0f\">%s</text>\n", middle, escapeText(humanize.Cut(row.Name, maxBarName)))
	x := barsLeft
	fmt.Fprintf(b, "<path class=\"axis\" d=\"M%.1f %.0fv%.0f\"/>\n", x, y, barHeight)
	for i, v := range row.Values {
		if v <= 0 || longest <= 0 {
			continue
		}
		wide := v / longest * (barsWidth - barsLeft - barsRight)
		fmt.Fprintf(b, "<rect class=\"f%d\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\"/>\n", i, x, y, max(wide, 1), barHeight)
		x += max(wide, 1)
	}
	fmt.Fprintf(b, "<text class=\"soft\" x=\"%.1f\" y=\"%.0f\">%s</text>\n", x+8, middle, escapeText(row.Label))
}

// describe describes the chart for those who cannot see it.
func (c *Bars) describe() string {
	parts := []string{c.Title + "."}
	for i := range c.Rows {
		parts = append(parts, c.Rows[i].Name+": "+c.Rows[i].Label+".")
	}
	return strings.Join(parts, " ")
}

// OutcomeBars charts how the tasks of groups ended.
func OutcomeBars(groups []stats.Group) *Bars {
	c := &Bars{Title: "Outcomes, in tasks"}
	for _, o := range stats.Outcomes() {
		c.Series = append(c.Series, OutcomeName(o))
	}
	for i := range groups {
		g := &groups[i]
		bar := Bar{Name: g.Name}
		var words []string
		for _, o := range stats.Outcomes() {
			bar.Values = append(bar.Values, float64(g.Outcomes[o]))
			if n := g.Outcomes[o]; n > 0 {
				words = append(words, fmt.Sprintf("%d %s", n, OutcomeName(o)))
			}
		}
		bar.Label = strings.Join(words, ", ")
		c.Rows = append(c.Rows, bar)
	}
	return c
}

// CostBars charts the cost of groups. A group that is not measured has no bar, and its label says so.
func CostBars(groups []stats.Group) *Bars {
	c := &Bars{Title: "Cost, in dollars", Series: []string{"cost"}}
	for i := range groups {
		g := &groups[i]
		c.Rows = append(c.Rows, Bar{Name: g.Name, Values: []float64{float64(g.Usage.CostMicroUSD)}, Label: DescribeCost(g)})
	}
	return c
}

// TimeBars charts the median times of groups.
func TimeBars(groups []stats.Group) *Bars {
	c := &Bars{Title: "Median time of a task", Series: []string{"agents at work", "waiting for people"}}
	for i := range groups {
		g := &groups[i]
		c.Rows = append(c.Rows, Bar{
			Name: g.Name, Values: []float64{g.Working.Median, g.Waiting.Median},
			Label: FormatDuration(g.Working.Median) + " + " + FormatDuration(g.Waiting.Median),
		})
	}
	return c
}
