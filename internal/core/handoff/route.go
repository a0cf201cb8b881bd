package handoff

import "slices"

// StagesOfMode returns the stages between which the handoff goes that work of a mode needs.
func StagesOfMode(mode string) (from, to string, ok bool) {
	switch mode {
	case "plan":
		return "ba", "architect", true
	case "implement":
		return "architect", "dev", true
	case "rework", "conflict":
		return "reviewer", "dev", true
	case "review":
		return "dev", "reviewer", true
	case "merge":
		return "reviewer", "ops", true
	}
	return "", "", false
}

// LatestBetween returns the most recent handoff between two stages. The list begins with the
// oldest.
func LatestBetween(list []Handoff, from, to string) (Handoff, bool) {
	for _, h := range slices.Backward(list) {
		if h.From == from && h.To == to {
			return h, true
		}
	}
	return Handoff{}, false
}
