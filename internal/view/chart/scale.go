package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"orange/internal/core/simulate"
)

// logScale places values on a logarithmic axis.
type logScale struct {
	left, low, high float64 // low and high as logarithms
	unit            simulate.Unit
}

// newLogScale covers all values but the outermost thousandth on either side. It returns false if no value is above 0.
func newLogScale(samples [][]float64, unit simulate.Unit, left float64) (logScale, bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, values := range samples {
		first, _ := slices.BinarySearch(values, math.SmallestNonzeroFloat64)
		if first == len(values) {
			continue
		}
		above := values[first:]
		low = min(low, above[len(above)/1000])
		high = max(high, above[len(above)-1-len(above)/1000])
	}
	if math.IsInf(low, 1) {
		return logScale{}, false
	}
	if high < low*1.5 {
		low, high = low/1.5, high*1.5
	}
	return logScale{left: left, low: math.Log(low / 1.05), high: math.Log(high * 1.05), unit: unit}, true
}

// fractionOf returns the position of v between the ends, from 0 to 1.
func (x logScale) fractionOf(v float64) float64 {
	if v <= 0 {
		return 0
	}
	return min(max((math.Log(v)-x.low)/(x.high-x.low), 0), 1)
}

func (x logScale) xPosition(v float64) float64 { return x.left + panelWidth*x.fractionOf(v) }

// tickValues returns the round values between the ends, thinned until they fit.
func (x logScale) tickValues() []float64 {
	var all []float64
	if x.unit == simulate.Seconds {
		all = []float64{1, 5, 20, 60, 180, 600, 1800, 3600, 3 * 3600, 8 * 3600, 86400, 3 * 86400, 7 * 86400, 14 * 86400, 30 * 86400}
	} else {
		for exp := -6.0; exp < 9; exp++ {
			for _, m := range []float64{1, 2, 5} {
				all = append(all, m*math.Pow(10, exp))
			}
		}
	}
	var out []float64
	for _, v := range all {
		if l := math.Log(v); l < x.low || l > x.high {
			continue
		}
		if n := len(out); n == 0 || x.xPosition(v)-x.xPosition(out[n-1]) >= 38 {
			out = append(out, v)
		}
	}
	return out
}

func (x logScale) tickLabel(v float64) string {
	switch {
	case x.unit != simulate.Seconds:
		return fmt.Sprintf("$%g", math.Round(v*1e6)/1e6)
	case v < 60:
		return fmt.Sprintf("%.0fs", v)
	case v < 3600:
		return fmt.Sprintf("%.0fm", v/60)
	case v < 86400:
		return fmt.Sprintf("%.0fh", v/3600)
	}
	return fmt.Sprintf("%.0fd", v/86400)
}

// drawFrame draws the axes of a panel, with horizontal lines at the given parts.
func (x logScale) drawFrame(b *strings.Builder, top float64, parts []float64, labels []string, what string) {
	bottom := top + panelHeight
	for i, p := range parts {
		y := bottom - p*panelHeight
		fmt.Fprintf(b, "<path class=\"grid\" d=\"M%.1f,%.1fH%.1f\"/><text class=\"soft\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			x.left, y, x.left+panelWidth, x.left-6, y+4, labels[i])
	}
	for _, v := range x.tickValues() {
		fmt.Fprintf(b, "<path class=\"axis\" d=\"M%.1f,%.1fv5\"/><text class=\"soft\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			x.xPosition(v), bottom, x.xPosition(v), bottom+19, x.tickLabel(v))
	}
	fmt.Fprintf(b, "<path class=\"axis\" d=\"M%.1f,%.1fV%.1fH%.1f\"/>\n", x.left, top, bottom, x.left+panelWidth)
	caption := "time from creation to the end"
	if x.unit == simulate.Dollars {
		caption = "cost in dollars"
	}
	fmt.Fprintf(b, "<text class=\"soft\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x.left+panelWidth/2, bottom+37, caption)
	fmt.Fprintf(b, "<text class=\"soft\" text-anchor=\"middle\" transform=\"translate(%.1f,%.1f) rotate(-90)\">%s</text>\n", x.left-44, top+panelHeight/2, what)
}

func (x logScale) drawHistogram(b *strings.Builder, samples [][]float64) {
	shares := make([][plotBins]float64, len(samples))
	top := 0.0
	for i, values := range samples {
		for _, v := range values {
			bin := min(int(x.fractionOf(v)*plotBins), plotBins-1)
			shares[i][bin] += 1 / float64(len(values))
		}
		top = max(top, slices.Max(shares[i][:]))
	}
	step := roundStep(top / 4)
	high := step * math.Ceil(top/step)
	var parts []float64
	var labels []string
	for v := 0.0; v <= high+step/2; v += step {
		parts, labels = append(parts, v/high), append(labels, fmt.Sprintf("%g%%", math.Round(v*1000)/10))
	}
	x.drawFrame(b, histTop, parts, labels, "share of runs")
	bottom := histTop + panelHeight
	for i := range samples {
		var path strings.Builder
		fmt.Fprintf(&path, "M%.1f,%.1f", x.left, bottom)
		for bin, share := range shares[i] {
			fmt.Fprintf(&path, "V%.1fH%.1f", bottom-share/high*panelHeight, x.left+panelWidth*float64(bin+1)/plotBins)
		}
		fmt.Fprintf(b, "<path class=\"bars v%d f%d\" d=\"%sV%.1fZ\"/>\n", i, i, path.String(), bottom)
	}
}

// roundStep returns the next larger of 1, 2, 5 times a power of ten.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*0.999 {
			return m * power
		}
	}
	return 10 * power
}

// drawCurves draws, for every value, the share of runs below it.
func (x logScale) drawCurves(b *strings.Builder, samples [][]float64) {
	x.drawFrame(b, curveTop, []float64{0, 0.25, 0.5, 0.75, 0.95}, []string{"0%", "25%", "50%", "75%", "95%"}, "share of runs below")
	bottom := curveTop + panelHeight
	for i, values := range samples {
		var path strings.Builder
		fmt.Fprintf(&path, "M%.1f,%.1f", x.left, bottom)
		for px := 1.0; px <= panelWidth; px += 2 {
			v := math.Exp(x.low + (x.high-x.low)*px/panelWidth)
			below, _ := slices.BinarySearch(values, v)
			fmt.Fprintf(&path, "L%.1f,%.1f", x.left+px, bottom-panelHeight*float64(below)/float64(len(values)))
		}
		fmt.Fprintf(b, "<path class=\"curve v%d\" d=\"%s\"/>\n", i, path.String())
	}
	x.drawPercentile(b, samples, 0.5, "P50")
	x.drawPercentile(b, samples, 0.95, "P95")
}

// drawPercentile draws the position of a percentile of every variant. Their names are below each other, to the right of
// the curves.
func (x logScale) drawPercentile(b *strings.Builder, samples [][]float64, p float64, name string) {
	right, bottom := 0.0, curveTop+panelHeight
	y := bottom - panelHeight*p
	for i, values := range samples {
		at := x.xPosition(percentile(values, p))
		right = max(right, at+10)
		fmt.Fprintf(b, "<path class=\"mark v%d\" d=\"M%.1f,%.1fV%.1f\"/><circle class=\"f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", i, at, bottom, y, i, at, y)
	}
	for i, values := range samples {
		fmt.Fprintf(b, "<text class=\"f%d\" x=\"%.1f\" y=\"%.1f\">%s %s</text>\n",
			i, min(right, x.left+panelWidth-40), y+18+16*float64(i), name, FormatQuantity(percentile(values, p), x.unit, false))
	}
}

// percentile returns the smallest value that at least the part p of all values does not exceed.
func percentile(sorted []float64, p float64) float64 {
	return sorted[min(max(int(math.Ceil(p*float64(len(sorted))))-1, 0), len(sorted)-1)]
}
