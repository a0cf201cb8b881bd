package journal

import (
	"bytes"
	"encoding/json"
	"strings"

	"orange/internal/core/task"
)

// convertUnversioned converts an entry of the format before format 1, which was flat and had some other names, to
// format 1. Stored rows are never rewritten: the conversion happens at every read.
func convertUnversioned(text []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var entry map[string]any
	if err := dec.Decode(&entry); err != nil {
		return nil, err
	}
	for _, m := range unversionedPaths {
		moveValue(entry, strings.Split(m.from, "."), strings.Split(m.to, "."))
	}
	return json.Marshal(entry)
}

// addPauseCause adds the cause of a pause to an entry that was written before entries had it. At that time the reason of
// a pause after a restore began with the same words.
func addPauseCause(e *Entry) {
	switch {
	case e.Type != TaskPaused || e.PauseCause != "":
	case strings.HasPrefix(e.Reason, "the store was restored"):
		e.PauseCause = task.PausedByRestore
	default:
		e.PauseCause = task.PausedByRequest
	}
}

// moveValue moves the value at a path. The paths are equal except in their last step; a list on the way means each of
// its elements.
func moveValue(node map[string]any, from, to []string) {
	if len(from) > 1 {
		switch next := node[from[0]].(type) {
		case map[string]any:
			moveValue(next, from[1:], to[1:])
		case []any:
			for _, item := range next {
				if item, ok := item.(map[string]any); ok {
					moveValue(item, from[1:], to[1:])
				}
			}
		}
		return
	}
	value, ok := node[from[0]]
	if !ok {
		return
	}
	delete(node, from[0])
	for ; len(to) > 1; to = to[1:] {
		next, ok := node[to[0]].(map[string]any)
		if !ok {
			next = map[string]any{}
			node[to[0]] = next
		}
		node = next
	}
	node[to[0]] = value
}

// unversionedPaths maps the values of entries before format 1 to their place in it, in the order in which they are
// moved. Values that are not listed keep their place. This list never changes.
var unversionedPaths = []struct{ from, to string }{
	{"heard.broken", "heard.workspace_problem"},
	{"heard.face", "heard.card_snapshot"},
	{"heard.lost.ran", "heard.lost.attempt_counts"},
	{"new.tracker", "new.tracker_ref"},
	{"effects.aside", "effects.non_blocking"},

	{"heard", "snapshot"},

	{"new", "creation.new"},
	{"workflow", "creation.workflow"},
	{"hash", "creation.workflow_hash"},

	{"from", "move.from"},
	{"to", "move.to"},
	{"edge", "move.edge"},
	{"line", "move.line"},
	{"override", "move.override"},
	{"return_to", "move.return_to"},
	{"tip", "move.entry_commit"},
	{"seen", "move.seen"},
	{"parted", "move.done_attempts"},
	{"question", "move.question"},
	{"advice", "move.advice"},
	{"unpause", "move.unpause"},

	{"fields", "record_changes.fields"},
	{"counters", "record_changes.counters"},
	{"opened", "record_changes.opened"},
	{"samples", "record_changes.samples"},
	{"bind", "record_changes.bind_workspace"},
	{"unbind", "record_changes.unbind_workspace"},
	{"attention", "record_changes.attention"},
	{"gave_up", "record_changes.gave_up"},
	{"asked", "record_changes.asked"},

	{"started", "attempt_changes.started"},
	{"ending", "attempt_changes.ending"},
	{"overdue", "attempt_changes.overdue"},
	{"ended", "attempt_changes.ended"},
	{"nudged", "attempt_changes.nudged"},
	{"ran", "attempt_changes.attempt_counts"},
	{"role", "attempt_changes.role"},
	{"respawn", "attempt_changes.respawn_at"},
	{"limit", "attempt_changes.limit"},
	{"chosen", "attempt_changes.chosen_harness"},
	{"place", "attempt_changes.started_in"},
	{"condition", "attempt_changes.condition"},
	{"usage", "attempt_changes.usage"},
	{"unanswered", "attempt_changes.unanswered"},

	{"effects", "effect_changes.effects"},
	{"receipt", "effect_changes.receipt"},
	{"tries", "effect_changes.tries"},
	{"again", "effect_changes.retry_at"},
	{"dropped", "effect_changes.dropped"},

	{"said", "results.last_report"},
	{"held", "results.work_failed"},
	{"handoff", "results.handoff"},
	{"handover", "results.handover"},
	{"face", "results.card_snapshot"},
	{"rejected", "results.rejected"},
}
