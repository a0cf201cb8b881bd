package verify

import (
	"encoding/binary"
	"slices"
)

// hidePeople returns the graph of a task as other tasks see it. Whether a person takes a step is hidden: it is a property of a node
// whether the task moves on without an answer of others, by itself or because it asks a person. For a node in which it
// does not, the observation says which steps it takes as soon as others let it.
func (g *openGraph) hidePeople() (out *labelled, sets [][]label) {
	out = &labelled{seen: slices.Clone(g.seen), first: g.first, steps: make([]labelledStep, len(g.steps))}
	numbers := map[string]observation{"": 0}
	sets = [][]label{nil}
	var enabled []label
	var key []byte
	for at := range out.seen {
		enabled, key = enabled[:0], key[:0]
		runs := out.seen[at]&movesOn != 0
		for _, st := range g.stepsFrom(int32(at)) {
			switch {
			case st.label&hiddenLabels != 0 || st.label.isDenial():
			case st.label == 0:
				runs = true
			default:
				enabled = append(enabled, st.label)
			}
		}
		if runs {
			out.seen[at] |= movesOn
			continue
		}
		slices.Sort(enabled)
		enabled = slices.Compact(enabled)
		for _, l := range enabled {
			key = binary.LittleEndian.AppendUint32(key, uint32(l))
		}
		set, ok := numbers[string(key)]
		if !ok {
			set = observation(len(sets))
			numbers[string(key)] = set
			sets = append(sets, slices.Clone(enabled))
		}
		out.seen[at] |= set << enabledShift
	}
	for i, st := range g.steps {
		out.steps[i] = labelledStep{st.label &^ hiddenLabels, st.to}
	}
	return out, sets
}
