package engine

import (
	"fmt"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// stuckState is the halt state for a task of a lost store, if the workflow has it.
const stuckState = "stuck"

// restoreTask resumes a task whose restored store is older than the task's folder. It records the missing entries as
// lost, so that no later entry, effect or attempt reuses a number. It drops pending effects, which may be done since,
// and ends the attempts. A person decides how the task continues.
func (d *decider) restoreTask() Verdict {
	lost := d.sig.Lost
	switch {
	case d.sig.Actor != task.Human:
		return d.refuse("only a person may restore a task")
	case lost == nil || len(lost.Events) == 0:
		return d.refuse("nothing of the task is lost")
	}
	s, _ := d.def.StateNamed(d.t.Status)
	over := s != nil && s.Kind == workflow.Terminal && lost.Status == d.t.Status
	status := d.t.Status
	d.markLost(lost)
	e := d.newRestoreEntry(lost)
	for i := range d.t.Attempts {
		a := &d.t.Attempts[i]
		e.Ended = append(e.Ended, journal.Ended{Number: a.Number, Role: a.Role, Code: -1})
	}
	for i := range d.t.Pending {
		if p := &d.t.Pending[i]; !over || !endsWork(p) {
			e.Dropped = append(e.Dropped, p.ID)
		}
	}
	switch {
	case lost.Workspace == "" && d.t.Workspace != "":
		e.UnbindWorkspace = true
	case lost.Workspace != d.t.Workspace:
		e.BindWorkspace = lost.Workspace
	}
	e.Reason = fmt.Sprintf("the store was restored (entries lost: %d, owed effects dropped: %d)", len(lost.Events), len(e.Dropped))
	if over {
		return d.finishWith(e, Record)
	}
	e.Attention = fmt.Sprintf("the store was restored: the record says %s, history.jsonl says %s; move the task to where it belongs, then orange resume",
		status, orUnknown(lost.Status))
	if lost.Status == status {
		e.Attention = fmt.Sprintf("the store was restored: both the record and history.jsonl say %s, but the record lacks the last %d lines of history.jsonl; look at them, then orange resume", status, len(lost.Events))
	}
	d.pushEntry(e)
	return d.holdTask(e.Reason)
}

// endsWork reports whether an effect only ends what belongs to a task that is over, so that doing it twice does no
// harm.
func endsWork(e *task.Effect) bool {
	info, _ := workflow.EffectNamed(e.Do)
	return info.Kills || e.Do == workflow.ReleaseWorkspace
}

// importLost imports a task that only its folder records. The task goes to a halt state, or stays in its state if it
// is over or its workflow has no halt state.
func (d *decider) importLost(e journal.Entry, lost *signal.Lost) Verdict {
	was := e.To
	s, known := d.def.StateNamed(was)
	held := !known || s.Kind != workflow.Terminal
	if held {
		if halt := d.haltState(); halt != "" {
			e.To, held = halt, false
		}
	}
	e.Reason = fmt.Sprintf("the store was restored without this task: its status was %s, see TASK.md for what it was about", was)
	reason := e.Reason
	d.pushEntry(e)
	d.markLost(lost)
	r := d.newRestoreEntry(lost)
	r.Reason = reason
	if held {
		r.Attention = reason + "; orange resume lets it go on"
	}
	d.pushEntry(r)
	if held {
		return d.holdTask(reason)
	}
	return Record
}

// haltState returns the state in which a task waits for a person, or "" if the workflow has none.
func (d *decider) haltState() string {
	if s, ok := d.def.StateNamed(stuckState); ok && s.Kind == workflow.Halt {
		return s.Name
	}
	at := slices.IndexFunc(d.def.States, func(s workflow.State) bool { return s.Kind == workflow.Halt })
	if at < 0 {
		return ""
	}
	return d.def.States[at].Name
}

// markLost records what is known of each missing entry.
func (d *decider) markLost(lost *signal.Lost) {
	for _, text := range lost.Events {
		e := d.newEntry(journal.EntryLost)
		e.Reason = clipWords(text)
		d.pushEntry(e)
	}
}

// newRestoreEntry begins the entry that ends a restore.
func (d *decider) newRestoreEntry(lost *signal.Lost) journal.Entry {
	e := d.newEntry(journal.TaskRestored)
	e.From, e.AttemptCounts = d.t.Status, lost.AttemptCounts
	return e
}

// holdTask pauses the task.
func (d *decider) holdTask(reason string) Verdict {
	if d.t.Paused {
		return Record
	}
	e := d.newEntry(journal.TaskPaused)
	e.Reason, e.PauseCause = reason, task.PausedByRestore
	return d.finishWith(e, Record)
}

func orUnknown(status string) string {
	if status == "" {
		return "nothing about it"
	}
	return status
}
