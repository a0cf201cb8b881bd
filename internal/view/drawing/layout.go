package drawing

import "slices"

// Distances of the drawing, in pixels.
const (
	rankGap  = 26.0 // between rows
	boxGap   = 26.0 // between boxes of a row
	laneGap  = 12.0 // beside a line that passes a row
	sweeps   = 24   // passes that put rows in order
	settling = 200  // passes that move boxes sideways
)

// A layout is the position of everything in a picture. States are in even rows; the odd rows between them hold labels,
// so that none covers a state. A line that passes a row has a box of its own there, which keeps it clear of the others.
type layout struct {
	boxes  []box
	rows   [][]int // indexes of boxes, from left to right
	routes []route
	width  float64
	height float64
}

// A box is a node, a label, or the place where a line passes a row.
type box struct {
	w, h float64
	x, y float64 // of its middle
	row  int
	node int // -1 for a place on a line
	lane int // for a place on a line: its route
	text []string
	up   []int // boxes it is joined to in the row above
	down []int
}

// A route is a line of the picture as the boxes it runs through, from top to bottom.
type route struct {
	line  int
	boxes []int
}

// arrangePicture computes the layout of a picture. It leaves out lines from a node to itself.
func arrangePicture(p *picture, size func(node) (w, h float64), text func(line) (lines []string, w, h float64)) *layout {
	ranks := rankNodes(p)
	g := &layout{boxes: make([]box, len(p.nodes))}
	for i, n := range p.nodes {
		w, h := size(n)
		g.boxes[i] = box{w: w, h: h, row: 2 * ranks[i], node: i}
	}
	for i, l := range p.lines {
		if l.from != l.to {
			lines, w, h := text(l)
			g.addRoute(i, l, box{w: w, h: h, text: lines})
		}
	}
	g.fillRows()
	g.orderRows()
	g.settleBoxes()
	g.stackRows()
	return g
}

// findBack marks the lines that lead back: without them there is no cycle.
func (p *picture) findBack() {
	const unseen, open, closed = 0, 1, 2
	state := make([]int, len(p.nodes))
	var visit func(n int)
	visit = func(n int) {
		state[n] = open
		for i := range p.lines {
			l := &p.lines[i]
			if l.from != n || l.to == n {
				continue
			}
			switch state[l.to] {
			case open:
				l.back = true
			case unseen:
				visit(l.to)
			}
		}
		state[n] = closed
	}
	for n := range p.nodes {
		if state[n] == unseen {
			visit(n)
		}
	}
}

// rankNodes puts each node below everything that leads to it, with back lines reversed. A node that nothing leads to
// goes right above the first node that it leads to.
func rankNodes(p *picture) []int {
	ranks := make([]int, len(p.nodes))
	for range p.nodes {
		for _, l := range p.lines {
			from, to := l.endNodes()
			if from != to && ranks[to] <= ranks[from] {
				ranks[to] = ranks[from] + 1
			}
		}
	}
	for n := range p.nodes {
		first, isSource := len(p.nodes), true
		for _, l := range p.lines {
			from, to := l.endNodes()
			isSource = isSource && (to != n || from == to)
			if from == n && to != n {
				first = min(first, ranks[to])
			}
		}
		if isSource && first < len(p.nodes) {
			ranks[n] = max(0, first-1)
		}
	}
	return ranks
}

// endNodes returns the upper and the lower end of a line.
func (l *line) endNodes() (upper, lower int) {
	if l.back {
		return l.to, l.from
	}
	return l.from, l.to
}

// addRoute adds the boxes of a line, one in each row between its ends. The label is near the state that the line
// leaves.
func (g *layout) addRoute(index int, l line, words box) {
	upper, lower := l.endNodes()
	r := route{line: index, boxes: []int{upper}}
	first, last := g.boxes[upper].row+1, g.boxes[lower].row-1
	at := first
	if l.back {
		at = last
	}
	for row := first; row <= last; row++ {
		b := box{w: 2, h: 0}
		if row == at {
			b = words
		}
		b.row, b.node, b.lane = row, -1, len(g.routes)
		r.boxes = append(r.boxes, len(g.boxes))
		g.boxes = append(g.boxes, b)
	}
	r.boxes = append(r.boxes, lower)
	for i := 1; i < len(r.boxes); i++ {
		a, b := r.boxes[i-1], r.boxes[i]
		g.boxes[a].down = append(g.boxes[a].down, b)
		g.boxes[b].up = append(g.boxes[b].up, a)
	}
	g.routes = append(g.routes, r)
}

func (g *layout) fillRows() {
	for i := range g.boxes {
		for len(g.rows) <= g.boxes[i].row {
			g.rows = append(g.rows, nil)
		}
		g.rows[g.boxes[i].row] = append(g.rows[g.boxes[i].row], i)
	}
}

// orderRows sorts the rows so that few lines cross: each box moves to the mean position of its neighbours, down and up
// again, and the best order is kept.
func (g *layout) orderRows() {
	best, fewest := g.copyRows(), g.countCrossings()
	for pass := range sweeps {
		g.sweepRows(pass%2 == 0)
		if n := g.countCrossings(); n < fewest {
			best, fewest = g.copyRows(), n
		}
	}
	g.rows = best
	for g.swapNeighbours() {
		continue
	}
}

func (g *layout) copyRows() [][]int {
	out := make([][]int, len(g.rows))
	for i := range g.rows {
		out[i] = slices.Clone(g.rows[i])
	}
	return out
}

func (g *layout) sweepRows(down bool) {
	place := g.boxPlaces()
	for i := range g.rows {
		row := g.rows[i]
		if !down {
			row = g.rows[len(g.rows)-1-i]
		}
		mean := make(map[int]float64, len(row))
		for _, b := range row {
			joined := g.boxes[b].up
			if !down {
				joined = g.boxes[b].down
			}
			mean[b] = float64(place[b])
			if len(joined) > 0 {
				sum := 0
				for _, j := range joined {
					sum += place[j]
				}
				mean[b] = float64(sum) / float64(len(joined))
			}
		}
		slices.SortStableFunc(row, func(a, b int) int { return compareFloat(mean[a], mean[b]) })
		for at, b := range row {
			place[b] = at
		}
	}
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (g *layout) boxPlaces() []int {
	place := make([]int, len(g.boxes))
	for _, row := range g.rows {
		for at, b := range row {
			place[b] = at
		}
	}
	return place
}

func (g *layout) countCrossings() int {
	place, n := g.boxPlaces(), 0
	for _, row := range g.rows {
		for i, a := range row {
			for _, b := range row[i+1:] {
				n += crossingsBetween(g.boxes[a].down, g.boxes[b].down, place)
			}
		}
	}
	return n
}

// crossingsBetween counts the crossings of the lines of two boxes, the first left of the second.
func crossingsBetween(left, right []int, place []int) int {
	n := 0
	for _, a := range left {
		for _, b := range right {
			if place[a] > place[b] {
				n++
			}
		}
	}
	return n
}

// swapNeighbours exchanges neighbours where that removes crossings; it reports whether any did.
func (g *layout) swapNeighbours() bool {
	better := false
	for _, row := range g.rows {
		place := g.boxPlaces()
		for i := 1; i < len(row); i++ {
			a, b := &g.boxes[row[i-1]], &g.boxes[row[i]]
			now := crossingsBetween(a.down, b.down, place) + crossingsBetween(a.up, b.up, place)
			then := crossingsBetween(b.down, a.down, place) + crossingsBetween(b.up, a.up, place)
			if then < now {
				row[i-1], row[i] = row[i], row[i-1]
				better = true
			}
		}
	}
	return better
}
