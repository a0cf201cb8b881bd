package verify

import (
	"slices"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// eventType is the kind of an action of the environment.
type eventType byte

const (
	deliverSignal  eventType = iota // a signal reaches the engine
	completeEffect                  // the first pending effect is carried out and its receipt arrives
	failEffect                      // it fails permanently
	loseReceipt                     // it is carried out, and the server dies before the receipt is stored
	endProcess                      // an agent's process ends
	reportEnd                       // the end of a process is reported
	crashServer                     // the server dies and forgets what was pending
	landing                         // open variant: a step of the landing of the task
)

// action is one thing that the environment can do in a world.
type action struct {
	event        eventType
	kind         signal.Kind
	who          task.Actor
	word         string   // the requested state or verb, the outcome, the event, the timer
	actor        int      // index of the attempt that acts or ends; -1 for none
	verb         string   // the verb that requests word, "" if word is named directly; of a respawn, its argument; of a message, the role
	choice       []choice // the versions of the sections when the signal is decided
	human        bool     // a person does it
	newTask      *signal.New
	report       *signal.Report  // an agent's report about its work
	cardSnapshot *board.Snapshot // the state of the card
	mass         mass            // an agent's end that is not a crash, and whether it is one too many
	ends         bool            // the process ends first
	check        *checkEnd       // the end of a check
	unchecked    bool            // the task has no checks
	atBound      bool            // of the counter of failed landings
	left         task.Left       // the end of a turn, or of an agent: what it ended with
	waits        bool            // a task that this one is after has not landed
	land         stepLabel       // the step of a landing
}

// stepCount returns how many steps the action counts as.
func (a *action) stepCount() int32 {
	if a.ends {
		return 2
	}
	return 1
}

// mass is whether an agent ended together with others, or could not start, and whether that
// happened too often.
type mass byte

const (
	alone mass = iota
	together
	togetherAgain
	unstarted
	unstartedAgain
)

// tooOften reports whether the task is held for a person.
func (m mass) tooOften() bool { return m == togetherAgain || m == unstartedAgain }

// choice is the version of a section when a decision is made.
type choice struct {
	section int
	age     age
	meaning string
	doubt   doubt // of a new verdict
	count   int   // of children
}

// doubt is why a new verdict may not come from the agent that should give it.
type doubt byte

const (
	certain doubt = iota
	foreign       // it changed while an agent of another role was in a turn
	broken        // its agent was interrupted
)

// age is which version of a section exists.
type age byte

const (
	absent age = iota
	isNew
	isUsed
	isSeen
)

// listActions returns everything that can happen in a world. The list depends only on what
// worlds with the same key have in common, so that a path can be followed again.
func (m *model) listActions(w *world, buffer []action) []action {
	first := len(buffer)
	if m.endsCheck(w) {
		return m.effectActions(w, buffer)
	}
	out := m.processActions(w, buffer)
	out = m.effectActions(w, out)
	out = m.requestActions(w, out)
	out = m.idleActions(w, out)
	out = m.restActions(w, out)
	out = m.checkRequests(w, out)
	out = m.eventActions(w, out)
	if m.open {
		out = m.shareActions(w, out)
	}
	return m.dependentActions(w, first, m.uncheckedActions(w, first, m.timerActions(w, out)))
}

// processActions returns the ends of agents, and the reports of these ends. If nothing can
// distinguish a living agent from one that ended without a report yet, both happen in one
// action.
func (m *model) processActions(w *world, out []action) []action {
	for i := range w.t.Attempts {
		first := len(out)
		switch {
		case w.procs[i] == alive && m.distinguishesDead():
			out = append(out, action{event: endProcess, actor: i})
		case w.procs[i] != notStarted && m.isEndReported(w, i) && m.isCheck(&w.t.Attempts[i]):
			out = m.checkEnds(w, i, out)
		case w.procs[i] != notStarted && m.isEndReported(w, i):
			out = m.endReports(w, i, out)
		}
		for k := first; k < len(out); k++ {
			out[k].ends = out[k].event == reportEnd && w.procs[i] == alive
		}
	}
	return out
}

// endReports returns the ways in which the end of an agent is reported.
func (m *model) endReports(w *world, i int, out []action) []action {
	list := m.sectionChoices(w, m.exits[m.stateNumber[w.t.Status]])
	if w.t.Attempts[i].Role == m.ownRole(w.t.Status) {
		list = m.addDoubts(w, list, foreign, broken)
	}
	for _, c := range list {
		out = append(out, action{event: reportEnd, kind: signal.Exit, who: task.Engine, actor: i, choice: c})
	}
	out = m.finalReports(w, i, out)
	out = m.wordsLeft(w, i, out)
	return m.massDeaths(w, i, out)
}

// massDeaths returns the ends of the state's agent that happen together with those of others,
// or before its first turn: once, and once too often. The agent leaves nothing new; what it may
// leave is tried with its single ends. Such an end comes from outside, like an action of a
// person, so it is not a loop of the workflow.
func (m *model) massDeaths(w *world, i int, out []action) []action {
	if a := &w.t.Attempts[i]; a.Role != m.ownRole(w.t.Status) || a.Ending || a.Overdue {
		return out
	}
	for _, how := range [...]mass{together, togetherAgain, unstarted, unstartedAgain} {
		if how.tooOften() && (len(w.t.Pending) > 0 || len(w.t.Attempts) > 1) {
			continue // pending effects and other agents make no difference to being held
		}
		c := m.sectionChoices(w, m.exits[m.stateNumber[w.t.Status]])[0]
		out = append(out, action{event: reportEnd, kind: signal.Exit, who: task.Engine, actor: i, choice: c, mass: how, human: true})
	}
	return out
}

// isEndReported reports whether the end of an attempt reaches the engine at all.
func (m *model) isEndReported(w *world, i int) bool {
	return !m.without[PerRole] || !slices.Contains(w.procs, alive)
}

func (m *model) effectActions(w *world, out []action) []action {
	e, ok := engine.NextEffect(&w.t)
	if !ok {
		return out
	}
	if m.open && e.Do == workflow.MergeBranch && !m.def.IsTerminal(w.t.Status) {
		return m.landingSteps(w, out)
	}
	for _, c := range m.deadlineEndings(w, &e) {
		out = append(out, action{event: completeEffect, actor: -1, choice: c})
	}
	out = append(out, action{event: failEffect, actor: -1})
	if m.losesReceipt(w, &e) {
		out = append(out, action{event: loseReceipt, actor: -1})
	}
	if m.without[Redrive] {
		out = append(out, action{event: crashServer, actor: -1})
	}
	return out
}

// losesReceipt reports whether the server may die between an effect and its receipt. Only an effect that starts or tells an
// agent leaves something to observe: the process that it started. That a message was sent already is observed without the
// keys of effects only. A check whose start was not recorded ends like one whose start was, and leaves an order that does
// nothing.
func (m *model) losesReceipt(w *world, e *task.Effect) bool {
	if info, _ := workflow.EffectNamed(e.Do); w.half || !info.Spawns && !info.Notifies {
		return false
	}
	at := attemptIndex(&w.t, e.Attempt)
	return m.tellsHalf() || e.Start && at >= 0 && w.procs[at] == notStarted && !m.isCheck(&w.t.Attempts[at])
}

// deadlineEndings returns what an agent that is ended at its deadline may leave behind.
func (m *model) deadlineEndings(w *world, e *task.Effect) [][]choice {
	if at := attemptIndex(&w.t, e.Attempt); at >= 0 && w.t.Attempts[at].Overdue {
		return m.addDoubts(w, m.sectionChoices(w, m.exits[m.stateNumber[w.t.Status]]), foreign, broken)
	}
	return [][]choice{nil}
}

// requestActions returns all moves that an edge could accept, requested by every actor.
func (m *model) requestActions(w *world, out []action) []action {
	if len(w.t.Pending) > m.pendingLimit && !m.isHeldUp(w) {
		if m.open && w.t.Attention != "" { // however much is pending: it is what the task waits for
			out = append(out, action{kind: signal.Resume, who: task.Human, actor: -1, human: true})
		}
		return out
	}
	for _, ask := range m.asked[m.stateNumber[w.t.Status]] {
		to, edges := ask.to, ask.edges
		for n, c := range m.sectionChoices(w, edges) {
			for _, who := range [...]task.Actor{task.Human, task.Tracker, task.Engine} {
				if n == 0 && m.triesRefused(edges) || anyPermits(edges, who) && (n == 0 || who != task.Human || !m.lacksCommits(c)) { // for other actors the content of TASK.md makes no difference, and a person is only warned
					out = append(out, action{kind: signal.Request, who: who, word: to, actor: -1, choice: c, human: who != task.Engine})
				}
			}
			if verb := m.forgeVerb(edges); verb != "" {
				out = append(out, action{kind: signal.Request, who: task.Tracker, word: to, verb: verb, actor: -1, choice: c, human: true})
			}
			for i := range w.t.Attempts {
				role := w.t.Attempts[i].Role
				if w.procs[i] != notStarted && (n == 0 && m.triesRefused(edges) || anyPermits(edges, task.Actor(role))) {
					out = append(out, action{kind: signal.Request, who: task.Actor(role), word: to, actor: i, choice: c, human: m.passesPerson(w.t.Status)})
				}
			}
		}
	}
	if s, ok := m.def.StateNamed(w.t.Status); ok && s.Kind == workflow.Agent && (w.t.Crashed != "" || w.t.WorkFailed != "") && w.t.RespawnAt.IsZero() {
		out = append(out, action{kind: signal.Request, who: task.Human, word: engine.Respawn, actor: -1, human: true})
	}
	if a, ok := w.t.LiveAttempt(m.ownRole(w.t.Status)); ok && a.Running && !a.Overdue {
		out = append(out, action{kind: signal.Request, who: task.Human, word: engine.Respawn, verb: engine.Force, actor: -1, human: true})
		if m.stops(w) {
			out = append(out, action{kind: signal.Request, who: task.Human, word: engine.VerbStop, verb: a.Role, actor: -1, human: true})
		}
	}
	if _, live := w.t.LiveAttempt(m.ownRole(w.t.Status)); live && len(w.t.Pending) == 0 {
		out = append(out, action{kind: signal.Request, who: task.Human, word: engine.VerbEdit, actor: -1, human: true})
	}
	for i := range w.t.Attempts {
		if a := &w.t.Attempts[i]; (m.full || a.Role == m.ownRole(w.t.Status)) && !a.Ending && !a.Overdue && len(w.t.Pending) == 0 { // what is pending is done before the message is sent
			out = append(out, action{kind: signal.Request, who: task.Human, word: engine.VerbSend, verb: a.Role, actor: -1, human: true})
		}
	}
	if w.t.Attention != "" {
		out = append(out, action{kind: signal.Resume, who: task.Human, actor: -1, human: true})
	}
	return out
}

// stops reports whether a person may stop the agent at work. What is pending is done before it, so only a message to it would
// differ: it is kept for the next agent of the role, which gets it with its prompt.
func (m *model) stops(w *world) bool { return len(w.t.Pending) == 0 }

// triesRefused reports whether actors that no edge permits ask for a state. The engine refuses them, which the search of one task
// shows; the open variant does not ask again. Without edges the request is to reopen the task.
func (m *model) triesRefused(edges []*workflow.Edge) bool { return !m.open || len(edges) == 0 }

// forgeVerb returns the verb by which a forge requests one of the edges, if it matters that it
// is not a person.
func (m *model) forgeVerb(edges []*workflow.Edge) string {
	for _, e := range edges {
		if m.personResets && e.As != "" && e.PermitsActor(task.Tracker) {
			return e.As
		}
	}
	return ""
}

func anyPermits(edges []*workflow.Edge, who task.Actor) bool {
	return slices.ContainsFunc(edges, func(e *workflow.Edge) bool { return e.PermitsActor(who) || e.AsksForConsent(who) })
}

func (m *model) requestTargets(state string) []string {
	var out []string
	for _, i := range m.def.EdgesFrom(state) {
		e := &m.def.Edges[i]
		if e.AnswersTo(workflow.OnRequest, "") && !slices.Contains(out, e.To) {
			out = append(out, e.To)
		}
	}
	if s, ok := m.def.StateNamed(state); ok && s.Reopen != "" && !slices.Contains(out, s.Reopen) {
		out = append(out, s.Reopen)
	}
	return out
}

// eventActions returns a queue's turn, outcomes that agents print, and events that trackers
// report.
func (m *model) eventActions(w *world, out []action) []action {
	if s, ok := m.def.StateNamed(w.t.Status); ok && s.Kind == workflow.Queued && w.t.Queued {
		for _, c := range m.addDoubts(w, m.sectionChoices(w, m.edgesOf(w.t.Status, workflow.OnReady, "", "")), foreign) {
			out = append(out, action{kind: signal.Ready, who: task.Engine, actor: -1, choice: c})
		}
	}
	for _, tr := range m.trackerTriggers(w.t.Status) {
		for _, c := range m.addDoubts(w, m.sectionChoices(w, m.edgesOf(w.t.Status, tr.Kind, tr.Value, "")), foreign) {
			for _, who := range m.eventReporters(w.t.Status, tr) {
				out = append(out, action{kind: signal.Tracker, who: who, word: tr.Value, actor: -1, choice: c, human: tr.Value != engine.ChildMoved})
			}
		}
	}
	out = m.landingEnds(w, out)
	for _, f := range m.cardStates[m.stateNumber[w.t.Status]] {
		if len(w.t.Pending) > 0 { // the card is read when all effects on it are done
			break
		}
		out = append(out, action{kind: signal.Tracker, who: task.Engine, word: signal.CardChanged, cardSnapshot: f.Snapshot, actor: -1, human: f.human})
		if m.personResets {
			out = append(out, action{kind: signal.Tracker, who: task.Human, word: signal.CardChanged, cardSnapshot: f.Snapshot, actor: -1, human: true})
		}
	}
	for i := range w.t.Attempts {
		if w.procs[i] != notStarted {
			out = m.turnEnds(w, i, out)
		}
	}
	return out
}

// eventReporters returns the actors that report an event. Orange itself reports that a child
// moved, and that its own merge is done; a tracker reports everything else, and merges at a
// forge.
func (m *model) eventReporters(state string, tr workflow.Trigger) []task.Actor {
	switch tr.Value {
	case engine.ChildMoved:
		return []task.Actor{task.Engine}
	case signal.PRMerged:
		for _, e := range m.edgesOf(state, tr.Kind, tr.Value, "") {
			if len(e.By) > 0 && !e.PermitsActor(task.Tracker) {
				return []task.Actor{task.Tracker, task.Engine}
			}
		}
	}
	return []task.Actor{task.Tracker}
}

func (m *model) trackerTriggers(state string) []workflow.Trigger {
	var out []workflow.Trigger
	for _, i := range m.def.EdgesFrom(state) {
		for _, tr := range m.def.Edges[i].On {
			if tr.Kind == workflow.OnTracker && !slices.Contains(out, tr) {
				out = append(out, tr)
			}
		}
	}
	return out
}

func (m *model) timerActions(w *world, out []action) []action {
	for _, tm := range m.runningTimers(w) {
		if m.leadsElsewhere(w, &tm) {
			continue
		}
		var gates []*workflow.Edge
		switch tm.Name {
		case engine.Respawn:
		case engine.Deadline:
			gates = m.edgesOf(w.t.Status, workflow.OnCrashLimit, "", "")
		default:
			gates = m.edgesOf(w.t.Status, workflow.OnTimer, tm.Name, "")
		}
		for _, c := range m.addDoubts(w, m.sectionChoices(w, gates), foreign) {
			out = append(out, action{kind: signal.Timer, who: task.Engine, word: tm.Name, actor: -1, choice: c})
		}
	}
	return out
}

// runningTimers returns the timers that run in the model.
func (m *model) runningTimers(w *world) []engine.Timer {
	list := timersOf(m.def, &w.t)
	return slices.DeleteFunc(list, func(tm engine.Timer) bool {
		if tm.Name != engine.Deadline {
			return false
		}
		_, live := w.t.LiveAttempt(m.ownRole(w.t.Status))
		return m.without[Deadlines] || m.without[Ensure] && !live
	})
}

// edgesOf returns the edges that a signal could take. The end of an agent can also lead to the
// crash limit, and is tried with all edges that the agent may request.
func (m *model) edgesOf(state string, kind workflow.TriggerKind, value, to string) []*workflow.Edge {
	var out []*workflow.Edge
	for _, i := range m.def.EdgesFrom(state) {
		e := &m.def.Edges[i]
		end := kind == workflow.OnExit && (e.AnswersTo(workflow.OnCrashLimit, "") || e.PermitsActor(task.Actor(m.ownRole(state))))
		if (e.AnswersTo(kind, value) || end) && (to == "" || e.To == to) {
			out = append(out, e)
		}
	}
	return out
}

// sectionChoices returns the possible versions of the sections for a decision: all versions of
// sections that gates require, and of sections that the next state compares with the version at
// its beginning. Evidence is chosen with them, as a separate section.
func (m *model) sectionChoices(w *world, edges []*workflow.Edge) [][]choice {
	out := m.nothing
	for i := range m.sections {
		if m.sectionMatters(i, edges) {
			out = combineChoices(out, m.sectionVersions(w, i))
		}
	}
	var asked []int
	children := false
	for _, e := range edges {
		if m.family {
			out = m.childChoices(out, e, &children)
		}
		for _, g := range m.def.EdgeGates(e) {
			if m.def.Gates[g].FactName() != "" && !m.def.Gates[g].HandsOver() && !slices.Contains(asked, g) {
				asked = append(asked, g)
				out = combineChoices(out, []choice{{section: -1 - g, age: absent}, {section: -1 - g, age: isNew}})
			}
		}
	}
	return m.addHandovers(out, edges)
}

// addDoubts adds choices in which a new verdict does not come from the agent that should give
// it. Another role writes it if the workflow has one that may not use the verdict.
func (m *model) addDoubts(w *world, lists [][]choice, doubts ...doubt) [][]choice {
	out := lists
	for _, l := range lists {
		for k, c := range l {
			if c.section < 0 || c.age != isNew || !m.sections[c.section].verdict {
				continue
			}
			for _, d := range doubts {
				if d == foreign && m.foreignRoles[m.stateNumber[w.t.Status]][c.section] == "" {
					continue
				}
				other := slices.Clone(l)
				other[k].doubt = d
				out = append(slices.Clip(out), other)
			}
		}
	}
	return out
}

// addHandovers chooses whether work is committed: all of it, or one thing is missing. Something
// is missing only where nothing else keeps an edge closed, and where the sections that the next
// state compares with are absent: elsewhere it makes no difference.
func (m *model) addHandovers(lists [][]choice, edges []*workflow.Edge) [][]choice {
	var facts []choice
	for _, e := range edges {
		if !m.wantsCommits(e) {
			continue
		}
		for _, g := range m.def.EdgeGates(e) {
			same := func(c choice) bool { return m.def.Gates[-1-c.section].FactName() == m.def.Gates[g].FactName() }
			if m.def.Gates[g].HandsOver() && !slices.ContainsFunc(facts, same) {
				facts = append(facts, choice{section: -1 - g, age: isNew})
			}
		}
	}
	if len(facts) == 0 {
		return lists
	}
	out := make([][]choice, 0, len(lists)+len(facts))
	for _, l := range lists {
		out = append(out, append(slices.Clip(l), facts...))
	}
	for _, l := range lists {
		if !slices.ContainsFunc(edges, func(e *workflow.Edge) bool { return m.mayLack(e, l) }) {
			continue
		}
		for i := range facts {
			without := append(slices.Clip(l), facts...)
			without[len(l)+i].age = absent
			out = append(out, without)
		}
	}
	return out
}

// lacksCommits reports whether work is not committed.
func (m *model) lacksCommits(l []choice) bool {
	return slices.ContainsFunc(l, func(c choice) bool {
		return c.age == absent && c.section < 0 && c.section != childrenChoice && m.def.Gates[-1-c.section].HandsOver()
	})
}

// wantsCommits reports whether the edge has a gate that requires committed work.
func (m *model) wantsCommits(e *workflow.Edge) bool { return e.Number() > 0 && m.commits[e.Number()-1] }

// mayLack reports whether only gates that require committed work can keep the edge closed, and
// no other section exists.
func (m *model) mayLack(e *workflow.Edge, l []choice) bool {
	if !m.wantsCommits(e) {
		return false
	}
	var gated uint64
	for _, i := range m.def.EdgeGates(e) {
		g := &m.def.Gates[i]
		if g.Section == "" {
			continue
		}
		at := m.sectionIndex(g.Section)
		gated |= 1 << at
		c, ok := findChoice(l, at)
		if !ok || c.age == absent || g.Fresh == workflow.FreshUnused && c.age == isUsed || g.Verdict != "" && c.meaning != g.Verdict {
			return false
		}
	}
	return !slices.ContainsFunc(l, func(c choice) bool { return c.section >= 0 && gated&(1<<c.section) == 0 && c.age != absent })
}

func (m *model) sectionMatters(section int, edges []*workflow.Edge) bool {
	s := &m.sections[section]
	for _, e := range edges {
		if s.verdict && (m.asks[m.stateNumber[e.To]][section] || m.asksBehindCheck(e.To, section)) {
			return true
		}
		for _, g := range m.def.EdgeGates(e) {
			if m.def.Gates[g].Section == s.name {
				return true
			}
		}
	}
	return false
}

func (m *model) sectionVersions(w *world, i int) []choice {
	out := []choice{{section: i, age: absent}}
	for _, meaning := range m.sections[i].meaning {
		out = append(out, choice{section: i, age: isNew, meaning: meaning})
	}
	x := &w.texts[i]
	if x.used.meaning != "" {
		out = append(out, choice{section: i, age: isUsed, meaning: x.used.meaning})
	}
	if x.seen.meaning != "" && x.seen != x.used {
		out = append(out, choice{section: i, age: isSeen, meaning: x.seen.meaning})
	}
	return out
}

func combineChoices(lists [][]choice, with []choice) [][]choice {
	if len(lists) == 1 && lists[0] == nil {
		out := make([][]choice, len(with))
		for i := range with {
			out[i] = with[i : i+1 : i+1]
		}
		return out
	}
	out := make([][]choice, 0, len(lists)*len(with))
	for _, l := range lists {
		for _, c := range with {
			out = append(out, append(slices.Clip(l), c))
		}
	}
	return out
}

// timersOf returns a task's timers except that of a silent agent, which leads where the
// deadline does, only sooner.
func timersOf(def *workflow.Definition, t *task.Task) []engine.Timer {
	return slices.DeleteFunc(engine.Timers(def, t), func(tm engine.Timer) bool { return tm.Name == engine.Idle })
}
