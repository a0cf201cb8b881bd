package explain

import (
	"fmt"
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A situation is a reason why a task stays in its state. The inbox item, the owner and the cheapest
// way to unblock the task each come from the first situation that holds and has a function for them.
type situation struct {
	name    string
	holds   func(d *explainer, s *workflow.State) bool
	item    func(d *explainer, s *workflow.State, it *Item)          // fills the inbox item; an item without a kind means that nothing waits for a person
	owner   func(d *explainer, s *workflow.State) (who, why string)  // returns who must act, and why
	unblock func(d *explainer, s *workflow.State) (cheapest Unblock) // returns the least that gets the task going
}

// situations lists every situation, the most urgent first.
var situations = []situation{
	{
		name:  "paused",
		holds: func(d *explainer, _ *workflow.State) bool { return d.t.Paused },
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return aPerson, withReason("the task is paused", d.t.PauseReason)
		},
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return d.unblockBy(VerbResume, "effects and timers of the task continue")
		},
	},
	{
		name:  "needs attention",
		holds: func(d *explainer, _ *workflow.State) bool { return d.t.Attention != "" },
		item:  (*explainer).attentionItem,
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return aPerson, "it needs attention: " + d.t.Attention
		},
		unblock: (*explainer).unblockAttention,
	},
	{
		name:  "asks for confirmation",
		holds: func(d *explainer, _ *workflow.State) bool { return d.t.Asked != nil },
		item: func(d *explainer, _ *workflow.State, it *Item) {
			it.Kind, it.Since = ItemConfirm, d.t.Asked.At
			it.Text, it.Action = fmt.Sprintf("the %s asks for %s", d.t.Asked.By, d.t.Asked.To), d.taskAction(VerbApprove)
		},
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return aPerson, fmt.Sprintf("the %s asks for %s, and a person must approve it", d.t.Asked.By, d.t.Asked.To)
		},
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return Unblock{Action: d.moveAction(d.t.Asked.To), Opens: d.t.Status + " -> " + d.t.Asked.To}
		},
	},
	{
		name:  "a message cannot reach its agent",
		holds: func(d *explainer, _ *workflow.State) bool { return d.keptFrom() != nil },
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			a := d.keptFrom()
			_, text := atTerminal(a)
			return aPerson, fmt.Sprintf("attempt %d: %s", a.Number, text)
		},
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return d.unblockBy(VerbAttach, "the "+d.keptFrom().Role+" gets the message that waits, once its prompt is empty")
		},
	},
	{
		name:  "is after a task that ended without landing",
		holds: (*explainer).waitsForDropped,
		item:  (*explainer).droppedItem,
		owner: func(d *explainer, _ *workflow.State) (string, string) { return aPerson, d.droppedText() },
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return Unblock{Action: d.dropAction(), Opens: "the task no longer waits for that one"}
		},
	},
	{
		name:  "waits for other tasks to land",
		holds: (*explainer).waitsForOthers,
		item:  nothingWaits,
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return theEngine, "it " + engine.DescribeUnmet(d.unmet())
		},
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return Unblock{Opens: "it " + engine.DescribeUnmet(d.unmet())}
		},
	},
	{
		name:  "is in a landing queue",
		holds: func(d *explainer, _ *workflow.State) bool { return d.t.MergeEffect() != nil },
		item:  nothingWaits,
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return theEngine, d.t.DescribeLandingAt(d.sig.Queue)
		},
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return Unblock{Opens: d.t.DescribeLandingAt(d.sig.Queue), Until: d.t.MergeEffect().NotBefore}
		},
	},
	{
		name: "effects are pending",
		holds: func(d *explainer, _ *workflow.State) bool {
			p, _ := d.now.FirstPending()
			return p != nil
		},
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			p, n := d.now.FirstPending()
			if n == 1 {
				return theEngine, "one effect is pending: " + p.Do
			}
			return theEngine, fmt.Sprintf("%d effects are pending, %s first", n, p.Do)
		},
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			p, _ := d.now.FirstPending()
			return Unblock{Opens: p.Do + " to be done", Until: p.NotBefore}
		},
	},
	{
		name:  "over",
		holds: isKind(workflow.Terminal),
		item:  nothingWaits,
		owner: func(*explainer, *workflow.State) (string, string) { return nobody, "the task is over" },
		unblock: func(*explainer, *workflow.State) Unblock {
			return Unblock{Opens: "nothing: the task is over"}
		},
	},
	{
		name:  "an agent needs a person at its terminal",
		holds: func(d *explainer, _ *workflow.State) bool { return d.atTerminal() != nil },
		item: func(d *explainer, _ *workflow.State, it *Item) {
			a := d.atTerminal()
			it.Kind, it.Text = atTerminal(a)
			it.Since, it.Action = a.Condition.Since, d.taskAction(VerbAttach)
		},
	},
	{
		name:  "an agent waits for words",
		holds: func(d *explainer, _ *workflow.State) bool { return d.asksForAnswer() },
		item:  func(d *explainer, _ *workflow.State, it *Item) { d.idleItem(d.now.WaitsForAnswer(), it) },
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return aPerson, d.idleText(d.now.WaitsForAnswer())
		},
		unblock: func(d *explainer, s *workflow.State) Unblock {
			return Unblock{Action: d.taskAction(engine.VerbAnswer), Opens: "the " + s.Role + " continues with your answer"}
		},
	},
	{
		name:  "held for a check",
		holds: func(d *explainer, s *workflow.State) bool { return s.Kind == workflow.CheckDo && d.t.WorkFailed != "" },
		item: func(d *explainer, _ *workflow.State, it *Item) {
			it.Kind, it.Text, it.Since, it.Action = ItemFailed, d.t.WorkFailed+"; it is your turn: repair that and run the check again", d.t.UpdatedAt, d.taskAction(engine.Respawn)
		},
		owner: func(d *explainer, _ *workflow.State) (string, string) { return aPerson, d.t.WorkFailed },
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return d.unblockBy(engine.Respawn, "the check runs again")
		},
	},
	{
		name:  "a check runs",
		holds: isKind(workflow.CheckDo),
		item:  nothingWaits,
		owner: func(d *explainer, _ *workflow.State) (string, string) { return theEngine, d.checkText() },
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return Unblock{Opens: d.checkText()}
		},
	},
	{
		name:  "a person stopped its agent",
		holds: func(d *explainer, _ *workflow.State) bool { return d.t.Stopped != nil },
		item:  (*explainer).stoppedItem,
		owner: func(d *explainer, _ *workflow.State) (string, string) { return aPerson, d.t.WorkFailed },
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return d.unblockBy(engine.Respawn, "another "+d.t.Stopped.Role+" goes on in the same worktree")
		},
	},
	{
		name:  "the work failed",
		holds: func(d *explainer, _ *workflow.State) bool { return d.t.WorkFailed != "" },
		item:  (*explainer).heldItem,
		owner: func(d *explainer, _ *workflow.State) (string, string) { return aPerson, d.t.WorkFailed },
		unblock: func(d *explainer, s *workflow.State) Unblock {
			var it Item
			d.heldItem(s, &it)
			return Unblock{Action: it.Action, Opens: "the work is done again"}
		},
	},
	{
		name:  "its agent could not start",
		holds: func(d *explainer, s *workflow.State) bool { return d.now.FailedStart(s) != nil && d.t.Crashed == "" },
		item:  func(d *explainer, s *workflow.State, it *Item) { d.unstartedItem(s, d.t.Unstarted, it) },
	},
	{
		name: "the parts of a parent failed together",
		holds: func(d *explainer, s *workflow.State) bool {
			return d.waitsForChildren(s) && d.t.LastReport != nil && d.t.LastReport.Outcome == string(signal.Failed)
		},
		item: func(d *explainer, _ *workflow.State, it *Item) {
			it.Kind, it.Action = ItemReview, d.taskAction(engine.Complete)
			it.Text = fmt.Sprintf("the %s says it failed: send back the child that must be fixed, or continue if there is none", d.t.LastReport.Role)
		},
	},
	{
		name:  "leaves the board by itself",
		holds: func(d *explainer, s *workflow.State) bool { return s.Kind != workflow.Queued && d.waitsItsTurn() },
		item:  nothingWaits,
	},
	{
		name:  "halted by a report",
		holds: func(d *explainer, s *workflow.State) bool { return s.Kind == workflow.Halt && reportedHalt(d.t) },
		item: func(d *explainer, _ *workflow.State, it *Item) {
			it.Kind, it.Text, it.Action = ItemStuck, haltText(d.t.LastReport), d.taskAction(engine.VerbAnswer)
		},
		owner:   func(d *explainer, _ *workflow.State) (string, string) { return aPerson, haltText(d.t.LastReport) },
		unblock: (*explainer).unblockHalt,
	},
	{
		name:  "halted",
		holds: isKind(workflow.Halt),
		item:  (*explainer).haltItem,
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return aPerson, withReason("the work is stuck", d.t.StateReason)
		},
		unblock: (*explainer).unblockHalt,
	},
	{
		name:  "waits for its turn",
		holds: func(d *explainer, s *workflow.State) bool { return s.Kind == workflow.HumanDo && d.t.Queued },
		owner: func(*explainer, *workflow.State) (string, string) {
			return theEngine, "it waits for its turn: another task comes first"
		},
		unblock: (*explainer).unblockQueued,
	},
	{
		name:    "waits for a workspace",
		holds:   func(d *explainer, _ *workflow.State) bool { return d.t.Queued },
		unblock: (*explainer).unblockQueued,
	},
	{
		name:  "waits for its children",
		holds: (*explainer).waitsForChildren,
		item:  nothingWaits,
		owner: func(*explainer, *workflow.State) (string, string) { return theEngine, "it waits for its children" },
		unblock: func(*explainer, *workflow.State) Unblock {
			return Unblock{Opens: "its children"}
		},
	},
	{
		name: "waits for a tag of its card",
		holds: func(d *explainer, s *workflow.State) bool {
			return s.Kind == workflow.HumanDo && d.t.CardSnapshot != nil && d.def.WatchesBoard(s.Name)
		},
		item: func(d *explainer, _ *workflow.State, it *Item) {
			it.Kind, it.Text, it.Action = ItemBoard, d.boardText(), d.boardAction()
		},
		owner: func(d *explainer, _ *workflow.State) (string, string) { return aPerson, d.boardText() },
		unblock: func(d *explainer, _ *workflow.State) Unblock {
			return Unblock{Action: d.boardAction(), Opens: "what the card then asks for"}
		},
	},
	{
		name:  "questions wait for an answer",
		holds: isKind(workflow.Waiting),
		item: func(d *explainer, _ *workflow.State, it *Item) {
			it.Kind, it.Text, it.Action = ItemQuestion, "questions wait for an answer: see ## Questions in TASK.md", d.taskAction(engine.VerbAnswer)
		},
		owner:   func(*explainer, *workflow.State) (string, string) { return aPerson, "a question waits for an answer" },
		unblock: (*explainer).cheapestWay,
	},
	{
		name:  "waits for a decision",
		holds: isKind(workflow.HumanDo),
		item: func(d *explainer, s *workflow.State, it *Item) {
			it.Kind, it.Text = ItemReview, "the work waits for a decision"+d.leftOut()+d.protectedText()+d.mergeWaitsText()+d.readyText()
			it.Action, it.Verb = d.decisionAction(s)
		},
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			return aPerson, "it waits for a person's decision" + d.protectedText() + d.mergeWaitsText() + d.readyText()
		},
		unblock: func(d *explainer, s *workflow.State) Unblock {
			if d.now.MergeHelps() && len(d.t.UnapprovedChanges()) > 0 {
				return d.unblockBy(engine.VerbApproveChanges, "the branch may be merged")
			}
			if d.now.MergeHelps() && !d.now.IsMerged() && !d.handedNothing() && len(d.unmet()) == 0 {
				return d.unblockBy(engine.VerbMerge, "the branch is merged, and the task is done")
			}
			return d.cheapestWay(s)
		},
	},
	{
		name:  "its agent did not answer",
		holds: func(d *explainer, _ *workflow.State) bool { return d.now.EndedWithoutReport() },
		item: func(d *explainer, _ *workflow.State, it *Item) {
			said := d.t.LastReport
			it.Kind, it.Text, it.Action, it.Since = ItemNoAnswer, fmt.Sprintf("the %s did not report its outcome: %s", said.Role, said.Diagnosis), d.taskAction(VerbShowLog), said.At
		},
	},
	{
		name:  "its agent died",
		holds: func(d *explainer, _ *workflow.State) bool { return d.t.Crashed != "" },
		item: func(d *explainer, _ *workflow.State, it *Item) {
			it.Kind, it.Text, it.Action, it.Since = ItemCrashed, withReason("the "+d.t.Crashed+" died", d.t.StateReason), d.taskAction(engine.Respawn), d.t.UpdatedAt
		},
	},
	{
		name:  "in a queue",
		holds: isKind(workflow.Queued),
		item: func(d *explainer, _ *workflow.State, it *Item) {
			if !d.t.Queued && !d.t.Paused {
				it.Kind, it.Text, it.Action = ItemStart, d.notStarted(), d.taskAction(VerbSpawn)
			}
		},
		owner: func(d *explainer, _ *workflow.State) (string, string) {
			if d.t.Queued {
				return theEngine, "it waits for a free workspace of project " + d.t.Project
			}
			return aPerson, d.notStarted()
		},
		unblock: (*explainer).cheapestWay,
	},
	{
		name:  "has no agent", // it was resumed after a restore that ended its agent
		holds: (*explainer).lacksAgent,
		item: func(d *explainer, s *workflow.State, it *Item) {
			it.Kind, it.Text, it.Action = ItemCrashed, "no "+s.Role+" is at work", d.taskAction(engine.Respawn)
		},
		owner: (*explainer).agentOwner,
		unblock: func(d *explainer, s *workflow.State) Unblock {
			return d.unblockBy(engine.Respawn, "another "+s.Role+" goes on in the same worktree")
		},
	},
	{
		name:    "an agent works",
		holds:   isKind(workflow.Agent),
		item:    nothingWaits,
		owner:   (*explainer).agentOwner,
		unblock: (*explainer).cheapestWithAgent,
	},
}

// lacksAgent reports whether a state whose agents were started before has none, not even one that is ending or stands in for
// its role, and nothing starts one but its deadline.
func (d *explainer) lacksAgent(s *workflow.State) bool {
	has := slices.ContainsFunc(d.t.Attempts, func(a task.Attempt) bool { return a.Role == s.Role || d.now.StandsIn(s.Role, a.Role) })
	return s.Kind == workflow.Agent && s.Role != "" && !has && d.t.AttemptsOfRole(s.Role) > 0 &&
		d.t.RespawnAt.IsZero() && len(d.t.Pending) == 0 && !d.t.Queued
}

func isKind(kind workflow.Kind) func(*explainer, *workflow.State) bool {
	return func(_ *explainer, s *workflow.State) bool { return s.Kind == kind }
}

func nothingWaits(*explainer, *workflow.State, *Item) {}

// findItem fills in what the task needs from a person, and reports whether it needs anything.
func (d *explainer) findItem(s *workflow.State, it *Item) bool {
	for i := range situations {
		if now := &situations[i]; now.item != nil && now.holds(d, s) {
			now.item(d, s, it)
			return it.Kind != ""
		}
	}
	return false
}

// findOwner returns who must act next, and why.
func (d *explainer) findOwner(s *workflow.State) (who, why string) {
	for i := range situations {
		if now := &situations[i]; now.owner != nil && now.holds(d, s) {
			return now.owner(d, s)
		}
	}
	return nobody, "the state " + s.Name + " is of no known kind"
}

// cheapestUnblock returns the least that gets the task going.
func (d *explainer) cheapestUnblock(s *workflow.State) Unblock {
	for i := range situations {
		if now := &situations[i]; now.unblock != nil && now.holds(d, s) {
			return now.unblock(d, s)
		}
	}
	return d.cheapestWay(s)
}

func (d *explainer) waitsForChildren(s *workflow.State) bool {
	return s.Kind == workflow.Waiting && d.def.WaitsForChildren(s.Name)
}

// attentionItem fills in the item of a task that needs attention: why, and what helps.
func (d *explainer) attentionItem(s *workflow.State, it *Item) {
	it.Kind, it.Text, it.Action, it.Since = ItemAttention, d.t.Attention, d.taskAction(VerbResume), d.t.UpdatedAt
	d.mergeItem(it)
	if d.t.CardSnapshot != nil && d.def.WatchesBoard(s.Name) {
		it.Text += "; " + d.boardText()
	}
}

func (d *explainer) unblockAttention(s *workflow.State) Unblock {
	var it Item
	d.attentionItem(s, &it)
	switch it.Verb {
	case engine.RequestChanges:
		return Unblock{Action: it.Action, Opens: "the branch is rebased, and the work is reviewed again"}
	case engine.VerbApproveChanges:
		return Unblock{Action: it.Action, Opens: "the branch may be merged"}
	case engine.VerbMerge:
		return Unblock{Action: it.Action, Opens: "the branch is merged, once what is named is fixed"}
	}
	return d.unblockBy(VerbResume, "what was given up is tried again, and the deadline counts again")
}

// haltItem fills in the item of a task whose work needs help.
func (d *explainer) haltItem(s *workflow.State, it *Item) {
	it.Kind, it.Text, it.Action = ItemStuck, withReason("the work needs help", d.t.StateReason), d.taskAction(VerbAttach)
	switch {
	case s.Role == "":
		it.Action = d.taskAction(engine.VerbAnswer)
	case len(d.t.Attempts) == 0:
		it.Action = d.taskAction(engine.Respawn) // there is no terminal to attach to
	}
}

func (d *explainer) unblockHalt(s *workflow.State) Unblock {
	switch {
	case s.Role == "" || reportedHalt(d.t):
		return Unblock{Action: d.taskAction(engine.VerbAnswer), Opens: "the work continues where it stopped"}
	case d.t.Queued:
		return d.unblockQueued(s)
	}
	return d.cheapestWay(s)
}

func (d *explainer) unblockQueued(s *workflow.State) Unblock {
	if s.Kind != workflow.Queued && d.t.Workspace != "" {
		return Unblock{Opens: "another task of project " + d.t.Project + " that is at work there"}
	}
	return Unblock{Opens: fmt.Sprintf("a workspace that another task gives back, or a larger pool: orange project update %s --pool-size N", d.t.Project)}
}

// atTerminal returns the agent that needs a person at its terminal, or nil if there is none. A failed
// turn counts only if the task waits for that turn.
func (d *explainer) atTerminal() *task.Attempt {
	s, _ := d.def.StateNamed(d.t.Status)
	for i := range d.t.Attempts {
		a := &d.t.Attempts[i]
		kind, _ := atTerminal(a)
		if kind == "" || a.Ending || kind == ItemTurnFailed && (a.Done || s.Kind != workflow.Agent || s.Role != a.Role && !d.now.StandsIn(s.Role, a.Role)) {
			continue
		}
		return a
	}
	return nil
}

// checkText returns what the check of the task does: it runs, or waits for an agent.
func (d *explainer) checkText() string {
	run := d.t.CheckRun
	if run == nil {
		return "no check of the state is defined"
	}
	if _, live := d.t.LiveAttempt(workflow.CheckRole); live {
		return "check " + run.Name + " runs"
	}
	return "check " + run.Name + " waits until no agent is in a turn"
}
