package drawing

import "math"

// settleBoxes moves the boxes of each row sideways towards those they are joined to,
// without changing their order.
func (g *layout) settleBoxes() {
	for _, row := range g.rows {
		x := 0.0
		for i, b := range row {
			if i > 0 {
				x += g.minDistance(row[i-1], b)
			}
			g.boxes[b].x = x
		}
	}
	for pass := range settling {
		lanes := g.laneCentres()
		for i := range g.rows {
			row := g.rows[i]
			if pass%2 == 1 {
				row = g.rows[len(g.rows)-1-i]
			}
			g.settleRow(row, lanes)
		}
	}
	g.shiftToZero()
}

// laneCentres returns the mean position of each route between its ends: a line that keeps to it is straight.
func (g *layout) laneCentres() []float64 {
	out := make([]float64, len(g.routes))
	for i, r := range g.routes {
		last := len(r.boxes) - 1
		sum := (g.boxes[r.boxes[0]].x + g.boxes[r.boxes[last]].x) / 2
		for _, b := range r.boxes[1:last] {
			sum += g.boxes[b].x
		}
		out[i] = sum / float64(last)
	}
	return out
}

// settleRow finds the positions nearest to the preferred ones that keep the boxes apart: boxes that would touch are
// pooled and move together.
func (g *layout) settleRow(row []int, lanes []float64) {
	type pool struct {
		sum, weight float64
		count       int
	}
	var pools []pool
	offsets := make([]float64, len(row))
	for i, b := range row {
		if i > 0 {
			offsets[i] = offsets[i-1] + g.minDistance(row[i-1], b)
		}
		preferred, weight := g.preferredX(b, lanes)
		pools = append(pools, pool{sum: float64((preferred - offsets[i]) * weight), weight: weight, count: 1})
		for len(pools) > 1 {
			a, z := pools[len(pools)-2], pools[len(pools)-1]
			if a.sum/a.weight <= z.sum/z.weight {
				break
			}
			pools = append(pools[:len(pools)-2], pool{a.sum + z.sum, a.weight + z.weight, a.count + z.count})
		}
	}
	i := 0
	for _, p := range pools {
		for range p.count {
			g.boxes[row[i]].x = p.sum/p.weight + offsets[i]
			i++
		}
	}
}

// preferredX returns the preferred position of a box, and its weight: a line in its lane, a state in the middle of its
// neighbours.
func (g *layout) preferredX(b int, lanes []float64) (x, weight float64) {
	me := &g.boxes[b]
	if me.node < 0 {
		return lanes[me.lane], 8
	}
	sum, total := 0.0, 0.0
	for _, joined := range [2][]int{me.up, me.down} {
		for _, j := range joined {
			sum += g.boxes[j].x
			total++
		}
	}
	if total == 0 {
		return me.x, 0.1
	}
	return sum / total, total
}

// minDistance returns the minimum distance of the centres of two neighbours.
func (g *layout) minDistance(a, b int) float64 {
	gap := boxGap
	if g.boxes[a].node < 0 || g.boxes[b].node < 0 {
		gap = laneGap
	}
	return (g.boxes[a].w+g.boxes[b].w)/2 + gap
}

// shiftToZero moves everything so that the leftmost box touches 0, and measures the width.
func (g *layout) shiftToZero() {
	left, right := math.Inf(1), math.Inf(-1)
	for i := range g.boxes {
		left = min(left, g.boxes[i].x-g.boxes[i].w/2)
		right = max(right, g.boxes[i].x+g.boxes[i].w/2)
	}
	for i := range g.boxes {
		g.boxes[i].x -= left
	}
	g.width = right - left
}

// stackRows sets the heights of the rows.
func (g *layout) stackRows() {
	y := 0.0
	for _, row := range g.rows {
		tall := 0.0
		for _, b := range row {
			tall = max(tall, g.boxes[b].h)
		}
		for _, b := range row {
			g.boxes[b].y = y + tall/2
			if g.boxes[b].node < 0 {
				g.boxes[b].h = tall // a line passes a row straight
			}
		}
		y += tall + rankGap
	}
	g.height = y - rankGap
}
