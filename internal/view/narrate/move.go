package narrate

import (
	"orange/internal/core/engine"
	"orange/internal/core/explain"
)

// DescribeMove returns what a person does who requests a move, and the state that the task goes to.
func DescribeMove(m explain.Move) string {
	switch m.As {
	case "":
		return "Move to " + m.To
	case engine.VerbMerge:
		return "Merge (" + m.To + ")"
	case "cancel":
		return "Cancel the task (" + m.To + ")"
	case "stuck":
		return "Mark as stuck (" + m.To + ")"
	case engine.RequestChanges:
		return "Request changes (" + m.To + ")"
	case engine.Reopen:
		return "Reopen (" + m.To + ")"
	}
	return "Move to " + m.To + " (" + m.As + ")"
}
