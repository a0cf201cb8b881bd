package engine

import (
	"fmt"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// stuckState is the name of the halt state that a task of a lost store goes to, where the
// workflow has it.
const stuckState = "stuck"

// RestoredHold begins the reason of a pause that follows on a restored store.
const RestoredHold = "the store was restored"

// restore takes up a task whose store was put back and is older than the task's folder. The
// entries that are missing are written down as lost, so that no later entry, effect or attempt
// has a number that was used before. Effects that were owed may be done since: they are dropped.
// Its attempts are over. A person says how the task goes on.
func (x *decider) restore() Verdict {
	lost := x.sig.Lost
	switch {
	case x.sig.Actor != task.Human:
		return x.refuse("only a person may restore a task")
	case lost == nil || len(lost.Events) == 0:
		return x.refuse("nothing of the task is lost")
	}
	s, _ := x.def.State(x.t.Status)
	over := s != nil && s.Kind == workflow.Terminal && lost.Status == x.t.Status
	status := x.t.Status
	x.markLost(lost)
	e := x.restored(lost)
	for i := range x.t.Attempts {
		a := &x.t.Attempts[i]
		e.Ended = append(e.Ended, journal.Ended{Number: a.Number, Role: a.Role, Code: -1})
	}
	for i := range x.t.Pending {
		if p := &x.t.Pending[i]; !over || !endsWork(p) {
			e.Dropped = append(e.Dropped, p.ID)
		}
	}
	switch {
	case lost.Workspace == "" && x.t.Workspace != "":
		e.Unbind = true
	case lost.Workspace != x.t.Workspace:
		e.Bind = lost.Workspace
	}
	e.Reason = fmt.Sprintf(RestoredHold+" (entries lost: %d, owed effects dropped: %d)", len(lost.Events), len(e.Dropped))
	if over {
		return x.last(e, Record)
	}
	e.Attention = fmt.Sprintf(RestoredHold+": the record says %s, history.jsonl says %s; move the task to where it belongs, then orange resume",
		status, orUnknown(lost.Status))
	if lost.Status == status {
		e.Attention = fmt.Sprintf(RestoredHold+": both the record and history.jsonl say %s, but the record lacks the last %d lines of history.jsonl; look at them, then orange resume", status, len(lost.Events))
	}
	x.push(e)
	return x.holdTask(e.Reason)
}

// endsWork says whether an effect only ends what belongs to a task that is over, so that doing it
// twice does no harm.
func endsWork(e *task.Effect) bool {
	info, _ := workflow.EffectNamed(e.Do)
	return info.Kills || e.Do == workflow.ReleaseWorkspace
}

// importLost takes up a task that only its folder knows. It goes to a halt state, or stays where
// it was if it is over or its workflow has none.
func (x *decider) importLost(e journal.Entry, lost *signal.Lost) Verdict {
	was := e.To
	s, known := x.def.State(was)
	held := !known || s.Kind != workflow.Terminal
	if held {
		if halt := x.haltState(); halt != "" {
			e.To, held = halt, false
		}
	}
	e.Reason = fmt.Sprintf(RestoredHold+" without this task: its status was %s, see TASK.md for what it was about", was)
	reason := e.Reason
	x.push(e)
	x.markLost(lost)
	r := x.restored(lost)
	r.Reason = reason
	if held {
		r.Attention = reason + "; orange resume lets it go on"
	}
	x.push(r)
	if held {
		return x.holdTask(reason)
	}
	return Record
}

// haltState is where a task waits for a person, "" if the workflow has no such state.
func (x *decider) haltState() string {
	if s, ok := x.def.State(stuckState); ok && s.Kind == workflow.Halt {
		return s.Name
	}
	at := slices.IndexFunc(x.def.States, func(s workflow.State) bool { return s.Kind == workflow.Halt })
	if at < 0 {
		return ""
	}
	return x.def.States[at].Name
}

// markLost writes down what is known of each entry that is missing.
func (x *decider) markLost(lost *signal.Lost) {
	for _, text := range lost.Events {
		e := x.entry(journal.EntryLost)
		e.Reason = clip(text)
		x.push(e)
	}
}

// restored begins the entry that ends a restore.
func (x *decider) restored(lost *signal.Lost) journal.Entry {
	e := x.entry(journal.TaskRestored)
	e.From, e.Ran = x.t.Status, lost.Ran
	return e
}

// holdTask pauses the task.
func (x *decider) holdTask(reason string) Verdict {
	if x.t.Paused {
		return Record
	}
	e := x.entry(journal.TaskPaused)
	e.Reason = reason
	return x.last(e, Record)
}

func orUnknown(status string) string {
	if status == "" {
		return "nothing about it"
	}
	return status
}
