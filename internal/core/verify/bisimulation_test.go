package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomLabelled returns a random graph.
func randomLabelled(r *rand.Rand) *labelled {
	n := 2 + r.IntN(14)
	g := &labelled{}
	for range n {
		g.seen = append(g.seen, observation(r.IntN(2)))
		g.first = append(g.first, uint32(len(g.steps)))
		for range r.IntN(4) {
			to, l := int32(r.IntN(n)), stepLabel(r.IntN(3))
			g.steps = append(g.steps, labelledStep{l, to})
		}
	}
	g.first = append(g.first, uint32(len(g.steps)))
	return g
}

// naiveBranching computes the largest branching bisimulation by its definition: it begins with all pairs of nodes with the
// same observation, and takes out pairs of which one node has a step that the other cannot match.
func naiveBranching(g *labelled) [][]bool {
	n := len(g.seen)
	rel := make([][]bool, n)
	for a := range n {
		rel[a] = make([]bool, n)
		for b := range n {
			rel[a][b] = g.seen[a] == g.seen[b]
		}
	}
	// reach returns the nodes that b reaches by internal steps through nodes related to a.
	reach := func(a, b int32) []int32 {
		out := []int32{b}
		for i := 0; i < len(out); i++ {
			for _, st := range g.stepsFrom(out[i]) {
				if st.label == 0 && rel[a][st.to] && !slices.Contains(out, st.to) {
					out = append(out, st.to)
				}
			}
		}
		return out
	}
	matches := func(a, b int32) bool {
		for _, st := range g.stepsFrom(a) {
			if st.label == 0 && rel[st.to][b] {
				continue
			}
			if !slices.ContainsFunc(reach(a, b), func(c int32) bool {
				return slices.ContainsFunc(g.stepsFrom(c), func(o labelledStep) bool { return o.label == st.label && rel[st.to][o.to] })
			}) {
				return false
			}
		}
		return true
	}
	for changed := true; changed; {
		changed = false
		for a := range int32(n) {
			for b := range int32(n) {
				if rel[a][b] && (!matches(a, b) || !matches(b, a)) {
					rel[a][b], rel[b][a], changed = false, false, true
				}
			}
		}
	}
	return rel
}

func TestMinimizeFindsTheLargestBranchingBisimulation(t *testing.T) {
	for seed := range uint64(3000) {
		g := randomLabelled(rand.New(rand.NewPCG(seed, 1)))
		m, want := g.minimize(), naiveBranching(g)
		for a := range g.seen {
			for b := range g.seen {
				if got := m.class[a] == m.class[b]; got != want[a][b] {
					t.Fatalf("seed %d: nodes %d and %d are together: %v, want %v\n%s", seed, a, b, got, want[a][b], drawLabelled(g))
				}
			}
		}
		again := g.minimize()
		if !slices.Equal(m.class, again.class) || !slices.Equal(m.steps, again.steps) {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		if len(m.minimize().seen) != len(m.seen) {
			t.Fatalf("seed %d: the minimized graph is not minimal", seed)
		}
	}
}

func drawLabelled(g *labelled) string {
	text := ""
	for at := range g.seen {
		text += fmt.Sprintf("%d (%d):", at, g.seen[at])
		for _, st := range g.stepsFrom(int32(at)) {
			text += fmt.Sprintf(" -%d-> %d", st.label, st.to)
		}
		text += "\n"
	}
	return text
}
