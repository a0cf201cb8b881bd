package web

import (
	"orange/internal/core/explain"
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
	explain.ItemStopped:    {"Start agent", "play"},
	explain.ItemNoAnswer:   {"Look", "alert"},
	explain.ItemReview:     {"Review", "eye"},
	explain.ItemBoard:      {"Tag", "board"},
	explain.ItemBlocked:    {"Unblock", "link"},
	explain.ItemHeld:       {"Resume", "merge"},
	explain.ItemPool:       {"Enlarge", "alert"},
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

// turnNames are the names of the groups of the board, in addresses and style sheets.
var turnNames = map[overview.Turn]string{overview.NeedsYou: "need", overview.AgentsAtWork: "work", overview.NobodysTurn: "wait", overview.NoTurn: "done"}
