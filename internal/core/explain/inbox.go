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
	"orange/internal/view/humanize"
)

// An Item is something that waits for a person.
type Item struct {
	Task    task.ID   `json:"task"`
	Project string    `json:"project"`
	Branch  string    `json:"branch"`
	Summary string    `json:"summary"`
	Status  string    `json:"status"`
	Kind    ItemKind  `json:"kind"`
	Text    string    `json:"text"`            // what the item waits for; may contain agents' words
	Action  Action    `json:"action,omitzero"` // what helps
	Do      string    `json:"do,omitempty"`    // Action as a command line, which package narrate writes
	Verb    string    `json:"verb,omitempty"`  // the most helpful verb; surfaces offer it without knowing the kind
	Note    string    `json:"note,omitempty"`  // the note that goes with the verb
	Since   time.Time `json:"since"`
	Frees   int       `json:"frees"` // number of tasks that wait for what this one holds

	Reasons []WaitReason `json:"reasons,omitempty"` // why the task waits, the most important first
}

// GitItems returns the item of a project about programs that git may not run, or none if text is
// empty.
func GitItems(project, text string) []Item {
	if text == "" {
		return nil
	}
	return []Item{{Kind: ItemGit, Project: project, Text: text, Action: Action{Verb: VerbTrustGit, Project: project}}}
}

// HeldItems returns the item of a project whose landing queues a person holds, or none if no work waits there.
func HeldItems(project string, held bool, waiting int) []Item {
	if !held || waiting == 0 {
		return nil
	}
	text := fmt.Sprintf("the work of %s waits to land, and the landing queues of %s are held", humanize.Plural(waiting, "task"), project)
	return []Item{{Kind: ItemHeld, Project: project, Text: text, Action: Action{Verb: VerbResumeLanding, Project: project}}}
}

// PausedItem returns the item that says that a person paused everything.
func PausedItem() Item {
	return Item{Kind: ItemPaused, Text: "everything is paused: nothing starts and nothing ends", Action: Action{Verb: VerbResume}}
}

// CountInbox returns the number of items that wait for a person, and of those in the backlog.
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

// GroupInbox returns the items grouped by kind, the most urgent kind first. Within a kind the order
// does not change.
func GroupInbox(items []Item) []Item {
	out := slices.Clone(items)
	kinds := ItemKinds()
	slices.SortStableFunc(out, func(a, b Item) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	return out
}

// InboxItem returns what a task needs from a person, if anything.
func InboxItem(def *workflow.Definition, t task.Task) (Item, bool) {
	def = def.ForTask(t.Checks)
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

// notStarted returns how the task came to a queue from which nobody starts it.
func (d *explainer) notStarted() string {
	if d.t.Visit > 1 {
		return "it was reopened and not started"
	}
	return "it was created and not started"
}

// waitsItsTurn reports whether the task leaves the queue as soon as it can. A task whose card has
// changed since it was queued may not.
func (d *explainer) waitsItsTurn() bool {
	return d.t.Queued && d.t.CardSnapshot != nil && slices.ContainsFunc(d.def.EdgesFrom(d.t.Status), func(i int) bool {
		e := &d.def.Edges[i]
		return e.MatchesCard(d.t.CardSnapshot) && d.now.GuardHolds(e)
	})
}

// stoppedItem fills in the item of a task whose agent a person stopped.
func (d *explainer) stoppedItem(_ *workflow.State, it *Item) {
	it.Kind, it.Since, it.Action = ItemStopped, d.t.Stopped.At, d.taskAction(engine.Respawn)
	it.Text = "you" + strings.TrimPrefix(d.t.WorkFailed, "a person") + "; the task stays as it is until you start another one or move it"
}

// heldItem fills in the item of a task whose work failed: why, and what a person can do.
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
		it.Text += fmt.Sprintf("; it is your turn: let the %s continue with orange task respawn %s, or accept the work as it is with orange task complete %s", s.Role, d.t.ID, d.t.ID)
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
		it.Text += fmt.Sprintf("; it is your turn: send it back to %s, or let the %s check again with orange task respawn %s", whom, s.Role, d.t.ID)
		it.Action = d.moveAction(e.To)
		return
	}
	it.Text += "; it is your turn"
	it.Action = d.taskAction(engine.Respawn)
}

// reportedHalt reports whether the task halted because of an agent's report. A report that passed does not
// count, even if a counter had reached its bound, unless it contains a diagnosis.
func reportedHalt(t *task.Task) bool {
	said := t.LastReport
	return said != nil && said.Visit == t.Visit-1 && (said.Outcome != string(signal.Passed) || said.Diagnosis != "")
}

func haltText(said *task.LastReport) string {
	text := fmt.Sprintf("the %s cannot continue", said.Role)
	for _, more := range []string{said.Code, said.Detail, said.Diagnosis} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// boardText returns which tags would let the task continue.
func (d *explainer) boardText() string {
	text := "the card is in " + engine.CardPlaceText(d.t.CardSnapshot)
	set, off := d.boardWays()
	if len(set) > 0 {
		text += ": set " + joinWays(set)
	}
	if len(off) > 0 {
		text += ": remove " + joinWays(off)
	}
	return text
}

// joinWays lists alternative sets of tags.
func joinWays(ways [][]string) string {
	words := make([]string, len(ways))
	for i, tags := range ways {
		words[i] = strings.Join(tags, " and ")
	}
	return strings.Join(words, ", or ")
}

// boardAction returns the action that lets the task continue, or the one that shows the card if no tag
// would.
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

// boardWays returns the sets of tags that a person can set to let the task continue, and the sets of tags
// that prevent it.
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

// withReason appends a reason to a text, if there is one.
func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

// forPerson reports whether only people set the tags.
func (d *explainer) forPerson(tags []string) bool {
	return !slices.ContainsFunc(tags, func(name string) bool {
		tag, ok := d.def.Board.TagNamed(name)
		return !ok || !tag.OnlyPeople()
	})
}

// cardOf returns the name of a card in commands: its reference without the prefix of local boards.
func cardOf(ref string) string { return strings.TrimPrefix(ref, "board:") }

// wantsAnswer reports whether an agent waits for a message from a person. It ignores an agent that
// ended without a question, because that is shown as a crash, and an agent without a process, because
// its end is not recorded yet.
func (d *explainer) wantsAnswer() bool {
	w := d.now.WaitsForAnswer()
	return w != nil && (w.Asks || d.attemptLives(w.Attempt)) && !slices.Contains(d.sig.Absent, w.Attempt)
}

// atTerminal returns why an agent needs a person at its terminal, or "" if it does not.
func atTerminal(a *task.Attempt) (kind ItemKind, text string) {
	switch c := a.Condition; c.Name {
	case task.WaitingPermission:
		return ItemPermission, "the " + a.Role + " " + c.Text()
	case task.WaitingInput:
		return ItemInput, "the " + a.Role + " " + c.Text()
	case task.NotStarted:
		return ItemNotStarted, withReason("the "+a.Role+" has not started and its screen does not change", c.Detail)
	case task.TurnFailed:
		return ItemTurnFailed, withReason("the turn of the "+a.Role+" failed", c.Detail)
	}
	return "", ""
}

// leftOut returns what was missing when the work was handed over.
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

// protectedText returns which changes need a person's approval.
func (d *explainer) protectedText() string {
	paths := task.PathsOf(d.t.UnapprovedChanges())
	if len(paths) == 0 {
		return ""
	}
	return "; it changes paths that need your approval: " + strings.Join(paths[:min(5, len(paths))], ", ") + moreText(len(paths)-5)
}

// handedNothing reports whether the task was handed over without any change.
func (d *explainer) handedNothing() bool { return d.t.Handover != nil && d.t.Handover.Nothing }

// decisionAction returns the action for a task that waits for a person's decision, and its verb if
// surfaces offer one.
func (d *explainer) decisionAction(s *workflow.State) (do Action, verb string) {
	switch {
	case d.now.MergeHelps() && len(d.t.UnapprovedChanges()) > 0:
		return d.taskAction(engine.VerbApproveChanges), engine.VerbApproveChanges
	case d.now.MergeHelps() && d.handedNothing():
		return d.taskAction(engine.Complete), ""
	case d.now.MergeHelps() && len(d.unmet()) > 0:
		return d.taskAction(VerbExplain), ""
	case d.now.MergeHelps():
		return d.taskAction(engine.VerbMerge), engine.VerbMerge
	}
	if way := d.cheapestWay(s); way.Action.Verb != "" && way.Edit == "" {
		return way.Action, ""
	}
	return d.taskAction(VerbExplain), ""
}

// mergeItem fills in how to help a task whose merge was given up. After a conflict the work is sent
// back, if possible, so that the worker rebases its branch. Otherwise a person fixes the problem and
// asks for the merge again, because resuming the task would not repeat it.
func (d *explainer) mergeItem(it *Item) {
	gave := d.t.GaveUp
	isMerge := func(e task.Effect) bool { return e.Do == workflow.MergeBranch }
	switch {
	case gave == nil || gave.Do != workflow.MergeBranch:
	case gave.Conflict != nil && d.sendsBack():
		it.Verb, it.Note = engine.RequestChanges, rebaseWords(gave.Conflict)
		it.Action = d.taskAction(engine.RequestChanges)
		it.Action.Note = it.Note
	case d.now.MergeHelps() && len(d.t.UnapprovedChanges()) > 0:
		it.Action, it.Verb = d.taskAction(engine.VerbApproveChanges), engine.VerbApproveChanges
	case d.now.MergeHelps() && !slices.ContainsFunc(d.t.Pending, isMerge):
		it.Action, it.Verb = d.taskAction(engine.VerbMerge), engine.VerbMerge
	}
}

// sendsBack reports whether a person may send the work back now.
func (d *explainer) sendsBack() bool {
	return d.now.PersonMay(engine.RequestChanges)
}

// rebaseWords returns the note that tells a worker to resolve a conflict.
func rebaseWords(c *task.Conflict) string {
	const most = 10
	files := c.Files[:min(most, len(c.Files))]
	more := moreText(len(c.Files) - most)
	return fmt.Sprintf("The branch conflicts with %s. Run git rebase %s, resolve the conflicts in %s%s, and test again.", c.Onto, c.Onto, strings.Join(files, ", "), more)
}

// moreText says how many items a list leaves out.
func moreText(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// SortInbox sorts items that free other tasks first, then by age, oldest first, with the backlog last.
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
