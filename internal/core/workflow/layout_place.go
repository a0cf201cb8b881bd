package workflow

import "math"

// settle moves the boxes of each row sideways towards those they are joined to,
// without changing their order.
func (g *layout) settle() {
	for _, row := range g.rows {
		x := 0.0
		for i, b := range row {
			if i > 0 {
				x += g.apart(row[i-1], b)
			}
			g.boxes[b].x = x
		}
	}
	for pass := range settling {
		for i := range g.rows {
			row := g.rows[i]
			if pass%2 == 1 {
				row = g.rows[len(g.rows)-1-i]
			}
			g.settleRow(row, pass)
		}
	}
	g.shift()
}

// settleRow finds the places nearest to the wished ones that keep the boxes apart:
// boxes that would touch are pooled and move together.
func (g *layout) settleRow(row []int, pass int) {
	type pool struct {
		sum, weight float64
		count       int
	}
	var pools []pool
	offsets := make([]float64, len(row))
	for i, b := range row {
		if i > 0 {
			offsets[i] = offsets[i-1] + g.apart(row[i-1], b)
		}
		wish, weight := g.wish(b, pass)
		pools = append(pools, pool{sum: (wish - offsets[i]) * weight, weight: weight, count: 1})
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

// wish is where a box would like to be, and how much. Lines want to be straight more
// than states want to be in the middle.
func (g *layout) wish(b int, pass int) (x, weight float64) {
	me := &g.boxes[b]
	sum, total := 0.0, 0.0
	consider := func(joined []int) {
		for _, j := range joined {
			w := 1.0
			if me.node < 0 && g.boxes[j].node < 0 {
				w = 6
			}
			sum += w * g.boxes[j].x
			total += w
		}
	}
	if pass%2 == 0 || pass > settling/2 {
		consider(me.up)
	}
	if pass%2 == 1 || pass > settling/2 {
		consider(me.down)
	}
	if total == 0 {
		return me.x, 0.1
	}
	return sum / total, total
}

// apart is how far the middles of two neighbours must be from each other.
func (g *layout) apart(a, b int) float64 {
	gap := boxGap
	if g.boxes[a].node < 0 || g.boxes[b].node < 0 {
		gap = laneGap
	}
	return (g.boxes[a].w+g.boxes[b].w)/2 + gap
}

// shift moves everything so that the leftmost box touches 0, and measures the width.
func (g *layout) shift() {
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

// stack gives the rows their heights.
func (g *layout) stack() {
	y := 0.0
	for _, row := range g.rows {
		tall := 0.0
		for _, b := range row {
			tall = max(tall, g.boxes[b].h)
		}
		for _, b := range row {
			g.boxes[b].y = y + tall/2
		}
		y += tall + rankGap
	}
	g.height = y - rankGap
}
