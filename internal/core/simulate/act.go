package simulate

import (
	"slices"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// beginTurn lets the state's agent work, once it runs and was told everything.
func (r *simRun) beginTurn(s *simState) {
	if r.turn.on || s.kind != workflow.Agent || len(r.t.Pending) > 0 {
		return
	}
	a, ok := r.t.LiveAttempt(s.role)
	if !ok || !a.Running || r.turn.attempt == a.Number && r.turn.visit == r.t.Visit {
		return
	}
	t := simTurn{on: true, attempt: a.Number, visit: r.t.Visit, from: r.now, ending: r.ending(s)}
	t.length = r.rand.time(s.duration)
	t.tokens = r.rand.sample(s.tokens)
	span := t.length
	if t.ending == simCrashes {
		span = time.Duration(float64(span) * r.rand.unit())
	}
	until := &r.limited[s.roleAt]
	switch {
	case *until > r.now: // a limit that an earlier turn met still holds
		t.restFrom, t.restTo = r.now, *until
	case r.rand.chance(s.habits.Limit):
		t.restFrom = r.now + time.Duration(float64(span)*r.rand.unit())
		t.restTo = t.restFrom + r.rand.time(s.wait)
		*until = t.restTo
	}
	t.to = r.now + span + (t.restTo - t.restFrom)
	r.turn = t
}

// ending draws how a turn will end. What the workflow has no edge for is not drawn.
func (r *simRun) ending(s *simState) simEnding {
	h, u := &s.habits, r.rand.unit()
	if u -= h.Crash; u < 0 {
		return simCrashes
	}
	if u -= h.NoAnswer; u < 0 {
		return simSilent
	}
	if u -= h.Question; u < 0 && len(s.questions) > 0 {
		return simAsks
	}
	if u -= h.GiveUp; u < 0 && u >= -h.GiveUp && len(s.surrenders) > 0 {
		return simGivesUp
	}
	if len(s.fails) > 0 && r.rand.chance(h.Fail) {
		return simFails
	}
	return simFinishes
}

// stopTurn ends the accounts of a turn, wherever it stands.
func (r *simRun) stopTurn() {
	t := &r.turn
	if !t.on {
		return
	}
	t.on = false
	now := min(r.now, t.to)
	worked := now - t.from
	switch {
	case now > t.restTo:
		worked -= t.restTo - t.restFrom
	case now > t.restFrom && t.restTo > t.restFrom:
		worked = t.restFrom - t.from
	}
	r.worked += worked
	if t.length > 0 {
		r.spend(t.tokens*min(1, float64(worked)/float64(t.length)), r.plan.states[r.at].price)
	}
}

func (r *simRun) spend(tokens, price float64) {
	r.tokens += tokens
	r.cost += tokens * price
}

// endTurn is the moment at which an agent says how it went, or is gone.
func (r *simRun) endTurn() {
	t, s := r.turn, &r.plan.states[r.at]
	r.stopTurn()
	a, ok := r.t.AttemptByNumber(t.attempt)
	if !ok {
		return
	}
	switch t.ending {
	case simCrashes:
		r.exit(a, 1)
		return
	case simSilent:
		r.silent(s, a)
		return
	case simAsks:
		r.speak(s, a, s.questions)
	case simGivesUp:
		r.speak(s, a, s.surrenders)
	case simFails:
		r.speak(s, a, s.fails)
	case simFinishes:
		r.speak(s, a, s.passes)
	}
}

// speak lets an agent take the first of the ways that opens. One that finds none ends.
func (r *simRun) speak(s *simState, a task.Attempt, ways []simWay) {
	before, first := r.t.Visit, 0
	if len(ways) > 1 && ways[0].kind == signal.Outcome {
		first = int(r.rand.next() % uint64(len(ways)))
	}
	for i := range ways {
		w := &ways[(first+i)%len(ways)]
		r.write(w.sections)
		if w.kind == "" || (w.exits || w.report != nil) && r.rand.chance(s.habits.Exit) {
			r.exitWith(a, w.report)
			return
		}
		r.tell(&signal.Signal{
			Kind: w.kind, Actor: task.Actor(a.Role), Attempt: a.Number, To: w.to, Verb: w.verb, Word: w.word, Report: w.report, Evidence: r.plan.evidence,
		})
		if r.t.Visit != before || r.t.Asked != nil || r.t.WorkFailed != "" || r.err != nil {
			return
		}
	}
	r.exitWith(a, nil)
}

// exitWith is the end of an agent whose work is there to be seen, and what it said.
func (r *simRun) exitWith(a task.Attempt, said *signal.Report) {
	r.tell(&signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Report: said, Evidence: r.plan.evidence})
}

// silent is the end of an agent that shows nothing and says nothing that counts.
func (r *simRun) silent(s *simState, a task.Attempt) {
	sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role}
	if s.speaks {
		sig.Report = &signal.Report{Outcome: signal.Unknown}
	}
	r.tell(&sig)
}

// write puts sections into TASK.md, with words that were never there before.
func (r *simRun) write(sections []taskfile.Section) {
	for i := range sections {
		at := slices.IndexFunc(r.sections, func(have taskfile.Section) bool { return have.Name == sections[i].Name })
		if at < 0 {
			at = len(r.sections)
			r.sections = append(r.sections, taskfile.Section{})
		}
		r.sections[at] = sections[i]
		r.sections[at].Digest = r.plan.digest(r.written)
		r.written++
	}
}

// callPerson begins to wait for somebody, or stops when nobody is needed any more.
func (r *simRun) callPerson(s *simState) {
	needed := r.needsPerson(s)
	if r.person && (!needed || r.personIn != r.t.Visit) {
		r.person = false
		r.waited += r.now - r.personFrom
	}
	if needed && !r.person {
		r.person, r.personIn, r.personFrom = true, r.t.Visit, r.now
		r.personAt = r.now + r.rand.time(r.plan.delay)
		r.waits++
	}
}

func (r *simRun) needsPerson(s *simState) bool {
	if r.t.Asked != nil || r.t.Attention != "" {
		return true
	}
	switch s.kind {
	case workflow.Waiting, workflow.HumanDo, workflow.Halt:
		return true
	}
	return !r.turn.on && r.effect == "" && r.timerAt < 0
}

// answer is a person doing what the task waits for.
func (r *simRun) answer() {
	s := &r.plan.states[r.at]
	r.person = false
	r.waited += r.now - r.personFrom
	if s.kind != workflow.Agent && s.roleAt >= 0 && len(r.t.Attempts) > 0 {
		r.spend(r.rand.sample(s.tokens), s.price) // the agent took part in the talk
	}
	asked := r.t.Asked
	switch {
	case r.t.Attention != "" && r.t.Asked == nil && s.kind != workflow.Halt:
		r.tell(&signal.Signal{Kind: signal.Resume, Actor: task.Human})
	case r.rand.chance(r.plan.person.Cancel) && r.ask(s.cancels):
	case asked != nil && r.ask([]simWay{{kind: signal.Request, to: asked.To}}):
	case r.t.WorkFailed != "" && r.ask(s.changes):
	case s.kind == workflow.Agent && r.tell(&signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn}):
	case r.rand.chance(r.plan.person.RequestChanges) && r.ask(s.changes):
	default:
		_ = r.ask(s.finishes) || r.ask(s.changes) || r.ask(s.cancels)
	}
}

// ask lets a person take the first of the ways that opens. What a gate wants to read
// or to know is there by then.
func (r *simRun) ask(ways []simWay) bool {
	for i := range ways {
		w := &ways[i]
		r.write(w.sections)
		actor := task.Human
		if w.kind == signal.Tracker {
			actor = simReporter(w.word)
		}
		before := r.t.Visit
		r.tell(&signal.Signal{Kind: w.kind, Actor: actor, To: w.to, Verb: w.verb, Word: w.word, Evidence: r.plan.evidence})
		if r.t.Visit != before || r.err != nil {
			return true
		}
	}
	return false
}
