package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// traceFinding follows the shortest path to a finding again, with real numbers and times.
func (g *graph) traceFinding(f *finding) []Step {
	if f.at < 0 && f.steps == 0 {
		return []Step{}
	}
	path := []int32{}
	for at := f.at; at >= 0; at = g.nodes[at].parent {
		path = append(path, at)
	}
	slices.Reverse(path)
	w, out := g.firstStep(path, f)
	for _, at := range append(path[min(1, len(path)):], f.then...) {
		out = append(out, g.followStep(&w, func(next *world, _ *outcome) bool { return g.isWorldOf(next, at) })...)
	}
	if f.steps > 0 && f.at >= 0 {
		out = append(out, g.followStep(&w, func(_ *world, o *outcome) bool { return slices.ContainsFunc(o.problems, f.isSameProblem) })...)
	}
	return out
}

// isSameProblem reports whether a problem is the one that was found.
func (f *finding) isSameProblem(p problem) bool {
	return p.property == f.property && p.subject == f.subject
}

// isWorldOf reports whether a world is that of a node. It does not change the world.
func (g *graph) isWorldOf(w *world, at int32) bool {
	c := w.copy()
	g.m.makeCanonical(&c)
	number, known := g.index[g.digestOf(&c)]
	return known && number == at
}

// firstStep returns the creation of the task with which a path begins, or which is the finding.
func (g *graph) firstStep(path []int32, f *finding) (world, []Step) {
	for i := range g.possibleCreations() {
		w, o := g.createWorld(i)
		if len(path) > 0 && o.moved && g.isWorldOf(&w, path[0]) || len(path) == 0 && slices.ContainsFunc(o.problems, f.isSameProblem) {
			return w, []Step{g.stepOf("a person creates the task", workflow.New, &w, &o)}
		}
	}
	panic("verify: a path begins nowhere") // it was found by the same steps
}

// followStep finds the shortest step of a real world for which leads returns true, and takes
// it. The graph contains canonical worlds: an action of one of them is an action of every world
// that it stands for, with other numbers.
func (g *graph) followStep(w *world, leads func(*world, *outcome) bool) []Step {
	for _, forget := range [...]func(*world){func(*world) {}, g.m.forgetPast, g.m.makeCanonical} {
		forget(w)
		acts := g.m.listActions(w, nil)
		for steps := int32(1); steps <= 2; steps++ {
			for i := range acts {
				a := &acts[i]
				if a.stepCount() != steps {
					continue
				}
				next := w.copy()
				o := g.applyAction(&next, a)
				if !leads(&next, &o) {
					continue
				}
				out := g.stepsOf(w, a, &next, &o)
				*w, g.chose = next, g.chose || g.m.isChosen(a)
				return out
			}
		}
	}
	panic("verify: a step of a counterexample cannot be taken") // it was found by the same steps
}

// stepsOf describes an action in words. The end of a process that is reported counts as two
// steps.
func (g *graph) stepsOf(w *world, a *action, next *world, o *outcome) []Step {
	var out []Step
	if a.ends {
		out = append(out, g.stepOf(whatHappens(w, &action{event: endProcess, actor: a.actor}), w.t.Status, w, &outcome{}))
	}
	what := whatHappens(w, a) + describeChoices(g.m, a.choice)
	if a.waits {
		what += "; another task must land first"
	}
	return append(out, g.stepOf(what, w.t.Status, next, o))
}

func (s *search) stepOf(what, from string, w *world, o *outcome) Step {
	st := Step{What: what, From: from, To: w.t.Status, After: waitsFor(s.m.def, &w.t), Counters: countersOf(&w.t), Signals: o.told}
	if st.Signals == nil {
		st.Signals = []signal.Signal{}
	}
	for i := range o.entries {
		if o.entries[i].Reason != "" {
			st.Why = o.entries[i].Reason
		}
	}
	if o.verdict == engine.Refuse {
		st.Why, st.Refused = "refused: "+o.refused, true
	}
	return st
}

// describeChoices describes the versions of the sections in words.
func describeChoices(m *model, choices []choice) string {
	text := ""
	for _, c := range choices {
		var part string
		switch {
		case c.section == childrenChoice && c.meaning == "none":
			continue
		case c.section == childrenChoice:
			part = map[string]string{"some": "a child that is not far enough", "far": "a child that is far enough"}[c.meaning]
			if c.count > 1 {
				part = fmt.Sprint(c.count) + strings.NewReplacer("a child that is", " children that are").Replace(part)
			}
		case c.section < 0 && c.age == isNew:
			part = factName(&m.def.Gates[-1-c.section]) + " holds"
		case c.section < 0:
			part = factName(&m.def.Gates[-1-c.section]) + " does not hold"
		case c.age == absent:
			continue
		case c.age == isNew:
			part = "a new ## " + m.sections[c.section].name + " (" + c.meaning + ")" + doubtText(c.doubt)
		case c.age == isUsed:
			part = "the ## " + m.sections[c.section].name + " (" + c.meaning + ") that opened a gate before"
		default:
			part = "the ## " + m.sections[c.section].name + " (" + c.meaning + ") that was there when the visit began"
		}
		switch {
		case text != "":
			text += ", "
		case c.section >= 0 || c.section == childrenChoice:
			text = "; there is "
		default:
			text = "; "
		}
		text += part
	}
	return text
}

// doubtText returns why a verdict may not be that of its agent.
func doubtText(d doubt) string {
	switch d {
	case foreign:
		return " that an agent of another role wrote"
	case broken:
		return " of an agent that broke off (code 1)"
	}
	return ""
}

// factName returns the name of what a gate requires besides sections, for people.
func factName(g *workflow.Gate) string {
	switch {
	case g.File != "":
		return "file " + g.File
	case g.Check != "":
		return "check " + g.Check
	}
	return g.Evidence
}

// whatHappens describes an action in words.
func whatHappens(w *world, a *action) string {
	effect := ""
	if len(w.t.Pending) > 0 {
		effect = w.t.Pending[0].Do
	}
	switch a.event {
	case completeEffect:
		return "the effect " + effect + " is done"
	case failEffect:
		return "the effect " + effect + " fails for good"
	case loseReceipt:
		return "the effect " + effect + " is done, and the server dies before it can write that down"
	case crashServer:
		return "the server dies before the effect " + effect
	case landing:
		return describeLanding(a)
	case endProcess:
		return "the process of the " + w.t.Attempts[a.actor].Role + " ends"
	case reportEnd:
		if a.check != nil {
			return "Orange learns that the check ended: " + cmp.Or(a.check.outcome, task.CheckBroken) + uncheckedText(a)
		}
		text := "Orange learns that the " + w.t.Attempts[a.actor].Role + " ended"
		switch a.mass {
		case together, togetherAgain:
			text += " together with others"
		case unstarted, unstartedAgain:
			text += " before its first turn"
		}
		return text + leftText(a.left) + uncheckedText(a)
	case deliverSignal:
		if a.kind == signal.Notice && a.word == task.Running {
			return "a person talks to the " + w.t.Attempts[a.actor].Role + " at its terminal"
		}
		if a.kind == signal.Notice {
			return "the turn of the " + w.t.Attempts[a.actor].Role + " ends" + leftText(a.left)
		}
	}
	return describeSignal(a) + uncheckedText(a)
}

// describeLanding describes a step of a landing in words.
func describeLanding(a *action) string {
	switch a.land {
	case checkPass:
		return "the candidate is built, and its checks pass"
	case checkFail:
		return "the candidate is built, and a check fails on it"
	case landTask:
		return "the target moves to the candidate"
	case retryTask:
		return "the target has moved: the landing starts over"
	}
	return describeSignal(&action{kind: signal.Effect, word: a.word})
}

// uncheckedText says that the task of an action has no checks.
func uncheckedText(a *action) string {
	if a.unchecked {
		return "; nobody defined checks"
	}
	return ""
}

// leftText returns what a turn, or an agent, ended with.
func leftText(left task.Left) string {
	switch left {
	case task.LeftWords:
		return " with a message"
	case task.LeftQuestion:
		return " with a question"
	}
	return ""
}

func describeSignal(a *action) string {
	who := string(a.who)
	if a.actor >= 0 {
		who = "the " + who
	}
	switch a.kind {
	case signal.Request:
		if a.word == engine.VerbAnswer {
			return "a person answers"
		}
		if a.word == engine.Respawn && a.verb == engine.Force {
			return "a person replaces a living agent"
		}
		if a.word == engine.VerbStop {
			return "a person stops the " + a.verb
		}
		if a.word == engine.VerbEdit {
			return "a person edits the task"
		}
		if a.word == engine.VerbSend {
			return "a person sends a message to the " + a.verb
		}
		return who + " asks for " + a.word
	case signal.Resume:
		return "a person resumes the task"
	case signal.Ready:
		return "a workspace is free and it is the task's turn"
	case signal.Tracker:
		switch a.word {
		case engine.ChildMoved:
			return "Orange learns that a child moved"
		case signal.PRMerged:
			if a.who == task.Engine {
				return "Orange has merged the branch"
			}
		}
		return "the tracker reports " + a.word
	case signal.Effect:
		return map[string]string{
			task.LandingConflict: "the branch conflicts with its target",
			task.LandingFailed:   "a check fails on the merged work",
			task.LandingBlocked:  "something is in the way of the merge",
		}[a.word]
	case signal.Outcome:
		return who + " says " + a.word
	case signal.Timer:
		return "time passes: the " + a.word + " timer"
	}
	return string(a.kind)
}
