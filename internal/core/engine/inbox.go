package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// An Item is something that waits for a person.
type Item struct {
	Task    task.ID   `json:"task"`
	Project string    `json:"project"`
	Branch  string    `json:"branch"`
	Summary string    `json:"summary"`
	Status  string    `json:"status"`
	Kind    ItemKind  `json:"kind"`
	Text    string    `json:"text"`         // what is waited for; agents' words may be in it
	Do      string    `json:"do,omitempty"` // the command that helps
	Since   time.Time `json:"since"`
	Frees   int       `json:"frees"` // how many tasks wait for what this one holds
}

// ItemKind says what a person is wanted for.
type ItemKind string

// The kinds of items.
const (
	ItemAttention  ItemKind = "attention"  // something failed and was given up
	ItemConfirm    ItemKind = "confirm"    // an agent asks for a move that a person must grant
	ItemPermission ItemKind = "permission" // an agent asks whether it may do something
	ItemInput      ItemKind = "input"      // an agent asks at its terminal
	ItemQuestion   ItemKind = "question"   // the task waits for an answer
	ItemReview     ItemKind = "review"     // the work waits for a decision
	ItemStuck      ItemKind = "stuck"      // the work needs help
	ItemCrashed    ItemKind = "crashed"    // an agent died
	ItemStart      ItemKind = "start"      // the task was created and not started
	ItemPaused     ItemKind = "paused"     // a person paused everything
)

// Inbox says what a task wants of a person, if anything.
func Inbox(def *workflow.Definition, t task.Task) (Item, bool) {
	s, ok := def.State(t.Status)
	if !ok || t.Deleted || s.Kind == workflow.Terminal && t.Attention == "" {
		return Item{}, false
	}
	x := &decider{def: def, t: &t}
	it := Item{Task: t.ID, Project: t.Project, Branch: t.Branch, Summary: t.Summary, Status: t.Status, Since: t.Since}
	if !x.wants(s, &it) {
		return Item{}, false
	}
	return it, true
}

// wants fills in what is wanted, the most pressing first.
func (x *decider) wants(s *workflow.State, it *Item) bool {
	t := x.t
	switch {
	case t.Attention != "":
		it.Kind, it.Text, it.Do, it.Since = ItemAttention, t.Attention, x.command("resume", "").Run, t.UpdatedAt
		if strings.HasPrefix(t.Attention, workflow.MergeBranch+" failed") { // who asked for it may ask differently
			it.Do = x.command("merge", "", "--strategy", "merge").Run
		}
	case t.Asked != nil:
		it.Kind, it.Since = ItemConfirm, t.Asked.At
		it.Text, it.Do = fmt.Sprintf("the %s asks for %s", t.Asked.By, t.Asked.To), x.command("approve", "").Run
	case x.wantsAtTerminal(it):
	case s.Kind == workflow.Waiting:
		it.Kind, it.Text, it.Do = ItemQuestion, "questions wait for an answer: see ## Questions in TASK.md", fmt.Sprintf("orange task answer %s \"...\"", t.ID)
	case s.Kind == workflow.Halt:
		it.Kind, it.Text, it.Do = ItemStuck, "the work needs help", x.command("attach", "").Run
	case s.Kind == workflow.HumanDo:
		it.Kind, it.Text, it.Do = ItemReview, "the work waits for a decision", x.decides()
	case t.Crashed != "":
		it.Kind, it.Text, it.Do, it.Since = ItemCrashed, "the "+t.Crashed+" died", x.command("respawn", "").Run, t.UpdatedAt
	case s.Kind == workflow.Queued && !t.Queued && !t.Paused:
		it.Kind, it.Text, it.Do = ItemStart, "it was created and not started", x.command("spawn", "").Run
	default:
		return false
	}
	return true
}

// wantsAtTerminal looks for an agent that asks at its terminal.
func (x *decider) wantsAtTerminal(it *Item) bool {
	for _, a := range x.t.Attempts {
		switch a.Condition.Name {
		case task.WaitingPermission:
			it.Kind = ItemPermission
		case task.WaitingInput:
			it.Kind = ItemInput
		default:
			continue
		}
		it.Text, it.Since, it.Do = fmt.Sprintf("the %s: %s", a.Role, conditionText(a.Condition)), a.Condition.Since, x.command("attach", "").Run
		return true
	}
	return false
}

// decides is the command for a task that waits for a person's decision.
func (x *decider) decides() string {
	if x.mergeHelps() {
		return x.command("merge", "").Run
	}
	return x.command("explain", "").Run
}

// SortInbox puts what frees other tasks first, then what has waited longest.
func SortInbox(items []Item) {
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Frees, a.Frees), a.Since.Compare(b.Since), cmp.Compare(a.Task, b.Task))
	})
}
