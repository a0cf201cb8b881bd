package explain

import (
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/task"
)

// ItemKind says what a task needs a person for.
type ItemKind string

// The kinds of items.
const (
	ItemAttention  ItemKind = "attention"   // something failed and was given up
	ItemConfirm    ItemKind = "confirm"     // an agent asks for a move that a person must grant
	ItemPermission ItemKind = "permission"  // an agent asks for permission
	ItemInput      ItemKind = "input"       // an agent asks for input at its terminal
	ItemQuestion   ItemKind = "question"    // the task waits for an answer
	ItemIdle       ItemKind = "idle"        // an agent's turn ended in its own state: it asked something, or just stopped
	ItemReview     ItemKind = "review"      // the work waits for a decision
	ItemStuck      ItemKind = "stuck"       // the work needs help
	ItemNotStarted ItemKind = "not-started" // an agent could not start, or made no progress before its first turn
	ItemTurnFailed ItemKind = "turn-failed" // the turn of an agent ended with an error of its provider
	ItemCrashed    ItemKind = "crashed"     // an agent died
	ItemFailed     ItemKind = "failed"      // the work failed: an agent reports it, or its check cannot be run
	ItemStopped    ItemKind = "stopped"     // a person stopped an agent, and nobody started one since
	ItemNoAnswer   ItemKind = "no-answer"   // an agent ended without a report
	ItemBoard      ItemKind = "board"       // the card waits for a tag or a move
	ItemStart      ItemKind = "start"       // the task was created and not started
	ItemPaused     ItemKind = "paused"      // a person paused everything
	ItemBlocked    ItemKind = "blocked"     // the task is after one that ended without landing
	ItemHeld       ItemKind = "held"        // work waits in a landing queue that a person holds
	ItemPool       ItemKind = "pool"        // work that holds every workspace waits for tasks that need one
	ItemGit        ItemKind = "git"         // git would run programs that no person has trusted
)

// Weight is how urgent an item is.
type Weight int

// The weights, in ascending order.
const (
	NothingStops Weight = iota
	WorkWaits
	AgentWaits // an agent cannot continue until a person acts
	Broken     // something is broken
)

// KindInfo is the row of a kind in the table of kinds, which every surface reads.
type KindInfo struct {
	Kind   ItemKind
	Badge  string // on a card: what the reader should do
	Notice string // in a notification that has no other text
	Verb   string // the most helpful verb, unless the task has another; "" if a person must act first

	Weight    Weight
	Picture   string // short name of an emoji, as ntfy names them; "" for the default
	Condition string // the condition of the agent that needs a person at its terminal; "" if none does

	Alarming  bool // shown as bad
	Timeless  bool // its time is that of the last entry, and says nothing about the item
	Complete  bool // its text is complete: add no reasons
	Unnoticed bool // nobody is notified, because the person who caused it knows, or it is shown with its project
}

// itemKinds is the table of kinds, the most urgent first.
var itemKinds = [...]KindInfo{
	{Kind: ItemPaused, Badge: "You: paused", Notice: "everything is paused", Verb: VerbResume, Weight: WorkWaits, Timeless: true, Complete: true, Unnoticed: true},
	{Kind: ItemAttention, Badge: "You: needs attention", Notice: "something failed and was given up", Verb: VerbResume, Weight: Broken, Picture: "warning", Alarming: true, Timeless: true},
	{Kind: ItemPermission, Badge: "You: allow", Notice: "an agent asks whether it may do something", Verb: VerbAttach, Weight: AgentWaits, Picture: "raised_hand", Condition: task.WaitingPermission, Complete: true},
	{Kind: ItemInput, Badge: "You: answer", Notice: "an agent asks something at its terminal", Verb: VerbAttach, Weight: AgentWaits, Picture: "question", Condition: task.WaitingInput, Complete: true},
	{Kind: ItemConfirm, Badge: "You: approve", Notice: "an agent asks for a move that you must approve", Verb: VerbApprove, Weight: AgentWaits, Picture: "raised_hand"},
	{Kind: ItemQuestion, Badge: "You: answer", Notice: "a task waits for an answer", Verb: engine.VerbAnswer, Weight: AgentWaits, Picture: "question"},
	{Kind: ItemIdle, Badge: "You: reply", Notice: "an agent asked something, or stopped, and waits for your answer", Verb: engine.VerbAnswer, Weight: AgentWaits, Picture: "question"},
	{Kind: ItemNotStarted, Badge: "You: it could not start", Notice: "an agent could not start", Verb: engine.Respawn, Weight: AgentWaits, Picture: "warning", Condition: task.NotStarted, Alarming: true},
	{Kind: ItemTurnFailed, Badge: "You: its turn failed", Notice: "the turn of an agent failed", Verb: VerbAttach, Weight: AgentWaits, Picture: "warning", Condition: task.TurnFailed, Alarming: true},
	{Kind: ItemStuck, Badge: "You: help", Notice: "work needs help", Verb: engine.VerbAnswer, Weight: AgentWaits, Picture: "sos", Alarming: true},
	{Kind: ItemCrashed, Badge: "You: respawn", Notice: "an agent died", Verb: engine.Respawn, Weight: WorkWaits, Picture: "boom", Alarming: true, Timeless: true},
	{Kind: ItemFailed, Badge: "You: it failed", Notice: "work failed, and waits for you", Verb: engine.Respawn, Weight: WorkWaits, Picture: "warning", Alarming: true, Timeless: true},
	{Kind: ItemNoAnswer, Badge: "You: no report", Notice: "an agent did not report its outcome", Verb: engine.Respawn, Weight: NothingStops, Picture: "sos", Alarming: true},
	{Kind: ItemStopped, Badge: "You: agent stopped", Notice: "a person stopped an agent", Verb: engine.Respawn, Weight: NothingStops, Complete: true, Unnoticed: true},
	{Kind: ItemReview, Badge: "You: review", Notice: "work waits for a decision", Weight: WorkWaits, Picture: "eyes"},
	{Kind: ItemBoard, Badge: "You: tag the card", Notice: "a card waits for a tag or a move", Weight: WorkWaits, Picture: "eyes", Complete: true},
	{Kind: ItemBlocked, Badge: "You: unblock", Notice: "a task is after one that was cancelled", Weight: WorkWaits, Picture: "warning", Alarming: true, Complete: true},
	{Kind: ItemHeld, Badge: "You: resume the landing queue", Notice: "work waits in a landing queue that is held", Verb: VerbResumeLanding, Weight: WorkWaits, Timeless: true, Complete: true, Unnoticed: true},
	{Kind: ItemPool, Badge: "You: add a workspace", Notice: "every workspace has work that waits for a task without one", Verb: VerbEnlargePool, Weight: WorkWaits, Alarming: true, Timeless: true, Complete: true, Unnoticed: true},
	{Kind: ItemGit, Badge: "You: look at what git would run", Notice: "git would run programs that nobody has trusted", Weight: WorkWaits, Timeless: true, Unnoticed: true},
	{Kind: ItemStart, Badge: "backlog", Notice: "a task was created and not started", Verb: VerbSpawn, Weight: NothingStops, Complete: true},
}

// ItemKinds lists the kinds, the most urgent first.
func ItemKinds() []ItemKind { return kindsWhere(func(KindInfo) bool { return true }) }

// NoticedKinds lists the kinds that people can be notified of.
func NoticedKinds() []ItemKind { return kindsWhere(func(k KindInfo) bool { return !k.Unnoticed }) }

func kindsWhere(wanted func(KindInfo) bool) []ItemKind {
	var out []ItemKind
	for _, k := range itemKinds {
		if wanted(k) {
			out = append(out, k.Kind)
		}
	}
	return out
}

// Info returns the row of the kind. For a kind that is not in the table it returns generic texts.
func (k ItemKind) Info() KindInfo {
	at := slices.IndexFunc(itemKinds[:], func(row KindInfo) bool { return row.Kind == k })
	if at < 0 {
		return KindInfo{Kind: k, Badge: "You: " + string(k), Notice: "something waits for you", Weight: WorkWaits}
	}
	return itemKinds[at]
}

// WaitsForPerson reports whether something cannot continue until a person acts. A task that was
// created and not started does not wait: it belongs to the backlog, from which people start tasks when
// they want to.
func (k ItemKind) WaitsForPerson() bool { return k != "" && k != ItemStart }
