package verify

import (
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// checkEnd is one way in which a check can end.
type checkEnd struct {
	outcome string // "" for an end without a result
	again   bool   // a run without a valid result came before
	atBound bool   // of the counter of failed checks
}

// checkModel is what the search knows of the checks of a workflow.
type checkModel struct {
	checks task.Checks // of the tasks that it creates
	exact  bool        // what came before a check is counted, not chosen where it ends
	rounds int         // the counter that bounds failed checks, -1 if the search has to count it
	landed int         // the counter that bounds failed landings, likewise
	before []string    // by state number: a check state to which an edge leads, "" for none
}

// newCheckModel gives tasks every check that the file names, or one where a state runs all.
func newCheckModel(def *workflow.Definition, exact bool) checkModel {
	c := checkModel{exact: exact, rounds: -1, landed: -1, before: make([]string, len(def.States)+1)}
	for _, name := range def.NamedChecks() {
		c.checks = append(c.checks, task.CheckDefinition{Name: name, Run: "true"})
	}
	if !exact {
		c.rounds, c.landed = chosenCounters(def)
	}
	if !def.HasCheckStates() {
		return c
	}
	if len(c.checks) == 0 {
		c.checks = task.Checks{{Name: "tests", Run: "true"}}
	}
	for i := range def.States {
		for _, k := range def.EdgesFrom(def.States[i].Name) {
			if e := &def.Edges[k]; def.PassedEdge(e.To) != nil {
				c.before[i+1] = e.To
			}
		}
	}
	return c
}

// chosenCounters returns the counters of failed checks and of failed landings, -1 for one that the search has to count:
// because something else reads it, or because another counter keeps a task from its bound.
func chosenCounters(def *workflow.Definition) (rounds, landed int) {
	var chosen []int
	choose := func(kind workflow.TriggerKind) int {
		at := slices.IndexFunc(def.Counters, func(c workflow.Counter) bool { return countsFailures(def, &c, kind) })
		if at < 0 || !hidesNothing(def, append(chosen, at)) {
			return -1
		}
		chosen = append(chosen, at)
		return at
	}
	return choose(workflow.OnCheck), choose(workflow.OnLanding)
}

// countsFailures reports whether a counter only bounds how often checks, or landings, fail until a person acts: their
// failures raise it by one, below its bound, and nothing else reads or changes it. Then its value is chosen where it is
// compared, and a loop through a failure is bounded by it (decision 81).
func countsFailures(def *workflow.Definition, c *workflow.Counter, kind workflow.TriggerKind) bool {
	if !c.ByPerson || c.PerState || c.Crashes || c.Silence {
		return false
	}
	raised := false
	for i := range def.Edges {
		e := &def.Edges[i]
		failed := !slices.ContainsFunc(e.On, func(tr workflow.Trigger) bool { return tr.Kind != kind || tr.Value == task.CheckPassed })
		reads := e.When != nil && slices.Contains(e.When.Names, c.Name)
		at := slices.IndexFunc(e.Count, func(op workflow.CountOp) bool { return op.Counter == c.Name })
		switch {
		case reads && (!failed || len(e.When.Names) != 1):
			return false
		case at >= 0 && (!failed || !reads || !e.Count[at].Add || e.Count[at].Value != 1):
			return false
		}
		raised = raised || at >= 0
	}
	return raised
}

// visitsChecks reports whether a task comes to a check state.
func (g *graph) visitsChecks() bool {
	for i := range g.m.def.States {
		if g.m.def.States[i].Kind == workflow.CheckDo && g.visited[i+1] {
			return true
		}
	}
	return false
}

// endsCheck reports whether the next effect ends a check that the task has left. No decision depends on whether that has
// happened yet, so nothing else is tried before it.
func (m *model) endsCheck(w *world) bool {
	e, ok := engine.NextEffect(&w.t)
	info, _ := workflow.EffectNamed(e.Do)
	return ok && !m.quotient.off && info.Kills && e.Role == workflow.CheckRole && e.Attempt == 0 && !m.def.DeclaresRole(workflow.CheckRole)
}

// leadsElsewhere reports whether a timer of a check need not be tried. The end of a check that ignores its timeout leads
// where the timeout does, only later. A check that waits for an agent is held after the pending effects: until then the
// task only waits, and where a person can move it from there a task without checks comes in as many steps or fewer.
func (m *model) leadsElsewhere(w *world, tm *engine.Timer) bool {
	if m.quotient.off {
		return false
	}
	return tm.Name == engine.CheckDeadline || tm.Name == engine.CheckWait && len(w.t.Pending) > 0
}

// isCheck reports whether an attempt runs a check.
func (m *model) isCheck(a *task.Attempt) bool {
	return a.Role == workflow.CheckRole && !m.def.DeclaresRole(workflow.CheckRole)
}

// asksBehindCheck reports whether a gate of the state behind a check requires a section.
func (m *model) asksBehindCheck(state string, section int) bool {
	passed := m.def.PassedEdge(state)
	return passed != nil && m.asks[m.stateNumber[passed.To]][section]
}

// checkEnds returns the ways in which the check that runs can end.
func (m *model) checkEnds(w *world, i int, out []action) []action {
	end := func(e checkEnd, outside bool, edges []*workflow.Edge) {
		for _, c := range m.sectionChoices(w, edges) {
			out = append(out, action{event: reportEnd, kind: signal.Exit, who: task.Engine, actor: i, choice: c, check: &e, human: outside})
		}
	}
	s, _ := m.def.StateNamed(w.t.Status)
	if w.t.Attempts[i].Ending || w.t.CheckRun == nil || s.Kind != workflow.CheckDo {
		end(checkEnd{}, false, nil)
		return out
	}
	failed := m.edgesOf(w.t.Status, workflow.OnCheck, task.CheckFailed, "")
	end(checkEnd{outcome: task.CheckPassed}, false, m.edgesOf(w.t.Status, workflow.OnCheck, task.CheckPassed, ""))
	for _, outcome := range [...]string{task.CheckFailed, task.CheckTimeout} {
		end(checkEnd{outcome: outcome}, m.checks.rounds >= 0, failed)
		if m.checks.rounds >= 0 {
			end(checkEnd{outcome: outcome, atBound: true}, false, failed)
		}
	}
	if w.t.Attempts[i].Overdue { // without a result it timed out
		end(checkEnd{atBound: true}, false, failed)
		return out
	}
	for _, outcome := range [...]string{task.CheckInvalid, ""} {
		for _, again := range [...]bool{false, true} {
			if !m.checks.exact || again == (w.t.CheckRun.Again > 0) {
				end(checkEnd{outcome: outcome, again: again}, !again, nil)
			}
		}
	}
	end(checkEnd{outcome: task.CheckMissing}, false, nil)
	return out
}

// writeCheck puts the end of a check into the signal, and what came before it into the record.
func (m *model) writeCheck(w *world, a *action, sig *signal.Signal) {
	e := a.check
	if e == nil || w.t.CheckRun == nil {
		return
	}
	run := *w.t.CheckRun
	if run.Again = 0; e.again {
		run.Again = 1
	}
	w.t.CheckRun = &run
	if e.outcome != "" {
		sig.Check = &task.CheckResult{Name: run.Name, Outcome: e.outcome, Tree: "t"}
	}
	m.chooseFailures(w, m.checks.rounds, e.atBound)
}

// chooseFailures sets the counter of failures, if its value is chosen, to its bound or below.
func (m *model) chooseFailures(w *world, counter int, atBound bool) {
	if counter < 0 {
		return
	}
	w.t.Counters = slices.Clone(w.t.Counters)
	c, bound := &w.t.Counters[counter], m.def.Counters[counter].Max
	if c.Value = min(c.Value, bound-1); atBound {
		c.Value = bound
	}
}

// uncheckedActions adds each action that can lead to a check state once more, for a task without checks.
func (m *model) uncheckedActions(w *world, first int, out []action) []action {
	check := m.checks.before[m.stateNumber[w.t.Status]]
	if check == "" {
		return out
	}
	for _, a := range out[first:] {
		switch {
		case a.event != deliverSignal && a.event != reportEnd, a.kind == signal.Notice, a.kind == signal.Resume:
			continue
		case a.kind == signal.Request && (a.word != check || a.who == ""):
			continue
		case a.kind == signal.Request:
			a.word = m.def.PassedEdge(check).To
		}
		a.unchecked = true
		out = append(out, a)
	}
	return out
}

// restActions returns the ends of turns for which a check waits. The check starts behind the pending effects, so the turn
// need not end before they are done.
func (m *model) restActions(w *world, out []action) []action {
	if w.t.CheckRun == nil || w.t.WorkFailed != "" || len(w.t.Pending) > 0 && !m.quotient.off {
		return out
	}
	if slices.ContainsFunc(w.t.Attempts, func(a task.Attempt) bool { return m.isCheck(&a) }) {
		return out
	}
	for i := range w.t.Attempts {
		if a := &w.t.Attempts[i]; w.procs[i] == alive && !a.Ending && !m.isCheck(a) && a.Condition.InTurn() {
			out = append(out, action{kind: signal.Notice, who: task.Engine, word: task.Idle, actor: i, left: task.LeftWords})
		}
	}
	return out
}

// checkRequests returns the requests of a person for a check: where the task is held for one and, in a full search, where
// a person decides. There the run moves nothing, and every move ends it.
func (m *model) checkRequests(w *world, out []action) []action {
	s, ok := m.def.StateNamed(w.t.Status)
	if !ok || len(m.checks.checks) == 0 || !m.def.HasCheckStates() || len(w.t.Pending) > 0 {
		return out
	}
	quiet := s.Kind == workflow.HumanDo || s.Kind == workflow.Halt || s.Kind == workflow.Waiting
	if s.Kind == workflow.CheckDo && w.t.WorkFailed != "" || quiet && m.quotient.off && w.t.Workspace != "" && w.t.CheckRun == nil {
		out = append(out, action{kind: signal.Request, who: task.Human, word: engine.VerbCheck, actor: -1, human: true})
	}
	return out
}

// forgetChecks makes the checks of a world canonical.
func (m *model) forgetChecks(w *world) {
	w.t.CheckResults = nil
	if r := w.t.CheckRun; r != nil {
		w.t.CheckRun = &task.CheckRun{Name: r.Name, Since: origin, ByHand: r.ByHand}
		if m.checks.exact {
			w.t.CheckRun.Again = r.Again
		}
	}
	for _, counter := range [...]int{m.checks.rounds, m.checks.landed} {
		if counter >= 0 && counter < len(w.t.Counters) {
			w.t.Counters[counter].Value = 0
		}
	}
	for i := range w.t.Attempts { // whether a check that is being ended ever ran makes no difference
		if a := &w.t.Attempts[i]; a.Ending && m.isCheck(a) && !m.distinguishesDead() {
			w.procs = slices.Clone(w.procs)
			a.Running, a.Overdue, w.procs[i] = true, false, alive
		}
	}
}

// checkByte is what is compared of the check that runs or waits.
func (m *model) checkByte(t *task.Task) byte {
	r := t.CheckRun
	if r == nil {
		return 0
	}
	at := slices.IndexFunc(m.checks.checks, func(c task.CheckDefinition) bool { return c.Name == r.Name })
	return byte(at+2)<<2 | bitIf(r.ByHand, 0) | bitIf(r.Again > 0, 1)
}

// isChosen reports whether an action is the end of a check or a landing for which the search chose what came before it.
func (m *model) isChosen(a *action) bool {
	return !m.checks.exact && (a.check != nil && (a.check.again || a.check.atBound && m.checks.rounds >= 0) || a.atBound && m.checks.landed >= 0)
}
