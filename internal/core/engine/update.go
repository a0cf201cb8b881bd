package engine

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// update changes fields of the record. A status is not one of them.
func (x *decider) update() Verdict {
	e := x.entry(journal.TaskUpdated)
	for _, f := range x.sig.Fields {
		have, ok := journal.FieldValue(x.t, f.Name)
		switch {
		case !ok:
			return x.refuse("%q is not a field that can be updated", f.Name)
		case !x.mayUpdate(f.Name):
			return x.refuse("%s may not change the %s", x.sig.Actor, f.Name)
		}
		if why := badField(f.Name, f.To); why != "" {
			return x.refuse("%s", why)
		}
		if have != f.To {
			e.Fields = append(e.Fields, signal.Field{Name: f.Name, From: have, To: f.To})
		}
	}
	if len(e.Fields) == 0 {
		return Stay
	}
	for _, f := range e.Fields {
		if f.Name == "branch" && x.t.Workspace != "" {
			e.Effects = []task.Effect{{ID: task.EffectID(x.t.ID, e.Seq, 0), Do: workflow.RenameBranch, By: task.ByState, Arg: f.From}}
		}
	}
	return x.last(e, Record)
}

// mayUpdate lets people change every field, and agents that may write the summary
// and the branch.
func (x *decider) mayUpdate(field string) bool {
	if x.sig.Actor == task.Human || x.sig.Actor == task.Engine || x.sig.Actor == task.Tracker {
		return true
	}
	role, ok := x.def.Role(string(x.sig.Actor))
	a, live := x.t.AttemptByNumber(x.sig.Attempt)
	return ok && live && a.Role == role.Name && !a.Ending && role.Access == "full" && (field == "summary" || field == "branch")
}

// badField says what is wrong with a value, "" if nothing is.
func badField(name, value string) string {
	switch {
	case !utf8.ValidString(value):
		return name + " is not text: give UTF-8"
	case strings.ContainsFunc(value, unicode.IsControl):
		return name + " has a line break or another control character: give one line"
	case len(value) > maxSummary:
		return fmt.Sprintf("%s has %d bytes and the limit is %d: put the rest into TASK.md", name, len(value), maxSummary)
	case name == "branch" && !validBranch(value):
		return fmt.Sprintf("branch %q is not a name git accepts: use letters, digits, dashes and single slashes", value)
	}
	return ""
}

// validBranch follows the rules of git check-ref-format for a branch.
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

// pause holds the engine's hand, or lets it go on and try again what was given up.
func (x *decider) pause() Verdict {
	if x.sig.Actor != task.Human && x.sig.Actor != task.Tracker {
		return x.refuse("only a person may pause or resume a task")
	}
	if x.sig.Kind == signal.Pause {
		if x.t.Paused {
			return x.refuse("the task is paused already")
		}
		e := x.entry(journal.TaskPaused)
		e.Reason = clip(x.sig.Note)
		return x.last(e, Record)
	}
	if !x.t.Paused && x.t.Attention == "" {
		return x.refuse("the task is not paused and needs no attention")
	}
	e := x.entry(journal.TaskResumed)
	e.Reason = clip(x.sig.Note)
	if x.t.Attention != "" && x.def.WatchesBoard(x.t.Status) && !x.changing() {
		x.plan(&e).onCard(workflow.Effect{Name: workflow.ReadCard}, task.ByState)
	}
	return x.last(e, Record)
}

// tamper writes down that the frontmatter was changed by hand and put back.
func (x *decider) tamper() Verdict {
	e := x.entry(journal.TaskTampered)
	e.Fields = x.sig.Fields
	e.Reason = "the frontmatter was changed by hand; Orange owns it and puts it back"
	return x.last(e, Record)
}

// remove hides a finished task.
func (x *decider) remove() Verdict {
	s, ok := x.def.State(x.t.Status)
	switch {
	case x.sig.Actor != task.Human:
		return x.refuse("only a person may delete a task")
	case ok && s.Kind != workflow.Terminal:
		return x.refuse("the task is %s: cancel it first, then delete it", x.t.Status)
	case len(x.t.Pending) > 0:
		return x.refuse("%d effects of the task are still to be done: try again in a moment, or see orange task explain %s", len(x.t.Pending), x.t.ID)
	}
	return x.last(x.entry(journal.TaskDeleted), Record)
}
