package verify

import (
	"encoding/binary"
	"slices"
)

// hidePeople returns the graph of a task as other tasks see it. Whether a person takes a step is hidden: it is a property of a node
// whether the task moves on without an answer of others, by itself or because it asks a person. The observation also says which
// steps the task takes as soon as others let it, if it does not move on otherwise, and which turns of a queue it takes. The
// sets of these steps are returned by number.
func (g *labelled) hidePeople() (out *labelled, sets [][]stepLabel) {
	out = &labelled{seen: slices.Clone(g.seen), first: g.first, steps: make([]labelledStep, len(g.steps))}
	numbers := map[string]observation{"": 0}
	sets = [][]stepLabel{nil}
	for at := range out.seen {
		runs := out.seen[at]&movesOn != 0
		for _, st := range g.stepsFrom(int32(at)) {
			runs = runs || st.label == 0
		}
		if runs {
			out.seen[at] |= movesOn
		}
		var enabled []stepLabel
		for _, st := range g.stepsFrom(int32(at)) {
			if l := st.label; l != 0 && l&hiddenLabels == 0 && !l.isDenial() && (!runs || l&byTurn != 0) {
				enabled = append(enabled, l)
			}
		}
		slices.Sort(enabled)
		enabled = slices.Compact(enabled)
		var key []byte
		for _, l := range enabled {
			key = binary.LittleEndian.AppendUint32(key, uint32(l))
		}
		set, ok := numbers[string(key)]
		if !ok {
			set = observation(len(sets))
			numbers[string(key)] = set
			sets = append(sets, enabled)
		}
		out.seen[at] |= set << enabledShift
	}
	for i, st := range g.steps {
		out.steps[i] = labelledStep{st.label &^ hiddenLabels, st.to}
	}
	return out, sets
}
