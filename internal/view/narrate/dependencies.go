package narrate

import (
	"strings"

	"orange/internal/core/task"
	"orange/internal/view/humanize"
)

// ListPredecessors lists the tasks that a task is after, and what became of each, "" for none.
func ListPredecessors(list []task.Predecessor) string {
	words := map[task.PredecessorState]string{
		task.PredecessorOpen: "open", task.PredecessorLanded: "landed", task.PredecessorDropped: "ended without landing",
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = nameTask(p.ID, p.Branch, words[p.State])
	}
	return strings.Join(out, ", ")
}

// ListSuccessors lists the tasks that are after a task, and their states, "" for none.
func ListSuccessors(list []task.Successor) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = nameTask(s.ID, s.Branch, s.Status)
	}
	return strings.Join(out, ", ")
}

func nameTask(id task.ID, branch, state string) string {
	if branch == "" {
		branch = "task"
	}
	return branch + " (" + humanize.ShortID(string(id)) + ", " + state + ")"
}
