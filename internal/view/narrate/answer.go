package narrate

import (
	"cmp"
	"fmt"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// An Outcome is the result of a signal: the record after it, and the appended entries.
type Outcome struct {
	Kind    signal.Kind
	Task    task.Task
	Entries []journal.Entry
}

// A Voice is the style in which a surface describes an outcome.
type Voice struct {
	Name  string // name of the task on the surface
	Live  bool   // the surface itself shows the task's status and the progress of its effects
	Arrow string // between the states of a move; "" means "->"
	Stop  string // after a sentence
}

// DescribeOutcome describes the result of a signal.
func DescribeOutcome(o Outcome, v Voice) string {
	from, to := findMove(o.Entries)
	switch {
	case v.Live && o.Kind == signal.Delete:
		return v.Name + " is deleted" + v.Stop
	case v.Live && o.Kind == signal.Pause:
		return v.Name + " is paused" + v.Stop
	case v.Live && o.Kind == signal.Resume:
		return v.Name + " goes on" + v.Stop
	case v.Live && to != "":
		return fmt.Sprintf("%s: %s %s %s", v.Name, from, cmp.Or(v.Arrow, "->"), to)
	case to != "":
		return fmt.Sprintf("%s %s %s %s%s", v.Name, from, cmp.Or(v.Arrow, "->"), to, v.Stop)
	}
	return v.Name + describeStay(o, v.Live) + v.Stop
}

// describeStay describes the result of a signal that moved nothing. The text follows the name of the
// task.
func describeStay(o Outcome, live bool) string {
	told, started, effect := FindAnswered(o.Entries), findStarted(o.Entries), findRequested(o.Entries)
	edited, replaced, stopped, check := describeEdit(o), describeReplaced(o), describeStopped(o, live), findCheck(o.Entries)
	switch {
	case edited != "":
		return ": " + edited
	case replaced != "":
		return ": " + replaced
	case stopped != "":
		return ": " + stopped
	case check != "" && live:
		return fmt.Sprintf(": check %s is run", check)
	case check != "":
		return fmt.Sprintf(" stays %s: check %s is run", o.Task.Status, check)
	case told != "" && live:
		return fmt.Sprintf(": the %s is told", told)
	case told != "":
		return fmt.Sprintf(" stays %s: the %s is told", o.Task.Status, told)
	case live && started != "":
		return fmt.Sprintf(": the %s is started again", started)
	case live && effect != "":
		return fmt.Sprintf(": %s is under way", strings.ReplaceAll(effect, "_", " "))
	case o.Task.Asked != nil:
		return fmt.Sprintf(" asks for %s: a person must agree", o.Task.Asked.To)
	case o.Task.Queued:
		return " is queued: " + DescribeQueue(&o.Task)
	}
	return " stays " + o.Task.Status
}

// describeEdit describes what an edit by a person changed, and whether an agent is told; "" if there was none.
func describeEdit(o Outcome) string {
	for i := range o.Entries {
		e := &o.Entries[i]
		if e.Verb != engine.VerbEdit {
			continue
		}
		var what []string
		if len(e.Fields) > 0 {
			what = append(what, "summary")
		}
		if e.Note != "" {
			what = append(what, "requirements")
		}
		text := strings.Join(what, " and ") + " changed; "
		if e.Role == "" {
			return text + "no agent lives in " + o.Task.Status + ", so none is told"
		}
		return text + "the " + e.Role + " is told"
	}
	return ""
}

// describeReplaced describes an agent that was ended so that another one takes its place; "" if there was none.
func describeReplaced(o Outcome) string {
	for i := range o.Entries {
		e := &o.Entries[i]
		for _, n := range e.Started {
			if len(e.Ending) > 0 {
				return fmt.Sprintf("attempt %d of the %s is ended, and attempt %d is started, in %s", e.Ending[0], n.Role, n.Number, o.Task.Status)
			}
		}
	}
	return ""
}

// describeStopped describes an agent that a person stopped, and what starts another one; "" if there was none.
func describeStopped(o Outcome, live bool) string {
	for i := range o.Entries {
		e := &o.Entries[i]
		if e.Type != journal.AgentStopped || len(e.Ending) == 0 {
			continue
		}
		text := fmt.Sprintf("attempt %d of the %s is stopped, and the task stays in %s", e.Ending[0], e.Role, o.Task.Status)
		if o.Task.Stopped != nil && !live {
			text += "; start another one with orange task respawn " + string(o.Task.ID)
		}
		return text
	}
	return ""
}

// findCheck returns the check that entries want, or "".
func findCheck(entries []journal.Entry) string {
	for i := range entries {
		if run := entries[i].CheckRun; run != nil {
			return run.Name
		}
	}
	return ""
}

// findMove returns the states that entries move a task from and to.
func findMove(entries []journal.Entry) (from, to string) {
	for i := range entries {
		e := &entries[i]
		if e.To == "" {
			continue
		}
		if to == "" {
			from = e.From
		}
		to = e.To
	}
	return from, to
}

// FindAnswered returns the role of the agent that receives a person's answer or message, if that moves
// nothing.
func FindAnswered(entries []journal.Entry) string {
	for i := range entries {
		if e := &entries[i]; e.Type == journal.AgentAnswered || e.Type == journal.AgentMessaged {
			return e.Role
		}
	}
	return ""
}

// findStarted returns the role of the agent that entries start.
func findStarted(entries []journal.Entry) string {
	for i := range entries {
		for _, a := range entries[i].Started {
			return a.Role
		}
	}
	return ""
}

// findRequested returns the effect that a person requested.
func findRequested(entries []journal.Entry) string {
	for i := range entries {
		for _, e := range entries[i].Effects {
			if e.By == task.ByPerson {
				return e.Do
			}
		}
	}
	return ""
}
