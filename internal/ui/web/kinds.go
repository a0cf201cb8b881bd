package web

import (
	"orange/internal/core/explain"
	"orange/internal/core/workflow"
	"orange/internal/view/overview"
)

// A kindLook is how the page shows a kind of inbox item: the word of its button, and its icon.
type kindLook struct {
	Action, Icon string
}

// kindLooks has a row for each kind of explain.ItemKinds. What a kind means is in that package.
var kindLooks = map[explain.ItemKind]kindLook{
	explain.ItemPaused:     {"Resume", "pause"},
	explain.ItemAttention:  {"Look", "alert"},
	explain.ItemPermission: {"Allow", "hand"},
	explain.ItemInput:      {"Answer", "terminal"},
	explain.ItemConfirm:    {"Approve", "hand"},
	explain.ItemQuestion:   {"Answer", "question"},
	explain.ItemIdle:       {"Reply", "question"},
	explain.ItemNotStarted: {"Restart", "alert"},
	explain.ItemTurnFailed: {"Look", "alert"},
	explain.ItemStuck:      {"Help", "alert"},
	explain.ItemCrashed:    {"Restart", "alert"},
	explain.ItemFailed:     {"Look", "alert"},
	explain.ItemNoAnswer:   {"Look", "alert"},
	explain.ItemReview:     {"Review", "eye"},
	explain.ItemBoard:      {"Tag", "board"},
	explain.ItemBlocked:    {"Unblock", "link"},
	explain.ItemHeld:       {"Resume", "merge"},
	explain.ItemGit:        {"Look", "branch"},
	explain.ItemStart:      {"Start", "play"},
}

// lookOf returns the look of a kind. A kind that is not in the table gets a general one.
func lookOf(kind explain.ItemKind) kindLook {
	if look, ok := kindLooks[kind]; ok {
		return look
	}
	return kindLook{"Look", "alert"}
}

// who names the group of people or programs that must act on a task.
type who string

// The groups, in the order of the board.
const (
	whoPerson who = "need"
	whoAgents who = "work"
	whoNobody who = "wait"
	whoDone   who = "done"
)

// whoTitles are the headings of the groups.
var whoTitles = map[who]string{whoPerson: "Needs you", whoAgents: "Agents at work", whoNobody: "Waiting", whoDone: "Done"}

// whoActs returns who must act on a task. A task that was created and not started waits: nothing stops because of it.
func whoActs(r *overview.Row) who {
	switch {
	case r.Wants.WaitsForPerson():
		return whoPerson
	case r.Kind == workflow.Terminal:
		return whoDone
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; r.Life == overview.Alive && a.IsLive() && !a.Idle() && !a.Blocked() {
			return whoAgents
		}
	}
	return whoNobody
}
