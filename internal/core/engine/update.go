package engine

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// updateFields changes fields of the record. The status is not one of them.
func (d *decider) updateFields() Verdict {
	e := d.newEntry(journal.TaskUpdated)
	if why := d.changeFields(&e); why != "" {
		return d.refuse("%s", why)
	}
	if len(e.Fields) == 0 {
		return Stay
	}
	for _, f := range e.Fields {
		if f.Name == "branch" && d.t.Workspace != "" {
			e.Effects = []task.Effect{{ID: task.EffectID(d.t.ID, e.Seq, 0), Do: workflow.RenameBranch, By: task.ByState, Arg: f.From}}
		}
	}
	return d.finishWith(e, Record)
}

// changeFields adds the fields that change to the entry, or returns why one may not.
func (d *decider) changeFields(e *journal.Entry) (why string) {
	fields, why := d.absoluteFields()
	if why != "" {
		return why
	}
	for _, f := range fields {
		have, ok := journal.FieldValue(d.t, f.Name)
		switch {
		case !ok:
			return fmt.Sprintf("%q is not a field that can be updated", f.Name)
		case !d.mayUpdate(f.Name):
			return fmt.Sprintf("%s may not change the %s", d.sig.Actor, f.Name)
		}
		if why := badField(f.Name, f.To); why != "" {
			return why
		}
		if f.Name == journal.FieldAfter {
			if why := d.badAfter(d.t.ID, task.SplitIDs(f.To)); why != "" {
				return why
			}
		}
		if have != f.To {
			e.Fields = append(e.Fields, signal.Field{Name: f.Name, From: have, To: f.To})
		}
	}
	return ""
}

// mayUpdate reports whether the actor may change a field: people may change every field, agents the summary and the
// branch.
func (d *decider) mayUpdate(field string) bool {
	if d.sig.Actor == task.Human || d.sig.Actor == task.Engine || d.sig.Actor == task.Tracker {
		return true
	}
	role, ok := d.def.RoleNamed(string(d.sig.Actor))
	a, live := d.t.AttemptByNumber(d.sig.Attempt)
	return ok && live && a.Role == role.Name && !a.Ending && role.Access == "full" && (field == "summary" || field == "branch")
}

// badField returns what is wrong with a value, or "" if it is valid.
func badField(name, value string) string {
	switch {
	case !utf8.ValidString(value):
		return name + " is not text: give UTF-8"
	case strings.ContainsFunc(value, unicode.IsControl):
		return name + " has a line break or another control character: give one line"
	case len(value) > maxSummary:
		return fmt.Sprintf("%s has %d bytes and the limit is %d: put the rest into TASK.md", name, len(value), maxSummary)
	case (name == "branch" || name == "base_branch") && !validBranch(value):
		return fmt.Sprintf("branch %q is not a name git accepts: use letters, digits, dashes and single slashes", value)
	}
	return ""
}

// validBranch applies the rules of git check-ref-format to a branch.
func validBranch(s string) bool {
	if s == "" || s == "@" || s == "HEAD" || strings.HasPrefix(s, "refs/") || len(s) > 255 || strings.HasPrefix(s, "-") || strings.HasSuffix(s, ".") {
		return false
	}
	if strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "..") || strings.Contains(s, "@{") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// pauseOrResume pauses the task, or resumes it and retries effects that were given up.
func (d *decider) pauseOrResume() Verdict {
	if d.sig.Actor != task.Human && d.sig.Actor != task.Tracker {
		return d.refuse("only a person may pause or resume a task")
	}
	if d.sig.Kind == signal.Pause {
		if d.t.Paused {
			return d.refuse("the task is paused already")
		}
		e := d.newEntry(journal.TaskPaused)
		e.Reason, e.PauseCause = clipWords(d.sig.Note), cmp.Or(d.sig.PauseCause, task.PausedByRequest)
		return d.finishWith(e, Record)
	}
	if !d.t.Paused && d.t.Attention == "" {
		return d.refuse("the task is not paused and needs no attention")
	}
	e := d.newEntry(journal.TaskResumed)
	e.Reason = clipWords(d.sig.Note)
	if d.t.Attention != "" && d.def.WatchesBoard(d.t.Status) && !d.hasPendingCardRead() {
		d.newPlan(&e).onCard(workflow.Effect{Name: workflow.ReadCard}, task.ByState)
	}
	return d.finishWith(e, Record)
}

// recordTampering records that the frontmatter was changed by hand and restored.
func (d *decider) recordTampering() Verdict {
	e := d.newEntry(journal.TaskTampered)
	e.Fields = d.sig.Fields
	e.Reason = "the frontmatter was changed by hand; Orange owns it and puts it back"
	return d.finishWith(e, Record)
}

// deleteTask hides a finished task.
func (d *decider) deleteTask() Verdict {
	s, ok := d.def.StateNamed(d.t.Status)
	switch {
	case d.sig.Actor != task.Human:
		return d.refuse("only a person may delete a task")
	case ok && s.Kind != workflow.Terminal:
		return d.refuse("the task is %s: cancel it first, then delete it", d.t.Status)
	case len(d.t.Pending) > 0:
		return d.refuse("%d effects of the task are still to be done: try again in a moment, or see orange task explain %s", len(d.t.Pending), d.t.ID)
	}
	return d.finishWith(d.newEntry(journal.TaskDeleted), Record)
}
