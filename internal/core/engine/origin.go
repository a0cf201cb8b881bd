package engine

import (
	"fmt"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// AddOrigin adds to a signal what a decision must know about the origin of verdicts: which sections that edges out of
// the state use have changed since the last check, and whether an agent that may not use them was in a turn meanwhile.
// The text of such a section is foreign. The signal must have the sections of TASK.md. AddOrigin is called for every
// signal, so the sections are checked at each beginning and end of a turn. Signals of old journals have no origins, and
// every text in them counts as own.
func AddOrigin(def *workflow.Definition, t *task.Task, sig *signal.Signal) {
	sections := def.VerdictSections(t.Status)
	if t.Seq == 0 || len(sections) == 0 {
		return
	}
	sig.BrokeOff = sig.Kind == signal.Exit && sig.Code != 0
	for _, name := range sections {
		was, known := task.SampleOf(t.Samples, name)
		if !known {
			was = task.Sample{Section: name, Sum: task.SumOf(t.Seen, name)}
		}
		now := task.Sample{Section: name, Sum: task.Unreadable, Foreign: foreignWriter(def, t, name)}
		if sig.Artifacts.Problem == "" {
			s, _ := taskfile.FindSection(sig.Artifacts.Sections, name)
			now.Sum = s.Digest
		}
		if now.Sum == was.Sum {
			continue
		}
		if was.Sum == task.Unreadable && now.Foreign == "" { // regardless of what was written meanwhile
			now.Foreign = was.Foreign
		}
		sig.Samples = append(sig.Samples, now)
	}
}

// foreignWriter returns a role that may not use the section and has an agent in a turn, or "" if there is none.
func foreignWriter(def *workflow.Definition, t *task.Task, section string) string {
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if a.Condition.InTurn() && !def.MayJudge(t.Status, section, a.Role) {
			return a.Role
		}
	}
	return ""
}

// isOwnVerdict reports whether a verdict that opens a gate comes from an agent that may give it. At a request it does:
// the requesting agent adopts the text. At any other signal only the text counts; it must be neither foreign nor that
// of an agent that was interrupted.
func (d *decider) isOwnVerdict(g *workflow.Gate, s *taskfile.Section) (bool, string) {
	if d.sig.Kind == signal.Request || d.sig.Kind == signal.Outcome {
		return true, g.SectionTitle()
	}
	sample, ok := task.SampleOf(d.sig.Samples, g.Section)
	if !ok {
		sample, _ = task.SampleOf(d.t.Samples, g.Section)
	}
	why := ""
	switch {
	case sample.Foreign != "" && sample.Sum == s.Digest:
		why = "it changed while the " + sample.Foreign + " was at work"
	case d.sig.BrokeOff:
		why = fmt.Sprintf("the agent broke off (code %d)", d.sig.Code)
	default:
		return true, g.SectionTitle()
	}
	d.foreignVerdict = fmt.Sprintf("## %s (line %d) says %s, and %s: it counts when the agent says it by command", s.Name, s.Line, g.Verdict, why)
	d.stale = true
	return false, d.foreignVerdict
}

// askToRestate asks an agent that ended, and left a verdict that may not be its own, to state the verdict by command,
// in the same conversation. It asks once per visit. This is not a crash.
func (d *decider) askToRestate(s *workflow.State, ended journal.Ended) Verdict {
	e := d.newEntry(journal.AgentRestate)
	e.Ended, e.Role, e.From, e.Reason = []journal.Ended{ended}, ended.Role, d.t.Status, d.foreignVerdict
	p := d.newPlan(&e)
	p.said = e.Reason
	p.addEffect(workflow.Effect{Name: workflow.SpawnName(s.Role), Role: s.Role, Message: workflow.MessageRule}, task.ByState)
	if p.unavailable {
		e.Effects, e.Started, e.RespawnAt = nil, nil, d.sig.At.Add(respawnDelay(1))
	}
	return d.finishWith(e, Stay)
}
