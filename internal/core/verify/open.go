package verify

import (
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// The open variant of the search: what a task shares with others answers freely. A workspace is free or not, a serial group is
// free or not, a task that it is after has landed or not, and a landing goes through, comes back, or starts over. Each step is
// labelled with the answer that it needs.

// openCandidate is the candidate of every landing.
var openCandidate = task.Candidate{Target: "main", Tip: "tip", Head: "head", Commit: "candidate", Tree: "tree"}

// keepShared keeps what the open variant needs of a landing, and of the card for which a task waits on its board.
func (m *model) keepShared(w *world, l *task.Landing) {
	if l.InProgress() && l.Checked && w.t.MergeEffect() != nil {
		w.t.Landing = &task.Landing{Candidate: openCandidate, Checked: true, Since: origin}
	}
}

// forgetRepeated drops all but the last of the pending orders to write the same section: each landing that fails adds one, and a
// person may try a landing again any number of times before one of them is carried out.
func (m *model) forgetRepeated(w *world) {
	list := w.t.Pending
	again := func(i int) bool {
		return list[i].Do == workflow.WriteSection && slices.ContainsFunc(list[i+1:], func(later task.Effect) bool {
			return later.Do == workflow.WriteSection && later.Arg == list[i].Arg
		})
	}
	var kept []task.Effect
	for i := range list {
		if !again(i) {
			kept = append(kept, list[i])
		}
	}
	if len(kept) < len(list) {
		w.t.Pending = kept
	}
}

// appendShared appends what the open variant compares beside the rest of a world.
func (m *model) appendShared(w *world, b []byte) []byte {
	card := 0
	if w.t.CardSnapshot != nil {
		card = 1 + slices.IndexFunc(m.cardStates[m.stateNumber[w.t.Status]], func(c cardState) bool { return c.SameAs(*w.t.CardSnapshot) })
	}
	return append(b, bitIf(w.t.Landing.InProgress(), 0)|bitIf(w.returned, 1), byte(card))
}

// serialGroups returns the serial groups of a workflow.
func serialGroups(def *workflow.Definition) []string {
	var out []string
	for i := range def.Roles {
		if g := def.Roles[i].Serial; g != "" && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// groupBit returns the serial group of a role as a bit, 0 if it has none.
func (m *model) groupBit(role string) observation {
	r, ok := m.def.RoleNamed(role)
	if !ok || r.Serial == "" {
		return 0
	}
	return 1 << slices.Index(m.groups, r.Serial)
}

// groupsOf returns the serial groups that a task works in, by the rule of the runtime: those of its agents, of an agent that is
// to be restarted, and of one that waits for advice.
func (m *model) groupsOf(t *task.Task) observation {
	var out observation
	for i := range t.Attempts {
		out |= m.groupBit(t.Attempts[i].Role)
	}
	s, ok := m.def.StateNamed(t.Status)
	if !ok || s.Kind != workflow.Agent {
		return out
	}
	if !t.RespawnAt.IsZero() {
		out |= m.groupBit(s.Role)
	}
	if back, ok := m.def.StateNamed(t.ReturnTo); ok && (len(t.Attempts) > 0 || !t.RespawnAt.IsZero()) {
		out |= m.groupBit(back.Role)
	}
	return out
}

// observe returns what others can observe of a task.
func (m *model) observe(w *world) observation {
	t := &w.t
	out := m.groupsOf(t)
	note := func(o observation, holds bool) {
		if holds {
			out |= o
		}
	}
	landing := m.inLandingQueue(t)
	note(hasWorkspace, t.Workspace != "")
	note(isQueued, t.Queued)
	note(isPolling, !t.RespawnAt.IsZero() && t.Workspace == "")
	note(isLanding, landing)
	note(isChecked, landing && t.Landing.InProgress() && t.Landing.Checked)
	note(isReturned, w.returned)
	note(movesOn, m.waitsForPerson(w))
	if m.def.IsTerminal(t.Status) {
		note(isCancelled, m.def.MeansCancelled(t.Status))
		note(hasLanded, !m.def.MeansCancelled(t.Status))
	}
	return out
}

// inLandingQueue reports whether a task is in the landing queue, by the rule of the runtime. The branch of a task that is over was
// merged by others: nothing of it lands any more.
func (m *model) inLandingQueue(t *task.Task) bool {
	if m.def.IsTerminal(t.Status) {
		return false
	}
	e, ok := engine.NextEffect(t)
	return ok && e.Do == workflow.MergeBranch || t.Landing.InProgress() && t.MergeEffect() != nil
}

// waitsForPerson reports whether a task waits for a person, not for other tasks and not for itself.
func (m *model) waitsForPerson(w *world) bool {
	t := &w.t
	s, ok := m.def.StateNamed(t.Status)
	switch {
	case t.Attention != "" || t.Asked != nil:
		return true
	case !ok || s.Kind == workflow.Terminal || t.Queued || m.inLandingQueue(t):
		return false
	case s.Kind == workflow.Queued, s.Kind == workflow.Waiting, s.Kind == workflow.HumanDo, s.Kind == workflow.Halt:
		return true
	}
	return t.WorkFailed != "" || t.Crashed != "" && s.Respawn == workflow.RespawnManual || engine.WaitsForAnswer(m.def, *t)
}

// shareActions returns what only the open variant has: the turn of a task that waits on its board or for its children, and people
// who ask for a landing where they decide, or take the task out of its queue.
func (m *model) shareActions(w *world, out []action) []action {
	t := &w.t
	s, ok := m.def.StateNamed(t.Status)
	if !ok || s.Kind == workflow.Terminal {
		return out
	}
	if t.Queued && s.Kind != workflow.Queued {
		var edges []*workflow.Edge
		if m.def.WaitsForChildren(t.Status) {
			edges = m.edgesOf(t.Status, workflow.OnTracker, engine.ChildMoved, "")
		}
		for _, c := range m.sectionChoices(w, edges) {
			out = append(out, action{kind: signal.Ready, who: task.Engine, actor: -1, choice: c})
		}
	}
	if t.MergeEffect() != nil {
		return append(out, action{kind: signal.Request, who: task.Human, word: engine.VerbUnland, actor: -1, human: true})
	}
	if len(t.Pending) == 0 && m.passesPerson(t.Status) && engine.MayMerge(m.def, t) {
		out = append(out, action{kind: signal.Request, who: task.Human, word: engine.VerbMerge, actor: -1, human: true})
	}
	return out
}

// landingSteps returns the steps of the landing of a task: its candidate is built and checked, and then the target moves. It can
// come back instead: after a conflict, after a check that failed on the candidate, or because something is in the way. What
// failed fails again until an agent has worked on it. All checks of a candidate are one step, because no decision depends on what
// happens between them (decision 100).
func (m *model) landingSteps(w *world, out []action) []action {
	step := func(l stepLabel, word string) {
		a := action{event: landing, land: l, word: word, actor: -1}
		out = append(out, a)
		if a.atBound = true; m.checks.landed >= 0 && (l == checkFail || word == task.LandingConflict) {
			out = append(out, a)
		}
	}
	if w.t.Landing.InProgress() && w.t.Landing.Checked {
		merged := m.edgesOf(w.t.Status, workflow.OnTracker, signal.PRMerged, "")
		for _, c := range m.sectionChoices(w, merged) {
			if m.isMerged(c) {
				out = append(out, action{event: landing, land: landTask, actor: -1, choice: c})
			}
		}
		step(retryTask, signal.LandingMoved)
		step(giveBack, task.LandingBlocked)
		return out
	}
	if !w.returned {
		step(checkPass, task.CheckPassed)
	}
	step(checkFail, task.CheckFailed)
	step(giveBack, task.LandingConflict)
	step(giveBack, task.LandingBlocked)
	return out
}

// isHeldUp reports whether a landing that ended holds up what is pending behind it until a person acts, so that there is nothing
// to be patient for.
func (m *model) isHeldUp(w *world) bool {
	if !m.open || len(w.t.Pending) > DefaultPendingLimit {
		return false
	}
	_, runs := engine.NextEffect(&w.t)
	return !runs && slices.ContainsFunc(w.t.Pending, func(e task.Effect) bool { return e.Do == workflow.MergeBranch && e.GivenUp })
}

// isMerged reports whether a choice does not say that the branch is not merged.
func (m *model) isMerged(l []choice) bool {
	return !slices.ContainsFunc(l, func(c choice) bool {
		return c.section < 0 && c.section != childrenChoice && c.age == absent && m.def.Gates[-1-c.section].Evidence == workflow.Merged
	})
}

// applyLanding takes a step of a landing.
func (s *search) applyLanding(w *world, a *action) outcome {
	id := w.t.MergeEffect().ID
	var o outcome
	tell := func(sig signal.Signal) {
		sig.Actor, sig.At, sig.Rules, sig.Free, sig.Busy = task.Engine, w.now.Add(s.pace), engine.Rules, s.free, s.busy
		got := s.decideAndFold(w, sig)
		o.moved, o.verdict, o.refused, o.signal = o.moved || got.moved, got.verdict, got.refused, sig
		o.entries, o.told = append(o.entries, got.entries...), append(o.told, got.told...)
	}
	receipt := func(r signal.Receipt) { tell(signal.Signal{Kind: signal.Effect, Result: &r}) }
	candidate := openCandidate
	s.m.chooseFailures(w, s.m.checks.landed, a.atBound)
	switch a.land {
	case checkPass, checkFail:
		receipt(signal.Receipt{Effect: id, Do: workflow.MergeBranch, Landing: signal.LandingBuilt, Candidate: &candidate})
		for range w.t.Checks {
			at := slices.IndexFunc(w.t.Attempts, func(t task.Attempt) bool { return s.m.isCheck(&t) })
			start := slices.IndexFunc(w.t.Pending, func(e task.Effect) bool { return e.Do == workflow.RunCheck })
			if w.t.CheckRun == nil || at < 0 || start < 0 {
				break
			}
			receipt(signal.Receipt{Effect: w.t.Pending[start].ID, OK: true})
			if o.verdict == engine.Refuse { // an effect that was requested after the landing comes first
				return outcome{}
			}
			result := task.CheckResult{Name: w.t.CheckRun.Name, Outcome: a.word, Tree: candidate.Tree}
			tell(signal.Signal{Kind: signal.Exit, Attempt: w.t.Attempts[at].Number, Role: workflow.CheckRole, Check: &result})
		}
	case landTask:
		receipt(signal.Receipt{Effect: id, Do: workflow.MergeBranch, OK: true})
		sig := signal.Signal{Kind: signal.Tracker, Word: signal.PRMerged}
		s.writeChoices(w, a.choice, &sig)
		tell(sig)
		s.rememberVersions(w, a, &o)
	case retryTask:
		receipt(signal.Receipt{Effect: id, Do: workflow.MergeBranch, Landing: a.word, Error: "the target moved"})
	default:
		receipt(signal.Receipt{Effect: id, Do: workflow.MergeBranch, Final: true, Error: "the landing ended", Landing: a.word})
	}
	w.returned = w.returned || a.land == checkFail || a.word == task.LandingConflict
	return o
}

// forgetReturn notes that an agent works on what came back from a landing, or that nobody needs to.
func (s *search) forgetReturn(w *world, a *action, effect *task.Effect) {
	if w.returned && a.event == completeEffect && effect != nil {
		info, _ := workflow.EffectNamed(effect.Do)
		w.returned = !(info.Spawns || info.Notifies) || effect.Do == workflow.RunCheck
	}
	w.returned = w.returned && !s.m.def.IsTerminal(w.t.Status)
}

// answer is how what a task shares with others answers to a step.
type answer struct {
	full  bool     // no workspace is free
	busy  []string // the serial groups that other tasks work in
	unmet bool     // a task that it is after has not landed
}

// openStep is a step of the open variant in a world.
type openStep struct {
	action *action
	answer answer
	label  stepLabel
	next   *world // not canonical
	made   *outcome
}

// visitOpenSteps calls visit for each step of a world, with each answer that makes a difference.
func (s *search) visitOpenSteps(w *world, visit func(openStep)) {
	s.acts = s.m.listActions(w, s.acts[:0])
	for i := range s.acts {
		s.visitAnswers(w, &s.acts[i], visit)
	}
}

// visitAnswers calls visit for a step, and for what happens instead of it if others have what it needs.
func (s *search) visitAnswers(w *world, a *action, visit func(openStep)) {
	next, o := s.applyAnswer(w, a, answer{})
	if !o.moved {
		return
	}
	var binds bool
	var groups observation
	asks := a.kind == signal.Request || a.kind == signal.Tracker || a.kind == signal.Ready || a.kind == signal.Create
	for i := range o.entries {
		binds = binds || o.entries[i].BindWorkspace != ""
		for k := range o.entries[i].Started {
			groups |= s.m.groupBit(o.entries[i].Started[k].Role)
		}
	}
	if !asks {
		groups = 0
	}
	l := s.labelOf(w, a, &next, &o) | stepLabel(groups)*needsToken
	if binds {
		l |= needsFree
	}
	if asks && w.t.Workspace == "" {
		late, held := s.applyAnswer(w, a, answer{unmet: true})
		if !held.moved || s.differ(&late, &next) {
			l |= needsMet
			if held.moved {
				visit(openStep{a, answer{unmet: true}, s.labelOf(w, a, &late, &held) | needsUnmet, &late, &held})
			}
		}
	}
	visit(openStep{a, answer{}, l, &next, &o})
	if binds {
		if next, o := s.applyAnswer(w, a, answer{full: true}); o.moved {
			visit(openStep{a, answer{full: true}, s.labelOf(w, a, &next, &o) | needsNone, &next, &o})
		}
	}
	if groups != 0 {
		busy := answer{busy: s.m.groupNames(groups)}
		if next, o := s.applyAnswer(w, a, busy); o.moved {
			visit(openStep{a, busy, s.labelOf(w, a, &next, &o) | stepLabel(groups)*needsBusy, &next, &o})
		}
	}
}

// groupNames returns the names of serial groups.
func (m *model) groupNames(groups observation) []string {
	var out []string
	for i, name := range m.groups {
		if groups&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// applyAnswer applies an action to a copy of a world, with an answer.
func (s *search) applyAnswer(w *world, a *action, with answer) (world, outcome) {
	free := s.free
	if with.full {
		s.free = nil
	}
	s.busy, a.waits = with.busy, with.unmet
	var effect *task.Effect
	if len(w.t.Pending) > 0 {
		effect = &w.t.Pending[0]
	}
	next := *w // a step copies what it changes
	o := s.applyAction(&next, a)
	s.forgetReturn(&next, a, effect)
	s.free, s.busy, a.waits = free, nil, false
	return next, o
}

// differ reports whether two worlds are not the same.
func (s *search) differ(a, b *world) bool {
	one, other := a.copy(), b.copy()
	s.m.makeCanonical(&one)
	s.m.makeCanonical(&other)
	return s.digestOf(&one) != s.digestOf(&other)
}

// isSure reports whether a step of an attempt happens in the end. A check ends by its timeout, and a process that is dead is heard
// of. A living agent may rest for ever: its deadline is a step of its own.
func (s *search) isSure(w *world, a *action) bool {
	return a.event == reportEnd && (w.procs[a.actor] == dead || s.m.isCheck(&w.t.Attempts[a.actor]))
}

// needsMerged reports whether a choice says that the branch is merged.
func (m *model) needsMerged(l []choice) bool {
	return slices.ContainsFunc(l, func(c choice) bool {
		return c.section < 0 && c.section != childrenChoice && c.age == isNew && m.def.Gates[-1-c.section].Evidence == workflow.Merged
	})
}

// labelOf returns who takes a step, and what it is for others.
func (s *search) labelOf(w *world, a *action, next *world, o *outcome) stepLabel {
	l := a.land
	if a.human {
		l |= byPerson
	}
	if a.actor >= 0 && !a.human && !s.isSure(w, a) {
		l |= byAgent
	}
	if a.event != landing && s.m.needsMerged(a.choice) {
		l |= handMerge
	}
	if a.kind == signal.Ready {
		l |= byTurn
	}
	if to, edge := next.t.Status, s.takenEdge(o); a.human && to != w.t.Status && s.m.def.IsTerminal(to) && (s.m.def.MeansCancelled(to) || edge != nil && edge.As == workflow.VerbCancel) {
		l |= endsTask
	}
	return l
}
