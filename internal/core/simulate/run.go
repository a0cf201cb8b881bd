package simulate

import (
	"fmt"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// simRun is the life of one task. Times count from its creation.
type simRun struct {
	plan *simPlan
	rand simRand
	err  error

	t        task.Task
	at       int // index of the task's state
	now      time.Duration
	since    time.Duration // when the state was entered
	sections []taskfile.Section
	written  int // texts so far
	steps    int // decisions so far

	turn    simTurn
	limited []time.Duration // by role: when its usage limit is reset

	effect   string // the one that is being done, and its try
	try      int
	effectAt time.Duration

	timer   engine.Timer
	timerAt time.Duration // negative: none
	stale   bool          // timers may have changed
	spent   string        // a timer of spentIn that changed nothing
	spentIn int
	readied int // visit in which the queue's turn was given

	person     bool // somebody is waited for
	personIn   int  // the visit
	personFrom time.Duration
	personAt   time.Duration

	// What the results are made of.
	worked, waited time.Duration
	tokens, cost   float64 // cost in millionths
	waits, crashes int
	halted, over   bool
	inState        []time.Duration
}

// simTurn is one piece of work of an agent.
type simTurn struct {
	on       bool
	attempt  int
	visit    int
	from     time.Duration
	to       time.Duration
	restFrom time.Duration // a usage limit holds it between these
	restTo   time.Duration
	length   time.Duration // without rest, had it come to its end
	tokens   float64
	ending   simEnding
}

// simEnding says how a turn ends.
type simEnding byte

const (
	simFinishes simEnding = iota
	simFails
	simCrashes
	simSilent
	simAsks
	simGivesUp
)

// simEvent is what happens next.
type simEvent byte

const (
	simNothing simEvent = iota
	simEffect
	simTurnEnds
	simTimer
	simPerson
)

func (r *simRun) reset(rand simRand) {
	p, limited, in, sections := r.plan, r.limited, r.inState, r.sections[:0]
	clear(limited)
	clear(in)
	*r = simRun{plan: p, rand: rand, limited: limited, inState: in, sections: sections, timerAt: -1, stale: true, at: -1}
}

// play runs the task to a terminal state or to a limit.
func (r *simRun) play() {
	sig := r.plan.create
	r.tell(&sig)
	for r.err == nil && !r.over && r.steps < r.plan.maxSteps {
		r.prepare()
		ev, at := r.next()
		if ev == simNothing || at > r.plan.maxTime {
			r.now = r.plan.maxTime
			break
		}
		r.now = max(r.now, at)
		switch ev {
		case simEffect:
			r.perform()
		case simTurnEnds:
			r.endTurn()
		case simTimer:
			r.fire()
		case simPerson:
			r.answer()
		}
	}
	r.close()
}

// tell lets the engine decide and folds what it says. It says whether the signal was
// accepted.
func (r *simRun) tell(sig *signal.Signal) bool {
	r.steps++
	sig.At = r.plan.begin.Add(r.now)
	if sig.WeighsEvidence() {
		sig.Artifacts.Sections, sig.Free, sig.Rules = r.sections, r.plan.free, engine.Rules
		if r.plan.def.WaitsForChildren(r.t.Status) {
			sig.Children = r.plan.children
		}
	}
	d := engine.Decide(r.plan.def, r.t, *sig)
	for i := range d.Entries {
		e := &d.Entries[i]
		if err := journal.Apply(&r.t, e); err != nil {
			r.err = fmt.Errorf("fold a simulated task: %w", err)
			return false
		}
		r.observe(e)
	}
	return d.Verdict != engine.Refuse
}

// observe keeps count of what an entry changes.
func (r *simRun) observe(e *journal.Entry) {
	switch e.Type {
	case journal.EffectDone, journal.AgentSpawned, journal.EffectFailed:
	default:
		r.stale = true
	}
	if e.Type == journal.AgentCrashed {
		r.crashes++
	}
	for _, gone := range e.Ended {
		if r.turn.on && r.turn.attempt == gone.Number {
			r.stopTurn()
		}
	}
	if e.To == "" {
		return
	}
	r.stopTurn()
	if r.at >= 0 {
		r.inState[r.at] += r.now - r.since
	}
	r.at, r.since = r.plan.index[e.To], r.now
	switch r.plan.states[r.at].kind {
	case workflow.Halt:
		r.halted = true
	case workflow.Terminal:
		r.over = true
	}
}

// close ends the accounts of a run.
func (r *simRun) close() {
	r.stopTurn()
	if r.person {
		r.waited += r.now - r.personFrom
	}
	if r.at >= 0 {
		r.inState[r.at] += r.now - r.since
	}
}

// prepare sets in motion what the record asks for.
func (r *simRun) prepare() {
	s := &r.plan.states[r.at]
	if s.kind == workflow.Queued && r.readied != r.t.Visit && len(r.t.Pending) == 0 {
		r.readied = r.t.Visit
		r.tell(&signal.Signal{Kind: signal.Ready, Actor: task.Engine, Evidence: r.plan.evidence})
		if r.over {
			return
		}
		s = &r.plan.states[r.at]
	}
	if e, ok := engine.NextEffect(&r.t); !ok {
		r.effect = ""
	} else if e.ID != r.effect || e.Tries != r.try {
		r.effect, r.try = e.ID, e.Tries
		r.effectAt = r.now + time.Duration(r.plan.effects.Duration)
		if !e.NotBefore.IsZero() {
			r.effectAt = max(r.effectAt, e.NotBefore.Sub(r.plan.begin))
		}
	}
	r.beginTurn(s)
	if r.stale {
		r.setTimer()
	}
	r.callPerson(s)
}

func (r *simRun) next() (ev simEvent, at time.Duration) {
	consider := func(what simEvent, when time.Duration) {
		if ev == simNothing || when < at {
			ev, at = what, when
		}
	}
	if r.effect != "" {
		consider(simEffect, r.effectAt)
	}
	if r.turn.on {
		consider(simTurnEnds, r.turn.to)
	}
	if r.timerAt >= 0 {
		consider(simTimer, r.timerAt)
	}
	if r.person {
		consider(simPerson, r.personAt)
	}
	return ev, at
}

// perform ends one try of an effect. Agents that it ends are gone before it is done.
func (r *simRun) perform() {
	e, ok := engine.NextEffect(&r.t)
	if !ok {
		return
	}
	receipt := signal.Receipt{Effect: e.ID, OK: true}
	if r.rand.chance(r.plan.effects.Fail) {
		receipt.OK, receipt.Error = false, "simulated"
	} else if info, _ := workflow.EffectNamed(e.Do); info.Kills {
		r.kill(&e)
	}
	r.effect = ""
	r.tell(&signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &receipt})
}

func (r *simRun) kill(e *task.Effect) {
	for i := 0; i < len(r.t.Attempts) && !r.over; {
		a := r.t.Attempts[i]
		if a.Ending && (e.Role == "" || e.Role == a.Role) || a.Number == e.Attempt {
			if r.exit(a, 137) {
				continue // the list is shorter now
			}
		}
		i++
	}
}

func (r *simRun) exit(a task.Attempt, code int) bool {
	return r.tell(&signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Code: code})
}

// setTimer finds the timer that is due first. One that changed nothing is not fired
// again in the same visit.
func (r *simRun) setTimer() {
	r.stale, r.timerAt = false, -1
	for _, tm := range engine.Timers(r.plan.def, &r.t) {
		if tm.Name == engine.Idle { // it leads where the deadline does, only sooner
			continue
		}
		if tm.Visit == r.spentIn && tm.Name == r.spent {
			continue
		}
		if at := max(tm.At.Sub(r.plan.begin), r.now); r.timerAt < 0 || at < r.timerAt {
			r.timer, r.timerAt = tm, at
		}
	}
}

func (r *simRun) fire() {
	before := r.t.Seq
	r.tell(&signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: r.timer.Name, Visit: r.timer.Visit})
	if r.t.Seq == before {
		r.spent, r.spentIn, r.stale = r.timer.Name, r.timer.Visit, true
	}
}
