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

// beginTurn starts a turn of the state's agent, once the agent runs and has received all
// messages.
func (r *taskRun) beginTurn(s *statePlan) {
	if r.turn.on || s.kind != workflow.Agent || len(r.t.Pending) > 0 {
		return
	}
	a, ok := r.t.LiveAttempt(s.role)
	if !ok || !a.Running || r.turn.attempt == a.Number && r.turn.visit == r.t.Visit {
		return
	}
	t := agentTurn{on: true, attempt: a.Number, visit: r.t.Visit, from: r.now, ending: r.drawEnding(s)}
	t.length = r.rand.sampleTime(s.duration)
	t.tokens = r.rand.sampleFrom(s.tokens)
	span := t.length
	if t.ending == turnCrashes {
		span = time.Duration(float64(span) * r.rand.nextFloat64())
	}
	until := &r.limited[s.roleAt]
	switch {
	case *until > r.now: // a limit from an earlier turn is still in effect
		t.restFrom, t.restTo = r.now, *until
	case r.rand.drawChance(s.behavior.Limit):
		t.restFrom = r.now + time.Duration(float64(span)*r.rand.nextFloat64())
		t.restTo = t.restFrom + r.rand.sampleTime(s.wait)
		*until = t.restTo
	}
	t.to = r.now + span + (t.restTo - t.restFrom)
	r.turn = t
}

// drawEnding draws how a turn will end. It does not draw endings for which the workflow has no
// edge.
func (r *taskRun) drawEnding(s *statePlan) turnEnding {
	h, u := &s.behavior, r.rand.nextFloat64()
	if u -= h.Crash; u < 0 {
		return turnCrashes
	}
	if u -= h.NoAnswer; u < 0 {
		return turnEndsSilent
	}
	if u -= h.Question; u < 0 && len(s.questions) > 0 {
		return turnAsks
	}
	if u -= h.GiveUp; u < 0 && u >= -h.GiveUp && len(s.giveUps) > 0 {
		return turnGivesUp
	}
	if len(s.fails) > 0 && r.rand.drawChance(h.Fail) {
		return turnFails
	}
	return turnFinishes
}

// stopTurn adds up the costs of a turn, wherever it is.
func (r *taskRun) stopTurn() {
	t := &r.turn
	if !t.on {
		return
	}
	if t.on = false; t.check != "" {
		return // it is nobody's work
	}
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
		r.spendTokens(t.tokens*min(1, float64(worked)/float64(t.length)), r.plan.states[r.at].price)
	}
}

func (r *taskRun) spendTokens(tokens, price float64) {
	r.tokens += tokens
	r.cost += tokens * price
}

// endTurn is the moment at which an agent reports, or is gone.
func (r *taskRun) endTurn() {
	t, s := r.turn, &r.plan.states[r.at]
	r.stopTurn()
	a, ok := r.t.AttemptByNumber(t.attempt)
	if !ok {
		return
	}
	if t.check != "" {
		r.endCheck(a, t.check)
		return
	}
	switch t.ending {
	case turnCrashes:
		r.exitAgent(a, 1)
		return
	case turnEndsSilent:
		r.exitSilently(s, a)
		return
	case turnAsks:
		r.takeAgentWay(s, a, s.questions)
	case turnGivesUp:
		r.takeAgentWay(s, a, s.giveUps)
	case turnFails:
		r.takeAgentWay(s, a, s.fails)
	case turnFinishes:
		r.takeAgentWay(s, a, s.passes)
	}
}

// takeAgentWay lets an agent take the first of the ways that opens. If none opens, the agent
// ends.
func (r *taskRun) takeAgentWay(s *statePlan, a task.Attempt, ways []wayOut) {
	before, first := r.t.Visit, 0
	if len(ways) > 1 && ways[0].kind == signal.Outcome {
		first = int(r.rand.nextUint64() % uint64(len(ways)))
	}
	for i := range ways {
		w := &ways[(first+i)%len(ways)]
		r.writeSections(w.sections)
		if w.kind == "" || (w.exits || w.report != nil) && r.rand.drawChance(s.behavior.Exit) {
			r.exitWith(a, w.report)
			return
		}
		r.submitSignal(&signal.Signal{
			Kind: w.kind, Actor: task.Actor(a.Role), Attempt: a.Number, To: w.to, Verb: w.verb, Word: w.word, Report: w.report, Evidence: r.plan.evidence,
		})
		if r.t.Visit != before || r.t.Asked != nil || r.t.WorkFailed != "" || r.err != nil {
			return
		}
	}
	r.exitWith(a, nil)
}

// exitWith ends an agent whose work can be seen, with its report.
func (r *taskRun) exitWith(a task.Attempt, said *signal.Report) {
	r.submitSignal(&signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Report: said, Evidence: r.plan.evidence})
}

// exitSilently ends an agent that shows and reports nothing that counts.
func (r *taskRun) exitSilently(s *statePlan, a task.Attempt) {
	sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role}
	if s.expectsReport {
		sig.Report = &signal.Report{Outcome: signal.Unknown}
	}
	r.submitSignal(&sig)
}

// writeSections writes sections to TASK.md, with a text that is always new.
func (r *taskRun) writeSections(sections []taskfile.Section) {
	for i := range sections {
		at := slices.IndexFunc(r.sections, func(have taskfile.Section) bool { return have.Name == sections[i].Name })
		if at < 0 {
			at = len(r.sections)
			r.sections = append(r.sections, taskfile.Section{})
		}
		r.sections[at] = sections[i]
		r.sections[at].Digest = r.plan.textDigest(r.written)
		r.written++
	}
}

// callPerson starts to wait for a person, or stops if no person is needed any more.
func (r *taskRun) callPerson(s *statePlan) {
	needed := r.needsPerson(s)
	if r.person && (!needed || r.personIn != r.t.Visit) {
		r.person = false
		r.waited += r.now - r.personFrom
	}
	if needed && !r.person {
		r.person, r.personIn, r.personFrom = true, r.t.Visit, r.now
		r.personAt = r.now + r.rand.sampleTime(r.plan.delay)
		r.waits++
	}
}

func (r *taskRun) needsPerson(s *statePlan) bool {
	if r.t.Asked != nil || r.t.Attention != "" {
		return true
	}
	switch s.kind {
	case workflow.Waiting, workflow.HumanDo, workflow.Halt:
		return true
	}
	return !r.turn.on && r.effect == "" && r.timerAt < 0
}

// answerAsPerson is a person's action that the task waits for.
func (r *taskRun) answerAsPerson() {
	s := &r.plan.states[r.at]
	r.person = false
	r.waited += r.now - r.personFrom
	if s.kind != workflow.Agent && s.roleAt >= 0 && len(r.t.Attempts) > 0 {
		r.spendTokens(r.rand.sampleFrom(s.tokens), s.price) // the agent took part in the conversation
	}
	asked := r.t.Asked
	switch {
	case r.t.Attention != "" && r.t.Asked == nil && s.kind != workflow.Halt:
		r.submitSignal(&signal.Signal{Kind: signal.Resume, Actor: task.Human})
	case r.rand.drawChance(r.plan.person.Cancel) && r.takePersonWay(s.cancels):
	case asked != nil && r.takePersonWay([]wayOut{{kind: signal.Request, to: asked.To}}):
	case s.kind == workflow.CheckDo && r.t.WorkFailed != "" && r.submitSignal(&signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbCheck}):
	case r.t.WorkFailed != "" && r.takePersonWay(s.changes):
	case s.kind == workflow.Agent && r.submitSignal(&signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn}):
	case r.rand.drawChance(r.plan.person.RequestChanges) && r.takePersonWay(s.changes):
	default:
		_ = r.takePersonWay(s.finishes) || r.takePersonWay(s.changes) || r.takePersonWay(s.cancels)
	}
}

// takePersonWay lets a person take the first of the ways that opens. By then the sections and
// facts that a gate requires exist.
func (r *taskRun) takePersonWay(ways []wayOut) bool {
	for i := range ways {
		w := &ways[i]
		r.writeSections(w.sections)
		actor := task.Human
		if w.kind == signal.Tracker {
			actor = eventReporter(w.word)
		}
		before := r.t.Visit
		r.submitSignal(&signal.Signal{Kind: w.kind, Actor: actor, To: w.to, Verb: w.verb, Word: w.word, Evidence: r.plan.evidence})
		if r.t.Visit != before || r.err != nil {
			return true
		}
	}
	return false
}
