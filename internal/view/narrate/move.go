package narrate

import (
	"orange/internal/core/engine"
	"orange/internal/core/explain"
)

// moveLabels are what a person does who requests a move, by the verb of its edge.
var moveLabels = map[string]string{
	engine.VerbMerge: "Merge", "cancel": "Cancel the task", "stuck": "Mark as stuck", engine.RequestChanges: "Request changes", engine.Reopen: "Reopen",
}

// LabelMove returns what a person does who requests a move, for a button.
func LabelMove(m explain.Move) string {
	if label, ok := moveLabels[m.As]; ok {
		return label
	}
	return "Move to " + m.To
}

// DescribeMove returns the label of a move with what the label leaves out: the state that the task goes to, or the verb.
func DescribeMove(m explain.Move) string {
	switch _, named := moveLabels[m.As]; {
	case named:
		return LabelMove(m) + " (" + m.To + ")"
	case m.As != "":
		return LabelMove(m) + " (" + m.As + ")"
	}
	return LabelMove(m)
}
