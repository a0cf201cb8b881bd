package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// outcome is the result of an action.
type outcome struct {
	moved    bool            // something changed
	entries  []journal.Entry // what was decided
	verdict  engine.Verdict
	refused  string
	signal   signal.Signal // the last one, as the engine received it
	told     []signal.Signal
	waived   bool // the way back needs no gate
	problems []problem
}

// problem is a property that an action violates.
type problem struct {
	property Property
	subject  string
	message  string
}

func (o *outcome) addProblem(p Property, subject, format string, args ...any) {
	o.problems = append(o.problems, problem{p, subject, fmt.Sprintf(format, args...)})
}

// applyAction applies an action. It changes the world in place.
func (s *search) applyAction(w *world, a *action) outcome {
	switch a.event {
	case endProcess:
		*w = w.copy()
		w.procs[a.actor] = dead
		return outcome{moved: true}
	case loseReceipt:
		*w = w.copy()
		var o outcome
		s.carryOut(w, &o)
		w.half, o.moved = true, true
		return o
	case crashServer:
		return s.forgetPending(w)
	case landing:
		return s.applyLanding(w, a)
	case completeEffect, failEffect:
		return s.finishFirstEffect(w, a.event == completeEffect, a.choice)
	}
	return s.submitSignal(w, a)
}

// submitSignal sends a signal to the engine and folds its decision.
func (s *search) submitSignal(w *world, a *action) outcome {
	sig := s.newSignal(w, a)
	s.writeChoices(w, a.choice, &sig)
	before := w.t.Status
	back := w.t.ReturnTo
	speaker := task.Attempt{}
	if a.actor >= 0 {
		speaker = w.t.Attempts[a.actor]
	}
	o := s.decideAndFold(w, sig)
	if edge := s.takenEdge(&o); edge != nil {
		st, _ := s.m.def.StateNamed(before)
		o.waived = back != "" && edge.To == back && st != nil && st.Returns
	}
	if !s.m.open { // its steps are judged in the search of one task
		s.judgeOutcome(w, a, speaker, &o)
	}
	if o.moved {
		s.rememberVersions(w, a, &o)
	}
	return o
}

// newSignal returns the signal of an action.
func (s *search) newSignal(w *world, a *action) signal.Signal {
	sig := signal.Signal{Kind: a.kind, Actor: a.who, At: w.now.Add(s.pace), Free: s.free, Busy: s.busy, New: a.newTask, Report: a.report, CardSnapshot: a.cardSnapshot, Rules: engine.Rules, Told: s.m.without[Telling], Unchecked: a.unchecked}
	if a.waits {
		sig.Predecessors = unmetPredecessor
	}
	if a.actor >= 0 {
		sig.Attempt = w.t.Attempts[a.actor].Number
	}
	if s.m.without[Origin] && a.report != nil && a.report.Unproven {
		believed := *a.report
		believed.Unproven = false
		sig.Report = &believed
	}
	switch a.kind {
	case signal.Request:
		switch {
		case a.word == engine.Respawn, a.word == engine.VerbAnswer, a.word == engine.VerbCheck, a.word == engine.VerbMerge, a.word == engine.VerbUnland:
			sig.Verb, sig.Arg = a.word, a.verb
		case a.word == engine.VerbStop:
			sig.Verb, sig.Role = a.word, a.verb
		case a.word == engine.VerbEdit:
			sig.Verb, sig.Note = a.word, "other requirements"
		case a.word == engine.VerbSend:
			sig.Verb, sig.Role, sig.Note = a.word, a.verb, "a message"
		case a.verb != "":
			sig.Verb = a.verb
		default:
			sig.To = a.word
		}
	case signal.Notice:
		sig.Condition = &task.Condition{Name: a.word, Left: a.left}
	case signal.Exit:
		sig.Left = a.left
		sig.Role = w.t.Attempts[a.actor].Role
		s.m.writeCheck(w, a, &sig)
		switch w.t.Lost, w.t.Unstarted = nil, nil; a.mass {
		case together:
			sig.Mass = signal.MassReboot
		case togetherAgain:
			sig.Mass, w.t.Lost = signal.MassReboot, []time.Time{w.now, w.now}
		case unstarted:
			sig.Unstarted, sig.Missing = true, s.m.harnesses
		case unstartedAgain:
			sig.Unstarted, sig.Missing, w.t.Unstarted = true, s.m.harnesses, &task.Unstarted{Count: engine.StartTries}
		}
	case signal.Effect:
		s.m.writeLanding(w, a, &sig)
	case signal.Outcome, signal.Tracker:
		sig.Word = a.word
	case signal.Timer:
		sig.Timer, sig.Visit = a.word, w.t.Visit
		for _, tm := range engine.Timers(s.m.def, &w.t) {
			if tm.Name == a.word {
				sig.At = tm.At
			}
		}
	}
	return sig
}

// decideAndFold calls the engine and folds its entries into the world.
func (s *search) decideAndFold(w *world, sig signal.Signal) outcome {
	s.decisions++
	s.record = w.t
	d := s.o.Decide(s.m.def, &s.record, sig)
	o := outcome{entries: d.Entries, verdict: d.Verdict, refused: d.Refused, signal: sig}
	if s.tracing {
		o.told = []signal.Signal{sig}
	}
	if len(d.Entries) == 0 || d.Entries[0].Type == journal.CardSeen { // the state of a card is not part of a world
		return o
	}
	o.moved = true
	if s.m.without[Ensure] {
		stripEnsured(o.entries)
	}
	first := w.t.Seq == 0
	next := w.t.Clone()
	for i := range o.entries {
		if err := journal.Apply(&next, &o.entries[i]); err != nil {
			panic("verify: " + err.Error()) // the engine numbers its entries
		}
	}
	procs := make([]process, len(next.Attempts))
	for i := range next.Attempts {
		if at := attemptIndex(&w.t, next.Attempts[i].Number); at >= 0 && !first {
			procs[i] = w.procs[at]
		}
	}
	if len(next.Pending) == 0 || len(w.t.Pending) == 0 || next.Pending[0].ID != w.t.Pending[0].ID {
		w.half = false
	}
	w.t, w.procs, w.now = next, procs, sig.At
	if s.tracing {
		s.wakeForgotten(w, &o)
	}
	s.m.forgetIdle(w)
	return o
}

// wakeForgotten begins another turn of each agent of which the search is about to forget that it rests. In the search it may
// do what an agent in a turn does, so the engine, which forgets nothing, has to hear that it runs.
func (s *search) wakeForgotten(w *world, o *outcome) {
	for _, a := range slices.Clone(w.t.Attempts) {
		if a.Condition.Name == task.Idle && !s.m.remembersRest(w, &a) {
			o.told = append(o.told, s.decideAndFold(w, s.turnBegins(w, a.Number)).told...)
		}
	}
}

// turnBegins returns the notice that an attempt runs again.
func (s *search) turnBegins(w *world, attempt int) signal.Signal {
	return signal.Signal{Kind: signal.Notice, Actor: task.Engine, At: w.now.Add(s.pace), Attempt: attempt, Rules: engine.Rules, Condition: &task.Condition{Name: task.Running}}
}

// stripEnsured removes what a state requires by itself: an agent.
func stripEnsured(entries []journal.Entry) {
	for i := range entries {
		e := &entries[i]
		for _, f := range e.Effects {
			if info, _ := workflow.EffectNamed(f.Do); info.Spawns && f.By == task.ByState {
				e.Started = slices.DeleteFunc(slices.Clone(e.Started), func(a task.Attempt) bool { return a.Number == f.Attempt })
			}
		}
		e.Effects = slices.DeleteFunc(slices.Clone(e.Effects), func(f task.Effect) bool {
			info, _ := workflow.EffectNamed(f.Do)
			return info.Spawns && f.By == task.ByState
		})
	}
}

func attemptIndex(t *task.Task, number int) int {
	return slices.IndexFunc(t.Attempts, func(a task.Attempt) bool { return a.Number == number })
}

// writeChoices writes the chosen versions into the signal.
func (s *search) writeChoices(w *world, choices []choice, sig *signal.Signal) {
	for _, c := range choices {
		if c.section == childrenChoice {
			sig.Children = s.m.childrenOf(c)
			continue
		}
		if c.section < 0 {
			g := &s.m.def.Gates[-1-c.section]
			sig.Evidence = append(sig.Evidence, signal.Evidence{Name: g.FactName(), Holds: c.age == isNew, Detail: "as the search chose"})
			continue
		}
		if c.age != absent {
			sig.Artifacts.Sections = append(sig.Artifacts.Sections, s.writtenSection(w, c))
		}
		switch {
		case s.m.without[Author]:
		case c.doubt == foreign:
			role := s.m.foreignRoles[s.m.stateNumber[w.t.Status]][c.section]
			sig.Samples = append(sig.Samples, task.Sample{Section: s.m.sections[c.section].name, Sum: s.versionDigest(w, c), Foreign: role})
		case c.doubt == broken && sig.Kind == signal.Exit:
			sig.BrokeOff, sig.Code = true, 1
		}
	}
}

func (s *search) writtenSection(w *world, c choice) taskfile.Section {
	sec := &s.m.sections[c.section]
	out := taskfile.Section{Name: sec.name, Line: 1, TextLine: 1, Size: 1, Digest: s.versionDigest(w, c)}
	if sec.verdict {
		out.Ruling = taskfile.Ruling{Verdict: c.meaning, Line: 1}
		out.Word = out.Ruling
		return out
	}
	out.Fields = s.labels
	return out
}

// versionDigest returns the digest of a version; a new version has a unique one.
func (s *search) versionDigest(w *world, c choice) string {
	switch c.age {
	case isUsed:
		return w.texts[c.section].used.sum
	case isSeen:
		return w.texts[c.section].seen.sum
	}
	if w.now == origin {
		return "new"
	}
	return "new at " + w.now.Format(time.RFC3339)
}

// rememberVersions records which versions opened gates and which existed when a visit began.
func (s *search) rememberVersions(w *world, a *action, o *outcome) {
	edge := s.takenEdge(o)
	if !slices.ContainsFunc(o.entries, func(e journal.Entry) bool { return e.To != "" }) {
		return
	}
	w.texts = slices.Clone(w.texts)
	for i := range o.entries {
		if o.entries[i].To == "" {
			continue
		}
		for k := range w.texts {
			c, ok := findChoice(a.choice, k)
			w.texts[k].seen = version{}
			if ok && c.age != absent {
				w.texts[k].seen = version{meaning: c.meaning, sum: sumOf(o.signal.Artifacts.Sections, s.m.sections[k].name)}
			}
			if edge != nil && !o.waived && ok && c.age != absent && s.hasGateOn(edge, k) {
				w.texts[k].used = w.texts[k].seen
			}
		}
	}
}

func sumOf(sections []taskfile.Section, name string) string {
	s, _ := taskfile.FindSection(sections, name)
	return s.Digest
}

func findChoice(list []choice, section int) (choice, bool) {
	for _, c := range list {
		if c.section == section {
			return c, true
		}
	}
	return choice{}, false
}

// hasGateOn reports whether the edge has a gate on the section.
func (s *search) hasGateOn(e *workflow.Edge, section int) bool {
	for _, g := range s.m.def.EdgeGates(e) {
		if s.m.def.Gates[g].Section == s.m.sections[section].name {
			return true
		}
	}
	return false
}

// takenEdge returns the edge in the last entry, or nil if no edge was taken.
func (s *search) takenEdge(o *outcome) *workflow.Edge {
	for i := len(o.entries) - 1; i >= 0; i-- {
		e := &o.entries[i]
		if e.To == "" {
			continue
		}
		if e.Edge > 0 {
			return &s.m.def.Edges[e.Edge-1]
		}
		return nil
	}
	return nil
}

// carryOut performs the first pending effect in the world.
func (s *search) carryOut(w *world, o *outcome) (ended []int) {
	e := w.t.Pending[0]
	w.procs = slices.Clone(w.procs)
	info, _ := workflow.EffectNamed(e.Do)
	if w.half && !info.Twice && s.m.without[Keys] {
		o.addProblem(CrashSafe, e.Do, "%s is done a second time after a crash", e.Do)
	}
	switch {
	case info.Kills:
		for i := range w.t.Attempts {
			a := &w.t.Attempts[i]
			if a.Ending && (e.Role == "" || e.Role == a.Role) || a.Number == e.Attempt {
				w.procs[i] = dead
				ended = append(ended, a.Number)
			}
		}
	case e.Start:
		if at := attemptIndex(&w.t, e.Attempt); at >= 0 && w.procs[at] == notStarted {
			w.procs[at] = alive
			s.oneWorker(w, at, o)
		}
	case e.Do == workflow.ReleaseWorkspace && slices.Contains(w.procs, alive):
		o.addProblem(WorkSafe, e.Do, "the workspace is released while an agent works in it")
	}
	return ended
}

// oneWorker checks that the agent that was just started is the only one of its role, and that
// none lives for which it stands in.
func (s *search) oneWorker(w *world, started int, o *outcome) {
	role, _ := s.m.def.RoleNamed(w.t.Attempts[started].Role)
	for i := range w.t.Attempts {
		other := w.t.Attempts[i].Role
		if i != started && w.procs[i] == alive && (other == role.Name || other == role.StandsInFor) {
			o.addProblem(OneWorker, role.Name, "a %s is started while a %s lives", role.Name, other)
		}
	}
}

// finishFirstEffect carries out the first pending effect, or gives it up, and reports to the
// engine first the agents that are gone, then the effect itself.
func (s *search) finishFirstEffect(w *world, ok bool, choices []choice) outcome {
	var o outcome
	id := w.t.Pending[0].ID
	if ok {
		s.takesIn(w, &o)
		for _, number := range s.carryOut(w, &o) {
			at := attemptIndex(&w.t, number)
			if at < 0 {
				continue
			}
			end := action{event: reportEnd, kind: signal.Exit, who: task.Engine, actor: at, choice: choices}
			if s.m.isCheck(&w.t.Attempts[at]) { // that it failed below its bound is tried with its own ends
				end.check = &checkEnd{atBound: true}
			}
			exit := s.submitSignal(w, &end)
			o.entries = append(o.entries, exit.entries...)
			o.told = append(o.told, exit.told...)
			o.problems = append(o.problems, exit.problems...)
		}
	}
	result := signal.Receipt{Effect: id, OK: ok, Final: !ok}
	if !ok {
		result.Error = "it does not work"
	}
	got := s.decideAndFold(w, signal.Signal{Kind: signal.Effect, At: w.now.Add(s.pace), Actor: task.Engine, Result: &result})
	if !got.moved {
		o.addProblem(CrashSafe, id, "the receipt of an effect is refused: %s", got.refused)
	}
	o.entries = append(o.entries, got.entries...)
	o.told = append(o.told, got.told...)
	o.moved, o.verdict, o.signal = true, got.verdict, got.signal
	return o
}

// takesIn lets an agent whose turn ended run again if the first pending effect sends it a
// message: that is reported before the message counts as delivered.
func (s *search) takesIn(w *world, o *outcome) {
	e := &w.t.Pending[0]
	info, _ := workflow.EffectNamed(e.Do)
	a, ok := w.t.AttemptByNumber(e.Attempt)
	if !ok || !info.Notifies || e.Start || a.Condition.Name != task.Idle {
		return
	}
	got := s.decideAndFold(w, s.turnBegins(w, a.Number))
	o.entries = append(o.entries, got.entries...)
	o.told = append(o.told, got.told...)
}

// forgetPending simulates a server that keeps no record of its pending effects.
func (s *search) forgetPending(w *world) outcome {
	o := outcome{moved: true}
	var lost []string
	for _, e := range w.t.Pending {
		lost = append(lost, e.Do)
	}
	o.addProblem(CrashSafe, lost[0], "%s was asked for and is never done", strings.Join(lost, ", "))
	w.t.Pending = nil
	return o
}
