package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
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
	Text    string    `json:"text"`            // what is waited for; agents' words may be in it
	Action  Action    `json:"action,omitzero"` // what helps
	Do      string    `json:"do,omitempty"`    // Action as a command line, which package narrate writes
	Verb    string    `json:"verb,omitempty"`  // what helps most, as a verb; surfaces offer it without knowing the kind
	Note    string    `json:"note,omitempty"`  // the words that go with it
	Since   time.Time `json:"since"`
	Frees   int       `json:"frees"` // how many tasks wait for what this one holds

	Reasons []WaitReason `json:"reasons,omitempty"` // why it waits, the most telling first
}

// GitItems is the item of a project about programs that git may not run, none if there is
// nothing to say about them.
func GitItems(project, text string) []Item {
	if text == "" {
		return nil
	}
	return []Item{{Kind: ItemGit, Project: project, Text: text, Action: Action{Verb: VerbTrustGit, Project: project}}}
}

// PausedItem says that a person paused everything.
func PausedItem() Item {
	return Item{Kind: ItemPaused, Text: "everything is paused: nothing starts and nothing ends", Action: Action{Verb: VerbResume}}
}

// CountInbox counts the items that wait for a person, and those in the backlog.
func CountInbox(items []Item) (waiting, backlog int) {
	for i := range items {
		if items[i].Kind.WaitsForPerson() {
			waiting++
		} else {
			backlog++
		}
	}
	return waiting, backlog
}

// GroupInbox puts items of one kind together, the most pressing kind first. Within a kind
// they keep their order.
func GroupInbox(items []Item) []Item {
	out := slices.Clone(items)
	kinds := ItemKinds()
	slices.SortStableFunc(out, func(a, b Item) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	return out
}

// InboxItem says what a task wants of a person, if anything.
func InboxItem(def *workflow.Definition, t task.Task) (Item, bool) {
	s, ok := def.StateNamed(t.Status)
	if !ok || t.Deleted || s.Kind == workflow.Terminal && t.Attention == "" {
		return Item{}, false
	}
	x := newExplainer(def, &t, nil)
	it := Item{Task: t.ID, Project: t.Project, Branch: t.Branch, Summary: t.Summary, Status: t.Status, Since: t.Since}
	if !x.findItem(s, &it) {
		return Item{}, false
	}
	it.Verb = cmp.Or(it.Verb, x.helpfulVerb(it.Kind))
	return it, true
}

// notStarted says how the task came to a queue in which nobody starts it.
func (d *explainer) notStarted() string {
	if d.t.Visit > 1 {
		return "it was reopened and not started"
	}
	return "it was created and not started"
}

// waitsItsTurn says that the task leaves the board as soon as it can. One whose card has
// changed since it was queued may not.
func (d *explainer) waitsItsTurn() bool {
	return d.t.Queued && d.t.CardSnapshot != nil && slices.ContainsFunc(d.def.EdgesFrom(d.t.Status), func(i int) bool {
		e := &d.def.Edges[i]
		return e.MatchesCard(d.t.CardSnapshot) && d.now.GuardHolds(e)
	})
}

// heldItem says that the work failed and whose turn it is now.
func (d *explainer) heldItem(s *workflow.State, it *Item) {
	it.Kind, it.Text, it.Since = ItemFailed, d.t.WorkFailed, d.t.UpdatedAt
	if u := d.now.FailedStart(s); u != nil {
		d.unstartedItem(s, u, it)
		return
	}
	if d.now.MassHeld() {
		it.Kind, it.Action = ItemCrashed, d.taskAction(engine.Respawn)
		return
	}
	if h := d.t.Handover; h != nil && len(h.Missing) > 0 && (d.t.LastReport == nil || d.t.LastReport.Outcome != string(signal.Failed)) {
		it.Text += fmt.Sprintf("; it is your turn: let the %s go on with orange task respawn %s, or take the work as it is with orange task complete %s", s.Role, d.t.ID, d.t.ID)
		it.Action = d.taskAction(engine.Respawn)
		return
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		to, _ := d.def.StateNamed(e.To)
		works := to.Kind == workflow.Agent || to.Kind == workflow.Waiting
		if e.As == engine.Complete || !works || !d.now.PersonMayAsk(e) {
			continue
		}
		whom := e.To
		if to.Role != "" {
			whom = "the " + to.Role
		}
		it.Text += fmt.Sprintf("; it is your turn: send it back to %s, or let the %s look again with orange task respawn %s", whom, s.Role, d.t.ID)
		it.Action = d.moveAction(e.To)
		return
	}
	it.Text += "; it is your turn"
	it.Action = d.taskAction(engine.Respawn)
}

// saidHalt says that the task halted because of what an agent said. One that passed and found a bound reached did its part.
func saidHalt(t *task.Task) bool {
	said := t.LastReport
	return said != nil && said.Visit == t.Visit-1 && (said.Outcome != string(signal.Passed) || said.Diagnosis != "")
}

func haltText(said *task.LastReport) string {
	text := fmt.Sprintf("the %s cannot go on", said.Role)
	for _, more := range []string{said.Code, said.Detail, said.Diagnosis} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// boardText says which tags would let the task go on.
func (d *explainer) boardText() string {
	text := "the card is in " + engine.CardPlaceText(d.t.CardSnapshot)
	set, off := d.boardWays()
	if len(set) > 0 {
		text += ": set " + joinWays(set)
	}
	if len(off) > 0 {
		text += ": take " + joinWays(off) + " off"
	}
	return text
}

// joinWays lists sets of tags of which one is enough.
func joinWays(ways [][]string) string {
	words := make([]string, len(ways))
	for i, tags := range ways {
		words[i] = strings.Join(tags, " and ")
	}
	return strings.Join(words, ", or ")
}

// boardAction is what lets the task go on, if there is one way.
func (d *explainer) boardAction() Action {
	a := Action{Verb: VerbTagCard, Task: d.t.ID, Card: cardOf(d.t.TrackerRef)}
	switch set, off := d.boardWays(); {
	case len(set) > 0:
		a.Tags = set[0]
	case len(off) > 0:
		a.Untags = off[0]
	default:
		a.Verb = VerbShowCard
	}
	return a
}

// boardWays lists the tags of a person that would let the task go on, and those that are
// in the way.
func (d *explainer) boardWays() (set, off [][]string) {
	has := func(list [][]string, tags []string) bool {
		return slices.ContainsFunc(list, func(o []string) bool { return slices.Equal(o, tags) })
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		for _, tr := range d.def.Edges[i].On {
			if tr.Kind != workflow.OnBoard {
				continue
			}
			if tags, ok := tr.Board.MissingTags(d.t.CardSnapshot); ok && len(tags) > 0 && d.forPerson(tags) && !has(set, tags) {
				set = append(set, tags)
			}
			if tags := tr.Board.InTheWay(d.t.CardSnapshot); len(tags) > 0 && !has(off, tags) {
				off = append(off, tags)
			}
		}
	}
	return set, off
}

// withReason adds a reason to a text, if there is one.
func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

// forPerson says that nobody but a person sets the tags.
func (d *explainer) forPerson(tags []string) bool {
	return !slices.ContainsFunc(tags, func(name string) bool {
		tag, ok := d.def.Board.TagNamed(name)
		return !ok || !tag.OnlyPeople()
	})
}

// cardOf is a card as commands name it.
func cardOf(ref string) string { return strings.TrimPrefix(ref, "board:") }

// wantsWords reports whether an agent waits for a person's words. An agent that ended without a question is of
// interest because it died, and one without a process because its end is not recorded yet.
func (d *explainer) wantsWords() bool {
	w := d.now.WaitsForWords()
	return w != nil && (w.Asks || d.attemptLives(w.Attempt)) && !slices.Contains(d.sig.Absent, w.Attempt)
}

// atTerminal says what an agent needs a person for at its terminal, "" if for nothing.
func atTerminal(a *task.Attempt) (kind ItemKind, text string) {
	switch c := a.Condition; c.Name {
	case task.WaitingPermission:
		return ItemPermission, fmt.Sprintf("the %s: %s", a.Role, engine.ConditionText(c))
	case task.WaitingInput:
		return ItemInput, fmt.Sprintf("the %s: %s", a.Role, engine.ConditionText(c))
	case task.NotStarted:
		return ItemNotStarted, withReason("the "+a.Role+" has not started and its screen stands still", c.Detail)
	case task.TurnFailed:
		return ItemTurnFailed, withReason("the turn of the "+a.Role+" failed", c.Detail)
	}
	return "", ""
}

// leftOut says what was missing when the work was handed over.
func (d *explainer) leftOut() string {
	switch h := d.t.Handover; {
	case h == nil:
		return ""
	case len(h.Missing) > 0:
		return "; when it was handed over it was incomplete: " + strings.Join(h.Missing, "; ")
	case h.Nothing:
		return "; there is nothing to merge: NOTHING: in ## " + workflow.HandoffSection + " says why"
	}
	return ""
}

// handedNothing says that the task was handed over without any change.
func (d *explainer) handedNothing() bool { return d.t.Handover != nil && d.t.Handover.Nothing }

// decisionAction is the action for a task that waits for a person's decision, and its verb where
// surfaces have one of their own.
func (d *explainer) decisionAction(s *workflow.State) (do Action, verb string) {
	switch {
	case d.now.MergeHelps() && d.handedNothing():
		return d.taskAction(engine.Complete), ""
	case d.now.MergeHelps():
		return d.taskAction(engine.VerbMerge), engine.VerbMerge
	}
	if way := d.cheapestWay(s); way.Action.Verb != "" && way.Edit == "" {
		return way.Action, ""
	}
	return d.taskAction(VerbExplain), ""
}

// mergeItem says how to help a task whose merge was given up: after a conflict the worker
// rebases its branch, where the work can be sent back. Otherwise the merge is asked for again
// once a person has mended what is named, because resuming the task would not ask for it.
func (d *explainer) mergeItem(it *Item) {
	gave := d.t.GaveUp
	owed := func(e task.Effect) bool { return e.Do == workflow.MergeBranch }
	switch {
	case gave == nil || gave.Do != workflow.MergeBranch:
	case gave.Conflict != nil && d.sendsBack():
		it.Verb, it.Note = engine.RequestChanges, rebaseWords(gave.Conflict)
		it.Action = d.taskAction(engine.RequestChanges)
		it.Action.Note = it.Note
	case d.now.MergeHelps() && !slices.ContainsFunc(d.t.Pending, owed):
		it.Action, it.Verb = d.taskAction(engine.VerbMerge), engine.VerbMerge
	}
}

// sendsBack says whether a person may send the work back now.
func (d *explainer) sendsBack() bool {
	return d.now.PersonMay(engine.RequestChanges)
}

// rebaseWords tells a worker to resolve a conflict.
func rebaseWords(c *task.Conflict) string {
	const most = 10
	files := c.Files[:min(most, len(c.Files))]
	more := ""
	if n := len(c.Files) - len(files); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("The branch conflicts with %s. Run git rebase %s, resolve the conflicts in %s%s, and test again.", c.Onto, c.Onto, strings.Join(files, ", "), more)
}

// SortInbox puts what frees other tasks first, then what has waited longest, and the backlog
// last.
func SortInbox(items []Item) {
	last := func(it *Item) int {
		if it.Kind.WaitsForPerson() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(last(&a), last(&b)), cmp.Compare(b.Frees, a.Frees), a.Since.Compare(b.Since), cmp.Compare(a.Task, b.Task))
	})
}
