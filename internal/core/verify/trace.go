package verify

import (
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/workflow"
)

// trace walks the shortest way to a finding again, with real numbers and times.
func (s *search) trace(f finding) []Step {
	if f.at < 0 && f.via < 0 {
		return []Step{}
	}
	path := []int32{}
	for at := f.at; at >= 0; at = s.nodes[at].parent {
		path = append(path, s.nodes[at].via)
	}
	if f.via >= 0 {
		path = slices.Insert(path, 0, f.via)
	}
	slices.Reverse(path)
	path = append(path, f.then...)
	w, o := s.begin(int(path[0]))
	out := []Step{s.stepOf("a person creates the task", workflow.New, &w, &o)}
	for _, via := range path[1:] {
		s.m.forget(&w)
		a := s.m.actions(&w, nil)[via]
		from, what := w.t.Status, whatHappens(&w, &a)+describe(s.m, a.choice)
		o := s.step(&w, &a)
		out = append(out, s.stepOf(what, from, &w, &o))
	}
	return out
}

func (s *search) stepOf(what, from string, w *world, o *outcome) Step {
	st := Step{What: what, From: from, To: w.t.Status, After: waitsFor(s.m.def, &w.t), Signals: o.told}
	if st.Signals == nil {
		st.Signals = []signal.Signal{}
	}
	for i := range o.entries {
		if o.entries[i].Reason != "" {
			st.Why = o.entries[i].Reason
		}
	}
	if o.verdict == engine.Refuse {
		st.Why = "refused: " + o.refused
	}
	return st
}

// describe says in words what the sections were.
func describe(m *model, choices []choice) string {
	text := ""
	for _, c := range choices {
		var part string
		switch {
		case c.section == kidsChoice && c.says == "none":
			continue
		case c.section == kidsChoice:
			part = map[string]string{"some": "a child that is not far enough", "far": "a child that is far enough"}[c.says]
		case c.section < 0 && c.age == isNew:
			part = factName(&m.def.Gates[-1-c.section]) + " holds"
		case c.section < 0:
			part = factName(&m.def.Gates[-1-c.section]) + " does not hold"
		case c.age == absent:
			continue
		case c.age == isNew:
			part = "a new ## " + m.sections[c.section].name + " (" + c.says + ")" + doubtText(c.doubt)
		case c.age == isUsed:
			part = "the ## " + m.sections[c.section].name + " (" + c.says + ") that opened a gate before"
		default:
			part = "the ## " + m.sections[c.section].name + " (" + c.says + ") that was there when the visit began"
		}
		switch {
		case text != "":
			text += ", "
		case c.section >= 0 || c.section == kidsChoice:
			text = "; there is "
		default:
			text = "; "
		}
		text += part
	}
	return text
}

// doubtText says why a verdict may not be that of its agent.
func doubtText(d doubt) string {
	switch d {
	case foreign:
		return " that an agent of another role wrote"
	case broken:
		return " of an agent that broke off (code 1)"
	}
	return ""
}

// factName is what a gate asks for besides sections, as people call it.
func factName(g *workflow.Gate) string {
	if g.File != "" {
		return "file " + g.File
	}
	return g.Evidence
}

// whatHappens says an action in words.
func whatHappens(w *world, a *action) string {
	effect := ""
	if len(w.t.Pending) > 0 {
		effect = w.t.Pending[0].Do
	}
	switch a.deed {
	case succeed:
		return "the effect " + effect + " is done"
	case giveUp:
		return "the effect " + effect + " fails for good"
	case loseIt:
		return "the effect " + effect + " is done, and the server dies before it can write that down"
	case crash:
		return "the server dies before the effect " + effect
	case die:
		return "the process of the " + w.t.Attempts[a.actor].Role + " ends"
	case hear:
		text := "Orange hears that the " + w.t.Attempts[a.actor].Role + " ended"
		if a.mass != alone {
			text += " together with others"
		}
		return text
	}
	return whatIsTold(a)
}

func whatIsTold(a *action) string {
	who := string(a.who)
	if a.actor >= 0 {
		who = "the " + who
	}
	switch a.kind {
	case signal.Request:
		return who + " asks for " + a.word
	case signal.Resume:
		return "a person resumes the task"
	case signal.Ready:
		return "a workspace is free and it is the task's turn"
	case signal.Tracker:
		return "the tracker reports " + a.word
	case signal.Outcome:
		return who + " says " + a.word
	case signal.Timer:
		return "time passes: the " + a.word + " timer"
	}
	return string(a.kind)
}
