package narrate

import (
	"cmp"
	"fmt"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/view/humanize"
)

// DescribeQueue says what a task in its queue waits for, "" if it is in none.
func DescribeQueue(t *task.Task) string {
	switch unmet := task.UnmetToStart(t.Predecessors); {
	case !t.Queued:
		return ""
	case len(unmet) > 0:
		return "it " + engine.DescribeUnmet(unmet)
	}
	return "it waits for a free workspace"
}

// DescribeAfter names in few words what a task waits for, "" for nothing.
func DescribeAfter(list []task.Predecessor) string {
	unmet := task.UnmetToStart(list)
	if len(unmet) == 0 {
		return ""
	}
	text := "after " + cmp.Or(unmet[0].Branch, humanize.ShortID(string(unmet[0].ID)))
	if len(unmet) > 1 {
		text += fmt.Sprintf(" and %d more", len(unmet)-1)
	}
	return text
}

// DescribePlace says in few words that a task is in a landing queue, and where if others are in it.
func DescribePlace(at task.QueuePlace) string {
	if at.Of < 2 {
		return "landing"
	}
	return fmt.Sprintf("landing %d/%d", at.Position, at.Of)
}

// ListPredecessors lists the tasks that a task is after, and what became of each, "" for none.
func ListPredecessors(list []task.Predecessor) string {
	words := map[task.PredecessorState]string{
		task.PredecessorOpen: "open", task.PredecessorLanded: "landed", task.PredecessorDropped: "ended without landing",
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = nameTask(p.ID, p.Branch, words[p.State]+describeStack(&p))
	}
	return strings.Join(out, ", ")
}

// describeStack says where a stacked task begins, "" if the task is not stacked on p.
func describeStack(p *task.Predecessor) string {
	switch {
	case !p.Stack:
		return ""
	case p.Head == "":
		return ", stacked"
	}
	return fmt.Sprintf(", stacked at %.12s", p.Head)
}

// ListReferences lists tasks and their states, "" for none.
func ListReferences(list []task.Reference) string {
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
